//! Options of each operator, and what its inputs are.

use super::super::layout::Value;
use super::super::schema::{
    Field, PADDING_SAME, PADDING_VALID, batch_matmul, cast, concatenation, conv_2d,
    depthwise_conv_2d, fully_connected, leaky_relu, options, pool_2d, reducer, resize_bilinear,
    resize_nearest_neighbor, softmax, split, strided_slice, transpose_conv,
};
use crate::graph::{Graph, GraphTensor, Node};
use crate::operator::{Operator, Padding, Shape, Window};

/// What an input is.
#[derive(Debug, Clone)]
pub(super) enum Role {
    /// What the operator works on; it may be a constant.
    Activation,
    /// Weights; so many products make an output.
    Filter { shape: Vec<u32>, fan_in: u32 },
    /// One number for each output channel.
    Bias(u32),
    /// A constant that is part of the operator.
    Integers { values: Vec<i32>, shape: Vec<u32> },
}

/// The inputs of an operator in the schema's order, and its options with their type.
pub(super) struct Roles {
    pub roles: Vec<Role>,
    pub options: Option<(u8, Vec<(Field, Value)>)>,
}

type Options = Vec<(Field, Value)>;

pub(super) fn of(graph: &Graph, node: &Node) -> Result<Roles, String> {
    let kernel = node.kernel.as_ref().map(|kernel| &kernel.operator);
    let output = graph.tensor(*node.outputs.first().ok_or("it has no output")?);
    let activation = |index: usize| -> Result<&GraphTensor, String> {
        let id = node.inputs.get(index).ok_or("an input is missing")?;
        Ok(graph.tensor(*id))
    };
    match (node.kind.name(), kernel) {
        ("CONV_2D", Some(Operator::Conv2d(conv))) => {
            let (padding, same) = padding(conv.input, conv.output, conv.window)?;
            let [kernel_h, kernel_w] = conv.window.kernel;
            let depth = conv.input[3].checked_div(conv.groups).unwrap_or(0);
            let filter = Role::Filter {
                shape: vec![conv.output[3], kernel_h, kernel_w, depth],
                fan_in: kernel_h.saturating_mul(kernel_w).saturating_mul(depth),
            };
            let mut fields = vec![(conv_2d::PADDING, padding)];
            fields.extend(extents([conv_2d::STRIDE_H, conv_2d::STRIDE_W], same.stride));
            fields.extend(extents(
                [conv_2d::DILATION_H, conv_2d::DILATION_W],
                same.dilation,
            ));
            layer(filter, conv.output[3], options::CONV_2D, fields)
        }
        ("DEPTHWISE_CONV_2D", Some(Operator::DepthwiseConv2d(conv))) => {
            let (padding, window) = padding(conv.input, conv.output, conv.window)?;
            let [kernel_h, kernel_w] = window.kernel;
            let filter = Role::Filter {
                shape: vec![1, kernel_h, kernel_w, conv.output[3]],
                fan_in: kernel_h.saturating_mul(kernel_w),
            };
            let mut fields = vec![
                (depthwise_conv_2d::PADDING, padding),
                (depthwise_conv_2d::MULTIPLIER, Value::Word(conv.multiplier)),
            ];
            fields.extend(extents(
                [depthwise_conv_2d::STRIDE_H, depthwise_conv_2d::STRIDE_W],
                window.stride,
            ));
            fields.extend(extents(
                [depthwise_conv_2d::DILATION_H, depthwise_conv_2d::DILATION_W],
                window.dilation,
            ));
            layer(filter, conv.output[3], options::DEPTHWISE_CONV_2D, fields)
        }
        ("TRANSPOSE_CONV", Some(Operator::TransposeConv2d(conv))) => {
            let (padding, window) = padding(conv.output, conv.input, conv.window)?;
            let [kernel_h, kernel_w] = window.kernel;
            let mut fields = vec![(transpose_conv::PADDING, padding)];
            fields.extend(extents(
                [transpose_conv::STRIDE_H, transpose_conv::STRIDE_W],
                window.stride,
            ));
            let filter = Role::Filter {
                shape: vec![conv.output[3], kernel_h, kernel_w, conv.input[3]],
                fan_in: kernel_h
                    .saturating_mul(kernel_w)
                    .saturating_mul(conv.input[3]),
            };
            let roles = vec![vector(signed(&conv.output)?), filter, Role::Activation];
            Ok(Roles {
                roles,
                options: Some((options::TRANSPOSE_CONV, fields)),
            })
        }
        ("AVERAGE_POOL_2D" | "MAX_POOL_2D" | "L2_POOL_2D", Some(Operator::Pool2d(pool))) => {
            let (padding, window) = padding(pool.input, pool.output, pool.window)?;
            let mut fields = vec![(pool_2d::PADDING, padding)];
            fields.extend(extents(
                [pool_2d::STRIDE_H, pool_2d::STRIDE_W],
                window.stride,
            ));
            fields.extend(extents(
                [pool_2d::FILTER_H, pool_2d::FILTER_W],
                window.kernel,
            ));
            with(vec![Role::Activation], options::POOL_2D, fields)
        }
        ("FULLY_CONNECTED", Some(Operator::FullyConnected(dense))) => {
            let filter = Role::Filter {
                shape: vec![dense.output_depth, dense.input_depth],
                fan_in: dense.input_depth,
            };
            let keep = output.shape.len() == activation(0)?.shape.len() && output.shape.len() > 2;
            let fields = vec![(fully_connected::KEEP_NUM_DIMS, flag(keep))];
            layer(filter, dense.output_depth, options::FULLY_CONNECTED, fields)
        }
        ("BATCH_MATMUL", Some(Operator::BatchedMatmul(_))) => {
            let fields = vec![
                (batch_matmul::ADJ_X, flag(false)),
                (batch_matmul::ADJ_Y, flag(false)),
            ];
            with(vec![Role::Activation; 2], options::BATCH_MATMUL, fields)
        }
        ("SOFTMAX", _) => with(
            vec![Role::Activation],
            options::SOFTMAX,
            vec![(softmax::BETA, Value::Float(1.0))],
        ),
        ("CONCATENATION", Some(Operator::Concat(concat))) => {
            let axis = own_axis(concat.axis, output.shape.len())?;
            let fields = vec![(concatenation::AXIS, Value::Word(axis))];
            let roles = vec![Role::Activation; node.inputs.len()];
            with(roles, options::CONCATENATION, fields)
        }
        ("SPLIT", Some(Operator::Split(parts))) => {
            let axis = own_axis(parts.axis, output.shape.len())?;
            let fields = vec![(split::NUM_SPLITS, Value::Word(node.outputs.len() as u32))];
            let roles = vec![scalar(axis), Role::Activation];
            with(roles, options::SPLIT, fields)
        }
        ("SPLIT_V", Some(Operator::Split(parts))) => {
            let axis = own_axis(parts.axis, output.shape.len())?;
            let fields = vec![(split::NUM_SPLITS, Value::Word(node.outputs.len() as u32))];
            let sizes = vector(signed(&parts.parts)?);
            with(
                vec![Role::Activation, sizes, scalar(axis)],
                options::SPLIT_V,
                fields,
            )
        }
        ("PAD", Some(Operator::Pad(pad))) => {
            let rank = output.shape.len();
            let mut values = Vec::new();
            for axis in own_axes(rank)? {
                let after = pad.output[axis].wrapping_sub(pad.before[axis]);
                let after = after.wrapping_sub(pad.input[axis]);
                values.extend(signed(&[pad.before[axis], after])?);
            }
            let shape = vec![rank as u32, 2];
            with(
                vec![Role::Activation, Role::Integers { values, shape }],
                options::PAD,
                Vec::new(),
            )
        }
        ("RESHAPE", _) => with(
            vec![Role::Activation, vector(signed(&output.shape)?)],
            options::RESHAPE,
            Vec::new(),
        ),
        ("TRANSPOSE", Some(Operator::Transpose(transpose))) => {
            let rank = output.shape.len();
            let axes = own_axes(rank)?;
            let first = axes.start as u32;
            let permutation: Vec<u32> = axes
                .map(|axis| transpose.permutation[axis].wrapping_sub(first))
                .collect();
            let roles = vec![Role::Activation, vector(signed(&permutation)?)];
            with(roles, options::TRANSPOSE, Vec::new())
        }
        ("SLICE", Some(Operator::StridedSlice(slice))) => {
            let axes = own_axes(output.shape.len())?;
            let begin = vector(signed(&slice.begin[axes.clone()])?);
            let size = vector(signed(&slice.output[axes])?);
            with(
                vec![Role::Activation, begin, size],
                options::SLICE,
                Vec::new(),
            )
        }
        ("STRIDED_SLICE", Some(Operator::StridedSlice(slice))) => {
            let axes = own_axes(output.shape.len())?;
            let begin = signed(&slice.begin[axes.clone()])?;
            let stride = &slice.stride[axes.clone()];
            let count = signed(&slice.output[axes])?;
            if stride.iter().any(|&stride| stride < 1) {
                return Err("strides below 1 cannot be exported".to_owned());
            }
            let end = begin.iter().zip(stride).zip(&count);
            let end = end.map(|((begin, stride), count)| {
                begin
                    .saturating_add(stride.saturating_mul(count - 1))
                    .saturating_add(1)
            });
            let roles = vec![
                Role::Activation,
                vector(begin.clone()),
                vector(end.collect()),
                vector(stride.to_vec()),
            ];
            let fields = vec![(strided_slice::BEGIN_MASK, Value::Word(0))];
            with(roles, options::STRIDED_SLICE, fields)
        }
        ("RESIZE_BILINEAR", Some(Operator::ResizeBilinear(resize))) => {
            let fields = vec![
                (resize_bilinear::ALIGN_CORNERS, flag(resize.align_corners)),
                (
                    resize_bilinear::HALF_PIXEL_CENTERS,
                    flag(resize.half_pixel_centers),
                ),
            ];
            let size = vector(signed(&resize.output[1..3])?);
            with(
                vec![Role::Activation, size],
                options::RESIZE_BILINEAR,
                fields,
            )
        }
        ("RESIZE_NEAREST_NEIGHBOR", Some(Operator::ResizeNearest(resize))) => {
            let fields = vec![
                (
                    resize_nearest_neighbor::ALIGN_CORNERS,
                    flag(resize.align_corners),
                ),
                (
                    resize_nearest_neighbor::HALF_PIXEL_CENTERS,
                    flag(resize.half_pixel_centers),
                ),
            ];
            let size = vector(signed(&resize.output[1..3])?);
            with(
                vec![Role::Activation, size],
                options::RESIZE_NEAREST_NEIGHBOR,
                fields,
            )
        }
        ("MEAN" | "SUM" | "REDUCE_MAX" | "REDUCE_MIN" | "REDUCE_PROD", Some(operator)) => {
            let axes = match operator {
                Operator::SpatialMean(_) => [false, true, true, false],
                Operator::Reduce(reduce) => reduce.axes,
                _ => return Err(mismatch(operator)),
            };
            let rank = activation(0)?.shape.len();
            let own = own_axes(rank)?;
            let first = own.start;
            let axes: Vec<u32> = own
                .filter(|&axis| axes[axis])
                .map(|axis| (axis - first) as u32)
                .collect();
            let fields = vec![(reducer::KEEP_DIMS, flag(output.shape.len() == rank))];
            let roles = vec![Role::Activation, vector(signed(&axes)?)];
            with(roles, options::REDUCER, fields)
        }
        ("CAST", _) => {
            let fields = vec![
                (cast::IN_TYPE, type_number(activation(0)?)?),
                (cast::OUT_TYPE, type_number(output)?),
            ];
            with(vec![Role::Activation], options::CAST, fields)
        }
        ("LEAKY_RELU", _) => with(
            vec![Role::Activation],
            options::LEAKY_RELU,
            vec![(leaky_relu::ALPHA, Value::Float(0.1))],
        ),
        (kind, _) if UNARY.contains(&kind) => Ok(plain(1)),
        (kind, kernel) => {
            let binary = BINARY.iter().find(|(binary, _)| *binary == kind);
            match (binary, kernel) {
                (Some((_, 0)), _) => Ok(plain(2)),
                (Some((_, options)), _) => with(vec![Role::Activation; 2], *options, Vec::new()),
                (None, None) => Err("it has no kernel that says its options".to_owned()),
                (None, Some(operator)) => Err(mismatch(operator)),
            }
        }
    }
}

