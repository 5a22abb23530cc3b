//! Operators along an axis.

use super::error::{Context, Result};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{ArgExtreme, CumulativeSum, Operator};

/// Positions before --axis, its extent, and positions after it.
fn around(given: &CaseRequest) -> Result<[u32; 3]> {
    let input = given.input(0)?;
    let axis = given.axis()? as usize;
    Ok([
        product(&input[..axis])?,
        input[axis],
        product(&input[axis + 1..])?,
    ])
}

pub(super) fn product(extents: &[u32]) -> Result<u32> {
    let mut extents = extents.iter();
    let product = extents.try_fold(1u32, |product, &extent| product.checked_mul(extent));
    product.context("--input: too many elements")
}

pub fn arg_extreme(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [before, extent, after] = around(given)?;
    Ok(Operator::ArgExtreme(ArgExtreme {
        before,
        extent,
        after,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

/// Forwards, each sum with its own element.
pub fn cumulative_sum(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [before, extent, after] = around(given)?;
    Ok(Operator::CumulativeSum(CumulativeSum {
        before,
        extent,
        after,
        exclusive: false,
        reverse: false,
        element_bytes: sizes.from,
    }))
}
