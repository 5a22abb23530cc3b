//! Kernels with the public CMSIS-NN interface for 8 and 16 bits, versions 4 to 7: our own of
//! `kernels-c/dsp/`, version 7 and int8 only, or a user's library of that interface.
//! Contracts of ours: `kernels-c/include/cmsis_nn/`; what differs in other versions:
//! `docs/vendor.md`. A function that is not called alike in all of them has several rows; the
//! first that holds for all versions that a library may be of is taken.
//!
//! `arm_relu_q7` and `arm_relu6_s8` have none: they work in one buffer, so that there is
//! nothing to overlap.

mod convolutions;
mod int16;
mod int4;
mod lstm;
mod moves;
pub(super) mod runtime;
pub mod vendor_header;

use super::case::{same_shapes, undilated_pool, words};
use super::constants::bias_type;
use super::convolution;
use super::elementwise::{Product, Sum, softmax_numbers};
use super::fully_connected::{FullyConnectedNumbers, weights};
use super::quantisation::{Multiplier, POOL_TOLERANCE, limits};
use super::size;
use super::svdf::{self, STATE_S8, STATE_S16, SvdfNumbers, SvdfShape, SvdfWeights};
use super::{Arguments, Buffers, Case, Contract, Job, ScratchSize, State};
use crate::call::{Argument, CallError, Frame, inexpressible};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{self, Operator, Shape};
use dmo_analysis::trace::{Address, ElementType};

/// All of them.
pub(super) fn contracts() -> impl Iterator<Item = &'static Contract> {
    [
        convolutions::CONTRACTS,
        CONTRACTS,
        moves::CONTRACTS,
        int16::CONTRACTS,
        int4::CONTRACTS,
        lstm::CONTRACTS,
    ]
    .into_iter()
    .flatten()
}

const CONTRACTS: &[Contract] = &[
    Contract::int8(
        "arm_fully_connected_s8",
        &Kind::FullyConnected,
        |job, buffers, frame| {
            fully_connected_s8(job, &FullyConnectedNumbers::of(job)?, buffers, frame)
        },
    )
    .with_status()
    .with_scratch(FULLY_CONNECTED_SCRATCH)
    .since(6),
    Contract::int8(
        "arm_fully_connected_s8",
        &Kind::FullyConnected,
        |job, buffers, frame| fully_connected_s8(job, &unmoved_filter(job)?, buffers, frame),
    )
    .with_status()
    .with_scratch(FULLY_CONNECTED_SCRATCH),
    Contract::int8(
        "arm_fully_connected_per_channel_s8",
        &Kind::FullyConnected,
        |job, buffers, frame| {
            let (input, output) = (job.input(0)?, job.output()?);
            let mut params = vec![-input.zero_point, 0, output.zero_point];
            params.extend(job.activation()?);
            let shifts = convolution::shifts(job.case.input_type);
            let quant = job.convolution()?.per_channel(job, shifts, frame)?;
            fully_connected(job, TensorType::Int8, &params, quant, buffers, frame)
        },
    )
    .with_status()
    .with_scratch(FULLY_CONNECTED_SCRATCH)
    .since(7),
    Contract::int8("arm_max_pool_s8", &Kind::MaxPool2d, pool)
        .only(undilated_pool)
        .with_status()
        .since(6),
    Contract::int8("arm_max_pool_s8", &Kind::MaxPool2d, pool)
        .only(|case| undilated_pool(case) && has_one_batch(case))
        .with_status(),
    Contract::int8("arm_avgpool_s8", &Kind::AveragePool2d, pool)
        .only(undilated_pool)
        .with_status()
        .with_scratch(AVERAGE_SCRATCH)
        .since(6),
    Contract::int8("arm_avgpool_s8", &Kind::AveragePool2d, pool)
        .only(|case| undilated_pool(case) && has_one_batch(case))
        .with_status()
        .with_scratch(AVERAGE_SCRATCH),
    Contract::int8("arm_softmax_s8", &Kind::Softmax, |job, buffers, _| {
        job.output_is(1.0 / 256.0, -128)?;
        softmax(job, buffers)
    }),
    Contract::new("arm_softmax_s8_s16", &Kind::Softmax, |job, buffers, _| {
        job.output_is(1.0 / 65536.0, -32768)?;
        softmax(job, buffers)
    })
    .of(ElementType::Int8, ElementType::Int16),
    Contract::uint8("arm_softmax_u8", &Kind::Softmax, |job, buffers, _| {
        job.output_is(1.0 / 256.0, 0)?;
        softmax(job, buffers)
    }),
    Contract::int8("arm_elementwise_add_s8", &Kind::Add, sum)
        .only(same_shapes)
        .with_status(),
    Contract::int8("arm_elementwise_mul_s8", &Kind::Mul, product)
        .only(same_shapes)
        .with_status(),
    Contract::int8("arm_maximum_s8", &Kind::Maximum, extreme)
        .only(repeats_no_columns)
        .with_status()
        .since(7),
    Contract::int8("arm_minimum_s8", &Kind::Minimum, extreme)
        .only(repeats_no_columns)
        .with_status()
        .since(7),
    Contract::int8("arm_svdf_s8", &Kind::Svdf, svdf_s8)
        .with_status()
        .with_states(&[STATE_S8])
        .with_scratch(
            ScratchSize::new("arm_svdf_s8_get_buffer_size", |job, frame| {
                let shape = SvdfShape::of(job)?;
                let dims = [shape.filters, shape.inputs, 1, 1];
                Ok(vec![frame.words("feature dims", &words(dims))?.into()])
            })
            .and(sums_bytes),
        )
        .since(5),
    Contract::int8("arm_svdf_s8", &Kind::Svdf, |job, buffers, frame| {
        // Without the sums of the weights.
        Ok(svdf_s8(job, buffers, frame)?.split_off(1))
    })
    .with_status()
    .with_states(&[STATE_S8])
    .with_scratch(ScratchSize::untold(sums_bytes))
    .until(4),
    Contract::int8(
        "arm_svdf_state_s16_s8",
        &Kind::Svdf,
        |job, buffers, frame| {
            // It takes no sums of the weights either.
            Ok(svdf(job, buffers, frame, STATE_S16)?.split_off(1))
        },
    )
    .with_status()
    .with_states(&[STATE_S16])
    .with_scratch(ScratchSize::untold(sums_bytes)),
];

