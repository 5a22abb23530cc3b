//! Graphs to order: random ones, and some in the manner of published networks.

use dmo_analysis::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use dmo_analysis::graph::{Graph, GraphTensor, Node, Storage, TensorId, TensorType};
use dmo_analysis::schedule::CountedEnds;

/// Pseudo-random numbers (SplitMix64): the same graphs each time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// Most often both ends of the graph count.
pub fn ends(random: &mut Random) -> CountedEnds {
    CountedEnds {
        count_graph_inputs: !random.one_in(4),
        count_graph_outputs: !random.one_in(4),
    }
}

/// Adds a tensor of the arena.
pub fn tensor(graph: &mut Graph, size_bytes: u64) -> TensorId {
    graph.tensors.push(GraphTensor {
        name: format!("t{}", graph.tensors.len()),
        shape: vec![size_bytes as u32],
        element_type: TensorType::Int8,
        size_bytes,
        storage: Storage::Arena,
    });
    TensorId(graph.tensors.len() - 1)
}

/// Adds an operator with one output.
pub fn operator(graph: &mut Graph, inputs: &[TensorId], size_bytes: u64) -> TensorId {
    let output = tensor(graph, size_bytes);
    node(graph, inputs, &[output]);
    output
}

/// Adds an operator.
pub fn node(graph: &mut Graph, inputs: &[TensorId], outputs: &[TensorId]) {
    graph.operators.push(Node {
        kind: "CONV_2D".into(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        kernel: None,
        scratch_bytes: Vec::new(),
    });
}

/// A graph of up to so many operators with everything that a graph may have: several inputs
/// and outputs, operators without inputs, tensors that nothing reads, graph outputs that are
/// read or are inputs, variables, constants, scratch buffers, empty tensors.
pub fn any(random: &mut Random, most_operators: u64) -> Graph {
    let mut graph = Graph::default();
    for _ in 0..random.below(3) {
        let id = sized(&mut graph, random);
        graph.inputs.push(id);
    }
    let constant = tensor(&mut graph, 1000);
    graph.tensors[constant.0].storage = Storage::Constant;
    let variable = tensor(&mut graph, 1000);
    graph.tensors[variable.0].storage = Storage::Variable;
    let kinds = 1 + random.below(3);
    for _ in 0..1 + random.below(most_operators) {
        let known = graph.tensors.len() as u64;
        let mut inputs = Vec::new();
        for _ in 0..random.below(4) {
            // Later tensors are likelier, so that graphs are deep as well as wide.
            let back = random.below(known).min(random.below(known)).min(kinds * 3);
            inputs.push(TensorId((known - 1 - back) as usize));
        }
        if random.one_in(6) {
            inputs.push(variable);
        }
        let outputs: Vec<TensorId> = (0..1 + u64::from(random.one_in(5)))
            .map(|_| sized(&mut graph, random))
            .collect();
        node(&mut graph, &inputs, &outputs);
        if random.one_in(6) {
            graph.operators.last_mut().unwrap().scratch_bytes = vec![random.below(9), 1];
        }
    }
    for index in 0..graph.tensors.len() {
        let read = graph
            .operators
            .iter()
            .any(|node| node.inputs.contains(&TensorId(index)));
        if random.one_in(if read { 9 } else { 2 }) {
            graph.outputs.push(TensorId(index));
        }
    }
    graph
}

/// The graph with a dequantised weight for most of its operators, all of them first.
pub fn with_weights(graph: &Graph, random: &mut Random) -> Graph {
    let mut weighted = Graph {
        operators: Vec::new(),
        ..graph.clone()
    };
    let mut operators = graph.operators.clone();
    for operator in &mut operators {
        for _ in 0..random.below(3) {
            let size = 1 + random.below(12);
            let weight = self::operator(&mut weighted, &[], size);
            operator.inputs.push(weight);
        }
    }
    weighted.operators.extend(operators);
    weighted
}

/// Chains from one input, or from inputs of their own, to one output; some operators also
/// read another input.
pub fn chains(random: &mut Random, operators: usize) -> Graph {
    let mut graph = Graph::default();
    let shared = tensor(&mut graph, 1 + random.below(60));
    let beside = tensor(&mut graph, 1 + random.below(60));
    graph.inputs.extend([shared, beside]);
    let mut ends = Vec::new();
    while graph.operators.len() < operators {
        let own = random.one_in(2);
        let mut at = if own {
            sized(&mut graph, random)
        } else {
            shared
        };
        if own {
            graph.inputs.push(at);
        }
        for _ in 0..1 + random.below(4) {
            let size = 1 + random.below(30);
            let inputs: &[TensorId] = if random.one_in(5) {
                &[at, beside]
            } else {
                &[at]
            };
            at = operator(&mut graph, inputs, size);
        }
        ends.push(at);
    }
    let end = operator(&mut graph, &ends, 1);
    graph.outputs.push(end);
    graph
}

fn sized(graph: &mut Graph, random: &mut Random) -> TensorId {
    let size = match random.below(8) {
        0 => 0,
        1 => 10 + random.below(20),
        _ => 1 + random.below(9),
    };
    tensor(graph, size)
}

/// Random overlaps of the graph's operators, also nonsensical ones.
pub fn overlaps(graph: &Graph, random: &mut Random) -> Overlaps {
    let of_node = |node: &Node| {
        let inputs = graph.arena_inputs(node);
        let outputs = graph.arena_outputs(node);
        let mut found = Vec::new();
        for &input in &inputs {
            for &output in &outputs {
                let size = graph.tensor(output).size_bytes;
                let sharing = match random.below(4) {
                    0 => continue,
                    1 => Sharing::Alias,
                    2 => Sharing::Displaced(0),
                    _ => Sharing::Displaced(random.below(size + 2)),
                };
                found.push(SafeOverlap {
                    input,
                    output,
                    sharing,
                });
            }
        }
        found
    };
    graph.operators.iter().map(of_node).collect()
}

/// Figure 1 of Liberis and Lane.
pub fn liberis_lane() -> Graph {
    let mut graph = Graph::default();
    let input = tensor(&mut graph, 1568);
    let one = operator(&mut graph, &[input], 3136);
    let two = operator(&mut graph, &[one], 1568);
    let three = operator(&mut graph, &[two], 512);
    let four = operator(&mut graph, &[one], 512);
    let five = operator(&mut graph, &[three], 256);
    let six = operator(&mut graph, &[four], 256);
    let seven = operator(&mut graph, &[five, six], 512);
    graph.inputs = vec![input];
    graph.outputs = vec![seven];
    graph
}

/// A separable convolution applied twice, each time depthwise and then pointwise.
fn separable(graph: &mut Graph, input: TensorId, size: u64) -> TensorId {
    (0..4).fold(input, |from, _| operator(graph, &[from], size))
}

/// Cells in the manner of NASNet: each reads the two before it, so that no tensor divides
/// the graph.
pub fn cells(count: usize, random: &mut Random) -> Graph {
    let mut graph = Graph::default();
    let input = tensor(&mut graph, 9000);
    graph.inputs = vec![input];
    let mut before = operator(&mut graph, &[input], 6000);
    let mut last = operator(&mut graph, &[before], 6000);
    for cell in 0..count {
        let size = 1000 >> (cell * 3 / count);
        let far = operator(&mut graph, &[before], size);
        let near = operator(&mut graph, &[last], size);
        let mut joined = vec![far];
        for block in 0..5 {
            let pick = |random: &mut Random| if random.one_in(2) { near } else { far };
            let one = pick(random);
            let one = match block {
                2 | 3 => operator(&mut graph, &[one], size),
                _ => separable(&mut graph, one, size),
            };
            let other = pick(random);
            let other = match block {
                0 | 1 => separable(&mut graph, other, size),
                3 => operator(&mut graph, &[other], size),
                _ => other,
            };
            joined.push(operator(&mut graph, &[one, other], size));
        }
        before = last;
        last = operator(&mut graph, &joined, 6 * size);
    }
    graph.outputs = vec![last];
    graph
}

/// A random series-parallel graph: branches of different lengths, joined, in sequence.
pub fn series_parallel(depth: u32, random: &mut Random) -> Graph {
    let mut graph = Graph::default();
    let input = tensor(&mut graph, 500);
    graph.inputs = vec![input];
    let end = series(&mut graph, input, depth, random);
    graph.outputs = vec![end];
    graph
}

fn series(graph: &mut Graph, from: TensorId, depth: u32, random: &mut Random) -> TensorId {
    let mut at = from;
    for _ in 0..1 + random.below(3) {
        let size = 10 + random.below(1000);
        if depth == 0 || random.one_in(3) {
            at = operator(graph, &[at], size);
        } else {
            let branches: Vec<TensorId> = (0..2 + random.below(3))
                .map(|_| series(graph, at, depth - 1, random))
                .collect();
            at = operator(graph, &branches, size);
        }
    }
    at
}
