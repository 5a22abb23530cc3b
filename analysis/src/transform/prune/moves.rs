//! Operators without weights, whose channels are linked to one another.

use super::channels::Channel;
use super::known::Known;
use super::linked::Flow;
use super::range::{Range, limits};
use crate::graph::parameters::{Activation, Constant};
use crate::graph::tflite::edit::names_shape;
use crate::graph::tflite::view;
use crate::graph::{Kind, TensorId, TensorType};

type Links = (Vec<[Channel; 2]>, Flow);

/// Which channels are made of which, and what becomes of their values; `None` if the operator is
/// not understood.
pub(super) fn links(known: Known) -> Option<Links> {
    let output = known.output()?;
    let input = known.input(0)?;
    known.int8(input)?;
    match known.node.kind {
        Kind::Add => sum(known, output),
        Kind::Mul | Kind::Sub | Kind::Maximum | Kind::Minimum => {
            Some((binary(known, output)?, Flow::Any))
        }
        Kind::AveragePool2d | Kind::MaxPool2d => {
            let limits = known.limits();
            Some((same(known, input, output)?, within(known, limits, None)))
        }
        Kind::ResizeNearestNeighbor => {
            Some((same(known, input, output)?, within(known, Range::ANY, None)))
        }
        Kind::Relu => Some((
            same(known, input, output)?,
            rescaled(known, Activation::Relu, 0.0),
        )),
        Kind::Quantize => Some((
            same(known, input, output)?,
            rescaled(known, Activation::None, 0.0),
        )),
        Kind::Relu6 | Kind::Logistic | Kind::Tanh | Kind::HardSwish | Kind::LeakyRelu => {
            Some((same(known, input, output)?, Flow::Any))
        }
        Kind::Mean => mean(known, input, output),
        Kind::Pad | Kind::Padv2 => pad(known, input, output),
        Kind::Reshape | Kind::Squeeze => reshape(known, input, output),
        Kind::Concatenation => concatenation(known, output),
        _ => None,
    }
}

/// The constant that names the output's shape; `None` if it cannot be told apart from others.
pub(super) fn shape_operand(known: Known) -> Option<Option<usize>> {
    const SHAPE: usize = 1;
    if known.node.kind != Kind::Reshape || known.input(SHAPE).is_none() {
        return Some(None);
    }
    let constant = known.parameters.constant(SHAPE)?;
    let rank = known.shape(known.output()?).len();
    names_shape(constant, rank).then_some(Some(SHAPE))
}

/// Values that stay within what they were, `border` beside them; anything where the operator
/// would have to change the scale for that.
fn within(known: Known, limits: Range, border: Option<i32>) -> Flow {
    if known.parameters.operand(0) == known.parameters.output(0) {
        Flow::Within { border, limits }
    } else {
        Flow::Any
    }
}

/// Some kernels are off by `error` before they round.
fn rescaled(known: Known, activation: Activation, error: f64) -> Flow {
    let to = known.parameters.output(0);
    Flow::Rescaled {
        from: known.parameters.operand(0),
        to,
        limits: limits(activation, to),
        error,
    }
}

/// Each output channel of the input channel of the same index.
fn same(known: Known, input: TensorId, output: TensorId) -> Option<Vec<[Channel; 2]>> {
    let count = known.channels(output)?;
    (known.channels(input)? == count)
        .then(|| (0..count).map(|at| link(input, at, output, at)).collect())
}

fn link(input: TensorId, from: u32, output: TensorId, to: u32) -> [Channel; 2] {
    let channel = |tensor, index| Channel { tensor, index };
    [channel(input, from), channel(output, to)]
}

/// Of two operands, one of which may have a single channel for all of the output's.
fn binary(known: Known, output: TensorId) -> Option<Vec<[Channel; 2]>> {
    let mut links = Vec::new();
    for operand in 0..2 {
        let input = known.input(operand)?;
        known.int8(input)?;
        let is_broadcast = known.channels(input).is_none_or(|count| count == 1);
        if !is_broadcast || known.channels(output)? == 1 {
            links.extend(same(known, input, output)?);
        }
    }
    Some(links)
}