const FULLY_CONNECTED_SCRATCH: ScratchSize = ScratchSize::new(
    "arm_fully_connected_s8_get_buffer_size",
    fully_connected_filter,
);

const AVERAGE_SCRATCH: ScratchSize =
    ScratchSize::new("arm_avgpool_s8_get_buffer_size", row_width_and_depth);

fn fully_connected_filter(job: &Job, frame: &mut Frame) -> Arguments {
    let dims = frame.words("filter dims", &fully_connected_dims(job.operator()?)[1])?;
    Ok(vec![dims.into()])
}

/// Pixels in a row of a pool's output, and channels.
fn row_width_and_depth(job: &Job, _: &mut Frame) -> Arguments {
    let pool: &operator::Pool2d = job.operator()?;
    Ok(vec![
        Argument::Word(pool.output[2]),
        Argument::Word(pool.input[3]),
    ])
}

/// Arguments of 32 bits.
fn numbers<const N: usize>(numbers: [i32; N]) -> [Argument; N] {
    numbers.map(|number| Argument::Word(number as u32))
}

fn has_one_batch(case: &Case) -> bool {
    matches!(&case.operator, Operator::Pool2d(pool) if pool.input[0] == 1)
}

fn output_elements(case: &Case) -> i32 {
    match &case.operator {
        Operator::ElementwiseBinary(binary) => size(binary.output) as i32,
        _ => 0,
    }
}

fn softmax(job: &Job, buffers: &Buffers) -> Arguments {
    let softmax: &operator::Softmax = job.operator()?;
    let mut arguments = vec![
        buffers.inputs[0].into(),
        Argument::Word(softmax.rows),
        Argument::Word(softmax.depth),
    ];
    arguments.extend(numbers(softmax_numbers(job, job.parameters.beta)?));
    arguments.push(buffers.outputs[0].into());
    Ok(arguments)
}

fn sum(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let sum = Sum::of(job)?;
    let [a, b, output] = sum.ratios.map(Multiplier::words);
    let mut arguments = vec![buffers.inputs[0].into(), buffers.inputs[1].into()];
    arguments.extend(numbers([sum.offsets[0], a[0], a[1]]));
    arguments.extend(numbers([sum.offsets[1], b[0], b[1]]));
    arguments.extend(numbers([sum.left_shift]));
    arguments.push(buffers.outputs[0].into());
    arguments.extend(numbers([sum.offsets[2], output[0], output[1]]));
    arguments.extend(numbers(sum.activation));
    arguments.extend(numbers([output_elements(job.case)]));
    Ok(arguments)
}

