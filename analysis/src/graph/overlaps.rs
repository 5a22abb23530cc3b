//! Which inputs of an operator its outputs may overlap, and how far.
//!
//! What is granted here is the kernel's half of the truth: that the input dies at the
//! operator is the order's half, and is checked where a problem is built from both.

use super::{Graph, Node, TensorId};
use crate::operator::Operator;
use serde::{Deserialize, Serialize};

/// How far an output may overlap an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SafeOverlap {
    /// The input, in the arena.
    pub input: TensorId,
    /// The output, in the arena.
    pub output: TensorId,
    /// What is safe.
    pub sharing: Sharing,
}

/// The ways in which an output may share memory with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// The start of the input may lie in the end of the output, over at most so many
    /// bytes (O_s).
    Overlap(u64),
    /// The output may be the input, byte for byte, and otherwise lies apart: a `memcpy`
    /// that the kernel leaves out when both are the same.
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

fn analytic_of(graph: &Graph, node: &Node) -> Vec<SafeOverlap> {
    let Some(kernel) = &node.kernel else {
        return Vec::new();
    };
    let mut found: Vec<SafeOverlap> = Vec::new();
    for overlap in kernel.operator.overlaps().unwrap_or_default() {
        let (Some(&input), Some(&output)) = (
            kernel.inputs.get(overlap.input),
            kernel.outputs.get(overlap.output),
        ) else {
            continue;
        };
        if !graph.in_arena(input) || !graph.in_arena(output) {
            continue;
        }
        let sharing = match kernel.operator {
            Operator::Reshape(_) => Sharing::Alias,
            // By memcpy, of which nothing is known.
            Operator::Concat(_) | Operator::Split(_) => continue,
            _ => Sharing::Overlap(u64::from(overlap.bytes)),
        };
        add(
            &mut found,
            SafeOverlap {
                input,
                output,
                sharing,
            },
        );
    }
    found
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
                (Sharing::Overlap(one), Sharing::Overlap(other)) => {
                    Sharing::Overlap(one.min(other))
                }
                (Sharing::Alias, Sharing::Alias) => Sharing::Alias,
                _ => Sharing::Overlap(0),
            }
        }
    }
}
