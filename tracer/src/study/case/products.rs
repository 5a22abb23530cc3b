//! Fully connected layers and matrix products.

use super::error::{Result, ensure};
use super::{CaseRequest, Sizes};
use dmo_analysis::operator::{
    BatchedMatmul, FullyConnected, Matmul, MatrixOperand, Operator, OuterBatches,
};

pub fn fully_connected(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [_, _, out, depth] = given.filter()?;
    let elements = given.elements()?;
    ensure!(
        depth > 0 && elements.is_multiple_of(depth),
        Misfit(format!(
            "the filter's depth is {depth}, expected one that divides the input's {elements} elements"
        ))
    );
    Ok(Operator::FullyConnected(FullyConnected {
        batches: elements / depth,
        input_depth: depth,
        output_depth: out,
        element_bytes: sizes.from,
    }))
}

/// Batches, rows, inner and columns.
fn extents(given: &CaseRequest) -> Result<[u32; 4]> {
    let [a, b] = [given.input(0)?, given.input(1)?];
    for (name, given, expected) in [
        ("first extent", a[0], 1),
        ("first extent", b[0], 1),
        ("batch", b[1], a[1]),
        ("height", b[2], a[3]),
    ] {
        ensure!(
            given == expected,
            Misfit(format!(
                "an input's {name} is {given}, expected {expected}: it takes BxMxK and BxKxN"
            ))
        );
    }
    Ok([a[1], a[2], a[3], b[3]])
}

pub fn batched_matmul(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [batches, rows, inner, columns] = extents(given)?;
    Ok(Operator::BatchedMatmul(BatchedMatmul {
        batches,
        rows,
        inner,
        columns,
        left: MatrixOperand::default(),
        right: MatrixOperand::default(),
        outer: [OuterBatches::default(); 2],
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}

pub fn matmul(given: &CaseRequest, sizes: Sizes) -> Result<Operator> {
    let [batches, rows, inner, columns] = extents(given)?;
    ensure!(
        batches == 1,
        Misfit(format!(
            "the input's batch is {batches}, expected 1: batched_matmul has batches"
        ))
    );
    Ok(Operator::Matmul(Matmul {
        rows,
        inner,
        columns,
        input_element_bytes: sizes.from,
        output_element_bytes: sizes.to,
    }))
}