/// Kinds of one input that need no options.
const UNARY: &[&str] = &[
    "ABS",
    "CEIL",
    "COS",
    "DEQUANTIZE",
    "ELU",
    "EXP",
    "FLOOR",
    "HARD_SWISH",
    "LOG",
    "LOGICAL_NOT",
    "LOGISTIC",
    "NEG",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "RELU_N1_TO_1",
    "ROUND",
    "RSQRT",
    "SIN",
    "SQRT",
    "SQUARE",
    "TANH",
];

/// Kinds of two inputs and the type of their options, 0 where they need none.
const BINARY: &[(&str, u8)] = &[
    ("ADD", options::ADD),
    ("DIV", options::DIV),
    ("MUL", options::MUL),
    ("SUB", options::SUB),
    ("EQUAL", 0),
    ("GREATER", 0),
    ("GREATER_EQUAL", 0),
    ("LESS", 0),
    ("LESS_EQUAL", 0),
    ("LOGICAL_AND", 0),
    ("LOGICAL_OR", 0),
    ("MAXIMUM", 0),
    ("MINIMUM", 0),
    ("NOT_EQUAL", 0),
    ("PRELU", 0),
    ("SQUARED_DIFFERENCE", 0),
];

fn mismatch(operator: &Operator) -> String {
    format!("this kind cannot be exported with the kernel {operator:?}")
}

