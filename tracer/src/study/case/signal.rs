//! Operators of the signal library that have a formula.

use super::error::Result;
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{Operator, Staged};

/// Rounds of runs of the input and of the output.
fn staged(rounds: u32, input_run: u32, output_run: u32, sizes: Sizes) -> Staged {
    Staged {
        rounds,
        input_run,
        output_run,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
        first_bytes: 0,
    }
}

/// Element by element.
pub fn elementwise(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::Staged(staged(given.elements()?, 1, 1, sizes)))
}

/// The same, after a number of bits.
pub fn square_root(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    Ok(Operator::Staged(Staged {
        first_bytes: 4,
        ..staged(given.elements()?, 1, 1, sizes)
    }))
}

/// Row by row, to rows as long.
pub fn delay(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [.., row] = given.input(0)?;
    Ok(Operator::Staged(staged(
        given.elements()? / row,
        row,
        row,
        sizes,
    )))
}

/// Row by row, to rows of the output's last axis.
pub fn rows(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let ([.., row], [.., stored]) = (given.input(0)?, given.output()?);
    Ok(Operator::Staged(staged(
        given.elements()? / row,
        row,
        stored,
        sizes,
    )))
}
