//! What operators compute with, and what is refused.

use super::network;
use super::single::{
    BOOL, FLOAT16, FLOAT32, INT4, INT8, INT16, INT32, INT64, Model, Tensor, activation, constant,
};
use super::tree::{Part, Part::*};
use dmo_analysis::graph::parameters::{Activation, Affine, Constant, Parameters};
use dmo_analysis::graph::tflite::{self, TensorProblem, TfliteError, Unsupported};
use dmo_analysis::graph::{TensorId, TensorType};
use std::borrow::Cow;

const ADD: u32 = 0;
const CONV_2D: u32 = 3;
const FULLY_CONNECTED: u32 = 9;
const SOFTMAX: u32 = 25;
const CUSTOM: u32 = 32;
const LSTM: u32 = 44;
const LEAKY_RELU: u32 = 98;

/// A convolution from 2 to 3 channels, each with its own scale.
fn conv() -> Model {
    let mut filter = constant(INT8, &[3, 1, 1, 2], None, &[1, 2, 3, 4, 5, 6]);
    filter.scales = vec![0.5, 0.25, 2.0];
    filter.zero_points = vec![0, 1, -1];
    filter.quantisation = vec![(6, 0)];
    let mut bias = constant(INT32, &[3], None, &[7; 12]);
    bias.scales = vec![0.25, 0.125, 1.0];
    bias.zero_points = vec![0; 3];
    let tensors = vec![
        activation(INT8, &[1, 4, 4, 2], Some((0.5, -128))),
        filter,
        bias,
        activation(INT8, &[1, 4, 4, 3], Some((0.75, 127))),
    ];
    Model::new(CONV_2D, tensors).options(1, vec![(3, Byte(3))])
}

fn affine(scale: f32, zero_point: i32) -> Affine {
    Affine { scale, zero_point }
}

#[test]
fn a_convolution() {
    let file = conv().write();
    let parameters = tflite::parameters(&file, 0).unwrap().remove(0).unwrap();
    let filter = Constant {
        bytes: Cow::Borrowed(&[1, 2, 3, 4, 5, 6][..]),
        element_type: TensorType::Int8,
        shape: vec![3, 1, 1, 2],
        quantisation: vec![affine(0.5, 0), affine(0.25, 1), affine(2.0, -1)],
        channel_axis: 0,
    };
    let bias = Constant {
        bytes: Cow::Borrowed(&[7; 12][..]),
        element_type: TensorType::Int32,
        shape: vec![3],
        quantisation: vec![affine(0.25, 0), affine(0.125, 0), affine(1.0, 0)],
        channel_axis: 0,
    };
    let expected = Parameters {
        tensors: [0, 1, 2].map(|index| Some(TensorId(index))).to_vec(),
        operands: vec![affine(0.5, -128), affine(0.5, 0), affine(0.25, 0)],
        outputs: vec![affine(0.75, 127)],
        constants: vec![None, Some(filter), Some(bias)],
        activation: Activation::Relu6,
        ..Parameters::default()
    };
    assert_eq!(parameters, expected);
    let bytes = &parameters.constant(1).unwrap().bytes;
    assert!(matches!(bytes, Cow::Borrowed(bytes) if file.as_ptr_range().contains(&bytes.as_ptr())));
}

#[test]
fn absent_operands_keep_their_place() {
    let mut model = conv();
    model.inputs = vec![0, 1, -1, 2];
    model.check(|parameters| {
        let parameters = parameters.as_ref().unwrap();
        assert_eq!(parameters.operand(2), Affine::PLAIN);
        assert_eq!(parameters.operand(3), affine(0.25, 0));
        let present: Vec<bool> = parameters.constants.iter().map(Option::is_some).collect();
        assert_eq!(present, [false, true, false, true]);
    });
}

