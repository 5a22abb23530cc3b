//! The signal library of TensorFlow Lite Micro (`signal/micro/kernels`, `signal/src`).
//!
//! Most of its operators copy a frame to memory of their own, where they compute, and copy what
//! comes of it to their output.

use super::{FileNode, Lowered, element_bytes, elements};
use crate::graph::tflite::flexbuffer::Map;
use crate::operator::{Operator, Staged};

/// An integer among the options.
fn option(node: &FileNode, name: &str) -> Option<i64> {
    Map::read(node.custom_options?)?.integer(name)
}

/// The same, if it is not negative.
pub(crate) fn count(node: &FileNode, name: &str) -> Option<u64> {
    u64::try_from(option(node, name)?).ok()
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
    staged(node, 1)
}

/// Each row is copied to scratch memory, with zeros after it, and transformed from there
/// (`rfft.cc`).
pub(in crate::graph::tflite) fn rfft(node: &FileNode) -> Option<Lowered> {
    let (source, target) = (node.input(0)?, node.only_output()?);
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
    let rounds = rows(&source.shape)?;
    let (&frame, step) = (source.shape.last()?, count(node, "frame_step")?);
    let stored = u64::from(rounds).checked_mul(step)?;
    if step > u64::from(frame) || stored != u64::from(elements(&target.shape)?) {
        return None;
    }
    staged(node, rounds)
}

/// Element by element, of one input; others are loaded as they are needed (`window.cc`,
/// `filter_bank_log.cc`, `filter_bank_square_root.cc`).
pub(in crate::graph::tflite) fn elementwise(node: &FileNode) -> Option<Lowered> {
    staged(node, elements(&node.input(0)?.shape)?)
}