fn product(job: &Job, buffers: &Buffers, _: &mut Frame) -> Arguments {
    let product = Product::of(job)?;
    let [a, b, output] = product.offsets;
    let mut arguments = vec![buffers.inputs[0].into(), buffers.inputs[1].into()];
    arguments.extend(numbers([a, b]));
    arguments.push(buffers.outputs[0].into());
    arguments.extend(numbers([output]));
    arguments.extend(numbers(product.ratio.words()));
    arguments.extend(numbers(product.activation));
    arguments.extend(numbers([output_elements(job.case)]));
    Ok(arguments)
}

/// Where rows of one element are repeated along longer rows, `arm_maximum_s8` and `arm_minimum_s8`
/// take elements of other rows, and some from after the input (CMSIS-NN 7.0.0 to 99f736a).
fn repeats_no_columns(case: &Case) -> bool {
    let Operator::ElementwiseBinary(binary) = &case.operator else {
        return false;
    };
    let is_column = |[_, height, width, depth]: Shape| height > 1 && [width, depth] == [1, 1];
    let is_wide = |[_, _, width, _]: Shape| width > 1;
    let [a, b] = binary.inputs;
    !(is_column(a) && is_wide(b) || is_column(b) && is_wide(a))
}

/// The greater or the smaller of two elements, either of which may be repeated along an axis.
fn extreme(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let binary: &operator::ElementwiseBinary = job.operator()?;
    let [a, b] = binary.inputs;
    let arguments = [
        context(buffers, frame)?,
        buffers.inputs[0],
        frame.words("dims of the first input", &words(a))?,
        buffers.inputs[1],
        frame.words("dims of the second input", &words(b))?,
        buffers.outputs[0],
        frame.words("output dims", &words(binary.output))?,
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

/// Width first, as the interface has it.
fn tile([height, width]: [u32; 2]) -> [i32; 2] {
    [width as i32, height as i32]
}

/// The context structure of all scratch memory.
fn context(buffers: &Buffers, frame: &mut Frame) -> Result<Address, CallError> {
    let (address, _) = buffers.scratch.unwrap_or_default();
    context_of(address.0, frame)
}

/// The context structure: scratch memory and its size, which TensorFlow Lite Micro sets to 0
/// (`kernels/cmsis_nn/conv.cc`, `pooling.cc`: CMSIS-NN does not use it).
fn context_of(start: u32, frame: &mut Frame) -> Result<Address, CallError> {
    const SIZE: i32 = 0;
    frame.words("context", &[start as i32, SIZE])
}

/// Bytes of the sums of an SVDF's filters and of its units, which the layer below the
/// library reserves without asking it.
fn sums(case: &Case) -> [u64; 2] {
    let Some(layer) = svdf::layer(case) else {
        return [0; 2];
    };
    let bytes = |count: u32| u64::from(layer.batches) * u64::from(count) * 4;
    [bytes(svdf::filters(layer)), bytes(layer.units)]
}

fn sums_bytes(case: &Case) -> u64 {
    sums(case).iter().sum()
}

/// Contexts of the scratch memory: what the library tells of, the sums of filters, those of
/// units.
fn svdf_contexts(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Result<[Address; 3], CallError> {
    let (address, size_bytes) = buffers.scratch.unwrap_or_default();
    let [filters, units] = sums(case);
    let Some(own) = u64::from(size_bytes).checked_sub(filters + units) else {
        let limit = format!("{} or more", filters + units);
        let given = format!("{size_bytes} bytes");
        return Err(inexpressible("the scratch memory", given, limit));
    };
    let mut context = |offset: u64| {
        let start = u64::from(address.0) + offset;
        context_of(start as u32, frame)
    };
    Ok([context(0)?, context(own)?, context(own + filters)?])
}

fn svdf_s8(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    svdf(job, buffers, frame, STATE_S8)
}

fn svdf(job: &Job, buffers: &Buffers, frame: &mut Frame, state: State) -> Arguments {
    let shape = SvdfShape::of(job)?;
    let numbers = SvdfNumbers::of(job, state)?;
    if numbers.state_zero_point != 0 {
        let given = numbers.state_zero_point;
        return Err(inexpressible("the zero point of the state", given, "0"));
    }
    let weights = SvdfWeights::place(job, shape, state, frame)?;
    let SvdfShape {
        batches,
        inputs,
        units,
        rank,
        filters,
        memory,
    } = shape;
    // Here, unlike elsewhere, the input's zero point is passed and not what is added.
    let input_zero_point = -numbers.input_offset;
    let mut params = vec![rank as i32, input_zero_point, numbers.output_offset];
    // Those of 16 bits also for a state of 8 (`svdf.cc`).
    params.extend(limits(ElementType::Int16)?);
    params.extend(limits(job.case.output_type)?);
    let [context, input_context, output_context] = svdf_contexts(job.case, buffers, frame)?;
    let dims = |extents: [u32; 4], frame: &mut Frame| frame.words("dims", &words(extents));
    let arguments = [
        context,
        input_context,
        output_context,
        frame.words("parameters", &params)?,
        frame.words("input quantisation", &numbers.feature.words())?,
        frame.words("output quantisation", &numbers.time.words())?,
        dims([batches, inputs, 1, 1], frame)?,
        buffers.inputs[0],
        dims([batches, filters, memory, 1], frame)?,
        buffers.states[0],
        dims([filters, inputs, 1, 1], frame)?,
        weights.features,
        dims([filters, memory, 1, 1], frame)?,
        weights.times,
        dims([units, 1, 1, 1], frame)?,
        weights.bias,
        dims([batches, units, 1, 1], frame)?,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

/// Dims of input, filter and output.
fn fully_connected_dims(layer: &operator::FullyConnected) -> [[i32; 4]; 3] {
    let [batches, inputs, outputs] =
        [layer.batches, layer.input_depth, layer.output_depth].map(|extent| extent as i32);
    [
        [batches, 1, 1, inputs],
        [inputs, 1, 1, outputs],
        [batches, 1, 1, outputs],
    ]
}

/// The numbers of a layer whose filter has the zero point 0.
fn unmoved_filter(job: &Job) -> Result<FullyConnectedNumbers, CallError> {
    let numbers = FullyConnectedNumbers::of(job)?;
    match numbers.filter_offset() {
        0 => Ok(numbers),
        offset => Err(inexpressible("the zero point of the filter", -offset, "0")),
    }
}

fn fully_connected_s8(
    job: &Job,
    numbers: &FullyConnectedNumbers,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Arguments {
    let quant = frame.words("quantisation", &numbers.ratio.words())?;
    let params = numbers.params();
    fully_connected(job, TensorType::Int8, &params, quant, buffers, frame)
}

/// With weights of this type, these parameters, and multipliers and shifts at `quant`.
fn fully_connected(
    job: &Job,
    filter_type: TensorType,
    params: &[i32],
    quant: Address,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Arguments {
    let layer: &operator::FullyConnected = job.operator()?;
    let [input, filter, output] = fully_connected_dims(layer);
    let bias_type = bias_type(job.case.input_type);
    let [weights, bias] = weights(job, layer, filter_type, bias_type, frame)?;
    let arguments = [
        context(buffers, frame)?,
        frame.words("parameters", params)?,
        quant,
        frame.words("input dims", &input)?,
        buffers.inputs[0],
        frame.words("filter dims", &filter)?,
        weights,
        frame.words("bias dims", &[1, 1, 1, filter[3]])?,
        bias,
        frame.words("output dims", &output)?,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}

fn pool(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let pool: &operator::Pool2d = job.operator()?;
    job.same_scales(1, POOL_TOLERANCE)?;
    let mut params = tile(pool.window.stride).to_vec();
    params.extend(tile(pool.window.padding_before));
    params.extend(job.activation()?);
    let [height, width] = pool.window.kernel;
    let arguments = [
        context(buffers, frame)?,
        frame.words("parameters", &params)?,
        frame.words("input dims", &words(pool.input))?,
        buffers.inputs[0],
        frame.words("filter dims", &words([1, height, width, 1]))?,
        frame.words("output dims", &words(pool.output))?,
        buffers.outputs[0],
    ];
    Ok(arguments.map(Argument::from).to_vec())
}