/// The last axis, as weights of depthwise convolutions have it.
#[test]
fn channels_on_another_axis() {
    let mut model = conv();
    model.tensors[1].shape = vec![1, 2, 1, 3];
    model.tensors[1].quantisation = vec![(6, 3)];
    model.check(|parameters| {
        let filter = parameters.as_ref().unwrap().constant(1).unwrap();
        assert_eq!((filter.channel_axis, filter.quantisation.len()), (3, 3));
    });
}

/// Some converters give a bias the axis of its filter.
#[test]
fn an_axis_that_is_not_there() {
    let mut model = conv();
    model.tensors[2].quantisation = vec![(6, 3)];
    model.check(|parameters| {
        let bias = parameters.as_ref().unwrap().constant(2).unwrap();
        assert_eq!((bias.channel_axis, bias.quantisation.len()), (0, 3));
    });
    let mut model = conv();
    model.tensors[2].shape = vec![1, 3];
    model.tensors[2].quantisation = vec![(6, 2)];
    let problem = TensorProblem::Axis {
        scales: 3,
        axis: 2,
        rank: 2,
    };
    assert_eq!(model.problem(), Unsupported::Tensor { tensor: 2, problem });
}

/// With one scale it means nothing.
#[test]
fn one_scale_has_no_axis() {
    let mut model = conv();
    let bias = &mut model.tensors[2];
    (bias.scales, bias.zero_points) = (vec![0.5], vec![0]);
    bias.quantisation = vec![(6, 3)];
    model.check(|parameters| {
        let bias = parameters.as_ref().unwrap().constant(2).unwrap();
        assert_eq!(bias.quantisation, [affine(0.5, 0)]);
    });
}

#[test]
fn plain_types() {
    for element_type in [FLOAT32, BOOL] {
        // Nothing looks at a record that these have.
        let tensor = activation(element_type, &[4], Some((f32::NAN, 1 << 40)));
        Model::new(ADD, vec![tensor.clone(), tensor.clone(), tensor]).check(|parameters| {
            let parameters = parameters.as_ref().unwrap();
            assert_eq!(parameters.operands, [Affine::PLAIN; 2]);
            assert_eq!(parameters.outputs, [Affine::PLAIN]);
        });
    }
    for (element_type, zero_point) in [(INT16, 0), (INT64, 5), (INT32, i64::from(i32::MIN))] {
        let tensor = activation(element_type, &[4], Some((0.5, zero_point)));
        let model = Model::new(ADD, vec![tensor.clone(), tensor.clone(), tensor]);
        let expected = affine(0.5, i32::try_from(zero_point).unwrap());
        model.check(|parameters| assert_eq!(parameters.as_ref().unwrap().output(0), expected));
    }
}

#[test]
fn activations() {
    let of = |number| conv().options(1, vec![(3, Byte(number))]);
    let expected = [
        Activation::None,
        Activation::Relu,
        Activation::ReluN1To1,
        Activation::Relu6,
    ];
    for (number, activation) in expected.into_iter().enumerate() {
        of(number as u8)
            .check(|parameters| assert_eq!(parameters.as_ref().unwrap().activation, activation));
    }
    for number in 4..=255 {
        let problem = of(number).problem();
        assert!(
            matches!(
                problem,
                Unsupported::Option {
                    option: "fused activation",
                    ..
                }
            ),
            "{problem}"
        );
    }
    assert_eq!(
        of(4).problem().to_string(),
        "its fused activation is 4, expected NONE, RELU, RELU_N1_TO_1 or RELU6, which are 0 to 3"
    );
}

/// Where each kind's options have their activation.
#[test]
fn places_of_activations() {
    for (code, options, field) in [
        (0, 11, 0),
        (1, 5, 5),
        (2, 10, 1),
        (3, 1, 3),
        (4, 2, 4),
        (9, 8, 0),
        (11, 12, 0),
        (12, 5, 5),
        (17, 5, 5),
        (18, 21, 0),
        (27, 6, 1),
        (41, 28, 0),
        (42, 29, 0),
        (67, 49, 3),
    ] {
        let tensor = activation(INT8, &[4], None);
        let model = Model::new(code, vec![tensor.clone(), tensor]);
        let model = model.options(options, vec![(field, Byte(1))]);
        model.check(|parameters| {
            let parameters = parameters.as_ref().unwrap();
            assert_eq!(parameters.activation, Activation::Relu, "{code}");
        });
    }
}