fn sum(known: Known, output: TensorId) -> Option<Links> {
    let links = binary(known, output)?;
    let operand = |index| Some((known.input(index)?, known.parameters.operand(index)));
    let flow = Flow::Added {
        operands: [operand(0)?, operand(1)?],
        to: known.parameters.output(0),
        limits: known.limits(),
    };
    Some((links, flow))
}

/// Over other axes than the last one.
fn mean(known: Known, input: TensorId, output: TensorId) -> Option<Links> {
    let axes = numbers(known.parameters.constant(1)?)?;
    let last = known.shape(input).len() as i64 - 1;
    if axes.iter().any(|&axis| axis == last || axis == -1) {
        return None;
    }
    // A mean lies within what it is the mean of. Some kernels round the sum before they divide it.
    const ERROR: f64 = 0.4;
    Some((
        same(known, input, output)?,
        rescaled(known, Activation::None, ERROR),
    ))
}

fn pad(known: Known, input: TensorId, output: TensorId) -> Option<Links> {
    let paddings = numbers(known.parameters.constant(1)?)?;
    let rank = known.shape(input).len();
    if paddings.len() != 2 * rank || !paddings.ends_with(&[0, 0]) {
        return None;
    }
    let zero_point = known.parameters.output(0).zero_point;
    let border = match (&known.node.kind, known.input(2)) {
        (Kind::Pad, _) | (_, None) => zero_point,
        _ => {
            let value = known.parameters.constant(2)?;
            known.int8(known.input(2)?)?;
            match value.bytes[..] {
                [byte] => byte.cast_signed().into(),
                _ => return None,
            }
        }
    };
    let is_bordered = paddings.iter().any(|&count| count != 0);
    let flow = within(known, Range::ANY, is_bordered.then_some(border));
    Some((same(known, input, output)?, flow))
}

/// Elements keep their order: that at place `n` is of channel `n % channels`, before and after.
fn reshape(known: Known, input: TensorId, output: TensorId) -> Option<Links> {
    let (from, to) = (known.channels(input)?, known.channels(output)?);
    if from == 0 || to == 0 {
        return None;
    }
    let links = if to.is_multiple_of(from) {
        (0..to)
            .map(|at| link(input, at % from, output, at))
            .collect()
    } else if from.is_multiple_of(to) {
        (0..from)
            .map(|at| link(input, at, output, at % to))
            .collect()
    } else {
        return None;
    };
    Some((links, within(known, Range::ANY, None)))
}

/// Along the last axis one after the other, along others all in their place.
fn concatenation(known: Known, output: TensorId) -> Option<Links> {
    let shape = known.shape(output);
    let last = shape.len().checked_sub(1)?;
    let mut links = Vec::new();
    let mut before = 0;
    let mut along_last = false;
    if known.parameters.activation != Activation::None {
        return None;
    }
    let inputs = known.node.inputs.clone();
    for (operand, &input) in inputs.iter().enumerate() {
        known.int8(input)?;
        let own = known.shape(input);
        if own.len() != shape.len()
            || known.parameters.operand(operand) != known.parameters.output(0)
        {
            return None;
        }
        along_last |= own[last] != shape[last];
    }
    for &input in &inputs {
        let count = known.channels(input)?;
        links.extend((0..count).map(|at| link(input, at, output, before + at)));
        if along_last {
            before += count;
        }
    }
    let whole = !along_last || before == shape[last];
    whole.then_some((links, within(known, Range::ANY, None)))
}

fn numbers(constant: &Constant) -> Option<Vec<i64>> {
    match constant.element_type {
        TensorType::Int32 => {
            let numbers = view::integers(&constant.bytes).into_iter();
            Some(numbers.map(i64::from).collect())
        }
        TensorType::Int64 => {
            let words = constant.bytes.as_chunks().0.iter();
            Some(words.map(|&word| i64::from_le_bytes(word)).collect())
        }
        _ => None,
    }
}
