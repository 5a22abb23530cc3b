//! Scratch buffers of TensorFlow Lite Micro's reference kernels, from the operators' shapes: the
//! same as `graph/tflite/scratch.rs` reads from the tensors of a model file.

use crate::graph::Kind;
use crate::operator::{Lstm, Operator, Reduce, Svdf, TransposeConv2d};

/// Sizes in bytes, in the order of the requests.
pub(super) fn scratch_bytes(kind: &Kind, operator: &Operator) -> Vec<u64> {
    match operator {
        Operator::TransposeConv2d(conv) => transpose_conv(conv),
        Operator::Svdf(svdf) => of_svdf(svdf),
        Operator::Lstm(lstm) => of_lstm(lstm),
        Operator::SpatialMean(mean) => {
            let [batches, _, _, depth] = mean.input.map(u64::from);
            reduction(Some(batches.saturating_mul(depth)), 2)
        }
        Operator::Reduce(reduce) => of_reduction(kind, reduce),
        _ => Vec::new(),
    }
}

fn transpose_conv(conv: &TransposeConv2d) -> Vec<u64> {
    let outputs = conv.output.map(u64::from).into_iter();
    let outputs = outputs.fold(1, u64::saturating_mul);
    match conv.element_bytes {
        1 => vec![outputs.saturating_mul(4)],
        2 => vec![outputs.saturating_mul(8)],
        _ => Vec::new(),
    }
}

fn of_svdf(svdf: &Svdf) -> Vec<u64> {
    let [batches, units, rank] = [svdf.batches, svdf.units, svdf.rank].map(u64::from);
    let size = |columns: u64| batches.saturating_mul(columns).saturating_mul(4);
    let filters = size(units.saturating_mul(rank));
    match svdf.input_element_bytes {
        1 => vec![filters, size(units)],
        _ => vec![filters],
    }
}

/// Cells are floats, or of 16 bits.
fn of_lstm(lstm: &Lstm) -> Vec<u64> {
    let cell_bytes = if lstm.input_element_bytes == 4 { 4 } else { 2 };
    let cells = u64::from(lstm.batches).saturating_mul(lstm.output_depth.into());
    vec![cells.saturating_mul(cell_bytes); 4]
}

fn of_reduction(kind: &Kind, reduce: &Reduce) -> Vec<u64> {
    let is_reduced = reduce.axes.into_iter();
    let kept = reduce.input.into_iter().zip(is_reduced.clone());
    let kept = kept.filter(|(_, is_reduced)| !is_reduced);
    let outputs = kept.fold(1, |product: u64, (extent, _)| {
        product.saturating_mul(extent.into())
    });
    let sums = matches!(kind, Kind::Mean | Kind::Sum) && reduce.input_element_bytes < 4;
    let axes = is_reduced.filter(|is_reduced| *is_reduced).count();
    reduction(sums.then_some(outputs), axes as u64)
}

/// Wide sums of the outputs, where it needs them; then the axes of the input, and those that are
/// reduced.
fn reduction(sums: Option<u64>, axes: u64) -> Vec<u64> {
    const INPUT_AXES: u64 = 4;
    let sums = sums.map(|outputs| outputs.saturating_mul(4));
    sums.into_iter().chain([4 * INPUT_AXES, 4 * axes]).collect()
}
