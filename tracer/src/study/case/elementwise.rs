//! Operators that go element by element, and softmax.

use super::error::Result;
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{Elementwise, ElementwiseBinary, Operator, Softmax};

pub fn unary(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::Elementwise(Elementwise {
        elements: given.elements()?,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

pub fn binary(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let inputs = [given.input(0)?, given.input(1)?];
    let output = [0, 1, 2, 3].map(|axis| inputs[0][axis].max(inputs[1][axis]));
    Ok(Operator::ElementwiseBinary(ElementwiseBinary {
        inputs,
        output,
        input_element_bytes: [sizes.from; 2],
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