fn unary(code: u32) -> Model {
    let tensor = activation(INT8, &[1, 4], Some((0.5, 0)));
    Model::new(code, vec![tensor.clone(), tensor])
}

fn float(value: f32) -> Part {
    Word(value.to_bits())
}

#[test]
fn factors() {
    let beta = |beta| unary(SOFTMAX).options(9, vec![(0, float(beta))]);
    beta(0.5).check(|parameters| assert_eq!(parameters.as_ref().unwrap().beta, 0.5));
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let problem = beta(wrong).problem().to_string();
        assert_eq!(
            problem,
            format!("its beta is {wrong}, expected a positive number")
        );
    }
    let alpha = |alpha| unary(LEAKY_RELU).options(75, vec![(0, float(alpha))]);
    alpha(-0.5).check(|parameters| assert_eq!(parameters.as_ref().unwrap().alpha, -0.5));
    assert_eq!(
        alpha(f32::NAN).problem().to_string(),
        "its alpha is NaN, expected a number"
    );
}

#[test]
fn sequences() {
    let lstm = |fields: Vec<(usize, Part)>| {
        let mut all = vec![(0, Byte(4))];
        all.extend(fields);
        unary(LSTM).options(71, all)
    };
    lstm(vec![(1, float(10.0)), (3, Byte(1))]).check(|parameters| {
        let parameters = parameters.as_ref().unwrap();
        assert_eq!(
            (parameters.cell_clip, parameters.activation),
            (10.0, Activation::None)
        );
    });
    let without_tanh = unary(LSTM).options(71, vec![(0, Byte(1))]);
    for (model, expected) in [
        (
            without_tanh,
            "its activation is 1, expected TANH, which is 4",
        ),
        (
            lstm(vec![(1, float(-1.0))]),
            "its cell clip is -1, expected 0 or above",
        ),
        (
            lstm(vec![(1, float(f32::NAN))]),
            "its cell clip is NaN, expected 0 or above",
        ),
        (
            lstm(vec![(2, float(1.0))]),
            "its projection clip is 1, expected 0",
        ),
        (
            lstm(vec![(4, Byte(1))]),
            "its asymmetric quantize inputs is true, expected false",
        ),
        (
            lstm(vec![(5, Byte(1))]),
            "its diagonal recurrent tensors is true, expected false",
        ),
    ] {
        assert_eq!(model.problem().to_string(), expected);
    }
}

#[test]
fn operators_that_are_not_known() {
    for code in [CUSTOM, 1000] {
        assert_eq!(unary(code).problem(), Unsupported::Kind);
    }
    // RNN, CONV_3D.
    for code in [24, 132] {
        assert_eq!(unary(code).problem(), Unsupported::NotRead);
    }
    let expected = Unsupported::Options {
        given: 2,
        expected: 1,
    };
    assert_eq!(conv().options(2, Vec::new()).problem(), expected);
    let shuffled = unary(FULLY_CONNECTED).options(8, vec![(1, Byte(1))]);
    assert_eq!(
        shuffled.problem().to_string(),
        "its weights format is 1, expected DEFAULT, which is 0"
    );
}

#[test]
fn floating_point_by_integers() {
    let mut model = conv();
    model.tensors[0].element_type = FLOAT32;
    assert_eq!(model.problem(), Unsupported::Hybrid);
    // Weights to be made floating point are not multiplied by any.
    let weights = constant(INT8, &[2], Some((0.5, 0)), &[1, 2]);
    let dequantise = Model::new(6, vec![weights, activation(FLOAT32, &[2], None)]);
    dequantise.check(|parameters| assert_eq!(parameters.as_ref().unwrap().operands.len(), 1));
}

