//! Every contract gives as many arguments as the C prototype of its function has.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{
    Accumulation, Apart, ApartBuffer, ArgExtreme, BatchDirection, BatchSpace, BatchedMatmul,
    BroadcastArgs, Concat, Conv2d, CumulativeSum, DepthDirection, DepthSpace, DepthwiseConv2d,
    DepthwiseInPlace, Elementwise, ElementwiseBinary, ElementwiseInput, ElementwiseMany,
    FullyConnected, Gather, InputRows, Interpolation, KeptRows, Lstm, Matmul, MatrixOperand,
    MirrorPad, Opaque, Operator, OuterBatches, Pack, Pad, Pitched, Pool2d, Reduce, Reduction,
    Reshape, ResizeBilinear, ResizeNearest, ShapeOf, Softmax, SpatialMean, Split, Staged,
    StridedSlice, Svdf, Transpose, TransposeConv2d, Unpack, UpdateSlice, Window, Zeros,
};
use dmo_analysis::trace::Address;
use dmo_analysis::trace::ElementType::{
    self, Bool, Float32, Int8, Int16, Int32, Int64, Uint8, Uint32, Uint64,
};
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::images::IMAGES;
use dmo_trace::kernels::{Buffers, Case, Contract, KernelLibrary, contracts};
use std::collections::BTreeSet;
use std::path::Path;

const SHAPE: [u32; 4] = [1, 4, 4, 4];

