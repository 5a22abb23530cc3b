//! Multiply-accumulates, counted exactly.
//!
//! What counts is what the loops of the reference kernels do: taps that lie outside the input are
//! left out. So the count is that of a convolution's loads of its input.

use crate::graph::Graph;
use crate::operator::Operator;

/// Those of one run of the operator; 0 for one that does not multiply and accumulate.
pub fn of_operator(operator: &Operator) -> u64 {
    match operator {
        Operator::Conv2d(known) => {
            let groups = u64::from(known.groups.max(1));
            let inputs = u64::from(known.input[3]) / groups;
            let taps = known.window.taps_inside(known.input, known.output);
            product([taps, inputs, known.output[3].into(), known.output[0].into()])
        }
        Operator::DepthwiseConv2d(known) => {
            let taps = known.window.taps_inside(known.input, known.output);
            product([taps, known.output[3].into(), known.output[0].into()])
        }
        Operator::DepthwiseInPlace(known) => {
            let taps = known.window.taps_inside(known.input, known.output);
            product([taps, known.output[3].into(), known.output[0].into()])
        }
        Operator::TransposeConv2d(known) => {
            // The same taps, seen from the output.
            let taps = known.window.taps_inside(known.output, known.input);
            let [inputs, outputs] = [known.input[3], known.output[3]].map(u64::from);
            product([taps, inputs, outputs, known.input[0].into()])
        }
        Operator::FullyConnected(known) => {
            product([known.batches, known.input_depth, known.output_depth].map(u64::from))
        }
        Operator::BatchedMatmul(known) => {
            let [rows, inner, columns] = [known.rows, known.inner, known.columns].map(u64::from);
            product([known.all_batches(), rows, inner, columns])
        }
        Operator::Matmul(known) => product([known.rows, known.inner, known.columns].map(u64::from)),
        Operator::Pitched(known) => of_operator(&known.operator),
        _ => 0,
    }
}

/// Those of one inference; operators that are not known count as none.
pub fn of_graph(graph: &Graph) -> u64 {
    let kernels = graph
        .operators
        .iter()
        .filter_map(|node| node.kernel.as_ref());
    kernels
        .map(|kernel| of_operator(&kernel.operator))
        .fold(0, u64::saturating_add)
}

fn product<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
