//! Quantised kernels compute what their real numbers say: each runs on scales and zero
//! points as models have them, against plain arithmetic in double precision.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::graph::parameters::{Activation, Affine, Constant, Parameters};
use dmo_analysis::operator::{
    Accumulation, BatchedMatmul, Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary,
    FullyConnected, Lstm, MatrixOperand, Operator, OuterBatches, Pad, Pool2d, Softmax, SpatialMean,
    Svdf, TransposeConv2d, Window,
};
use dmo_analysis::trace::ElementType::{self, Int8, Int16, Int32, Uint8};
use dmo_trace::call::{CallError, Caller, DEFAULT_RAM};
use dmo_trace::kernels::images::IMAGES;
use dmo_trace::kernels::{Buffers, Case, Contract, KernelLibrary, StatePlace};
use dmo_trace::mcu::machine::Observation;
use dmo_trace::measure::scratch_memory;
use support::LIMITS;

/// Numbers that look random.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.0 >> 33
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// Symmetric: without -128.
    fn weights(&mut self, count: usize) -> Vec<u8> {
        self.bytes(count)
            .into_iter()
            .map(|byte| (byte as i8).max(-127) as u8)
            .collect()
    }

    /// Near `about`, and no power of two.
    fn scale(&mut self, about: f32) -> f32 {
        about * (0.7 + (self.next() % 1000) as f32 / 1500.0)
    }

    fn affine(&mut self, about: f32) -> Affine {
        let zero_point = (self.next() % 60) as i32 - 30;
        Affine {
            scale: self.scale(about),
            zero_point,
        }
    }

    /// Weights of this shape, with a scale for each index of the axis where it is given.
    fn filter(
        &mut self,
        shape: &[u32],
        about: f32,
        channel_axis: Option<usize>,
    ) -> Constant<'static> {
        let scales = channel_axis.map_or(1, |axis| shape[axis]);
        let quantisation = (0..scales).map(|_| Affine {
            scale: self.scale(about),
            zero_point: 0,
        });
        Constant {
            quantisation: quantisation.collect(),
            bytes: self.weights(shape.iter().product::<u32>() as usize).into(),
            element_type: Int8.into(),
            shape: shape.to_vec(),
            channel_axis: channel_axis.unwrap_or(0),
        }
    }

    fn bias(&mut self, count: u32) -> Constant<'static> {
        let values = (0..count).map(|_| (self.next() % 2000) as i32 - 1000);
        Constant {
            bytes: values.flat_map(i32::to_le_bytes).collect::<Vec<_>>().into(),
            element_type: Int32.into(),
            shape: vec![count],
            quantisation: Vec::new(),
            channel_axis: 0,
        }
    }
}

fn int8(kind: &'static str, operator: Operator) -> Case {
    Case {
        operator,
        kind: Kind::of_kernels(kind).unwrap(),
        input_type: Int8,
        output_type: Int8,
    }
}

fn int16(kind: &'static str, operator: Operator) -> Case {
    Case {
        input_type: Int16,
        output_type: Int16,
        ..int8(kind, operator)
    }
}

fn integers(bytes: &[u8]) -> Vec<i16> {
    let integer = |bytes: &[u8]| i16::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks(2).map(integer).collect()
}

fn reals(bytes: &[u8], affine: Affine) -> Vec<f64> {
    let real =
        |&byte: &u8| f64::from(affine.scale) * f64::from(i32::from(byte as i8) - affine.zero_point);
    bytes.iter().map(real).collect()
}

/// Of filters, by channel.
fn real_weight(constant: &Constant, index: usize, channel: usize) -> f64 {
    let scales = &constant.quantisation;
    let affine = scales[channel % scales.len()];
    f64::from(affine.scale) * f64::from(constant.bytes[index] as i8)
}

fn real_bias(constant: &Constant, channel: usize, scale: f64) -> f64 {
    let bytes = constant.bytes[4 * channel..4 * channel + 4]
        .try_into()
        .unwrap();
    f64::from(i32::from_le_bytes(bytes)) * scale
}

fn library(function: &str) -> KernelLibrary {
    let set = if function.starts_with("arm_") {
        "dsp"
    } else {
        "reference"
    };
    let image = IMAGES.iter().find(|image| image.set == set).expect(set);
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect(set)
}

/// Runs the kernel on 8-bit inputs; states are zero, but for these bytes.
fn run(
    function: &str,
    case: &Case,
    parameters: &Parameters,
    inputs: &[Vec<u8>],
    states: &[Vec<u8>],
) -> Result<Vec<u8>, CallError> {
    let library = library(function);
    let contract = Contract::find(&library, case, Some(function)).expect(function);
    let mut frame = library.frame();
    let sizes = case.operator.buffers().unwrap();
    let mut place = |bytes: &Vec<u8>| {
        let address = frame.reserve("buffer", bytes.len() as u64).unwrap();
        frame.fill(address, bytes.clone());
        address
    };
    let inputs = inputs.iter().map(&mut place).collect();
    let states = states.iter().map(&mut place).collect();
    let output_bytes = sizes.outputs[0].size_bytes();
    let output = place(&vec![0; output_bytes as usize]);
    let scratch =
        scratch_memory(&library, case, contract, parameters, LIMITS).map_err(|error| {
            CallError::NoReturn {
                how: error.to_string(),
            }
        })?;
    let scratch = scratch.total_bytes;
    let buffers = Buffers {
        inputs,
        outputs: vec![output],
        scratch: Some((place(&vec![0; scratch as usize]), scratch)),
        states,
    };
    let calls = contract.prepare(case, parameters, &buffers, &mut frame)?;
    let mut caller = Caller::new(&library, Observation::None, LIMITS)?;
    caller.fill(&frame)?;
    for arguments in calls {
        caller.call_on(function, &frame, &arguments)?;
    }
    Ok(caller.machine.read(output, output_bytes as usize).unwrap())
}

