//! What is exported is read as the same graph.

use super::{Net, network};
use dmo_analysis::graph::overlaps::analytic_of;
use dmo_analysis::graph::{Graph, Kernel, Storage, TensorId, TensorType, tflite};
use dmo_analysis::operator::{
    Accumulation, BatchedMatmul, Concat, Conv2d, Elementwise, Interpolation, MatrixOperand,
    Operator, OuterBatches, ResizeBilinear, ResizeNearest, Split, StridedSlice, Transpose,
    TransposeConv2d, Window, tflite_padding_before,
};

/// The graph's own tensors stay where they are; behind them come constants.
fn read_again(graph: &Graph) -> Graph {
    let file = tflite::export(graph, 1).unwrap();
    let mut model = tflite::read(&file).unwrap();
    assert_eq!(model.graphs.len(), 1);
    let read = model.graphs.remove(0);
    let (own, added) = read.tensors.split_at(graph.tensors.len());
    assert_eq!(own, graph.tensors);
    assert!(
        added
            .iter()
            .all(|tensor| tensor.storage == Storage::Constant)
    );
    assert_eq!(read.name, graph.name);
    assert_eq!(read.inputs, graph.inputs);
    assert_eq!(read.outputs, graph.outputs);
    assert_eq!(read.operators.len(), graph.operators.len());
    for (read, node) in read.operators.iter().zip(&graph.operators) {
        assert_eq!(read.kind, node.kind);
        assert_eq!(read.outputs, node.outputs);
        assert!(node.inputs.iter().all(|id| read.inputs.contains(id)));
    }
    read
}

fn kernels(graph: &Graph) -> Vec<Option<Kernel>> {
    graph
        .operators
        .iter()
        .map(|node| node.kernel.clone())
        .collect()
}

#[test]
fn a_network() {
    for (element_type, element_bytes) in [
        (TensorType::Int8, 1),
        (TensorType::Uint8, 1),
        (TensorType::Int16, 2),
        (TensorType::Float32, 4),
    ] {
        let graph = network(element_type, element_bytes);
        let read = read_again(&graph);
        assert_eq!(kernels(&read), kernels(&graph), "{element_type}");
        // Read once more with all its constants.
        let file = tflite::export(&read, 7).unwrap();
        assert_eq!(tflite::read(&file).unwrap().graphs, [read]);
    }
}

#[test]
fn the_seed_decides() {
    let graph = network(TensorType::Int8, 1);
    let file = |seed| tflite::export(&graph, seed).unwrap();
    assert_eq!(file(3), file(3));
    assert_ne!(file(3), file(4));
}

/// One operator of each kind that moves elements or multiplies.
fn single(
    inputs: &[&[u32]],
    outputs: &[&[u32]],
    kind: &str,
    operator: Operator,
    (element_type, element_bytes): (TensorType, u32),
) -> Graph {
    let mut net = Net::new(element_type, element_bytes);
    let inputs: Vec<TensorId> = inputs.iter().map(|shape| net.input(shape)).collect();
    net.add(kind, &inputs, outputs[0], operator);
    for shape in &outputs[1..] {
        let id = net.tensor(shape);
        let node = &mut net.graph.operators[0];
        node.outputs.push(id);
        node.kernel.as_mut().unwrap().outputs.push(id);
    }
    let mut graph = net.graph;
    graph.outputs = graph.operators[0].outputs.clone();
    graph
}

const INT8: (TensorType, u32) = (TensorType::Int8, 1);
const FLOAT32: (TensorType, u32) = (TensorType::Float32, 4);