/// What a change to the filter makes of the convolution.
fn filter(change: impl FnOnce(&mut Tensor)) -> TensorProblem {
    let mut model = conv();
    change(&mut model.tensors[1]);
    match model.problem() {
        Unsupported::Tensor { tensor: 1, problem } => problem,
        other => panic!("{other}"),
    }
}

/// Two in a byte, and only constants: nothing in the arena is packed.
#[test]
fn weights_of_4_bits() {
    let with_zero_point = |zero_point| {
        let mut model = conv();
        model.tensors[1] = Tensor {
            element_type: INT4,
            ..constant(INT8, &[3, 1, 1, 1], Some((0.5, zero_point)), &[0x21, 0x03])
        };
        model
    };
    with_zero_point(7).check(|parameters| {
        let filter = parameters.as_ref().unwrap().constant(1).unwrap();
        assert_eq!(filter.element_type, TensorType::Int4);
        assert_eq!(filter.bytes[..], [0x21, 0x03]);
        assert_eq!(filter.quantisation, [affine(0.5, 7)]);
    });
    let problem = TensorProblem::ZeroPoint {
        given: 8,
        least: -8,
        greatest: 7,
    };
    let expected = Unsupported::Tensor { tensor: 1, problem };
    assert_eq!(with_zero_point(8).problem(), expected);
    let mut model = conv();
    model.tensors[0].element_type = INT4;
    let element_type = TensorType::Int4;
    let problem = TensorProblem::ElementType { element_type };
    assert_eq!(model.problem(), Unsupported::Tensor { tensor: 0, problem });
}

#[test]
fn tensors_that_are_refused() {
    for (element_type, name) in [
        (FLOAT16, TensorType::Float16),
        (200, TensorType::Unknown(200)),
    ] {
        let expected = TensorProblem::ElementType { element_type: name };
        assert_eq!(
            filter(|tensor| tensor.element_type = element_type),
            expected
        );
    }
    let details = |tensor: &mut Tensor| tensor.quantisation.push((4, 2));
    assert_eq!(filter(details), TensorProblem::Details { given: 2 });
    for given in [0.0, -0.5, f32::INFINITY] {
        assert_eq!(
            filter(|tensor| tensor.scales[2] = given),
            TensorProblem::Scale { given }
        );
    }
    assert!(matches!(
        filter(|tensor| tensor.scales[2] = f32::NAN),
        TensorProblem::Scale { given } if given.is_nan()
    ));
    for given in [-129, 128, i64::MIN, 1 << 32] {
        let expected = TensorProblem::ZeroPoint {
            given,
            least: -128,
            greatest: 127,
        };
        assert_eq!(filter(|tensor| tensor.zero_points[1] = given), expected);
    }
    let expected = TensorProblem::Counts {
        scales: 3,
        zero_points: 2,
    };
    assert_eq!(filter(|tensor| tensor.zero_points.truncate(2)), expected);
    for axis in [4, -1] {
        let expected = TensorProblem::Axis {
            scales: 3,
            axis,
            rank: 4,
        };
        let set = |tensor: &mut Tensor| tensor.quantisation = vec![(6, axis as u32)];
        assert_eq!(filter(set), expected);
    }
    let expected = TensorProblem::Extent {
        scales: 3,
        axis: 3,
        extent: 2,
    };
    assert_eq!(
        filter(|tensor| tensor.quantisation = vec![(6, 3)]),
        expected
    );
    assert_eq!(
        filter(|tensor| tensor.data = None),
        TensorProblem::Channels { scales: 3 }
    );
}

