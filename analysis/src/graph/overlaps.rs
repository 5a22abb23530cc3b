//! Which inputs of an operator its outputs may overlap, and how far.
//!
//! What is granted here is the kernel's half of the truth: that the input dies at the
//! operator is the order's half, and is checked where a problem is built from both.

use super::{Graph, Node, TensorId};
use crate::operator::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far an output may overlap an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct SafeOverlap {
    /// The input, in the arena.
    pub input: TensorId,
    /// The output, in the arena.
    pub output: TensorId,
    /// What is safe.
    pub sharing: Sharing,
}

/// The ways in which an output may share memory with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// The input may start this many bytes above the output's start, or anywhere above that.
    /// Where that leaves it end above the output, the two share O_s bytes, the output's size
    /// less this displacement.
    Displaced(u64),
    /// The output may be the input, byte for byte, and otherwise lies apart: a `memcpy`
    /// that the kernel leaves out when both are the same, or a kernel that goes through the
    /// channels one by one.
    Alias,
}

/// For each operator of a graph, in the file's order, what its outputs may overlap. Pairs
/// that are not listed lie apart.
pub type Overlaps = Vec<Vec<SafeOverlap>>;

/// No overlaps at all.
pub fn none(graph: &Graph) -> Overlaps {
    vec![Vec::new(); graph.operators.len()]
}

/// Those of TensorFlow Lite's reference kernels, by formula ([`Operator::overlaps`]).
/// Operators that are not known, and shapes that make no sense, get none.
pub fn analytic(graph: &Graph) -> Overlaps {
    graph
        .operators
        .iter()
        .map(|node| analytic_of(graph, node))
        .collect()
}

/// Those of element-wise operators alone, which may store over an input that dies (Liberis and
/// Lane, section 6: accumulation into an input).
pub fn accumulating(graph: &Graph) -> Overlaps {
    let of_node = |node: &Node| match node.kernel.as_ref().map(|kernel| &kernel.operator) {
        Some(Operator::Elementwise(_) | Operator::ElementwiseBinary(_)) => analytic_of(graph, node),
        _ => Vec::new(),
    };
    graph.operators.iter().map(of_node).collect()
}

/// The same of one operator of the graph.
pub fn analytic_of(graph: &Graph, node: &Node) -> Vec<SafeOverlap> {
    let Some(kernel) = &node.kernel else {
        return Vec::new();
    };
    let mut found: Vec<SafeOverlap> = Vec::new();
    for (place, &input) in kernel.inputs.iter().enumerate() {
        for (output_place, &output) in kernel.outputs.iter().enumerate() {
            // The formulas know elements that follow each other.
            let has_gaps = graph.has_gaps(input) || graph.has_gaps(output);
            let in_arena = graph.in_arena(input) && graph.in_arena(output) && !has_gaps;
            let sharing = sharing(&kernel.operator, place, output_place);
            if let Some(sharing) = sharing.filter(|_| in_arena) {
                add(
                    &mut found,
                    SafeOverlap {
                        input,
                        output,
                        sharing,
                    },
                );
            }
        }
    }
    found
}

/// What each pair of an operator may share, one input after the other with all outputs; the
/// tensors have no gaps, and lie in the arena.
pub(crate) fn sharings(operator: &Operator, inputs: usize, outputs: usize) -> Vec<Option<Sharing>> {
    let pairs = (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output)));
    pairs
        .map(|(input, output)| sharing(operator, input, output))
        .collect()
}

fn sharing(operator: &Operator, input: usize, output: usize) -> Option<Sharing> {
    match operator {
        Operator::Reshape(_) => Some(Sharing::Alias),
        Operator::DepthwiseInPlace(conv) if conv.input == conv.output => Some(Sharing::Alias),
        // From the end, or in ways that grant nothing.
        Operator::BroadcastArgs(_) | Operator::Apart(_) => None,
        // By memcpy, of which nothing is known.
        Operator::Concat(_)
        | Operator::Split(_)
        | Operator::ResizeNearest(_)
        | Operator::BatchSpace(_)
        | Operator::Gather(_)
        | Operator::UpdateSlice(_)
        | Operator::Opaque(_) => None,
        Operator::StridedSlice(slice) if slice.in_runs => None,
        // Other tensors may have the bytes between its elements.
        Operator::Pitched(pitched) if pitched.has_gaps_in_outputs() => None,
        _ => {
            // None where the kernel never loads the input, for then something is wrong.
            let displacement = operator.displacement_of(input, output).ok().flatten()?;
            Some(Sharing::Displaced(u64::from(displacement)))
        }
    }
}

/// An input that the operator reads twice may be overlapped as far as both readings
/// allow.
fn add(found: &mut Vec<SafeOverlap>, overlap: SafeOverlap) {
    let same =
        |other: &&mut SafeOverlap| (other.input, other.output) == (overlap.input, overlap.output);
    match found.iter_mut().find(same) {
        None => found.push(overlap),
        Some(known) => {
            known.sharing = match (known.sharing, overlap.sharing) {
                (Sharing::Displaced(one), Sharing::Displaced(other)) => {
                    Sharing::Displaced(one.max(other))
                }
                (Sharing::Alias, Sharing::Alias) => Sharing::Alias,
                // Not both at once: apart.
                _ => Sharing::Displaced(u64::MAX),
            }
        }
    }
}
