//! The reference kernels of `kernels-c/reference/`. Contracts: `kernels-c/include/`.

mod convolutions;
mod elementwise;
mod moves;
mod pools;
mod products;
mod reductions;
mod sequences;

use super::{Arguments, Buffers, Case, Contract};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Shape, Window};
use dmo_analysis::trace::ElementType;

pub(super) use sequences::SVDF_MEMORY;

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

/// What differs between activations of 8 and of 16 bits; weights have 8 bits.
struct Quantisation {
    input_offset: i32,
    output_offset: i32,
    activation: [i32; 2],
    bias_bytes: usize,
}

const INT8: Quantisation = Quantisation {
    input_offset: 3,
    output_offset: -5,
    activation: [-128, 127],
    bias_bytes: 4,
};

const INT16: Quantisation = Quantisation {
    input_offset: 0,
    output_offset: 0,
    activation: [-32768, 32767],
    bias_bytes: 8,
};

/// Float activations, as good as without limits.
fn activation_f32() -> [i32; 2] {
    [-1e30, 1e30].map(bits)
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
fn in_and_out(
    case: &Case,
    buffers: &Buffers,
    frame: &mut Frame,
) -> Result<[Argument; 4], CallError> {
    let (input, output) = shapes(case).unwrap_or_default();
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
fn shapes(case: &Case) -> Option<(Shape, Shape)> {
    let buffers = case.operator.buffers().ok()?;
    Some((
        buffers.inputs.first()?.shape,
        buffers.outputs.first()?.shape,
    ))
}

/// The output's shape, of which the size of the scratch memory follows.
fn output_shape(case: &Case, frame: &mut Frame) -> Arguments {
    let (_, output) = shapes(case).unwrap_or_default();
    Ok(vec![frame.words("output shape", &words(output))?.into()])
}
