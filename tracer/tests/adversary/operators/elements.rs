//! Element by element, softmax, reductions.

use super::{ANY, activation_code, element_is, quantized_like};
use crate::draft::{Draft, DraftTensor, Quantization};
use crate::tree::Part;
use TensorType::{Bool, Float32, Int8, Int16, Int32};
use dmo_analysis::graph::{Kind, TensorType};

/// Operators of one input whose output has its type: which types, and their options.
const UNARY: &[(Kind, &[TensorType], u8)] = &[
    (Kind::Relu, ANY, 0),
    (Kind::Relu6, ANY, 0),
    (Kind::HardSwish, &[Float32, Int8], 91),
    (Kind::Elu, &[Float32, Int8], 0),
    (Kind::Abs, ANY, 78),
    (Kind::Neg, &[Float32], 42),
    (Kind::Ceil, &[Float32], 0),
    (Kind::Floor, &[Float32], 0),
    (Kind::Round, &[Float32], 0),
    (Kind::Cos, &[Float32], 84),
    (Kind::Sin, &[Float32], 0),
    (Kind::Exp, &[Float32], 33),
    (Kind::Log, &[Float32], 0),
    (Kind::Sqrt, &[Float32], 0),
    (Kind::Rsqrt, &[Float32], 0),
    (Kind::Square, &[Float32], 66),
    (Kind::LogicalNot, &[Bool], 63),
    (Kind::ZerosLike, &[Float32, Int8, Int32], 67),
];

pub(super) fn unary(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|_| true)?;
    let element = draft.element(input);
    let fitting = UNARY
        .iter()
        .filter(|(_, types, _)| types.contains(&element));
    let fitting: Vec<_> = fitting.collect();
    if fitting.is_empty() {
        return None;
    }
    let (kind, _, options) = fitting[draft.random.below(fitting.len())];
    let shape = draft.shape(input);
    let output = match kind {
        Kind::Relu6 | Kind::Neg | Kind::ZerosLike => draft.like(input, &shape),
        _ => quantized_like(draft, input, &shape),
    }?;
    let options = (*options > 0).then(|| (*options, Vec::new()));
    draft.add(kind.clone(), &[input as i32], &[output], options);
    Some(())
}

/// Those with an output quantised in one way only.
pub(super) fn curve(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() > 0 && element_is(tensor, ANY))?;
    let element = draft.element(input);
    let shape = draft.shape(input);
    let quantization = |int8: (f32, i64), int16: f32| match element {
        Int8 => Some(Quantization::new(int8.0, int8.1)),
        Int16 => Some(Quantization::new(int16, 0)),
        _ => None,
    };
    let unit = 1.0 / 32_768.0;
    let (kind, quantization, options) = match draft.below(6) {
        0 => (
            Kind::Logistic,
            quantization((1.0 / 256.0, -128), unit),
            None,
        ),
        1 => (Kind::Tanh, quantization((1.0 / 128.0, 0), unit), None),
        2 if (1..=4).contains(&shape.len()) && element != Int16 => {
            let options = Some((12, vec![(0, Part::Byte(0))]));
            (
                Kind::L2Normalization,
                quantization((1.0 / 128.0, 0), unit),
                options,
            )
        }
        3 if element != Int16 => {
            let options = Some((36, Vec::new()));
            (
                Kind::LogSoftmax,
                quantization((16.0 / 256.0, 127), unit),
                options,
            )
        }
        _ => {
            let beta = 1.0_f32.to_bits();
            let options = Some((9, vec![(0, Part::Word(beta))]));
            (
                Kind::Softmax,
                quantization((1.0 / 256.0, -128), unit),
                options,
            )
        }
    };
    let output = draft.activation(&shape, element, quantization)?;
    draft.add(kind, &[input as i32], &[output], options);
    Some(())
}

pub(super) fn leaky_relu(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| element_is(tensor, ANY))?;
    let shape = draft.shape(input);
    let output = quantized_like(draft, input, &shape)?;
    let alpha = draft.uniform().to_bits();
    let options = (75, vec![(0, Part::Word(alpha))]);
    draft.add(Kind::LeakyRelu, &[input as i32], &[output], Some(options));
    Some(())
}

