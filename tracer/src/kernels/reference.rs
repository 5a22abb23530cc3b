//! The reference kernels of `kernels-c/reference/`. Contracts: `kernels-c/include/`.

mod convolutions;
mod elementwise;
mod moves;
mod pools;
mod products;
mod reductions;
mod sequences;

use super::{Arguments, Buffers, Case, Contract, Job};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Shape, Window};
use dmo_analysis::trace::ElementType;

/// All of them.
pub(super) fn contracts() -> impl Iterator<Item = &'static Contract> {
    [
        convolutions::CONTRACTS,
        pools::CONTRACTS,
        products::CONTRACTS,
        elementwise::CONTRACTS,
        moves::CONTRACTS,
        reductions::CONTRACTS,
        sequences::CONTRACTS,
    ]
    .into_iter()
    .flatten()
}

/// Input and output are of this type.
pub(super) fn all(case: &Case, element_type: ElementType) -> bool {
    case.input_type == element_type && case.output_type == element_type
}

/// The case is of this kind, and input and output of this type.
pub(super) fn is(case: &Case, kind: &str, element_type: ElementType) -> bool {
    case.kind == kind && all(case, element_type)
}

/// Type of the biases of the kernels whose activations have this one.
fn bias_type(activations: ElementType) -> ElementType {
    match activations {
        ElementType::Int16 => ElementType::Int64,
        ElementType::Float32 => ElementType::Float32,
        _ => ElementType::Int32,
    }
}

fn activation_f32(job: &Job) -> [i32; 2] {
    job.activation_f32().map(bits)
}

fn bits(value: f32) -> i32 {
    value.to_bits() as i32
}

pub(super) fn words(shape: Shape) -> [i32; 4] {
    shape.map(|extent| extent as i32)
}

/// Number of elements; the greatest number there is where that does not fit.
pub(super) fn size(shape: Shape) -> u64 {
    let extents = shape.iter().map(|&extent| u64::from(extent));
    extents.fold(1, u64::saturating_mul)
}

/// Height and width of each, one after the other.
fn tiles<const N: usize>(tiles: [[u32; 2]; N]) -> Vec<i32> {
    let extents = tiles.concat().into_iter();
    extents.map(|extent| extent as i32).collect()
}

fn geometry(window: Window) -> Vec<i32> {
    tiles([window.stride, window.dilation, window.padding_before])
}

/// Shapes and buffers of one input and one output, in the order that most kernels share.
fn in_and_out(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Result<[Argument; 4], CallError> {
    let (input, output) = shapes(job.case).unwrap_or_default();
    let input = frame.words("input shape", &words(input))?;
    let output = frame.words("output shape", &words(output))?;
    Ok([
        input.into(),
        buffers.inputs[0].into(),
        output.into(),
        buffers.outputs[0].into(),
    ])
}

/// Shapes of the first input and the first output.
pub(super) fn shapes(case: &Case) -> Option<(Shape, Shape)> {
    let buffers = case.operator.buffers().ok()?;
    Some((
        buffers.inputs.first()?.shape,
        buffers.outputs.first()?.shape,
    ))
}

/// The input's shape, of which the size of the scratch memory follows.
fn input_shape(job: &Job, frame: &mut Frame) -> Arguments {
    let (input, _) = shapes(job.case).unwrap_or_default();
    Ok(vec![frame.words("input shape", &words(input))?.into()])
}

/// The output's shape, of which the size of the scratch memory follows.
fn output_shape(job: &Job, frame: &mut Frame) -> Arguments {
    let (_, output) = shapes(job.case).unwrap_or_default();
    Ok(vec![frame.words("output shape", &words(output))?.into()])
}
