//! Operators that move elements, and resizing. Contracts: `kernels-c/include/dmo_move.h`,
//! `dmo_layout.h`, `dmo_resize.h`.

use super::{in_and_out, words};
use crate::call::{Argument, CallError, Frame};
use crate::kernels::moves::{padding, padding_word, zero};
use crate::kernels::{Arguments, Buffers, Contract, Job, State, StatePlace};
use dmo_analysis::graph::Kind::{
    AssignVariable, BatchToSpaceNd, CircularBuffer, Concatenation, DepthToSpace, ExpandDims,
    Gather, InputRows, KeptRows, MirrorPad, Pack, Pad, ReadVariable, Reshape, ResizeBilinear,
    ResizeNearestNeighbor, Slice, SpaceToBatchNd, SpaceToDepth, Split, Squeeze, StridedSlice,
    Transpose, Unpack,
};
use dmo_analysis::operator::{self, Operator, Shape};
use dmo_analysis::random::xorshift_bytes;
use dmo_analysis::trace::{Address, ElementType};

pub(super) const CONTRACTS: &[Contract] = &[
    Contract::new("dmo_concat", &Concatenation, |job, buffers, frame| {
        let size = Argument::Word(job.case.input_type.size_bytes());
        concat(job, buffers, frame, Some(size))
    }),
    Contract::int8("dmo_concat_s8", &Concatenation, |job, buffers, frame| {
        concat(job, buffers, frame, None)
    }),
    Contract::float32("dmo_concat_f32", &Concatenation, |job, buffers, frame| {
        concat(job, buffers, frame, None)
    }),
    Contract::new(ROWS_IN_MEMORY, &InputRows, next_rows).with_status(),
    Contract::new("dmo_keep_rows", &KeptRows, |job, buffers, _| {
        let rows: &operator::KeptRows = job.operator()?;
        let [kept, output] = [buffers.inputs[0], buffers.outputs[0]].map(Argument::from);
        let bytes = Argument::Word(rows.elements * rows.element_bytes);
        Ok(vec![kept, bytes, output])
    }),
    Contract::new("dmo_split", &Split, split),
    Contract::new("dmo_pad", &Pad, pad_any),
    Contract::int8("dmo_pad_s8", &Pad, |job, buffers, frame| {
        let value = Argument::Word(padding_word(job)?);
        pad(job, buffers, frame, &[value])
    }),
    Contract::float32("dmo_pad_f32", &Pad, |job, buffers, frame| {
        let value = Argument::Float(f32::from_bits(padding_word(job)?));
        pad(job, buffers, frame, &[value])
    }),
    Contract::new("dmo_reshape", &Reshape, |job, buffers, frame| {
        let mut arguments = vec![Argument::Word(job.case.input_type.size_bytes())];
        arguments.extend(reshape(job, buffers, frame)?);
        Ok(arguments)
    }),
    Contract::int8("dmo_reshape_s8", &Reshape, reshape),
    Contract::float32("dmo_reshape_f32", &Reshape, reshape),
    Contract::new("dmo_transpose", &Transpose, |job, buffers, frame| {
        let transpose: &operator::Transpose = job.operator()?;
        let axes = words(transpose.permutation);
        moved(job, buffers, frame, &axes)
    }),
    Contract::new("dmo_slice", &Slice, |job, buffers, frame| {
        let slice: &operator::StridedSlice = job.operator()?;
        moved(job, buffers, frame, &words(slice.begin))
    }),
    // By bytes.
    Contract::new("dmo_reshape", &Squeeze, |job, buffers, _| {
        let copy: &operator::Opaque = job.operator()?;
        let bytes = copy.outputs.first().copied().unwrap_or(0);
        let [input, output] = [buffers.inputs[0], buffers.outputs[0]].map(Argument::from);
        Ok(vec![
            Argument::Word(1),
            Argument::Word(bytes),
            input,
            output,
        ])
    }),
    Contract::new("dmo_pack", &Pack, pack),
    Contract::new("dmo_unpack", &Unpack, unpack),
    Contract::new("dmo_space_to_depth", &SpaceToDepth, blocks),
    Contract::new("dmo_depth_to_space", &DepthToSpace, blocks),
    Contract::new("dmo_mirror_pad", &MirrorPad, |job, buffers, frame| {
        let pad: &operator::MirrorPad = job.operator()?;
        let params = [&words(pad.before)[..], &[i32::from(pad.reflect)]].concat();
        moved(job, buffers, frame, &params)
    }),
    // A part that is all there is, element by element.
    Contract::new("dmo_slice", &ExpandDims, |job, buffers, frame| {
        let copy: &operator::Elementwise = job.operator()?;
        let shape = frame.words("shape", &words([1, 1, 1, copy.elements]))?;
        let begin = frame.words("parameters", &[0; 4])?;
        let size = Argument::Word(job.case.input_type.size_bytes());
        let [input, output] = [buffers.inputs[0], buffers.outputs[0]].map(Argument::from);
        Ok(vec![
            begin.into(),
            size,
            shape.into(),
            input,
            shape.into(),
            output,
        ])
    }),
    Contract::new(
        "dmo_space_to_batch",
        &SpaceToBatchNd,
        |job, buffers, frame| {
            let zero = frame.place("value", zero(job))?;
            let mut arguments = batches(job, buffers, frame)?;
            arguments.insert(1, zero.into());
            Ok(arguments)
        },
    ),
    Contract::new("dmo_batch_to_space", &BatchToSpaceNd, batches),
    Contract::new("dmo_gather", &Gather, gather)
        .only(|case| matches!(case.operator, Operator::Gather(_))),
    Contract::new("dmo_strided_slice", &Gather, strided_slice)
        .only(|case| matches!(case.operator, Operator::StridedSlice(_))),
    Contract::new("dmo_strided_slice", &StridedSlice, strided_slice),
    Contract::new("dmo_strided_slice", &Slice, strided_slice),
    Contract::new(
        "dmo_resize_nearest",
        &ResizeNearestNeighbor,
        |job, buffers, frame| {
            let resize: &operator::ResizeNearest = job.operator()?;
            let modes = [resize.align_corners, resize.half_pixel_centers].map(i32::from);
            moved(job, buffers, frame, &modes)
        },
    ),
    Contract::int8("dmo_circular_buffer", &CircularBuffer, |job, buffers, _| {
        let moved: &operator::Opaque = job.operator()?;
        let bytes = [&moved.inputs, &moved.outputs].map(|sizes| sizes.first().copied());
        let bytes = bytes.map(|size| Argument::Word(size.unwrap_or(0)));
        let [input, buffer] = [buffers.inputs[0], buffers.outputs[0]].map(Argument::from);
        Ok(vec![bytes[0], bytes[1], input, buffer])
    })
    .with_states(&[LAST_ROWS]),
    Contract::new("dmo_reshape", &ReadVariable, copy_all).with_states(&[VARIABLE]),
    Contract::new("dmo_reshape", &AssignVariable, copy_all).with_states(&[VARIABLE]),
    Contract::int8("dmo_resize_bilinear_s8", &ResizeBilinear, resize_bilinear),
    Contract::float32("dmo_resize_bilinear_f32", &ResizeBilinear, resize_bilinear),
];

