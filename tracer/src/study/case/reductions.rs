//! Reductions.

use super::error::{Context, Result, ensure};
use super::numbers;
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{Operator, Reduce, Reduction, SpatialMean};

pub fn mean(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    if sizes.from == 4 {
        return reduce(given, sizes, Reduction::Mean);
    }
    ensure!(
        axes(given)? == [false, true, true, false],
        "--axis: the integer kernels take the mean over height and width, expected 1x2"
    );
    Ok(Operator::SpatialMean(SpatialMean {
        input: given.input(0)?,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

/// Sum, largest and smallest element.
pub fn fold(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let in_scratch = sizes.from < 4 && given.operator == "sum";
    let reduction = if in_scratch {
        Reduction::Scratch
    } else {
        Reduction::Fold
    };
    reduce(given, sizes, reduction)
}

fn reduce(given: &CaseRequest, sizes: Sizes, reduction: Reduction) -> Result<Operator> {
    Ok(Operator::Reduce(Reduce {
        input: given.input(0)?,
        axes: axes(given)?,
        reduction,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

fn axes(given: &CaseRequest) -> Result<[bool; 4]> {
    let text = given.axis.as_deref().unwrap_or("1x2");
    let listed: Vec<u32> = numbers::numbers("--axis", text)?
        .into_iter()
        .map(numbers::axis)
        .collect::<Option<_>>()
        .with_context(|| {
            format!("--axis {text}: expected 0 to 3 each, or -4 to -1 from the end")
        })?;
    Ok([0, 1, 2, 3].map(|axis| listed.contains(&axis)))
}