/// From one type to another.
pub(super) fn conversion(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|_| true)?;
    let shape = draft.shape(input);
    let element = draft.element(input);
    let casts = [Float32, Int8, Int16, Int32, Bool];
    let quantized = [Int8, Int16];
    if draft.once_in(3) || !ANY.contains(&element) {
        let to = draft.pick(&casts);
        let quantization = draft.any_quantization(to);
        let output = draft.activation(&shape, to, quantization)?;
        let code = |element: TensorType| Part::Byte(element.code().unwrap());
        let options = (37, vec![(0, code(element)), (1, code(to))]);
        draft.add(Kind::Cast, &[input as i32], &[output], Some(options));
    } else if quantized.contains(&element) && draft.once_in(2) {
        let output = draft.activation(&shape, Float32, None)?;
        draft.add(Kind::Dequantize, &[input as i32], &[output], None);
    } else {
        let to = draft.pick(&quantized);
        let quantization = draft.any_quantization(to);
        let output = draft.activation(&shape, to, quantization)?;
        draft.add(Kind::Quantize, &[input as i32], &[output], None);
    }
    Some(())
}

/// Options of a binary operator.
#[derive(Clone, Copy, PartialEq)]
enum BinaryOptions {
    None,
    /// With an activation.
    Activated(u8),
    Plain(u8),
}

/// What the output of a binary operator is.
#[derive(Clone, Copy, PartialEq)]
enum Result {
    Requantized,
    Same,
    Truth,
}

use BinaryOptions::{Activated, Plain};

const BINARY: &[(Kind, &[TensorType], BinaryOptions, Result)] = &[
    (
        Kind::Add,
        &[Float32, Int8, Int16, Int32],
        Activated(11),
        Result::Requantized,
    ),
    (
        Kind::Add,
        &[Float32, Int8, Int16],
        Activated(11),
        Result::Requantized,
    ),
    (
        Kind::Sub,
        &[Float32, Int8, Int16],
        Activated(28),
        Result::Requantized,
    ),
    (
        Kind::Mul,
        &[Float32, Int8, Int16, Int32],
        Activated(21),
        Result::Requantized,
    ),
    (Kind::Div, &[Float32], Activated(29), Result::Same),
    (
        Kind::Maximum,
        &[Float32, Int8, Int16, Int32],
        Plain(39),
        Result::Same,
    ),
    (
        Kind::Minimum,
        &[Float32, Int8, Int16, Int32],
        Plain(39),
        Result::Same,
    ),
    (
        Kind::SquaredDifference,
        &[Float32, Int8, Int16],
        Plain(76),
        Result::Requantized,
    ),
    (Kind::FloorDiv, &[Float32], Plain(65), Result::Same),
    (Kind::FloorMod, &[Float32], Plain(72), Result::Same),
    (
        Kind::Equal,
        &[Float32, Int8, Int32],
        Plain(53),
        Result::Truth,
    ),
    (
        Kind::NotEqual,
        &[Float32, Int8, Int32],
        Plain(54),
        Result::Truth,
    ),
    (
        Kind::Greater,
        &[Float32, Int8, Int32],
        Plain(44),
        Result::Truth,
    ),
    (
        Kind::GreaterEqual,
        &[Float32, Int8, Int32],
        Plain(45),
        Result::Truth,
    ),
    (
        Kind::Less,
        &[Float32, Int8, Int32],
        Plain(41),
        Result::Truth,
    ),
    (
        Kind::LessEqual,
        &[Float32, Int8, Int32],
        Plain(46),
        Result::Truth,
    ),
    (Kind::LogicalAnd, &[Bool], Plain(62), Result::Same),
    (Kind::LogicalOr, &[Bool], Plain(60), Result::Same),
    (
        Kind::Prelu,
        &[Float32, Int8],
        BinaryOptions::None,
        Result::Requantized,
    ),
];

