//! Each graph can be run, planned and exported.

use dmo_analysis::graph::zoo::{Element, NETWORKS};
use dmo_analysis::graph::{Graph, Node, Storage};
use std::collections::HashSet;

fn each_graph(check: impl Fn(&str, &Graph)) {
    for network in NETWORKS {
        for element in [Element::Float32, Element::Int8] {
            check(network.name, &network.build(element));
        }
    }
}

#[test]
fn names_are_unique() {
    let names: HashSet<&str> = NETWORKS.iter().map(|network| network.name).collect();
    assert_eq!(names.len(), NETWORKS.len());
    each_graph(|name, graph| {
        assert_eq!(graph.name, name);
        let tensors: HashSet<&String> = graph.tensors.iter().map(|tensor| &tensor.name).collect();
        assert_eq!(tensors.len(), graph.tensors.len(), "{name}");
    });
}

/// Every activation is stored once, before it is loaded, and is loaded or an output.
#[test]
fn the_order_can_run() {
    each_graph(|name, graph| {
        let mut stored: HashSet<_> = graph.inputs.iter().copied().collect();
        let mut loaded: HashSet<_> = graph.outputs.iter().copied().collect();
        for node in &graph.operators {
            for id in graph.arena_inputs(node) {
                assert!(stored.contains(&id), "{name}: {id:?} loaded before stored");
                loaded.insert(id);
            }
            for id in graph.arena_outputs(node) {
                assert!(stored.insert(id), "{name}: {id:?} stored twice");
            }
        }
        for (index, tensor) in graph.tensors.iter().enumerate() {
            let id = dmo_analysis::graph::TensorId(index);
            if tensor.storage == Storage::Arena {
                assert!(stored.contains(&id) && loaded.contains(&id), "{name}");
            }
        }
    });
}

/// The kernels' shapes make sense, and their buffers are the tensors.
#[test]
fn kernels_fit_their_tensors() {
    each_graph(|name, graph| {
        for (index, node) in graph.operators.iter().enumerate() {
            let kernel = node.kernel.as_ref().unwrap();
            let buffers = kernel.operator.buffers().unwrap();
            let pairs = [
                (&buffers.inputs, &kernel.inputs),
                (&buffers.outputs, &kernel.outputs),
            ];
            for (buffers, tensors) in pairs {
                assert_eq!(buffers.len(), tensors.len(), "{name}: operator {index}");
                for (buffer, &tensor) in buffers.iter().zip(tensors) {
                    assert_eq!(
                        u64::from(buffer.size_bytes()),
                        graph.tensor(tensor).size_bytes,
                        "{name}: operator {index} {}",
                        node.kind
                    );
                }
            }
        }
    });
}

/// Constants have the layouts of the .tflite format.
#[test]
fn constants_have_their_layouts() {
    each_graph(|name, graph| {
        for node in &graph.operators {
            let expected = expected_constants(graph, node);
            let given: Vec<Vec<u32>> = constants(graph, node);
            assert_eq!(given, expected, "{name}: {}", node.kind);
        }
    });
}

fn constants(graph: &Graph, node: &Node) -> Vec<Vec<u32>> {
    let shapes = node.inputs.iter().map(|&id| graph.tensor(id));
    shapes
        .filter(|tensor| tensor.storage == Storage::Constant)
        .map(|tensor| tensor.shape.clone())
        .collect()
}

fn expected_constants(graph: &Graph, node: &Node) -> Vec<Vec<u32>> {
    let input = &graph.tensor(graph.arena_inputs(node)[0]).shape;
    let output = &graph.tensor(node.outputs[0]).shape;
    let (read, channels) = (*input.last().unwrap(), *output.last().unwrap());
    let window = |index: usize| constants(graph, node)[0][index];
    match node.kind.name() {
        "CONV_2D" => vec![vec![channels, window(1), window(2), read], vec![channels]],
        "DEPTHWISE_CONV_2D" => vec![vec![1, window(1), window(2), channels], vec![channels]],
        "FULLY_CONNECTED" => vec![vec![channels, input.iter().product()], vec![channels]],
        "RESHAPE" => vec![vec![output.len() as u32]],
        "PAD" => vec![vec![4, 2]],
        "MEAN" | "RESIZE_BILINEAR" => vec![vec![2]],
        "STRIDED_SLICE" => vec![vec![4]; 3],
        "SPLIT" => vec![vec![]],
        "MUL" => vec![vec![channels]],
        "ADD" if node.inputs.iter().any(|&id| !graph.in_arena(id)) => vec![vec![channels]],
        _ => Vec::new(),
    }
}