/// Operators of a kind, for elements of so many bytes.
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn operators(from: ElementType, to: ElementType) -> Vec<(&'static str, Operator)> {
    let staged = |rounds, input_run, output_run, first_bytes| {
        Operator::Staged(Staged {
            rounds,
            input_run,
            output_run,
            input_element_bytes: from.size_bytes(),
            output_element_bytes: to.size_bytes(),
            first_bytes,
        })
    };
    let copied = |bytes: u32| {
        Operator::Opaque(Opaque {
            inputs: vec![bytes],
            outputs: vec![bytes],
        })
    };
    let apart = |inputs: &[u32], outputs: &[u32]| {
        let buffers = |extents: &[u32], of: ElementType| {
            let buffer = |&elements| ApartBuffer {
                elements,
                element_bytes: of.size_bytes(),
            };
            extents.iter().map(buffer).collect()
        };
        Operator::Apart(Apart {
            inputs: buffers(inputs, from),
            outputs: buffers(outputs, to),
        })
    };
    let [element_bytes, output_bytes] = [from, to].map(ElementType::size_bytes);
    let sizes = (element_bytes, output_bytes);
    let window = Window::default();
    let pool = Operator::Pool2d(Pool2d {
        input: SHAPE,
        output: SHAPE,
        window,
        element_bytes,
    });
    let unary = Operator::Elementwise(Elementwise {
        elements: 9,
        input_element_bytes: sizes.0,
        output_element_bytes: sizes.1,
    });
    let binary = Operator::ElementwiseBinary(ElementwiseBinary {
        inputs: [SHAPE; 2],
        output: SHAPE,
        input_element_bytes: [element_bytes; 2],
        output_element_bytes: output_bytes,
    });
    let reduce = |reduction| {
        Operator::Reduce(Reduce {
            input: SHAPE,
            axes: [false, true, true, false],
            reduction,
            input_element_bytes: sizes.0,
            output_element_bytes: sizes.1,
        })
    };
    let slice = Operator::StridedSlice(StridedSlice {
        input: SHAPE,
        begin: [0; 4],
        stride: [1; 4],
        output: SHAPE,
        in_runs: false,
        element_bytes,
    });
    let rows = Operator::Softmax(Softmax {
        rows: 2,
        depth: 5,
        input_element_bytes: sizes.0,
        output_element_bytes: sizes.1,
    });
    let extreme = Operator::ArgExtreme(ArgExtreme {
        before: 2,
        extent: 3,
        after: 4,
        input_element_bytes: sizes.0,
        output_element_bytes: sizes.1,
    });
    let many = |input_bytes: Vec<u32>| {
        let inputs = input_bytes
            .into_iter()
            .map(|element_bytes| ElementwiseInput {
                shape: SHAPE,
                element_bytes,
            });
        Operator::ElementwiseMany(ElementwiseMany {
            inputs: inputs.collect(),
            output: SHAPE,
            output_element_bytes: output_bytes,
        })
    };
    let blocks = |direction| {
        Operator::DepthSpace(DepthSpace {
            blocks: [1, 2, 2, 3],
            block: 2,
            direction,
            element_bytes,
        })
    };
    let batches = |direction| {
        Operator::BatchSpace(BatchSpace {
            image: SHAPE,
            extents: [2, 2],
            block: [2, 2],
            before: [0, 0],
            direction,
            element_bytes,
        })
    };
    let concat = |axis| {
        Operator::Concat(Concat {
            inputs: vec![SHAPE; 3],
            axis,
            element_bytes,
        })
    };
    let mut operators = vec![
        ("max", pool.clone()),
        ("average", pool.clone()),
        ("l2_pool", pool),
        ("sum", reduce(Reduction::Scratch)),
        ("sum", reduce(Reduction::Fold)),
        ("mean", reduce(Reduction::Mean)),
        ("reduce_max", reduce(Reduction::Fold)),
        ("reduce_min", reduce(Reduction::Fold)),
        ("reduce_all", reduce(Reduction::Fold)),
        (
            "zeros_like",
            Operator::Zeros(Zeros {
                elements: 7,
                element_bytes,
            }),
        ),
        (
            "shape",
            Operator::ShapeOf(ShapeOf {
                extents: SHAPE.to_vec(),
            }),
        ),
        (
            "broadcast_args",
            Operator::BroadcastArgs(BroadcastArgs {
                axes: [3, 5],
                element_bytes,
            }),
        ),
        (
            "update_slice",
            Operator::UpdateSlice(UpdateSlice {
                input: SHAPE.to_vec(),
                update: vec![1, 2, 3, 4],
                element_bytes,
                begin_bytes: 4,
            }),
        ),
        ("slice", slice.clone()),
        ("strided_slice", slice),
        (
            "conv2d",
            Operator::Conv2d(Conv2d {
                // One row, so that the kernels for rows compute it, too.
                input: [1, 1, 5, 4],
                output: [1, 1, 5, 4],
                window,
                groups: 1,
                element_bytes,
            }),
        ),
        (
            "depthwise_conv2d",
            Operator::DepthwiseConv2d(DepthwiseConv2d {
                input: SHAPE,
                output: SHAPE,
                window: Window {
                    kernel: [3, 3],
                    padding_before: [1, 1],
                    ..window
                },
                multiplier: 1,
                element_bytes,
            }),
        ),
        (
            "transpose_conv2d",
            Operator::TransposeConv2d(TransposeConv2d {
                input: SHAPE,
                output: SHAPE,
                window,
                accumulation: match from {
                    Float32 => Accumulation::Output,
                    _ => Accumulation::Scratch,
                },
                element_bytes,
            }),
        ),
        (
            "transpose_conv2d",
            Operator::TransposeConv2d(TransposeConv2d {
                input: SHAPE,
                output: SHAPE,
                window: Window {
                    stride: [3, 3],
                    ..window
                },
                accumulation: match from {
                    Float32 => Accumulation::Output,
                    _ => Accumulation::Scratch,
                },
                element_bytes,
            }),
        ),
        (
            "fully_connected",
            Operator::FullyConnected(FullyConnected {
                batches: 2,
                input_depth: 4,
                output_depth: 5,
                element_bytes,
            }),
        ),
        (
            "batched_matmul",
            Operator::BatchedMatmul(BatchedMatmul {
                batches: 2,
                rows: 2,
                inner: 3,
                columns: 4,
                left: MatrixOperand::default(),
                right: MatrixOperand {
                    transposed: true,
                    shared: false,
                },
                outer: [OuterBatches {
                    extent: 2,
                    shared: [true, false],
                }; 2],
                input_element_bytes: sizes.0,
                output_element_bytes: sizes.1,
            }),
        ),
        (
            "matmul",
            Operator::Matmul(Matmul {
                rows: 2,
                inner: 3,
                columns: 4,
                input_element_bytes: sizes.0,
                output_element_bytes: sizes.1,
            }),
        ),
        (
            "split",
            Operator::Split(Split {
                input: SHAPE,
                axis: 3,
                parts: vec![1, 3],
                element_bytes,
            }),
        ),
        (
            "pad",
            Operator::Pad(Pad {
                input: SHAPE,
                before: [0, 1, 1, 0],
                output: [1, 6, 6, 4],
                element_bytes,
            }),
        ),
        (
            "reshape",
            Operator::Reshape(Reshape {
                elements: 9,
                element_bytes,
            }),
        ),
        (
            "pack",
            Operator::Pack(Pack {
                parts: 3,
                rounds: 2,
                run: 4,
                element_bytes,
            }),
        ),
        (
            "unpack",
            Operator::Unpack(Unpack {
                parts: 3,
                rounds: 2,
                run: 4,
                element_bytes,
            }),
        ),
        ("select", many(vec![1, output_bytes, output_bytes])),
        ("add_n", many(vec![element_bytes; 3])),
        ("arg_max", extreme.clone()),
        ("arg_min", extreme),
        (
            "cumsum",
            Operator::CumulativeSum(CumulativeSum {
                before: 2,
                extent: 3,
                after: 4,
                exclusive: true,
                reverse: false,
                element_bytes,
            }),
        ),
        ("l2_normalization", rows.clone()),
        ("log_softmax", rows.clone()),
        ("softmax", rows),
        ("space_to_depth", blocks(DepthDirection::SpaceToDepth)),
        ("depth_to_space", blocks(DepthDirection::DepthToSpace)),
        ("space_to_batch", batches(BatchDirection::SpaceToBatch)),
        ("batch_to_space", batches(BatchDirection::BatchToSpace)),
        (
            "gather",
            Operator::Gather(Gather {
                batches: 2,
                outer: 3,
                extents: vec![4, 5],
                run: 2,
                count: 3,
                element_bytes,
            }),
        ),
        (
            "mirror_pad",
            Operator::MirrorPad(MirrorPad {
                input: SHAPE,
                before: [0, 1, 1, 0],
                after: [0, 1, 2, 0],
                reflect: true,
                element_bytes,
            }),
        ),
        (
            "circular_buffer",
            Operator::Opaque(Opaque {
                inputs: vec![12],
                outputs: vec![36],
            }),
        ),
        ("read_variable", copied(24)),
        ("assign_variable", copied(24)),
        ("signal_window", staged(6, 1, 1, 0)),
        ("signal_log", staged(6, 1, 1, 0)),
        ("signal_square_root", staged(6, 1, 1, 4)),
        ("signal_delay", staged(2, 6, 6, 0)),
        ("signal_filter_bank", staged(1, 24, 5, 0)),
        ("signal_overlap_add", staged(2, 6, 2, 0)),
        ("rfft", staged(2, 6, 10, 0)),
        ("irfft", apart(&[10], &[8])),
        ("signal_scale", apart(&[6], &[6, 1])),
        ("signal_energy", apart(&[12], &[6])),
        ("signal_subtract_noise", apart(&[6], &[6, 6])),
        ("signal_pcan", apart(&[6, 6], &[6])),
        ("signal_framer", apart(&[4], &[8, 1])),
        ("decode", apart(&[], &[24, 8])),
        ("detection_postprocess", apart(&[16, 8], &[12, 3, 3, 1])),
        ("signal_stacker", apart(&[4], &[12, 1])),
        (
            "input_rows",
            Operator::InputRows(InputRows {
                kept: Some(SHAPE),
                new: SHAPE,
                element_bytes,
            }),
        ),
        (
            "kept_rows",
            Operator::KeptRows(KeptRows {
                elements: 12,
                element_bytes,
            }),
        ),
        (
            "transpose",
            Operator::Transpose(Transpose {
                input: SHAPE,
                permutation: [0, 2, 1, 3],
                element_bytes,
            }),
        ),
        (
            "resize_nearest",
            Operator::ResizeNearest(ResizeNearest {
                input: SHAPE,
                output: [1, 8, 8, 4],
                align_corners: false,
                half_pixel_centers: true,
                element_bytes,
            }),
        ),
        (
            "resize_bilinear",
            Operator::ResizeBilinear(ResizeBilinear {
                input: SHAPE,
                output: [1, 8, 8, 4],
                align_corners: false,
                half_pixel_centers: true,
                interpolation: match from {
                    Float32 => Interpolation::Float,
                    _ => Interpolation::FixedPoint,
                },
                element_bytes,
            }),
        ),
        (
            "mean",
            Operator::SpatialMean(SpatialMean {
                input: SHAPE,
                input_element_bytes: sizes.0,
                output_element_bytes: sizes.1,
            }),
        ),
        (
            "svdf",
            Operator::Svdf(Svdf {
                batches: 2,
                input_depth: 3,
                units: 4,
                rank: 2,
                input_element_bytes: sizes.0,
                output_element_bytes: sizes.1,
            }),
        ),
        (
            "lstm",
            Operator::Lstm(Lstm {
                batches: 2,
                times: 3,
                input_depth: 4,
                output_depth: 5,
                time_major: false,
                input_element_bytes: sizes.0,
                output_element_bytes: sizes.1,
            }),
        ),
    ];
    operators.extend((0..4).map(|axis| ("concat", concat(axis))));
    operators.extend(Kind::elementwise().map(|(kind, inputs)| match inputs {
        1 => (kind, unary.clone()),
        _ => (kind, binary.clone()),
    }));
    let in_place = DepthwiseInPlace {
        input: SHAPE,
        output: SHAPE,
        window,
        element_bytes,
    };
    operators.push(("depthwise_conv2d", Operator::DepthwiseInPlace(in_place)));
    let pitched = operators.iter().filter_map(|(kind, operator)| {
        let buffers = operator.buffers().ok()?;
        let pitched = Operator::Pitched(Pitched {
            operator: Box::new(operator.clone()),
            shape: None,
            inputs: vec![None; buffers.inputs.len()],
            outputs: vec![None; buffers.outputs.len()],
        });
        pitched.buffers().is_ok().then_some((*kind, pitched))
    });
    let pitched: Vec<_> = pitched.collect();
    operators.extend(pitched);
    operators
}