/// A shape that serves several elements of another: 1 on some of its axes.
fn broadcast(draft: &mut Draft, shape: &[u32]) -> Vec<u32> {
    let kept = shape.iter();
    kept.map(|&extent| if draft.once_in(2) { 1 } else { extent })
        .collect()
}

/// A second operand: the same tensor, another, or a constant, in the same shape or broadcast.
fn operand(draft: &mut Draft, first: usize) -> Option<usize> {
    let DraftTensor {
        shape,
        element,
        quantization,
        ..
    } = draft.tensor(first).clone();
    let same = |tensor: &DraftTensor| tensor.element == element && tensor.shape == shape;
    let serves = |tensor: &DraftTensor| {
        let pairs = tensor.shape.iter().zip(&shape);
        tensor.element == element
            && tensor.rank() == shape.len()
            && tensor.shape != shape
            && pairs.clone().all(|(&one, &other)| one == other || one == 1)
    };
    let found = match draft.below(6) {
        0 => Some(first),
        1 | 2 => draft.source(same),
        3 if shape.len() <= 4 => draft.source(serves),
        _ => None,
    };
    if found.is_some() {
        return found;
    }
    let shape = if shape.len() <= 4 && draft.once_in(3) {
        broadcast(draft, &shape)
    } else {
        shape
    };
    Some(match element {
        Float32 => draft.floats(&shape, 1.0),
        Int32 => {
            let count: u32 = shape.iter().product();
            let values: Vec<i32> = (0..count).map(|_| draft.below(100) as i32).collect();
            draft.integers(&shape, &values)
        }
        Bool => {
            let count: u32 = shape.iter().product();
            let values = (0..count).map(|_| draft.below(2) as u8).collect();
            draft.constant(&shape, Bool, None, values)
        }
        _ => draft.random_data(&shape, element, quantization),
    })
}

pub(super) fn binary(draft: &mut Draft) -> Option<()> {
    let first = draft.source(|_| true)?;
    let element = draft.element(first);
    let fitting = BINARY
        .iter()
        .filter(|(_, types, ..)| types.contains(&element));
    let fitting: Vec<_> = fitting.collect();
    if fitting.is_empty() {
        return None;
    }
    let (kind, _, options, result) = fitting[draft.random.below(fitting.len())];
    let second = operand(draft, first)?;
    let shape = draft.shape(first);
    let quantization = |draft: &Draft, id: usize| draft.tensor(id).quantization.clone();
    // The kernels of these compare stored numbers.
    let alike = quantization(draft, first) == quantization(draft, second);
    if *result == Result::Same && !alike {
        return None;
    }
    let output = match result {
        Result::Same => draft.like(first, &shape)?,
        Result::Requantized => quantized_like(draft, first, &shape)?,
        Result::Truth => draft.activation(&shape, Bool, None)?,
    };
    let options = match *options {
        BinaryOptions::None => None,
        Activated(number) => Some((number, vec![(0, Part::Byte(activation_code(draft)))])),
        Plain(number) => Some((number, Vec::new())),
    };
    let mut inputs = [first as i32, second as i32];
    // The alpha of PRELU comes second.
    if *kind != Kind::Prelu && draft.once_in(3) {
        inputs.reverse();
    }
    draft.add(kind.clone(), &inputs, &[output], options);
    Some(())
}

pub(super) fn add_n(draft: &mut Draft) -> Option<()> {
    let first = draft.source(|tensor| element_is(tensor, &[Float32, Int8]))?;
    let DraftTensor {
        shape,
        element,
        quantization,
        ..
    } = draft.tensor(first).clone();
    let same = |tensor: &DraftTensor| {
        tensor.element == element && tensor.shape == shape && tensor.quantization == quantization
    };
    let second = draft.source(same)?;
    let third = draft.source(same)?;
    let output = quantized_like(draft, first, &shape)?;
    let inputs = [first, second, third].map(|id| id as i32);
    let count = draft.between(2, 3) as usize;
    draft.add(
        Kind::AddN,
        &inputs[..count],
        &[output],
        Some((82, Vec::new())),
    );
    Some(())
}