/// The kernel that does with rows in memory what [`NEXT_ROWS`] does with rows of the application.
pub const ROWS_IN_MEMORY: &str = "dmo_next_rows_in_memory";

/// The function that has the application store rows of the input.
pub const NEXT_ROWS: &str = "dmo_next_rows";

/// Bytes of what an operator stores of which only the buffers are known.
fn stored_bytes(job: &Job) -> Result<u64, CallError> {
    let moved: &operator::Opaque = job.operator()?;
    Ok(moved.outputs.iter().map(|&bytes| u64::from(bytes)).sum())
}

/// What a circular buffer holds.
const LAST_ROWS: State = State {
    name: "last rows",
    element_type: ElementType::Int8,
    place: StatePlace::Output(0),
    elements: stored_bytes,
    invented: |elements| xorshift_bytes(3, elements),
};

/// What a resource variable holds.
const VARIABLE: State = State {
    name: "variable",
    element_type: ElementType::Int8,
    place: StatePlace::Operand(0),
    elements: stored_bytes,
    invented: |elements| xorshift_bytes(5, elements),
};

/// Byte by byte from the input to the output, of which one is the state.
fn copy_all(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let copied: &operator::Opaque = job.operator()?;
    let bytes = copied.outputs.first().copied().unwrap_or(0);
    let [input, output] = [buffers.inputs[0], buffers.outputs[0]].map(Argument::from);
    Ok(vec![
        Argument::Word(1),
        Argument::Word(bytes),
        input,
        output,
    ])
}

/// Shapes, one after the other, and pointers to the buffers.
fn lists(
    frame: &mut Frame,
    shapes: impl Iterator<Item = Shape>,
    buffers: &[Address],
) -> Result<[Argument; 2], CallError> {
    let shapes: Vec<i32> = shapes.flat_map(words).collect();
    let shapes = frame.words("shapes", &shapes)?;
    Ok([shapes.into(), pointers(frame, buffers)?])
}

pub(super) fn pointers(frame: &mut Frame, buffers: &[Address]) -> Result<Argument, CallError> {
    let pointers: Vec<i32> = buffers.iter().map(|at| at.0 as i32).collect();
    Ok(frame.words("pointers", &pointers)?.into())
}

fn pack(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let pack: &operator::Pack = job.operator()?;
    let [size, element_bytes] = stack([pack.parts, pack.rounds, pack.run], job, frame)?;
    let inputs = pointers(frame, &buffers.inputs)?;
    Ok(vec![size, element_bytes, inputs, buffers.outputs[0].into()])
}

fn unpack(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let unpack: &operator::Unpack = job.operator()?;
    let [size, element_bytes] = stack([unpack.parts, unpack.rounds, unpack.run], job, frame)?;
    let outputs = pointers(frame, &buffers.outputs)?;
    Ok(vec![size, element_bytes, buffers.inputs[0].into(), outputs])
}