fn cases() -> Vec<Case> {
    let types = [
        (Int8, Int8),
        (Uint8, Uint8),
        (Int16, Int16),
        (Float32, Float32),
        (Int8, Int16),
        (Int16, Int8),
        (Int16, Int32),
        (Int8, Int32),
        (Int8, Uint8),
        (Uint8, Int8),
        (Int8, Float32),
        (Int16, Float32),
        (Float32, Int8),
        (Float32, Int16),
        (Bool, Bool),
        (Bool, Int8),
        (Int32, Int32),
        (Int64, Int64),
        (Int64, Bool),
        (Int16, Uint32),
        (Uint32, Uint32),
        (Uint32, Int16),
        (Uint32, Uint64),
        (Uint64, Uint32),
        (Uint32, Int32),
        (Int32, Uint32),
        (Int32, Int8),
        (Int32, Int16),
        (Uint8, Float32),
        (Int8, Bool),
        (Int32, Bool),
        (Float32, Bool),
        (Float32, Int32),
    ];
    types
        .into_iter()
        .flat_map(|(input_type, output_type)| {
            operators(input_type, output_type)
                .into_iter()
                .map(move |(kind, operator)| Case {
                    operator,
                    kind: Kind::of_kernels(kind).unwrap(),
                    input_type,
                    output_type,
                })
        })
        .collect()
}

