//! What makes no sense is refused by name.

use super::single::{FLOAT32, INT32, Model, Tensor, activation, constant};
use super::{Net, network};
use dmo_analysis::graph::{Graph, Storage, TensorId, TensorType, tflite};

fn problem(graph: &Graph) -> String {
    let file = tflite::export(graph, 1).unwrap();
    tflite::read(&file).unwrap_err().to_string()
}

#[test]
fn no_model() {
    for (file, problem) in [
        (&b""[..], "the file is empty"),
        (b"\x08\0\0\0TFL2....", "no identifier TFL3 at byte 4 of 12"),
        (b"PK", "no identifier TFL3 at byte 4 of 2"),
        (
            b"\x7fELF\x01\x01\x01\0",
            "it is an ELF file, which `dmo-trace run` takes",
        ),
    ] {
        assert_eq!(
            tflite::read(file).unwrap_err().to_string(),
            format!("not a TensorFlow Lite model: {problem}")
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
        "operator 0 CONV_2D of subgraph 0: tensor 1 \"t1\" of subgraph 0 has the shape [1, 0, 4, 4], \
         of which an extent is not known before the model runs; hint: convert the model again with \
         fixed shapes"
    );
}

/// An extent that depends on the data is no open batch.
#[test]
fn shapes_that_depend_on_the_data() {
    let read = |signature: &[i32]| {
        let input = activation(FLOAT32, &[16], None);
        let mut output = activation(FLOAT32, &[1, 1], None);
        output.signature = signature.to_vec();
        tflite::read(&Model::new(109, vec![input, output]).write())
    };
    assert_eq!(
        read(&[-1, 1]).unwrap_err().to_string(),
        "operator 0 WHERE of subgraph 0: tensor 1 \"t\" of subgraph 0 has the shape [-1, 1], of which \
         an extent is not known before the model runs; hint: convert the model again with fixed shapes"
    );
    assert!(read(&[]).is_ok());
}

/// TensorFlow Lite Micro takes the data of a sparse tensor for all of its elements.
#[test]
fn sparse_weights() {
    for code in [9, 124] {
        let mut filter = constant(FLOAT32, &[3, 8], None, &[0; 16]);
        filter.sparse = true;
        let ends = [&[1, 8][..], &[1, 3]].map(|shape| activation(FLOAT32, shape, None));
        let [input, output] = ends;
        let model = Model::new(code, vec![input, filter, output]);
        let error = tflite::read(&model.write()).unwrap_err().to_string();
        let kind = if code == 9 {
            "FULLY_CONNECTED"
        } else {
            "DENSIFY"
        };
        let expected = format!(
            "operator 0 {kind} of subgraph 0: tensor 1 \"t\" of subgraph 0 is sparse, and TensorFlow \
             Lite Micro takes the data of any tensor for all of its elements; hint: convert the model \
             again with dense weights"
        );
        assert_eq!(error, expected);
    }
}

/// A model of one operator with these shapes of input and output; the input's batch is open, or not.
fn batched(code: u32, input: &[i32], output: &[i32], further: &[Tensor], open: bool) -> Vec<u8> {
    let [mut input, output] = [input, output].map(|shape| activation(FLOAT32, shape, None));
    if open {
        input.signature = [&[-1], &input.shape[1..]].concat();
    }
    let mut tensors = vec![input];
    tensors.extend(further.iter().cloned().chain([output]));
    Model::new(code, tensors).write()
}

/// Converters write 1 for a batch that is open, also where an operator makes more of it: the shapes of
/// the file are then of no batch at all.
#[test]
fn shapes_of_different_batches() {
    let filter = |shape: &[i32]| {
        let elements = shape.iter().product::<i32>() as usize;
        constant(FLOAT32, shape, None, &vec![0; 4 * elements])
    };
    let integers = |values: &[i32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        constant(INT32, &[values.len() as i32], None, &bytes)
    };
    type Wrong = (u32, &'static str, [&'static [i32]; 3], Vec<Tensor>);
    // Shape of the input, of the output, and of the output as it should be.
    let wrong: [Wrong; 6] = [
        (
            3,
            "CONV_2D",
            [&[1, 4, 4, 2], &[2, 4, 4, 3], &[1, 4, 4, 3]],
            vec![filter(&[3, 1, 1, 2]), filter(&[3])],
        ),
        (
            9,
            "FULLY_CONNECTED",
            [&[1, 4, 8], &[1, 3], &[4, 3]],
            vec![filter(&[3, 8])],
        ),
        (
            22,
            "RESHAPE",
            [&[1, 4, 8], &[1, 8], &[4, 8]],
            vec![integers(&[-1, 8])],
        ),
        (
            38,
            "SPACE_TO_BATCH_ND",
            [&[1, 6, 4], &[1, 3, 4], &[2, 3, 4]],
            vec![integers(&[2]), integers(&[0, 0])],
        ),
        (
            37,
            "BATCH_TO_SPACE_ND",
            [&[1, 3, 4], &[1, 6, 4], &[1, 3, 4]],
            vec![integers(&[2]), integers(&[0, 0])],
        ),
        (28, "TANH", [&[1, 4], &[2, 4], &[1, 4]], Vec::new()),
    ];
    for (code, kind, [input, output, right], further) in wrong {
        let read = |output, open| tflite::read(&batched(code, input, output, &further, open));
        let error = read(output, true).unwrap_err().to_string();
        let signature = [&[-1], &input[1..]].concat();
        assert_eq!(
            error,
            format!(
                "operator 0 {kind} of subgraph 0 makes the shape {output:?} of {input:?}, which it \
                 cannot: the model leaves its batch open (tensor 0 \"t\" of subgraph 0 has the \
                 signature {signature:?}), and these are not the shapes of one batch; hint: convert \
                 the model again with a fixed batch"
            )
        );
        assert!(read(right, true).is_ok(), "{kind}");
        assert!(read(output, false).is_ok(), "{kind}");
    }
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
