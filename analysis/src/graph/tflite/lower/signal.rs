//! The signal library of TensorFlow Lite Micro (`signal/micro/kernels`, `signal/src`).
//!
//! Most of its operators copy a frame to memory of their own, where they compute, and copy what
//! comes of it to their output.

use super::{FileNode, Lowered, element_bytes, elements};
use crate::graph::tflite::flexbuffer::Map;
use crate::graph::{GraphTensor, TensorType};
use crate::operator::{Apart, ApartBuffer, Operator, Staged};

/// An integer among the options.
fn option(node: &FileNode, name: &str) -> Option<i64> {
    Map::read(node.custom_options?)?.integer(name)
}

/// The same, if it is not negative.
pub(crate) fn count(node: &FileNode, name: &str) -> Option<u64> {
    u64::try_from(option(node, name)?).ok()
}

/// Only what the runtime prepares: the first inputs and outputs have this many axes.
fn with_axes(node: &FileNode, inputs: &[usize], outputs: &[usize]) -> Option<()> {
    let has = |tensor: Option<&GraphTensor>, axes: usize| {
        tensor.is_some_and(|tensor| tensor.shape.len() == axes)
    };
    let mut given = inputs.iter().enumerate();
    let mut stored = outputs.iter().enumerate();
    let fits = given.all(|(index, &axes)| has(node.input(index), axes))
        && stored.all(|(index, &axes)| has(node.output(index), axes));
    fits.then_some(())
}

/// Rounds of one input and one output.
fn staged(node: &FileNode, rounds: u32) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    let run = |shape: &[u32]| elements(shape)?.checked_div(rounds);
    let staged = Staged {
        rounds,
        input_run: run(&source.shape)?,
        output_run: run(&target.shape)?,
        input_element_bytes: element_bytes(source)?,
        output_element_bytes: element_bytes(target)?,
        first_bytes: 0,
    };
    Some((Operator::Staged(staged), vec![0]))
}

/// Rows of the last axis but one.
fn rows(shape: &[u32]) -> Option<u32> {
    elements(shape.split_last()?.1)
}

/// Row by row through a circular buffer (`delay.cc`).
pub(in crate::graph::tflite) fn delay(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    if source.shape != target.shape {
        return None;
    }
    staged(node, rows(&source.shape)?)
}

/// All channels are summed up before the first is copied to the output (`filter_bank.cc`).
pub(in crate::graph::tflite) fn filter_bank(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1])?;
    staged(node, 1)
}

/// Each row is copied to scratch memory, with zeros after it, and transformed from there
/// (`rfft.cc`).
pub(in crate::graph::tflite) fn rfft(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    with_axes(node, &[target.shape.len()], &[])?;
    let length = count(node, "fft_length")?;
    let (&input, &output) = (source.shape.last()?, target.shape.last()?);
    // Real and imaginary part.
    let expected = (length / 2 + 1).checked_mul(2)?;
    if u64::from(input) > length || u64::from(output) != expected {
        return None;
    }
    staged(node, rows(&source.shape)?)
}

/// Frame by frame into a buffer, of which a step is copied to the output (`overlap_add.cc`).
pub(in crate::graph::tflite) fn overlap_add(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    with_axes(node, &[target.shape.len() + 1], &[])?;
    let rounds = rows(&source.shape)?;
    let (&frame, step) = (source.shape.last()?, count(node, "frame_step")?);
    let stored = u64::from(rounds).checked_mul(step)?;
    if step > u64::from(frame) || stored != u64::from(elements(&target.shape)?) {
        return None;
    }
    staged(node, rounds)
}

/// Element by element, of one input; others are loaded as they are needed.
fn elementwise(node: &FileNode) -> Option<Lowered> {
    staged(node, elements(&node.input(0)?.shape)?)
}

/// `window.cc`
pub(in crate::graph::tflite) fn window(node: &FileNode) -> Option<Lowered> {
    let axes = node.only_output()?.shape.len().max(1);
    with_axes(node, &[axes, 1], &[axes])?;
    elementwise(node)
}

/// `filter_bank_log.cc`
pub(in crate::graph::tflite) fn logarithm(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1])?;
    elementwise(node)
}

/// The same, after by how many bits all roots are shifted (`filter_bank_square_root.cc`).
pub(in crate::graph::tflite) fn square_root(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1, 0], &[1])?;
    let bits = node.input(1)?;
    if bits.element_type != TensorType::Int32 || elements(&bits.shape)? != 1 {
        return None;
    }
    match elementwise(node)?.0 {
        Operator::Staged(mut staged) => {
            staged.first_bytes = element_bytes(bits)?;
            Some((Operator::Staged(staged), vec![0, 1]))
        }
        _ => None,
    }
}

fn buffer(tensor: &GraphTensor) -> Option<ApartBuffer> {
    Some(ApartBuffer {
        elements: elements(&tensor.shape)?,
        element_bytes: element_bytes(tensor)?,
    })
}

