//! What makes no sense is refused by name.

use super::{Net, network};
use dmo_analysis::graph::{Graph, Storage, TensorId, TensorType, tflite};

fn problem(graph: &Graph) -> String {
    let file = tflite::export(graph, 1).unwrap();
    tflite::read(&file).unwrap_err().to_string()
}

#[test]
fn no_model() {
    for (file, length) in [(&b""[..], 0), (b"\x08\0\0\0TFL2....", 12), (b"PK", 2)] {
        assert_eq!(
            tflite::read(file).unwrap_err().to_string(),
            format!("not a TensorFlow Lite model: no identifier TFL3 at byte 4 of {length}")
        );
    }
}

#[test]
fn dynamic_shapes() {
    let mut graph = network(TensorType::Int8, 1);
    graph.tensors[1].shape[1] = 0;
    graph.operators.truncate(1);
    graph.outputs = vec![TensorId(1)];
    assert_eq!(
        problem(&graph),
        "tensor 1 \"t1\" of subgraph 0 has the shape [1, 0, 4, 4], of which an extent is not \
         known before the model runs; hint: convert the model again with fixed shapes"
    );
}

#[test]
fn elements_without_a_size() {
    let mut graph = network(TensorType::Int8, 1);
    graph.tensors[0].element_type = TensorType::String;
    assert_eq!(
        problem(&graph),
        "tensor 0 \"t0\" of subgraph 0 has the element type STRING, whose size is not known"
    );
}

#[test]
fn sizes_beyond_all_bounds() {
    let mut net = Net::new(TensorType::Int8, 1);
    let input = net.input(&[1, 1]);
    let mut graph = net.output(input);
    graph.tensors[0].shape = vec![i32::MAX as u32; 3];
    let shape = [i32::MAX; 3];
    let expected = format!(
        "tensor 0 \"t0\" of subgraph 0 has the shape {shape:?}: its size, or that of all \
         tensors, does not fit in 63 bits"
    );
    assert_eq!(problem(&graph), expected);
    // Each fits, but not all of them.
    graph.tensors[0].shape = vec![i32::MAX as u32, i32::MAX as u32];
    graph.tensors.extend(vec![graph.tensors[0].clone(); 3]);
    let problem = problem(&graph);
    assert!(problem.starts_with("tensor 2 "), "{problem}");
}

#[test]
fn tensors_that_nobody_writes() {
    let mut graph = network(TensorType::Int8, 1);
    graph.inputs.clear();
    assert_eq!(
        problem(&graph),
        "operator 0 CONV_2D of subgraph 0 reads tensor 0 \"t0\" of subgraph 0, which nothing has \
         written"
    );
}

#[test]
fn tensors_that_two_write() {
    let mut graph = network(TensorType::Int8, 1);
    graph.operators[2].outputs = vec![TensorId(2)];
    assert_eq!(
        problem(&graph),
        "operator 2 CONV_2D of subgraph 0 writes tensor 2 \"t2\" of subgraph 0, which operator 1 \
         has written"
    );
    let mut graph = network(TensorType::Int8, 1);
    graph.operators[0].outputs = vec![TensorId(0)];
    let problem = problem(&graph);
    assert!(
        problem.ends_with("which is an input of the subgraph"),
        "{problem}"
    );
}

#[test]
fn tensors_that_are_not_there() {
    let mut graph = network(TensorType::Int8, 1);
    graph.outputs = vec![TensorId(1000)];
    let count = {
        let file = tflite::export(&network(TensorType::Int8, 1), 1).unwrap();
        tflite::read(&file).unwrap().graphs[0].tensors.len()
    };
    assert_eq!(
        problem(&graph),
        format!("subgraph 0: tensor 1000, but there are {count}")
    );
}

/// What is kept may be written, and stays out of the arena.
#[test]
fn variables() {
    let mut graph = network(TensorType::Int8, 1);
    graph.tensors[2].storage = Storage::Variable;
    let file = tflite::export(&graph, 1).unwrap();
    let read = &tflite::read(&file).unwrap().graphs[0];
    assert_eq!(read.tensors[2].storage, Storage::Variable);
}