fn plain(activations: usize) -> Roles {
    Roles {
        roles: vec![Role::Activation; activations],
        options: None,
    }
}

fn with(roles: Vec<Role>, options_type: u8, fields: Options) -> Result<Roles, String> {
    Ok(Roles {
        roles,
        options: Some((options_type, fields)),
    })
}

/// An activation, a filter, a bias.
fn layer(filter: Role, outputs: u32, options_type: u8, fields: Options) -> Result<Roles, String> {
    let roles = vec![Role::Activation, filter, Role::Bias(outputs)];
    with(roles, options_type, fields)
}

fn flag(set: bool) -> Value {
    Value::Byte(u8::from(set))
}

fn extents(fields: [Field; 2], extents: [u32; 2]) -> [(Field, Value); 2] {
    [
        (fields[0], Value::Word(extents[0])),
        (fields[1], Value::Word(extents[1])),
    ]
}

fn scalar(value: u32) -> Role {
    Role::Integers {
        values: vec![value as i32],
        shape: Vec::new(),
    }
}

fn vector(values: Vec<i32>) -> Role {
    let shape = vec![values.len() as u32];
    Role::Integers { values, shape }
}

fn signed(values: &[u32]) -> Result<Vec<i32>, String> {
    let value =
        |&value: &u32| i32::try_from(value).map_err(|_| format!("{value} does not fit in 31 bits"));
    values.iter().map(value).collect()
}

