//! Layers with a memory.

use super::error::{Context, Result, bail, ensure};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{Lstm, Operator, Svdf};

/// Rows of the filter, which has a column for each element of an input vector.
fn rows(given: &CaseRequest, depth: u32) -> Result<u32> {
    let [_, _, rows, columns] = given.filter()?;
    ensure!(
        columns == depth,
        Misfit(format!(
            "the filter's depth is {columns}, expected {depth} (that of the input)"
        ))
    );
    Ok(rows)
}

pub fn svdf(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [one, also_one, batches, depth] = given.input(0)?;
    ensure!([one, also_one] == [1, 1], "--input: expected BxI");
    let filters = rows(given, depth)?;
    let text = given.rank.as_deref().unwrap_or("1");
    let rank: u32 = text
        .parse()
        .ok()
        .with_context(|| format!("--rank {text}: not a number"))?;
    ensure!(
        rank > 0 && filters.is_multiple_of(rank),
        Misfit(format!(
            "--rank {rank}: expected one that divides the {filters} filters"
        ))
    );
    Ok(Operator::Svdf(Svdf {
        batches,
        input_depth: depth,
        units: filters / rank,
        rank,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

pub fn lstm(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [one, outer, inner, depth] = given.input(0)?;
    ensure!(one == 1, "--input: expected BxTxI or TxBxI");
    let time_major = match given.order.as_deref() {
        None | Some("batch-major") => false,
        Some("time-major") => true,
        Some(other) => bail!("--order {other}: expected batch-major or time-major"),
    };
    let (batches, times) = if time_major {
        (inner, outer)
    } else {
        (outer, inner)
    };
    Ok(Operator::Lstm(Lstm {
        batches,
        times,
        input_depth: depth,
        output_depth: rows(given, depth)?,
        time_major,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}