/// The size of a stack, and that of its elements.
fn stack(size: [u32; 3], job: &Job, frame: &mut Frame) -> Result<[Argument; 2], CallError> {
    let size = frame.words("size", &size.map(|extent| extent as i32))?;
    let element_bytes = Argument::Word(job.case.input_type.size_bytes());
    Ok([size.into(), element_bytes])
}

fn blocks(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let moved_blocks: &operator::DepthSpace = job.operator()?;
    moved(job, buffers, frame, &[moved_blocks.block as i32])
}

fn batches(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let spread: &operator::BatchSpace = job.operator()?;
    let params = [spread.block, spread.before].concat();
    let params: Vec<i32> = params.iter().map(|&extent| extent as i32).collect();
    moved(job, buffers, frame, &params)
}

fn gather(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let gather: &operator::Gather = job.operator()?;
    let mut size = [gather.batches, gather.outer, gather.run, gather.count].to_vec();
    size.push(gather.extents.len() as u32);
    size.extend(&gather.extents);
    // The structure has room for the most.
    size.resize(5 + operator::Gather::MOST_AXES, 1);
    let size: Vec<i32> = size.iter().map(|&extent| extent as i32).collect();
    let size = frame.words("size", &size)?;
    let pointers = [buffers.inputs[0], buffers.inputs[1], buffers.outputs[0]];
    let mut arguments = vec![
        size.into(),
        Argument::Word(job.case.input_type.size_bytes()),
    ];
    arguments.extend(pointers.map(Argument::from));
    Ok(arguments)
}

fn concat(
    job: &Job,
    buffers: &Buffers,
    frame: &mut Frame,
    element_bytes: Option<Argument>,
) -> Arguments {
    let concat: &operator::Concat = job.operator()?;
    job.same_scales(concat.inputs.len(), 0.0)?;
    let inputs = concat.inputs.iter().copied();
    let lists = lists(frame, inputs, &buffers.inputs)?;
    let mut arguments = vec![Argument::Word(concat.axis)];
    arguments.extend(element_bytes);
    arguments.push(Argument::Word(concat.inputs.len() as u32));
    arguments.extend(lists);
    arguments.push(buffers.outputs[0].into());
    Ok(arguments)
}

/// Rows that are there, if any, and after them those that the application hands over.
fn next_rows(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let rows: &operator::InputRows = job.operator()?;
    let bytes = |shape: Shape| shape.iter().product::<u32>() * rows.element_bytes;
    let output = buffers.outputs[0];
    let (kept, kept_bytes) = match (rows.kept, &buffers.inputs[..]) {
        (Some(shape), &[kept, _]) => (kept, bytes(shape)),
        _ => (output, 0),
    };
    let source = buffers.inputs.last().copied().unwrap_or(output);
    Ok(vec![
        source.into(),
        Argument::Word(bytes(rows.new)),
        kept.into(),
        Argument::Word(kept_bytes),
        output.into(),
    ])
}

fn split(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let split: &operator::Split = job.operator()?;
    let outputs = split.parts.iter().map(|&part| {
        let mut shape = split.input;
        shape[split.axis as usize] = part;
        shape
    });
    let [shapes, pointers] = lists(frame, outputs, &buffers.outputs)?;
    Ok(vec![
        Argument::Word(split.axis),
        Argument::Word(split.element_bytes),
        Argument::Word(split.parts.len() as u32),
        shapes,
        buffers.inputs[0].into(),
        pointers,
    ])
}

/// Elements of whatever type.
pub(super) fn pad_any(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let size = job.case.input_type.size_bytes();
    let value = frame.place("value", padding(job)?)?;
    pad(job, buffers, frame, &[value.into(), Argument::Word(size)])
}

fn pad(job: &Job, buffers: &Buffers, frame: &mut Frame, value: &[Argument]) -> Arguments {
    let pad: &operator::Pad = job.operator()?;
    let before = frame.words("padding", &words(pad.before))?;
    let mut arguments = vec![before.into()];
    arguments.extend_from_slice(value);
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}

fn reshape(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let reshape: &operator::Reshape = job.operator()?;
    Ok(vec![
        Argument::Word(reshape.elements),
        buffers.inputs[0].into(),
        buffers.outputs[0].into(),
    ])
}

/// Kernels that move elements of whatever type.
fn moved(job: &Job, buffers: &Buffers, frame: &mut Frame, params: &[i32]) -> Arguments {
    let params = frame.words("parameters", params)?;
    let mut arguments = vec![
        params.into(),
        Argument::Word(job.case.input_type.size_bytes()),
    ];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}

fn strided_slice(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let slice: &operator::StridedSlice = job.operator()?;
    let params = [words(slice.begin), slice.stride].concat();
    moved(job, buffers, frame, &params)
}

fn resize_bilinear(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let resize: &operator::ResizeBilinear = job.operator()?;
    let modes = [resize.align_corners, resize.half_pixel_centers].map(i32::from);
    let params = frame.words("parameters", &modes)?;
    let mut arguments = vec![params.into()];
    arguments.extend(in_and_out(job, buffers, frame)?);
    Ok(arguments)
}