fn type_number(tensor: &GraphTensor) -> Result<Value, String> {
    let code = tensor.element_type.code();
    code.map(Value::Byte)
        .ok_or_else(|| format!("unknown type {}", tensor.element_type))
}

/// The axes of four that a tensor of this rank has.
fn own_axes(rank: usize) -> Result<std::ops::Range<usize>, String> {
    let first = 4usize.checked_sub(rank);
    first
        .map(|first| first..4)
        .ok_or_else(|| format!("{rank} axes, expected at most 4"))
}

/// One of four axes, as that of a tensor of this rank.
fn own_axis(axis: u32, rank: usize) -> Result<u32, String> {
    let first = own_axes(rank)?.start as u32;
    axis.checked_sub(first)
        .ok_or_else(|| format!("axis {axis} is not one of the last {rank}"))
}

/// The scheme that gives the window's padding.
fn padding(input: Shape, output: Shape, window: Window) -> Result<(Value, Window), String> {
    let known = [
        (Padding::Same, PADDING_SAME),
        (Padding::Valid, PADDING_VALID),
    ];
    let scheme = known
        .into_iter()
        .find(|&(padding, _)| window.is_padded(padding, input, output));
    let (_, scheme) = scheme.ok_or_else(|| {
        format!(
            "the padding {:?} of {window:?} from {input:?} to {output:?} is neither SAME nor \
             VALID",
            window.padding_before
        )
    })?;
    Ok((Value::Byte(scheme.cast_unsigned()), window))
}