/// How many parameters the prototypes in the headers have.
fn prototype(headers: &str, function: &str) -> usize {
    let (_, rest) = headers
        .split_once(&format!(" {function}("))
        .expect(function);
    let (parameters, _) = rest.split_once(");").expect(function);
    parameters.split(',').count()
}

fn headers() -> String {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-c/include");
    let mut text = String::new();
    for folder in [include.clone(), include.join("cmsis_nn")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                text += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    text
}

fn places(count: usize) -> Vec<Address> {
    (0..count as u32)
        .map(|index| Address(0x2000_0000 + 4096 * index))
        .collect()
}

#[test]
fn as_many_as_the_prototypes_have() {
    let headers = headers();
    let libraries = ["reference", "dsp", "dsp-packed"].map(|set| {
        let image = IMAGES.iter().find(|image| image.set == set).expect(set);
        KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(set)
    });
    let mut seen = BTreeSet::new();
    for case in cases() {
        for function in Contract::functions(&case) {
            let mut found = libraries.iter().filter_map(|library| {
                Some((library, Contract::find(library, &case, Some(function))?))
            });
            let Some((library, contract)) = found.next() else {
                // `vendor_functions.rs` calls those that only a vendor's library has.
                assert!(function.starts_with("arm_"), "{function}");
                let of_vendors = contracts().filter(|contract| contract.function == function);
                let sizes = of_vendors.flat_map(Contract::size_functions);
                seen.extend(sizes.map(|size| size.name).chain([function]));
                continue;
            };
            let parameters = contract.invented(&case).expect(function);
            let mut frame = library.frame();
            for size in contract.size_functions() {
                let arguments = size.arguments(&case, &parameters, &mut frame).unwrap();
                let wanted = prototype(&headers, size.name);
                assert_eq!(arguments.len(), wanted, "{}", size.name);
                seen.insert(size.name);
            }
            let wanted = case.operator.buffers().unwrap();
            let buffers = Buffers {
                inputs: places(wanted.inputs.len()),
                outputs: places(wanted.outputs.len()),
                scratch: Some((Address(0x2010_0000), 1 << 16)),
                states: places(contract.states.len()),
            };
            let calls = contract.prepare(&case, &parameters, &buffers, &mut frame);
            for arguments in calls.expect(function) {
                let wanted = prototype(&headers, function);
                assert_eq!(arguments.len(), wanted, "{function}");
            }
            let is_alone = wanted.inputs.is_empty();
            for missing in [
                Buffers {
                    inputs: places(usize::from(is_alone)),
                    ..buffers.clone()
                },
                Buffers {
                    outputs: Vec::new(),
                    ..buffers.clone()
                },
                Buffers {
                    states: places(3),
                    ..buffers.clone()
                },
            ] {
                assert!(
                    contract
                        .prepare(&case, &parameters, &missing, &mut frame)
                        .is_err()
                );
            }
            seen.insert(function);
        }
    }
    let functions = contracts().flat_map(|contract| {
        let sizes = contract.size_functions().map(|it| it.name);
        sizes.chain([contract.function])
    });
    let unseen: Vec<&str> = functions.filter(|name| !seen.contains(name)).collect();
    assert_eq!(
        unseen, [""; 0],
        "contracts that no case asks for: give their operators or types a row in operators() or cases()"
    );
}