/// Runs an unsigned kernel on the same real numbers: all that is quantised is moved by 128.
fn run_unsigned(
    function: &str,
    case: &Case,
    parameters: &Parameters,
    inputs: &[Vec<u8>],
) -> Result<Vec<u8>, CallError> {
    let moved = |bytes: &[u8]| bytes.iter().map(|byte| byte ^ 0x80).collect::<Vec<_>>();
    let up = |affine: &mut Affine| affine.zero_point += 128;
    let mut parameters = parameters.clone();
    parameters.operands.iter_mut().for_each(up);
    parameters.outputs.iter_mut().for_each(up);
    let constants = parameters.constants.iter_mut().flatten();
    for constant in constants.filter(|constant| constant.element_type == Int8.into()) {
        constant.element_type = Uint8.into();
        constant.bytes = moved(&constant.bytes).into();
        constant.quantisation.iter_mut().for_each(up);
    }
    let case = Case {
        input_type: Uint8,
        output_type: Uint8,
        ..case.clone()
    };
    let inputs: Vec<_> = inputs.iter().map(|bytes| moved(bytes)).collect();
    let output = run(function, &case, &parameters, &inputs, &[])?;
    Ok(moved(&output))
}

/// The kernels give the real numbers, quantised, to at most `tolerance` steps.
fn assert_computes(
    functions: &[&str],
    case: &Case,
    parameters: &Parameters,
    inputs: &[Vec<u8>],
    states: &[Vec<u8>],
    real: &[f64],
    tolerance: f64,
) {
    let output = parameters.output(0);
    let (low, high) = parameters.activation.limits();
    let quantised = real.iter().map(|value| {
        let value = value.clamp(low.into(), high.into());
        (value / f64::from(output.scale) + f64::from(output.zero_point)).clamp(-128.0, 127.0)
    });
    let quantised: Vec<f64> = quantised.collect();
    for function in functions {
        let found = if function.ends_with("_u8") {
            run_unsigned(function, case, parameters, inputs)
        } else {
            run(function, case, parameters, inputs, states)
        };
        let found = found.expect(function);
        assert_eq!(found.len(), quantised.len(), "{function}");
        for (index, (&byte, &expected)) in found.iter().zip(&quantised).enumerate() {
            let error = f64::from(byte as i8) - expected;
            assert!(
                error.abs() <= 0.5 + tolerance,
                "{function}: element {index} is {}, expected {expected}",
                byte as i8
            );
        }
        let mut values = found;
        values.sort_unstable();
        values.dedup();
        // Activations cut most of them.
        let least = match parameters.activation {
            Activation::None => 6,
            _ => 2,
        };
        assert!(values.len() >= least, "{function} gives {values:?}");
    }
}

/// Seeds to go through: scales and zero points differ from one to the next.
const SEEDS: std::ops::Range<u64> = 1..9;

const ACTIVATIONS: [Activation; 4] = [
    Activation::None,
    Activation::Relu,
    Activation::Relu6,
    Activation::ReluN1To1,
];