/// Graphs of one operator each.
#[allow(clippy::too_many_lines, reason = "a list of cases")]
pub fn cases() -> impl IntoIterator<Item = Graph> {
    let up = Window {
        kernel: [3, 3],
        stride: [2, 2],
        padding_before: [tflite_padding_before(8, 4, 3, 2, 1); 2],
        ..Window::default()
    };
    let grouped = Window {
        kernel: [3, 2],
        stride: [1, 2],
        dilation: [2, 1],
        padding_before: [0, 0],
    };
    [
        single(
            &[&[1, 9, 8, 4]],
            &[&[1, 5, 4, 6]],
            "CONV_2D",
            Operator::Conv2d(Conv2d {
                input: [1, 9, 8, 4],
                output: [1, 5, 4, 6],
                window: grouped,
                groups: 2,
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[1, 4, 4, 3]],
            &[&[1, 8, 8, 2]],
            "TRANSPOSE_CONV",
            Operator::TransposeConv2d(TransposeConv2d {
                input: [1, 4, 4, 3],
                output: [1, 8, 8, 2],
                window: up,
                accumulation: Accumulation::Scratch,
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[2, 3, 4], &[2, 4, 5]],
            &[&[2, 3, 5]],
            "BATCH_MATMUL",
            Operator::BatchedMatmul(BatchedMatmul {
                batches: 2,
                rows: 3,
                inner: 4,
                columns: 5,
                left: MatrixOperand::default(),
                right: MatrixOperand::default(),
                outer: [OuterBatches::default(); 2],
                input_element_bytes: 4,
                output_element_bytes: 4,
            }),
            FLOAT32,
        ),
        single(
            &[&[2, 3, 4], &[2, 3, 1]],
            &[&[2, 3, 5]],
            "CONCATENATION",
            Operator::Concat(Concat {
                inputs: vec![[1, 2, 3, 4], [1, 2, 3, 1]],
                axis: 3,
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[2, 6]],
            &[&[2, 3], &[2, 3]],
            "SPLIT",
            Operator::Split(Split {
                input: [1, 1, 2, 6],
                axis: 3,
                parts: vec![3, 3],
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[2, 6]],
            &[&[2, 4], &[2, 2]],
            "SPLIT_V",
            Operator::Split(Split {
                input: [1, 1, 2, 6],
                axis: 3,
                parts: vec![4, 2],
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[2, 3, 4]],
            &[&[4, 2, 3]],
            "TRANSPOSE",
            Operator::Transpose(Transpose {
                input: [1, 2, 3, 4],
                permutation: [0, 3, 1, 2],
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[4, 5]],
            &[&[2, 3]],
            "SLICE",
            Operator::StridedSlice(StridedSlice {
                input: [1, 1, 4, 5],
                begin: [0, 0, 1, 2],
                stride: [1; 4],
                output: [1, 1, 2, 3],
                in_runs: false,
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[4, 5]],
            &[&[2, 2]],
            "STRIDED_SLICE",
            Operator::StridedSlice(StridedSlice {
                input: [1, 1, 4, 5],
                begin: [0, 0, 1, 1],
                stride: [1, 1, 1, 3],
                output: [1, 1, 2, 2],
                in_runs: false,
                element_bytes: 1,
            }),
            INT8,
        ),
        single(
            &[&[1, 3, 4, 2]],
            &[&[1, 6, 7, 2]],
            "RESIZE_BILINEAR",
            Operator::ResizeBilinear(ResizeBilinear {
                input: [1, 3, 4, 2],
                output: [1, 6, 7, 2],
                align_corners: true,
                half_pixel_centers: false,
                interpolation: Interpolation::Float,
                element_bytes: 4,
            }),
            FLOAT32,
        ),
        single(
            &[&[3, 4]],
            &[&[3, 4]],
            "LEAKY_RELU",
            Operator::Elementwise(Elementwise {
                elements: 12,
                input_element_bytes: 1,
                output_element_bytes: 1,
            }),
            INT8,
        ),
    ]
}

#[test]
fn each_kind() {
    for graph in cases() {
        let read = read_again(&graph);
        assert_eq!(
            kernels(&read),
            kernels(&graph),
            "{}",
            graph.operators[0].kind
        );
    }
}

/// As they are, transposed, and one for all batches.
#[test]
fn matrices_are_read_as_they_lie() {
    let operands = [[false, false], [true, false], [false, true], [true, true]]
        .map(|[transposed, shared]| MatrixOperand { transposed, shared });
    let shape = |operand: MatrixOperand, [rows, columns]: [u32; 2]| {
        let batches = if operand.shared { 1 } else { 2 };
        if operand.transposed {
            [batches, columns, rows]
        } else {
            [batches, rows, columns]
        }
    };
    let mut count = 0;
    for left in operands {
        for right in operands {
            // With one matrix each there is one product.
            if left.shared && right.shared {
                continue;
            }
            let product = BatchedMatmul {
                batches: 2,
                rows: 3,
                inner: 4,
                columns: 5,
                left,
                right,
                outer: [OuterBatches::default(); 2],
                input_element_bytes: 4,
                output_element_bytes: 4,
            };
            let inputs = [shape(left, [3, 4]), shape(right, [4, 5])];
            let graph = single(
                &[&inputs[0], &inputs[1]],
                &[&[2, 3, 5]],
                "BATCH_MATMUL",
                Operator::BatchedMatmul(product),
                FLOAT32,
            );
            assert_eq!(kernels(&read_again(&graph)), kernels(&graph));
            count += 1;
        }
    }
    assert_eq!(count, 12);
}

/// Batches that an operand has, or has not, are those around the others.
#[test]
fn matrices_serve_some_of_the_batches() {
    let outer = |extent, shared| OuterBatches { extent, shared };
    let product = BatchedMatmul {
        batches: 2,
        rows: 3,
        inner: 4,
        columns: 5,
        left: MatrixOperand::default(),
        right: MatrixOperand {
            transposed: false,
            shared: true,
        },
        outer: [OuterBatches::default(), outer(7, [false; 2])],
        input_element_bytes: 4,
        output_element_bytes: 4,
    };
    let ends = product;
    let middle = BatchedMatmul {
        right: MatrixOperand::default(),
        outer: [outer(7, [false; 2]), outer(6, [true, false])],
        ..product
    };
    for (inputs, output, product) in [
        ([&[7, 2, 3, 4][..], &[7, 1, 4, 5]], &[7, 2, 3, 5][..], ends),
        (
            [&[7, 1, 2, 3, 4], &[7, 6, 2, 4, 5]],
            &[7, 6, 2, 3, 5],
            middle,
        ),
    ] {
        let operator = Operator::BatchedMatmul(product);
        let graph = single(&inputs, &[output], "BATCH_MATMUL", operator, FLOAT32);
        assert_eq!(kernels(&read_again(&graph)), kernels(&graph));
    }
}

/// Kernels that copy by `memcpy` get no overlap, though their loops are known.
#[test]
fn copies_overlap_nothing() {
    let nearest = ResizeNearest {
        input: [1, 3, 4, 2],
        output: [1, 6, 8, 2],
        align_corners: false,
        half_pixel_centers: false,
        element_bytes: 1,
    };
    let slice = StridedSlice {
        input: [1, 1, 4, 5],
        begin: [0, 0, 1, 1],
        stride: [1, 1, 2, 1],
        output: [1, 1, 2, 3],
        in_runs: false,
        element_bytes: 1,
    };
    for graph in [
        single(
            &[&[1, 3, 4, 2]],
            &[&[1, 6, 8, 2]],
            "RESIZE_NEAREST_NEIGHBOR",
            Operator::ResizeNearest(nearest),
            INT8,
        ),
        single(
            &[&[4, 5]],
            &[&[2, 3]],
            "STRIDED_SLICE",
            Operator::StridedSlice(slice),
            INT8,
        ),
    ] {
        let read = read_again(&graph);
        let node = &read.operators[0];
        assert!(node.kernel.is_some(), "{}", node.kind);
        assert!(analytic_of(&read, node).is_empty(), "{}", node.kind);
    }
}

#[test]
fn scratch() {
    let scratch = |graph: &Graph| read_again(graph).operators[0].scratch_bytes.clone();
    let conv = |element_bytes, accumulation| {
        Operator::TransposeConv2d(TransposeConv2d {
            input: [1, 4, 4, 3],
            output: [1, 8, 8, 2],
            window: Window {
                kernel: [2, 2],
                stride: [2, 2],
                ..Window::default()
            },
            accumulation,
            element_bytes,
        })
    };
    for (element_type, element_bytes, accumulation, expected) in [
        (
            TensorType::Int8,
            1,
            Accumulation::Scratch,
            vec![8 * 8 * 2 * 4],
        ),
        (
            TensorType::Int16,
            2,
            Accumulation::Scratch,
            vec![8 * 8 * 2 * 8],
        ),
        (TensorType::Float32, 4, Accumulation::Output, vec![]),
    ] {
        let graph = single(
            &[&[1, 4, 4, 3]],
            &[&[1, 8, 8, 2]],
            "TRANSPOSE_CONV",
            conv(element_bytes, accumulation),
            (element_type, element_bytes),
        );
        assert_eq!(scratch(&graph), expected);
    }
    let read = read_again(&network(TensorType::Int8, 1));
    let of = |kind| {
        read.operators
            .iter()
            .find(|node| node.kind.name() == kind)
            .unwrap()
    };
    // Accumulators, axes of the input, axes that are reduced.
    assert_eq!(of("MEAN").scratch_bytes, [16, 16, 8]);
    assert!(of("CONV_2D").scratch_bytes.is_empty());
}

#[test]
fn what_cannot_be_exported() {
    let mut graph = network(TensorType::Int8, 1);
    graph.operators[1].kernel = None;
    let error = tflite::export(&graph, 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "operator 1 DEPTHWISE_CONV_2D: it has no kernel that says its options"
    );
    let mut graph = network(TensorType::Int8, 1);
    if let Some(Kernel {
        operator: Operator::Conv2d(conv),
        ..
    }) = &mut graph.operators[0].kernel
    {
        conv.window.padding_before = [1, 0];
    }
    let error = tflite::export(&graph, 1).unwrap_err().to_string();
    assert!(error.contains("is neither SAME nor VALID"), "{error}");
}