/// All outputs and the first inputs, which have these types, the inputs first. What kernels here do
/// with them is not what the runtime's do: they store all of their outputs, or copy in an order.
pub(super) fn apart(
    node: &FileNode,
    inputs: &[TensorType],
    outputs: &[TensorType],
) -> Option<Lowered> {
    if node.outputs.len() != outputs.len() {
        return None;
    }
    let typed = |tensor: &GraphTensor, wanted: &TensorType| {
        buffer(tensor).filter(|_| tensor.element_type == *wanted)
    };
    let given = (inputs.iter().enumerate()).map(|(index, it)| typed(node.input(index)?, it));
    let stored = (outputs.iter().enumerate()).map(|(index, it)| typed(node.output(index)?, it));
    let operator = Apart {
        inputs: given.collect::<Option<_>>()?,
        outputs: stored.collect::<Option<_>>()?,
    };
    Some((Operator::Apart(operator), (0..inputs.len()).collect()))
}

/// `energy.cc`
pub(in crate::graph::tflite) fn energy(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1])?;
    let [pairs, energies] = [node.input(0)?, node.output(0)?].map(|it| elements(&it.shape));
    let is_whole = pairs? == energies?.checked_mul(2)?;
    let fits = count(node, "end_index")? <= u64::from(energies?);
    let known = apart(node, &[TensorType::Int16], &[TensorType::Uint32])?;
    (is_whole && fits).then_some(known)
}

/// `fft_auto_scale_kernel.cc`
pub(in crate::graph::tflite) fn scale(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1, 0])?;
    let bits = node.output(1)?;
    let fits = node.input(0)?.shape == node.output(0)?.shape && elements(&bits.shape)? == 1;
    let outputs = [TensorType::Int16, TensorType::Int32];
    apart(node, &[TensorType::Int16], &outputs).filter(|_| fits)
}

/// `filter_bank_spectral_subtraction.cc`
pub(in crate::graph::tflite) fn noise(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1, 1])?;
    let all = [node.input(0)?, node.output(0)?, node.output(1)?];
    let channels = count(node, "num_channels")?;
    let mut sizes = all.iter().map(|it| elements(&it.shape));
    let fits = sizes.all(|size| size.map(u64::from) == Some(channels));
    apart(node, &[TensorType::Uint32], &[TensorType::Uint32; 2]).filter(|_| fits)
}

/// `pcan.cc`
pub(in crate::graph::tflite) fn gain_control(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1, 1, 1], &[1])?;
    let shape = &node.input(0)?.shape;
    let fits = node.input(1)?.shape == *shape && node.output(0)?.shape == *shape;
    apart(node, &[TensorType::Uint32; 2], &[TensorType::Uint32]).filter(|_| fits)
}

/// `irfft.cc`
pub(in crate::graph::tflite) fn irfft(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
    with_axes(node, &[target.shape.len()], &[])?;
    let points = count(node, "fft_length")?;
    let (&pairs, &reals) = (source.shape.last()?, target.shape.last()?);
    let fits = u64::from(reals) == points
        && u64::from(pairs) == (points / 2 + 1).checked_mul(2)?
        && rows(&source.shape)? == rows(&target.shape)?;
    apart(node, &[source.element_type], &[source.element_type]).filter(|_| fits)
}

/// `framer.cc`
pub(in crate::graph::tflite) fn framer(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.output(0)?);
    with_axes(node, &[], &[source.shape.len() + 1, 0])?;
    let [frame, step] = ["frame_size", "frame_step"].map(|name| count(node, name));
    let (&given, step) = (source.shape.last()?, step.filter(|&step| step > 0)?);
    let frames = u64::from(rows(&source.shape)?).checked_mul(u64::from(given) / step)?;
    let fits = u64::from(given).is_multiple_of(step)
        && Some(u64::from(elements(&target.shape)?)) == frames.checked_mul(frame?)
        && elements(&node.output(1)?.shape)? == 1;
    let outputs = [TensorType::Int16, TensorType::Bool];
    apart(node, &[TensorType::Int16], &outputs).filter(|_| fits)
}

/// `stacker.cc`
pub(in crate::graph::tflite) fn stacker(node: &FileNode) -> Option<Lowered> {
    with_axes(node, &[1], &[1, 0])?;
    let channels = count(node, "num_channels")?;
    let names = ["stacker_left_context", "stacker_right_context"];
    let [left, right] = names.map(|name| count(node, name));
    let stacked = left?
        .checked_add(right?)?
        .checked_add(1)?
        .checked_mul(channels)?;
    let fits = u64::from(elements(&node.input(0)?.shape)?) == channels
        && u64::from(elements(&node.output(0)?.shape)?) == stacked
        && elements(&node.output(1)?.shape)? == 1;
    let outputs = [TensorType::Int16, TensorType::Bool];
    apart(node, &[TensorType::Int16], &outputs).filter(|_| fits)
}