/// States are no constants, whatever they begin with.
#[test]
fn variables() {
    let mut model = conv();
    let bias = &mut model.tensors[2];
    (bias.scales, bias.zero_points) = (vec![0.5], vec![0]);
    bias.fields = vec![(5, 1)];
    model.check(|parameters| {
        let parameters = parameters.as_ref().unwrap();
        assert_eq!(parameters.constant(2), None);
        assert_eq!(parameters.operand(2), affine(0.5, 0));
    });
}

#[test]
fn damage() {
    let mut model = conv();
    model.tensors[1].data = Some(vec![0; 5]);
    assert_eq!(
        tflite::parameters(&model.write(), 0)
            .unwrap_err()
            .to_string(),
        "damaged or truncated model: tensor 1 of subgraph 0 has 5 bytes of data, expected 6"
    );
    assert_eq!(
        tflite::parameters(&conv().write(), 1)
            .unwrap_err()
            .to_string(),
        "parameters of operators: subgraph 1, but there are 1"
    );
}

/// Also what only this model has: scales of channels, zero points, options.
#[test]
fn every_value_of_every_byte() {
    let mut file = conv().write();
    for index in 0..file.len() {
        let byte = file[index];
        for other in 0..=u8::MAX {
            file[index] = other;
            for parameters in tflite::parameters(&file, 0).into_iter().flatten().flatten() {
                assert_eq!(parameters.operands.len(), parameters.constants.len());
            }
        }
        file[index] = byte;
    }
}

/// Each operator would have its own copy of a long list of scales.
#[test]
fn constants_that_are_shared() {
    const CHANNELS: usize = 4000;
    let mut model = conv();
    model.tensors[1].shape = vec![CHANNELS as i32, 1, 1, 1];
    model.tensors[1].scales = vec![1.0; CHANNELS];
    model.tensors[1].zero_points = vec![0; CHANNELS];
    model.tensors[1].data = Some(vec![0; CHANNELS]);
    model.operators = 2000;
    let error = tflite::parameters(&model.write(), 0).unwrap_err();
    assert!(matches!(error, TfliteError::Amplified { .. }), "{error}");
}

/// Each operator would have its own copy of a long name.
#[test]
fn names_that_are_shared() {
    let mut model = unary(CUSTOM);
    model.operators = 100_000;
    let mut file = model.write();
    // The name's length is before it.
    let name = file
        .windows(6)
        .position(|window| window == b"custom")
        .unwrap();
    let length = (file.len() - name) as u32;
    file[name - 4..name].copy_from_slice(&length.to_le_bytes());
    let error = tflite::read(&file).unwrap_err();
    assert!(matches!(error, TfliteError::Amplified { .. }), "{error}");
}

/// Whatever is exported can be computed.
#[test]
fn exported_networks() {
    for (element_type, element_bytes) in [
        (TensorType::Int8, 1),
        (TensorType::Uint8, 1),
        (TensorType::Int16, 2),
        (TensorType::Float32, 4),
    ] {
        let graph = network(element_type, element_bytes);
        let file = tflite::export(&graph, 1).unwrap();
        let read = tflite::read(&file).unwrap().graphs.remove(0);
        let parameters = tflite::parameters(&file, 0).unwrap();
        assert_eq!(parameters.len(), read.operators.len());
        for (node, parameters) in read.operators.iter().zip(parameters) {
            let parameters = parameters.unwrap();
            assert_eq!(parameters.constants.len(), node.inputs.len());
            for (&id, constant) in node.inputs.iter().zip(&parameters.constants) {
                let size = constant
                    .as_ref()
                    .map(|constant| constant.bytes.len() as u64);
                let tensor = read.tensor(id);
                let expected = (!read.in_arena(id)).then_some(tensor.size_bytes);
                assert_eq!(size, expected, "{} {}", node.kind, tensor.name);
            }
            let is_softmax = node.kind.name() == "SOFTMAX";
            assert_eq!(parameters.beta, f32::from(u8::from(is_softmax)));
        }
    }
}