/// An output scale that suits numbers of this magnitude, and an activation that cuts some.
fn output_of(noise: &mut Noise, seed: u64, magnitude: f32) -> (Affine, Activation) {
    (
        noise.affine(magnitude / 100.0),
        ACTIVATIONS[seed as usize % 4],
    )
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn convolutions() {
    let window = Window {
        kernel: [3, 3],
        padding_before: [1, 1],
        ..Window::default()
    };
    let [extent, inputs, outputs] = [5_u32, 3, 4];
    let at = |y: i64, x: i64, depth: u32, c: u32| -> Option<usize> {
        let inside = |v: i64| (0..i64::from(extent)).contains(&v);
        (inside(y) && inside(x)).then(|| ((y as u32 * extent + x as u32) * depth + c) as usize)
    };
    for seed in SEEDS {
        let mut noise = Noise(seed);
        for kind in ["conv2d", "depthwise_conv2d", "transpose_conv2d"] {
            let depthwise = kind == "depthwise_conv2d";
            let transposed = kind == "transpose_conv2d";
            let inputs = if depthwise { outputs } else { inputs };
            let input_shape = [1, extent, extent, inputs];
            let output_shape = [1, extent, extent, outputs];
            let operator = match kind {
                "conv2d" => Operator::Conv2d(Conv2d {
                    input: input_shape,
                    output: output_shape,
                    window,
                    groups: 1,
                    element_bytes: 1,
                }),
                "depthwise_conv2d" => Operator::DepthwiseConv2d(DepthwiseConv2d {
                    input: input_shape,
                    output: output_shape,
                    window,
                    multiplier: 1,
                    element_bytes: 1,
                }),
                _ => Operator::TransposeConv2d(TransposeConv2d {
                    input: input_shape,
                    output: output_shape,
                    window,
                    accumulation: Accumulation::Scratch,
                    element_bytes: 1,
                }),
            };
            let (shape, axis) = if depthwise {
                ([1, 3, 3, outputs], 3)
            } else {
                ([outputs, 3, 3, inputs], 0)
            };
            // Each channel its own scale, or one for all.
            let filter = noise.filter(&shape, 0.01, (seed % 3 != 0).then_some(axis));
            let bias = noise.bias(outputs);
            let input = noise.affine(0.05);
            let (output, activation) = output_of(&mut noise, seed, 10.0);
            let data = noise.bytes((extent * extent * inputs) as usize);
            let values = reals(&data, input);
            let mut sums = vec![0.0; (extent * extent * outputs) as usize];
            for y in 0..i64::from(extent) {
                for x in 0..i64::from(extent) {
                    for o in 0..outputs {
                        let here = at(y, x, outputs, o).unwrap();
                        let scales = &filter.quantisation;
                        let scale = f64::from(scales[o as usize % scales.len()].scale);
                        let scale = scale * f64::from(input.scale);
                        sums[here] += real_bias(&bias, o as usize, scale);
                        for (fy, fx) in (0..3).flat_map(|fy| (0..3).map(move |fx| (fy, fx))) {
                            let (dy, dx) = if transposed {
                                (1 - i64::from(fy), 1 - i64::from(fx))
                            } else {
                                (i64::from(fy) - 1, i64::from(fx) - 1)
                            };
                            let channels = if depthwise { o..o + 1 } else { 0..inputs };
                            for i in channels {
                                let Some(from) = at(y + dy, x + dx, inputs, i) else {
                                    continue;
                                };
                                let weight = if depthwise {
                                    (fy * 3 + fx) * outputs + o
                                } else {
                                    ((o * 3 + fy) * 3 + fx) * inputs + i
                                };
                                let weight = real_weight(&filter, weight as usize, o as usize);
                                sums[here] += values[from] * weight;
                            }
                        }
                    }
                }
            }
            let of_all = filter.quantisation.len() == 1;
            let parameters = if transposed {
                Parameters {
                    operands: vec![Affine::PLAIN, filter.quantisation[0], input],
                    constants: vec![None, Some(filter), None, Some(bias)],
                    outputs: vec![output],
                    activation,
                    ..Parameters::default()
                }
            } else {
                Parameters {
                    operands: vec![input, filter.quantisation[0]],
                    constants: vec![None, Some(filter), Some(bias)],
                    outputs: vec![output],
                    activation,
                    ..Parameters::default()
                }
            };
            let functions: &[&str] = match kind {
                // One scale for all channels.
                "conv2d" if of_all => &[
                    "dmo_conv2d_u8",
                    "dmo_conv2d_s8",
                    "arm_convolve_wrapper_s8",
                    "arm_convolve_s8",
                ],
                "depthwise_conv2d" if of_all => &[
                    "dmo_depthwise_conv2d_u8",
                    "dmo_depthwise_conv2d_s8",
                    "arm_depthwise_conv_wrapper_s8",
                ],
                "conv2d" => &[
                    "dmo_conv2d_s8",
                    "arm_convolve_wrapper_s8",
                    "arm_convolve_s8",
                ],
                "depthwise_conv2d" => &["dmo_depthwise_conv2d_s8", "arm_depthwise_conv_wrapper_s8"],
                _ => &["dmo_transposed_conv2d_s8"],
            };
            assert_computes(
                functions,
                &int8(kind, operator),
                &parameters,
                &[data],
                &[],
                &sums,
                0.05,
            );
        }
    }
}

#[test]
fn products() {
    let [batches, inner, outputs] = [3_u32, 7, 5];
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let mut filter = noise.filter(&[outputs, inner], 0.02, None);
        // The kernels have an offset for it.
        filter.quantisation[0].zero_point = seed as i32 - 4;
        let bias = noise.bias(outputs);
        let input = noise.affine(0.03);
        let (output, activation) = output_of(&mut noise, seed, 6.0);
        let data = noise.bytes((batches * inner) as usize);
        let (left, right) = (
            reals(&data, input),
            reals(&filter.bytes, filter.quantisation[0]),
        );
        let scale = f64::from(input.scale) * f64::from(filter.quantisation[0].scale);
        let mut sums = Vec::new();
        for (b, o) in (0..batches).flat_map(|b| (0..outputs).map(move |o| (b, o))) {
            let products = (0..inner)
                .map(|i| left[(b * inner + i) as usize] * right[(o * inner + i) as usize]);
            sums.push(products.sum::<f64>() + real_bias(&bias, o as usize, scale));
        }
        let layer = Operator::FullyConnected(FullyConnected {
            batches,
            input_depth: inner,
            output_depth: outputs,
            element_bytes: 1,
        });
        let parameters = Parameters {
            operands: vec![input, filter.quantisation[0]],
            constants: vec![None, Some(filter), Some(bias)],
            outputs: vec![output],
            activation,
            ..Parameters::default()
        };
        let functions = [
            "dmo_fully_connected_s8",
            "dmo_fully_connected_u8",
            "arm_fully_connected_s8",
        ];
        let case = int8("fully_connected", layer);
        assert_computes(
            &functions,
            &case,
            &parameters,
            std::slice::from_ref(&data),
            &[],
            &sums,
            0.05,
        );

        let second = noise.affine(0.02);
        let other = noise.bytes((inner * outputs) as usize);
        let right = reals(&other, second);
        let mut sums = Vec::new();
        for (b, o) in (0..batches).flat_map(|b| (0..outputs).map(move |o| (b, o))) {
            let products = (0..inner)
                .map(|i| left[(b * inner + i) as usize] * right[(i * outputs + o) as usize]);
            sums.push(products.sum::<f64>());
        }
        let product = Operator::BatchedMatmul(BatchedMatmul {
            batches: 1,
            rows: batches,
            inner,
            columns: outputs,
            left: MatrixOperand::default(),
            right: MatrixOperand::default(),
            outer: [OuterBatches::default(); 2],
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        let parameters = Parameters {
            operands: vec![input, second],
            outputs: vec![output],
            ..Parameters::default()
        };
        let case = int8("batched_matmul", product);
        assert_computes(
            &["dmo_batched_matmul_s8"],
            &case,
            &parameters,
            &[data, other],
            &[],
            &sums,
            0.05,
        );
    }
}

#[test]
fn two_operands() {
    let shape = [1, 3, 4, 5];
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let affines = [noise.affine(0.05), noise.affine(0.02)];
        let data = [noise.bytes(60), noise.bytes(60)];
        let values = [0, 1].map(|index| reals(&data[index], affines[index]));
        for (kind, functions, compute) in [
            (
                "add",
                &[
                    "dmo_add_s8",
                    "dmo_add_u8",
                    "dmo_broadcast_add_s8",
                    "arm_elementwise_add_s8",
                ][..],
                (|a, b| a + b) as fn(f64, f64) -> f64,
            ),
            ("sub", &["dmo_broadcast_sub_s8"], |a, b| a - b),
            (
                "mul",
                &[
                    "dmo_mul_s8",
                    "dmo_broadcast_mul_s8",
                    "arm_elementwise_mul_s8",
                ],
                |a, b| a * b,
            ),
        ] {
            let (output, activation) = output_of(&mut noise, seed, 6.0);
            let parameters = Parameters {
                operands: affines.to_vec(),
                outputs: vec![output],
                activation,
                ..Parameters::default()
            };
            let real = values[0]
                .iter()
                .zip(&values[1])
                .map(|(&a, &b)| compute(a, b));
            let real: Vec<f64> = real.collect();
            let operator = Operator::ElementwiseBinary(ElementwiseBinary {
                inputs: [shape; 2],
                output: shape,
                input_element_bytes: [1; 2],
                output_element_bytes: 1,
            });
            assert_computes(
                functions,
                &int8(kind, operator),
                &parameters,
                &data,
                &[],
                &real,
                0.05,
            );
        }
    }
}

const fn affine(scale: f32, zero_point: i32) -> Affine {
    Affine { scale, zero_point }
}

fn hard_swish(x: f64) -> f64 {
    x * (x + 3.0).clamp(0.0, 6.0) / 6.0
}

/// Below 0, so that the curve falls there.
const ALPHA: f32 = -0.25;

fn leaky_relu(x: f64) -> f64 {
    if x < 0.0 { f64::from(ALPHA) * x } else { x }
}

#[test]
fn one_operand() {
    let all: Vec<u8> = (0..=255).collect();
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let output = noise.affine(0.04);
        for (kind, function, about, output, tolerance, compute) in [
            (
                "relu",
                "dmo_relu_s8",
                0.05,
                output,
                0.05,
                (|x| x.max(0.0)) as fn(f64) -> f64,
            ),
            (
                "requantize",
                "dmo_requantize_s8_s8",
                0.05,
                output,
                0.05,
                |x| x,
            ),
            (
                "hard_swish",
                "dmo_hard_swish_s8",
                0.05,
                output,
                1.0,
                hard_swish,
            ),
            ("abs", "dmo_abs_s8", 0.05, output, 0.05, f64::abs),
            ("elu", "dmo_lookup_s8", 0.05, output, 0.05, |x| {
                if x < 0.0 { x.exp_m1() } else { x }
            }),
            (
                "leaky_relu",
                "dmo_leaky_relu_s8",
                0.05,
                output,
                0.3,
                leaky_relu,
            ),
            (
                "logistic",
                "dmo_logistic_s8",
                0.05,
                affine(1.0 / 256.0, -128),
                0.1,
                |x| 1.0 / (1.0 + (-x).exp()),
            ),
            (
                "tanh",
                "dmo_tanh_s8",
                0.03,
                affine(1.0 / 128.0, 0),
                0.1,
                f64::tanh,
            ),
        ] {
            let input = noise.affine(about);
            let parameters = Parameters {
                operands: vec![input],
                outputs: vec![output],
                alpha: ALPHA,
                ..Parameters::default()
            };
            let real: Vec<f64> = reals(&all, input).into_iter().map(compute).collect();
            let operator = Operator::Elementwise(Elementwise {
                elements: 256,
                input_element_bytes: 1,
                output_element_bytes: 1,
            });
            assert_computes(
                &[function],
                &int8(kind, operator),
                &parameters,
                std::slice::from_ref(&all),
                &[],
                &real,
                tolerance,
            );
        }
    }
}