/// The condition comes from an operator that compares.
pub(super) fn select(draft: &mut Draft) -> Option<()> {
    let condition = draft.source(|tensor| tensor.element == Bool && tensor.rank() <= 4)?;
    let shape = draft.shape(condition);
    let first = draft.source(|tensor| tensor.shape == shape && element_is(tensor, ANY))?;
    let second = operand(draft, first)?;
    if draft.tensor(second).quantization != draft.tensor(first).quantization {
        return None;
    }
    let output = draft.like(first, &shape)?;
    let inputs = [condition, first, second].map(|id| id as i32);
    draft.add(Kind::SelectV2, &inputs, &[output], Some((98, Vec::new())));
    Some(())
}

pub(super) fn reduction(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| (1..=4).contains(&tensor.rank()))?;
    let element = draft.element(input);
    let kind = match element {
        Bool => Kind::ReduceAll,
        Int32 => return None,
        _ => {
            let kinds = [Kind::Mean, Kind::Sum, Kind::ReduceMax, Kind::ReduceMin];
            let count = if element == Int16 { 2 } else { 4 };
            kinds[draft.random.below(count)].clone()
        }
    };
    let shape = draft.shape(input);
    let rank = shape.len();
    let mut axes: Vec<usize> = (0..rank).filter(|_| draft.once_in(2)).collect();
    if axes.is_empty() {
        axes.push(draft.random.below(rank));
    }
    let keeps = draft.once_in(2);
    let extents = shape.iter().enumerate();
    let output: Vec<u32> = extents
        .filter_map(|(axis, &extent)| {
            if axes.contains(&axis) {
                keeps.then_some(1)
            } else {
                Some(extent)
            }
        })
        .collect();
    let negative = draft.once_in(3);
    let axes = axes.iter().map(|&axis| {
        let axis = axis as i32;
        if negative { axis - rank as i32 } else { axis }
    });
    let axes: Vec<i32> = axes.collect();
    let output = match kind {
        Kind::ReduceMax | Kind::ReduceMin | Kind::ReduceAll => draft.like(input, &output)?,
        _ => quantized_like(draft, input, &output)?,
    };
    let axes = draft.vector(&axes);
    let options = (27, vec![(0, Part::Byte(u8::from(keeps)))]);
    draft.add(kind, &[input as i32, axes as i32], &[output], Some(options));
    Some(())
}

pub(super) fn arg_extreme(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| {
        (1..=4).contains(&tensor.rank()) && element_is(tensor, &[Float32, Int8])
    })?;
    let mut shape = draft.shape(input);
    let axis = draft.random.below(shape.len());
    shape.remove(axis);
    let output = draft.activation(&shape, Int32, None)?;
    let axis = draft.integers(&[], &[axis as i32]);
    let (kind, number) = if draft.once_in(2) {
        (Kind::ArgMax, 40)
    } else {
        (Kind::ArgMin, 57)
    };
    let options = (number, vec![(0, Part::Byte(Int32.code().unwrap()))]);
    draft.add(kind, &[input as i32, axis as i32], &[output], Some(options));
    Some(())
}

pub(super) fn cumulative_sum(draft: &mut Draft) -> Option<()> {
    let input =
        draft.source(|tensor| tensor.rank() >= 1 && element_is(tensor, &[Float32, Int8]))?;
    let shape = draft.shape(input);
    let output = quantized_like(draft, input, &shape)?;
    let axis = draft.random.below(shape.len()) as i32;
    let axis = draft.integers(&[], &[axis]);
    let flags = [draft.below(2) as u8, draft.below(2) as u8];
    let options = (
        102,
        vec![(0, Part::Byte(flags[0])), (1, Part::Byte(flags[1]))],
    );
    draft.add(
        Kind::Cumsum,
        &[input as i32, axis as i32],
        &[output],
        Some(options),
    );
    Some(())
}
