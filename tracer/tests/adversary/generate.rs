//! Random models: any operators on one another, of any types and shapes.

use crate::draft::Draft;
use crate::operators::{ALL, VISION, grow};
use dmo_analysis::graph::TensorType;

const MOST_OPERATORS: u32 = 12;

/// A model as a file, and how many inputs and outputs it has.
pub struct Generated {
    pub file: Vec<u8>,
    pub inputs: usize,
    pub outputs: usize,
}

/// The model of a seed.
pub fn model(seed: u64) -> Generated {
    model_of(seed, |_| true)
}

/// The model of a seed, of operators that are accepted: after each that is added, the model so far
/// is asked about, and it is taken back where the answer is no.
pub fn model_of(seed: u64, mut accepts: impl FnMut(&[u8]) -> bool) -> Generated {
    let mut draft = Draft::new(seed);
    let is_vision = draft.once_in(4);
    let choice = if is_vision { VISION } else { ALL };
    if is_vision {
        image(&mut draft);
    } else {
        for _ in 0..draft.pick(&[1, 1, 1, 2, 3]) {
            input(&mut draft);
        }
    }
    let wanted = draft.between(1, MOST_OPERATORS) as usize;
    // Some operators find nothing that they could take.
    for _ in 0..20 * wanted {
        if draft.operator_count() < wanted {
            draft.attempt(|draft| {
                let is_kept = grow(draft, choice) && accepts(&draft.file_so_far());
                is_kept.then_some(())
            });
        }
    }
    draft.outputs = outputs(&mut draft);
    Generated {
        file: draft.file(),
        inputs: draft.inputs.len(),
        outputs: draft.outputs.len(),
    }
}

/// An input whose height and width are worth being split.
fn image(draft: &mut Draft) {
    let shape = [
        1,
        draft.between(12, 28),
        draft.between(12, 28),
        draft.between(1, 3),
    ];
    let element = draft.pick(&[TensorType::Int8, TensorType::Int8, TensorType::Float32]);
    let shape = if element == TensorType::Float32 {
        shape.map(|extent| extent.min(18))
    } else {
        shape
    };
    let quantization = draft.any_quantization(element);
    let input = draft.activation(&shape, element, quantization).unwrap();
    draft.inputs.push(input);
    draft.known.push(input);
}

fn input(draft: &mut Draft) {
    use TensorType::{Float32, Int8, Int16, Int32};
    let element = draft.pick(&[
        Int8, Int8, Int8, Int8, Float32, Float32, Int16, Int16, Int32,
    ]);
    let depth = draft.between(1, 8);
    let shape = match draft.below(9) {
        0 => vec![draft.between(1, 64)],
        1 => vec![draft.between(1, 4), draft.between(1, 48)],
        2 => vec![draft.between(1, 3), draft.between(1, 8), depth],
        3 => vec![
            draft.between(1, 3),
            draft.between(1, 7),
            draft.between(1, 7),
            depth,
        ],
        4 => vec![4, draft.between(1, 6), draft.between(1, 6), depth],
        _ => vec![1, draft.between(1, 16), draft.between(1, 16), depth],
    };
    let quantization = draft.any_quantization(element);
    let input = draft.activation(&shape, element, quantization).unwrap();
    draft.inputs.push(input);
    draft.known.push(input);
}

/// What nothing reads, most of it, and sometimes what something does.
fn outputs(draft: &mut Draft) -> Vec<usize> {
    let mut outputs = draft.unread();
    outputs.retain(|id| !draft.inputs.contains(id));
    while outputs.len() > 1 && draft.once_in(8) {
        let dropped = draft.random.below(outputs.len());
        outputs.remove(dropped);
    }
    let known = draft.known.clone();
    if outputs.is_empty() || draft.once_in(6) {
        let more = draft.pick(&known);
        if !outputs.contains(&more) {
            outputs.push(more);
        }
    }
    outputs
}