#[test]
fn rows_and_windows() {
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let data = noise.bytes(48);
        let input = noise.affine(0.05);
        // Softmax of 4 rows of 12.
        let beta = noise.scale(1.0);
        let exponentials: Vec<f64> = reals(&data, input)
            .iter()
            .map(|x| (x * f64::from(beta)).exp())
            .collect();
        let shares = exponentials.chunks(12).flat_map(|row| {
            let sum: f64 = row.iter().sum();
            row.iter().map(move |x| x / sum)
        });
        let shares: Vec<f64> = shares.collect();
        let parameters = Parameters {
            operands: vec![input],
            outputs: vec![affine(1.0 / 256.0, -128)],
            beta,
            ..Parameters::default()
        };
        let softmax = Operator::Softmax(Softmax {
            rows: 4,
            depth: 12,
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        let functions = ["dmo_softmax_s8", "dmo_softmax_u8", "arm_softmax_s8"];
        let case = int8("softmax", softmax);
        let one = std::slice::from_ref(&data);
        assert_computes(&functions, &case, &parameters, one, &[], &shares, 0.6);

        // The same, finer.
        let Operator::Softmax(mut softmax) = case.operator else {
            unreachable!();
        };
        softmax.output_element_bytes = 2;
        let fine = Case {
            operator: Operator::Softmax(softmax),
            output_type: Int16,
            ..case
        };
        let parameters = Parameters {
            outputs: vec![affine(1.0 / 65536.0, -32768)],
            ..parameters
        };
        let found = run("dmo_softmax_s8_s16", &fine, &parameters, one, &[]).unwrap();
        for (integer, share) in integers(&found).into_iter().zip(&shares) {
            let expected = (65536.0 * share - 32768.0).min(32767.0);
            let error = f64::from(integer) - expected;
            assert!(error.abs() <= 1.0, "{integer}, expected {expected}");
        }

        // The mean of 2x2 pixels of 12 channels.
        let values = reals(&data, input);
        let means: Vec<f64> = (0..12)
            .map(|c| (0..4).map(|p| values[12 * p + c]).sum::<f64>() / 4.0)
            .collect();
        let output = noise.affine(0.04);
        let mean = Operator::SpatialMean(SpatialMean {
            input: [1, 2, 2, 12],
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        let parameters = Parameters {
            operands: vec![input],
            outputs: vec![output],
            ..Parameters::default()
        };
        // Rounded twice, first to halves or quarters.
        assert_computes(
            &["dmo_mean_s8"],
            &int8("mean", mean),
            &parameters,
            std::slice::from_ref(&data),
            &[],
            &means,
            0.3,
        );

        // The same as a pooling, in one scale and with an activation.
        let pool = Operator::Pool2d(Pool2d {
            input: [1, 2, 2, 12],
            output: [1, 1, 1, 12],
            window: Window {
                kernel: [2, 2],
                ..Window::default()
            },
            element_bytes: 1,
        });
        let parameters = Parameters {
            operands: vec![input],
            outputs: vec![input],
            activation: ACTIVATIONS[seed as usize % 3],
            ..Parameters::default()
        };
        let functions = ["dmo_avg_pool_s8", "dmo_avg_pool_u8", "arm_avgpool_s8"];
        assert_computes(
            &functions,
            &int8("average", pool),
            &parameters,
            &[data],
            &[],
            &means,
            0.05,
        );
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn svdf() {
    let [inputs, filters, memory] = [6_usize, 4, 3];
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let features = noise.filter(&[filters as u32, inputs as u32], 0.01, None);
        let times = noise.filter(&[filters as u32, memory as u32], 0.01, None);
        let bias = noise.bias(2);
        let (input, output) = (noise.affine(0.05), noise.affine(0.01));
        let data = noise.bytes(inputs);
        for (functions, element_type) in [
            (&["dmo_svdf_s8_state_s16"][..], Int16),
            (&["dmo_svdf_s8_state_s8", "arm_svdf_s8"], Int8),
        ] {
            let wide = element_type == Int16;
            let state = affine(noise.scale(if wide { 1e-4 } else { 0.02 }), 0);
            let remembered: Vec<i16> = (0..filters * memory)
                .map(|_| (noise.next() % 200) as i16 - 100)
                .collect();
            let widen = |value: i16| {
                if wide {
                    value.to_le_bytes().to_vec()
                } else {
                    vec![value as u8]
                }
            };
            let weights: Vec<i16> = times
                .bytes
                .iter()
                .map(|&byte| i16::from(byte as i8))
                .collect();
            let as_type = Constant {
                bytes: weights
                    .iter()
                    .flat_map(|&weight| widen(weight))
                    .collect::<Vec<_>>()
                    .into(),
                element_type: element_type.into(),
                ..times.clone()
            };
            let values = reals(&data, input);
            let time_scale = f64::from(times.quantisation[0].scale);
            let (mut real, limit) = (vec![0.0; 2], if wide { 32767.0 } else { 127.0 });
            for filter in 0..filters {
                let products =
                    (0..inputs).map(|i| values[i] * real_weight(&features, filter * inputs + i, 0));
                let newest = (products.sum::<f64>() / f64::from(state.scale))
                    .round()
                    .clamp(-limit, limit);
                for step in 0..memory {
                    let steps = match step + 1 {
                        next if next == memory => newest,
                        next => f64::from(remembered[filter * memory + next]),
                    };
                    let weight = f64::from(weights[filter * memory + step]) * time_scale;
                    real[filter / 2] += steps * f64::from(state.scale) * weight;
                }
            }
            for (unit, sum) in real.iter_mut().enumerate() {
                *sum += real_bias(&bias, unit, f64::from(state.scale) * time_scale);
            }
            let parameters = Parameters {
                operands: vec![
                    input,
                    features.quantisation[0],
                    times.quantisation[0],
                    Affine::PLAIN,
                    state,
                ],
                constants: vec![
                    None,
                    Some(features.clone()),
                    Some(as_type),
                    Some(bias.clone()),
                ],
                outputs: vec![output],
                ..Parameters::default()
            };
            let layer = Operator::Svdf(Svdf {
                batches: 1,
                input_depth: inputs as u32,
                units: 2,
                rank: 2,
                input_element_bytes: 1,
                output_element_bytes: 1,
            });
            let case = int8("svdf", layer);
            let state = remembered.iter().flat_map(|&value| widen(value)).collect();
            // The newest step may be rounded the other way.
            for function in functions {
                let found = run(
                    function,
                    &case,
                    &parameters,
                    std::slice::from_ref(&data),
                    std::slice::from_ref(&state),
                );
                for (&byte, sum) in found.unwrap().iter().zip(&real) {
                    let expected = sum / f64::from(output.scale) + f64::from(output.zero_point);
                    let error = f64::from(byte as i8) - expected.clamp(-128.0, 127.0);
                    assert!(
                        error.abs() < 3.0,
                        "{function}: {}, expected {expected}",
                        byte as i8
                    );
                }
            }
        }
    }
}

#[test]
fn lstm() {
    let [inputs, units] = [3_usize, 4];
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let input = noise.affine(0.01);
        let hidden = affine(noise.scale(0.008), 5);
        let cell = affine(1.0 / 4096.0, 0);
        let data = noise.bytes(inputs);
        let state = noise.bytes(units);
        let cells: Vec<i16> = (0..units)
            .map(|_| (noise.next() % 8000) as i16 - 4000)
            .collect();
        let (x, h) = (reals(&data, input), reals(&state, hidden));
        let mut operands = vec![Affine::PLAIN; 20];
        (operands[0], operands[18], operands[19]) = (input, hidden, cell);
        let mut constants = vec![None; 20];
        let gates = [0, 1, 2, 3].map(|gate| {
            let weights = noise.filter(&[units as u32, inputs as u32], 0.01, None);
            let recurrent = noise.filter(&[units as u32; 2], 0.01, None);
            let bias = noise.bias(units as u32);
            let scale = f64::from(input.scale) * f64::from(weights.quantisation[0].scale);
            let sums = [0, 1, 2, 3].map(|unit| {
                let from_input =
                    (0..inputs).map(|i| x[i] * real_weight(&weights, unit * inputs + i, 0));
                let from_hidden =
                    (0..units).map(|i| h[i] * real_weight(&recurrent, unit * units + i, 0));
                from_input.chain(from_hidden).sum::<f64>() + real_bias(&bias, unit, scale)
            });
            operands[1 + gate] = weights.quantisation[0];
            operands[5 + gate] = recurrent.quantisation[0];
            constants[1 + gate] = Some(weights);
            constants[5 + gate] = Some(recurrent);
            constants[12 + gate] = Some(bias);
            sums
        });
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let [admit, forget, candidate, emit] = gates;
        let cell_clip = if seed % 2 == 0 { 0.3 } else { 0.0 };
        let real = [0, 1, 2, 3].map(|unit| {
            let before = f64::from(cells[unit]) * f64::from(cell.scale);
            let after =
                sigmoid(forget[unit]) * before + sigmoid(admit[unit]) * candidate[unit].tanh();
            let after = if cell_clip > 0.0 {
                after.clamp(-cell_clip, cell_clip)
            } else {
                after
            };
            sigmoid(emit[unit]) * after.tanh()
        });
        let parameters = Parameters {
            operands,
            constants,
            outputs: vec![hidden],
            cell_clip: cell_clip as f32,
            ..Parameters::default()
        };
        let layer = Operator::Lstm(Lstm {
            batches: 1,
            times: 1,
            input_depth: inputs as u32,
            output_depth: units as u32,
            time_major: false,
            input_element_bytes: 1,
            output_element_bytes: 1,
        });
        let states = [
            state,
            cells.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        ];
        let case = int8("lstm", layer);
        for function in [
            "dmo_unidirectional_sequence_lstm_s8",
            "arm_lstm_unidirectional_s8",
        ] {
            let inputs = std::slice::from_ref(&data);
            let found = run(function, &case, &parameters, inputs, &states).unwrap();
            for (&byte, value) in found.iter().zip(real) {
                let expected = value / f64::from(hidden.scale) + f64::from(hidden.zero_point);
                let error = f64::from(byte as i8) - expected;
                assert!(error.abs() < 1.5, "{}, expected {expected}", byte as i8);
            }
        }
    }
}

fn padded(parameters: &Parameters) -> Result<Vec<u8>, CallError> {
    let pad = Operator::Pad(Pad {
        input: [1, 1, 2, 1],
        before: [0, 0, 1, 0],
        output: [1, 1, 4, 1],
        element_bytes: 1,
    });
    let case = int8("pad", pad);
    let [found, ours, theirs] = ["dmo_pad", "dmo_pad_s8", "arm_pad_s8"]
        .map(|function| run(function, &case, parameters, &[vec![1, 2]], &[]));
    let found = found?;
    assert_eq!(found, ours?);
    assert_eq!(found, theirs?);
    Ok(found)
}

#[test]
fn padding_is_zero_as_a_real_number() {
    let output = affine(0.1, -7);
    let mut parameters = Parameters {
        operands: vec![output, Affine::PLAIN, output],
        outputs: vec![output],
        ..Parameters::default()
    };
    assert_eq!(
        padded(&parameters).unwrap(),
        [(-7_i8) as u8, 1, 2, (-7_i8) as u8]
    );
    let value = Constant {
        bytes: vec![9].into(),
        element_type: Int8.into(),
        shape: Vec::new(),
        quantisation: vec![output],
        channel_axis: 0,
    };
    parameters.constants = vec![None, None, Some(value)];
    assert_eq!(padded(&parameters).unwrap(), [9, 1, 2, 9]);
    parameters.operands[2] = affine(0.1, -8);
    let error = padded(&parameters).unwrap_err().to_string();
    assert!(error.contains("the padding value"), "{error}");
}

/// A pointwise convolution that both sets compute, and parameters that they take.
fn pointwise() -> (Case, Parameters<'static>) {
    let mut noise = Noise(1);
    let filter = noise.filter(&[2, 1, 1, 4], 0.01, Some(0));
    let conv = Operator::Conv2d(Conv2d {
        input: [1, 1, 3, 4],
        output: [1, 1, 3, 2],
        window: Window::default(),
        groups: 1,
        element_bytes: 1,
    });
    let parameters = Parameters {
        operands: vec![affine(0.1, 0), filter.quantisation[0]],
        constants: vec![None, Some(filter)],
        outputs: vec![affine(0.1, 0)],
        ..Parameters::default()
    };
    (int8("conv2d", conv), parameters)
}

type Spoil = fn(&mut Parameters<'static>);

fn filter<'a>(parameters: &'a mut Parameters<'static>) -> &'a mut Constant<'static> {
    parameters.constants[1].as_mut().unwrap()
}

/// Nothing that a kernel cannot be told is computed as something else.
#[test]
fn what_a_kernel_cannot_be_told() {
    let (case, good) = pointwise();
    let spoilt: [(Spoil, &str); 11] = [
        (
            |p| p.constants.clear(),
            "filter, operand 1, is not a constant",
        ),
        (|p| p.operands[0].scale = 0.0, "the scale of the input is 0"),
        (
            |p| p.operands[0].scale = f32::NAN,
            "the scale of the input is NaN",
        ),
        (
            |p| p.operands[0].zero_point = 128,
            "the zero point of the input is 128",
        ),
        (
            |p| p.outputs[0].scale = f32::INFINITY,
            "the scale of the output is inf",
        ),
        (
            |p| p.outputs[0].scale = 1e-20,
            "the shift of the ratio of scales",
        ),
        (
            |p| p.outputs[0].zero_point = -129,
            "the zero point of the output is -129",
        ),
        (
            |p| filter(p).quantisation[1].zero_point = 1,
            "the zero point of the filter is 1; the kernel takes 0",
        ),
        (
            |p| filter(p).channel_axis = 3,
            "2 scales along axis 3; the kernel takes 1, or 2 along axis 0",
        ),
        (|p| filter(p).quantisation.clear(), "0 scales"),
        (
            |p| filter(p).bytes = vec![1; 7].into(),
            "the size of filter is 7 bytes; the kernel takes 8",
        ),
    ];
    let data = [Noise(2).bytes(12)];
    for function in ["dmo_conv2d_s8", "arm_convolve_1x1_s8"] {
        assert!(run(function, &case, &good, &data, &[]).is_ok());
        for (spoil, expected) in spoilt {
            let mut parameters = good.clone();
            spoil(&mut parameters);
            let error = run(function, &case, &parameters, &data, &[]).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(expected), "{error}\nexpected {expected}");
        }
        let mut parameters = good.clone();
        filter(&mut parameters).element_type = ElementType::Uint8.into();
        let error = run(function, &case, &parameters, &data, &[]).unwrap_err();
        assert!(error.to_string().contains("the type of filter"), "{error}");
    }
}

#[test]
fn outputs_in_scales_that_a_kernel_does_not_give() {
    let softmax = Operator::Softmax(Softmax {
        rows: 1,
        depth: 4,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    let concat = Operator::Concat(Concat {
        inputs: vec![[1, 1, 1, 4]; 2],
        axis: 3,
        element_bytes: 1,
    });
    let parameters = Parameters {
        operands: vec![affine(0.1, 0), affine(0.1, 1)],
        outputs: vec![affine(0.1, 0)],
        beta: 1.0,
        ..Parameters::default()
    };
    let data = vec![vec![1, 2, 3, 4]; 2];
    for (functions, case, inputs, expected) in [
        (
            ["dmo_softmax_s8", "arm_softmax_s8"],
            int8("softmax", softmax),
            1,
            "scale 0.00390625 with zero point -128",
        ),
        (
            ["dmo_concat", "arm_concatenation_s8_x"],
            int8("concat", concat),
            2,
            "the quantisation of input 1",
        ),
    ] {
        for function in functions {
            let error = run(function, &case, &parameters, &data[..inputs], &[]).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

/// The 16-bit kernel gives the real numbers, quantised, to at most `tolerance` steps.
fn assert_computes_int16(
    function: &str,
    case: &Case,
    parameters: &Parameters,
    inputs: &[Vec<u8>],
    real: &[f64],
    tolerance: f64,
) {
    let scale = f64::from(parameters.output(0).scale);
    let (low, high) = parameters.activation.limits();
    let found = integers(&run(function, case, parameters, inputs, &[]).expect(function));
    assert_eq!(found.len(), real.len(), "{function}");
    for (integer, value) in found.into_iter().zip(real) {
        let value = value.clamp(low.into(), high.into());
        let expected = (value / scale).clamp(-32768.0, 32767.0);
        let error = f64::from(integer) - expected;
        assert!(
            error.abs() <= 0.5 + tolerance,
            "{function}: {integer}, expected {expected}"
        );
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn sixteen_bits() {
    let count = 12;
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let affines = [0.001, 0.0004].map(|about| affine(noise.scale(about), 0));
        let data = [0, 1].map(|_| noise.bytes(2 * count));
        let values = [0, 1].map(|index| {
            let scale = f64::from(affines[index].scale);
            let real = |value| f64::from(value) * scale;
            integers(&data[index])
                .into_iter()
                .map(real)
                .collect::<Vec<_>>()
        });
        let output = affine(noise.scale(0.002), 0);
        let activation = ACTIVATIONS[seed as usize % 4];
        let parameters = Parameters {
            operands: affines.to_vec(),
            outputs: vec![output],
            activation,
            ..Parameters::default()
        };
        let shape = [1, 1, 1, count as u32];
        let both = Operator::ElementwiseBinary(ElementwiseBinary {
            inputs: [shape; 2],
            output: shape,
            input_element_bytes: [2; 2],
            output_element_bytes: 2,
        });
        let pairs = || values[0].iter().zip(&values[1]);
        let sums: Vec<f64> = pairs().map(|(a, b)| a + b).collect();
        let case = int16("add", both.clone());
        assert_computes_int16("dmo_add_s16", &case, &parameters, &data, &sums, 0.3);
        let products: Vec<f64> = pairs().map(|(a, b)| a * b).collect();
        let case = int16("mul", both);
        assert_computes_int16("dmo_mul_s16", &case, &parameters, &data, &products, 0.05);

        let one = std::slice::from_ref(&data[0]);
        let relu = Operator::Elementwise(Elementwise {
            elements: count as u32,
            input_element_bytes: 2,
            output_element_bytes: 2,
        });
        let positive: Vec<f64> = values[0].iter().map(|value| value.max(0.0)).collect();
        let unfused = Parameters {
            activation: Activation::None,
            ..parameters.clone()
        };
        // Rounded twice.
        let case = int16("relu", relu);
        assert_computes_int16("dmo_relu_s16", &case, &unfused, one, &positive, 0.3);

        // The multiplier has 15 bits only.
        let filter = noise.filter(&[4, count as u32], 0.01, None);
        let product = |o: usize| {
            let weight = |i: usize| real_weight(&filter, o * count + i, 0);
            (0..count).map(|i| values[0][i] * weight(i)).sum::<f64>()
        };
        let outputs: Vec<f64> = (0..4).map(product).collect();
        let layer = Operator::FullyConnected(FullyConnected {
            batches: 1,
            input_depth: count as u32,
            output_depth: 4,
            element_bytes: 2,
        });
        let bias = Constant {
            bytes: vec![0; 32].into(),
            element_type: ElementType::Int64.into(),
            ..noise.bias(4)
        };
        let mut parameters = Parameters {
            operands: vec![affines[0], filter.quantisation[0]],
            constants: vec![None, Some(filter), Some(bias)],
            outputs: vec![affine(0.004, 0)],
            ..Parameters::default()
        };
        let function = "dmo_fully_connected_s16";
        let case = int16("fully_connected", layer);
        assert_computes_int16(function, &case, &parameters, one, &outputs, 1.0);
        parameters.operands[0].zero_point = 1;
        let error = run(function, &case, &parameters, one, &[]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the zero point of the input is 1"),
            "{error}"
        );

        let beta = noise.scale(0.3);
        let greatest = values[0].iter().copied().fold(f64::MIN, f64::max);
        // The table ends at -10.
        let exponential = |x: &f64| ((x - greatest) * f64::from(beta)).max(-10.0).exp();
        let sum: f64 = values[0].iter().map(exponential).sum();
        let shares = values[0].iter().map(|x| exponential(x) / sum);
        let shares: Vec<f64> = shares.collect();
        let parameters = Parameters {
            operands: vec![affines[0]],
            outputs: vec![affine(1.0 / 32768.0, 0)],
            beta,
            ..Parameters::default()
        };
        let softmax = Operator::Softmax(Softmax {
            rows: 1,
            depth: count as u32,
            input_element_bytes: 2,
            output_element_bytes: 2,
        });
        let case = int16("softmax", softmax);
        assert_computes_int16("dmo_softmax_s16", &case, &parameters, one, &shares, 8.0);
    }
}

/// A 16-bit kernel of one operand computes the function, on random inputs.
fn assert_curve_int16(kind: &'static str, function: &str, compute: fn(f64) -> f64) {
    for seed in SEEDS {
        let mut noise = Noise(seed);
        let input = affine(noise.scale(0.0004), 0);
        let parameters = Parameters {
            operands: vec![input],
            outputs: vec![affine(noise.scale(0.0008), 0)],
            alpha: ALPHA,
            ..Parameters::default()
        };
        let data = noise.bytes(512);
        let real = |number| compute(f64::from(number) * f64::from(input.scale));
        let real: Vec<f64> = integers(&data).into_iter().map(real).collect();
        let operator = Operator::Elementwise(Elementwise {
            elements: 256,
            input_element_bytes: 2,
            output_element_bytes: 2,
        });
        let case = int16(kind, operator);
        let one = std::slice::from_ref(&data);
        // At most twice as fine as the input; rounded three times.
        assert_computes_int16(function, &case, &parameters, one, &real, 1.75);
    }
}

#[test]
fn hard_swish_in_sixteen_bits() {
    assert_curve_int16("hard_swish", "dmo_hard_swish_s16", hard_swish);
}

#[test]
fn leaky_relu_in_sixteen_bits() {
    assert_curve_int16("leaky_relu", "dmo_leaky_relu_s16", leaky_relu);
}

/// A state starts as zero, and is where the operand is.
#[test]
fn states_before_the_first_inference() {
    let library = library("dmo_");
    let layer = Operator::Lstm(Lstm {
        batches: 2,
        times: 1,
        input_depth: 3,
        output_depth: 4,
        time_major: false,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    let case = int8("lstm", layer);
    let contract = Contract::find(&library, &case, None).unwrap();
    let parameters = contract.invented(&case).unwrap();
    let [hidden, cell] = contract.states else {
        panic!("two states");
    };
    let places = [hidden, cell].map(|state| state.place);
    let operands = [18, 19].map(StatePlace::Operand);
    assert_eq!(places, operands);
    let zero = parameters.operand(18).zero_point as u8;
    assert_ne!(zero, 0);
    assert_eq!(hidden.initial(&case, &parameters).unwrap(), [zero; 8]);
    assert_eq!(cell.initial(&case, &parameters).unwrap(), [0; 16]);
}
