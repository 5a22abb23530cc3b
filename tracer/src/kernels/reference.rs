//! The reference kernels of `kernels-c/reference/`. Contracts: `kernels-c/include/`.

mod axes;
mod convolutions;
pub(super) mod decode;
pub(super) mod detection;
mod elementwise;
mod extents;
mod functions;
mod moves;
mod pairs;
mod pitched;
mod pools;
mod products;
mod reductions;
mod sequences;
mod signal;

pub use moves::{NEXT_ROWS, ROWS_IN_MEMORY};

use super::case::{shapes, words};
use super::{Arguments, Buffers, Case, Contract, Job};
use crate::call::{Argument, CallError, Frame};
use dmo_analysis::operator::{Operator, Pitch, PitchedShape, Shape, Window};
use dmo_analysis::trace::Address;

/// All of them.
pub(super) fn contracts() -> impl Iterator<Item = &'static Contract> {
    [
        convolutions::CONTRACTS,
        pools::CONTRACTS,
        products::CONTRACTS,
        elementwise::CONTRACTS,
        functions::CONTRACTS,
        pairs::CONTRACTS,
        axes::CONTRACTS,
        moves::CONTRACTS,
        extents::CONTRACTS,
        reductions::CONTRACTS,
        sequences::CONTRACTS,
        signal::CONTRACTS,
        detection::CONTRACTS,
        decode::CONTRACTS,
        pitched::CONTRACTS,
    ]
    .into_iter()
    .flatten()
}

fn activation_f32(job: &Job) -> [i32; 2] {
    job.activation_f32().map(bits)
}

fn bits(value: f32) -> i32 {
    value.to_bits() as i32
}

/// Height and width of each, one after the other.
fn tiles<const N: usize>(tiles: [[u32; 2]; N]) -> Vec<i32> {
    let extents = tiles.concat().into_iter();
    extents.map(|extent| extent as i32).collect()
}

pub(super) fn geometry(window: Window) -> Vec<i32> {
    tiles([window.stride, window.dilation, window.padding_before])
}

/// Shapes and buffers of one input and one output, in the order that most kernels share; in
/// parts of larger tensors after each shape its pitch.
fn in_and_out(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let [input, output] = first_shapes(job.case).unwrap_or_default();
    let mut arguments = input.arguments("input", buffers.inputs[0], frame)?;
    arguments.extend(output.arguments("output", buffers.outputs[0], frame)?);
    Ok(arguments)
}

/// Shape of an input or output as a kernel is given it.
#[derive(Clone, Copy, Default)]
struct BufferShape {
    shape: Shape,
    pitch: Option<Pitch>,
}

impl From<PitchedShape> for BufferShape {
    fn from(view: PitchedShape) -> Self {
        Self {
            shape: view.shape,
            pitch: Some(view.pitch),
        }
    }
}

impl BufferShape {
    fn arguments(self, what: &str, address: Address, frame: &mut Frame) -> Arguments {
        let shape = frame.words(&format!("{what} shape"), &words(self.shape))?;
        let mut arguments = vec![shape.into()];
        arguments.extend(self.pitch(what, frame)?);
        arguments.push(address.into());
        Ok(arguments)
    }

    /// Its pitch, where the kernel is given one.
    fn pitch(self, what: &str, frame: &mut Frame) -> Result<Option<Argument>, CallError> {
        let place = |pitch: Pitch| {
            let words = [pitch.row, pitch.pixel].map(|elements| elements as i32);
            Ok(frame.words(&format!("{what} pitch"), &words)?.into())
        };
        self.pitch.map(place).transpose()
    }
}

/// Of the first input and the first output.
fn first_shapes(case: &Case) -> Option<[BufferShape; 2]> {
    if let Operator::Pitched(pitched) = &case.operator {
        let inputs = pitched.input_views().ok()?;
        let outputs = pitched.output_views().ok()?;
        return Some([(*inputs.first()?).into(), (*outputs.first()?).into()]);
    }
    let (input, output) = shapes(case)?;
    Some([input, output].map(|shape| BufferShape { shape, pitch: None }))
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
