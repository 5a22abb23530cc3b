//! Operators that go element by element, and softmax.

use super::error::{Result, ensure};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{
    Elementwise, ElementwiseBinary, ElementwiseInput, ElementwiseMany, Operator, Shape, Softmax,
};

pub fn unary(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::Elementwise(Elementwise {
        elements: given.elements()?,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

/// The shape that two inputs are broadcast to.
fn broadcast([one, other]: [Shape; 2]) -> Shape {
    [0, 1, 2, 3].map(|axis| one[axis].max(other[axis]))
}

pub fn binary(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let inputs = [given.input(0)?, given.input(1)?];
    let output = broadcast(inputs);
    // The slopes of integers have 8 bits.
    let other = match given.operator.as_str() {
        "prelu" if sizes.from == 2 => 1,
        _ => sizes.from,
    };
    Ok(Operator::ElementwiseBinary(ElementwiseBinary {
        inputs,
        output,
        input_element_bytes: [sizes.from, other],
        output_element_bytes: sizes.to,
    }))
}

/// Between two inputs, by a condition of the output's shape.
pub fn select(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let choices = [given.input(0)?, given.input(1)?];
    let output = broadcast(choices);
    let input = |shape, element_bytes| ElementwiseInput {
        shape,
        element_bytes,
    };
    let choices = choices.map(|shape| input(shape, sizes.to));
    Ok(Operator::ElementwiseMany(ElementwiseMany {
        inputs: [&[input(output, sizes.from)], &choices[..]].concat(),
        output,
        output_element_bytes: sizes.to,
    }))
}

pub fn add_n(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let output = given.input(0)?;
    for index in 1..given.input.len() {
        ensure!(
            given.input(index)? == output,
            "--input: expected equal shapes"
        );
    }
    let input = ElementwiseInput {
        shape: output,
        element_bytes: sizes.from,
    };
    Ok(Operator::ElementwiseMany(ElementwiseMany {
        inputs: vec![input; given.input.len()],
        output,
        output_element_bytes: sizes.to,
    }))
}

pub fn softmax(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let depth = given.input(0)?[3];
    Ok(Operator::Softmax(Softmax {
        // At least 1, as every extent.
        rows: given.elements()? / depth,
        depth,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}
