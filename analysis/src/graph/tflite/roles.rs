//! Options of each operator, and what its inputs are.

use super::layout::Value;
use super::schema::{
    Field, PADDING_SAME, PADDING_VALID, WindowFields, batch_matmul, cast, concatenation,
    depthwise_conv_2d, fully_connected, leaky_relu, pool_2d, reducer, resize_bilinear,
    resize_nearest_neighbor, softmax, split, strided_slice,
};
use crate::graph::{Graph, GraphTensor, Node};
use crate::operator::{Operator, Padding, Shape, Window};

/// What an input is.
#[derive(Debug, Clone)]
pub(super) enum Role {
    /// What the operator works on; it may be a constant.
    Activation,
    /// Weights; `fan_in` products make an output.
    Filter { shape: Vec<u32>, fan_in: u32 },
    /// One number for each output channel.
    Bias(u32),
    /// A constant that is part of the operator.
    Integers { values: Vec<i32>, shape: Vec<u32> },
}

/// The inputs of an operator in the schema's order, and its options.
pub(super) struct Roles {
    pub(super) roles: Vec<Role>,
    pub(super) options: Option<Options>,
}

type Options = Vec<(Field, Value)>;

/// `None` if the operator's loops are not those of its kind, or are not known.
pub(super) type Described = Result<Option<Roles>, String>;

/// An operator that is to be written.
pub(super) struct Exported<'a> {
    graph: &'a Graph,
    node: &'a Node,
    /// Its loops, if they are known.
    operator: Option<&'a Operator>,
    /// Its first output.
    output: &'a GraphTensor,
}

/// What the inputs of an operator are, as its kind's function in the catalogue says.
pub(super) fn of(
    graph: &Graph,
    node: &Node,
    describe: fn(&Exported) -> Described,
) -> Result<Roles, String> {
    let exported = Exported {
        graph,
        node,
        operator: node.kernel.as_ref().map(|kernel| &kernel.operator),
        output: graph.tensor(*node.outputs.first().ok_or("it has no output")?),
    };
    describe(&exported)?.ok_or_else(|| match exported.operator {
        None => "it has no kernel that says its options".to_owned(),
        Some(operator) => {
            format!("this kind cannot be exported with the kernel {operator:?}")
        }
    })
}

impl Exported<'_> {
    fn input(&self, index: usize) -> Result<&GraphTensor, String> {
        let id = self.node.inputs.get(index).ok_or("an input is missing")?;
        Ok(self.graph.tensor(*id))
    }
}

/// Of kinds that cannot be written.
pub(super) fn unknown(_: &Exported) -> Described {
    Ok(None)
}

/// Of kinds with one input and without options.
pub(super) fn unary(_: &Exported) -> Described {
    plain(1)
}

/// Of kinds with two inputs and without options.
pub(super) fn binary(_: &Exported) -> Described {
    plain(2)
}

/// Of kinds with two inputs and an activation.
pub(super) fn arithmetic(_: &Exported) -> Described {
    with(vec![Role::Activation; 2], Vec::new())
}

pub(super) fn conv(exported: &Exported) -> Described {
    let Some(Operator::Conv2d(conv)) = exported.operator else {
        return Ok(None);
    };
    let [kernel_h, kernel_w] = conv.window.kernel;
    let depth = conv.input[3].checked_div(conv.groups).unwrap_or(0);
    let filter = Role::Filter {
        shape: vec![conv.output[3], kernel_h, kernel_w, depth],
        fan_in: kernel_h.saturating_mul(kernel_w).saturating_mul(depth),
    };
    let fields = window(&WindowFields::CONV_2D, conv.window, conv.input, conv.output)?;
    layer(filter, conv.output[3], fields)
}

pub(super) fn depthwise_conv(exported: &Exported) -> Described {
    let Some(Operator::DepthwiseConv2d(conv)) = exported.operator else {
        return Ok(None);
    };
    let [kernel_h, kernel_w] = conv.window.kernel;
    let filter = Role::Filter {
        shape: vec![1, kernel_h, kernel_w, conv.output[3]],
        fan_in: kernel_h.saturating_mul(kernel_w),
    };
    let fields = &WindowFields::DEPTHWISE_CONV_2D;
    let mut fields = window(fields, conv.window, conv.input, conv.output)?;
    fields.insert(
        1,
        (depthwise_conv_2d::MULTIPLIER, Value::Word(conv.multiplier)),
    );
    layer(filter, conv.output[3], fields)
}

pub(super) fn transpose_conv(exported: &Exported) -> Described {
    let Some(Operator::TransposeConv2d(conv)) = exported.operator else {
        return Ok(None);
    };
    let [kernel_h, kernel_w] = conv.window.kernel;
    let filter = Role::Filter {
        shape: vec![conv.output[3], kernel_h, kernel_w, conv.input[3]],
        fan_in: kernel_h
            .saturating_mul(kernel_w)
            .saturating_mul(conv.input[3]),
    };
    let fields = &WindowFields::TRANSPOSE_CONV;
    let fields = window(fields, conv.window, conv.output, conv.input)?;
    let roles = vec![vector(signed(&conv.output)?), filter, Role::Activation];
    with(roles, fields)
}

pub(super) fn pool(exported: &Exported) -> Described {
    let Some(Operator::Pool2d(pool)) = exported.operator else {
        return Ok(None);
    };
    let mut fields = window(&WindowFields::POOL_2D, pool.window, pool.input, pool.output)?;
    let filter = [pool_2d::FILTER_H, pool_2d::FILTER_W];
    fields.extend(extents(filter, pool.window.kernel));
    with(vec![Role::Activation], fields)
}

pub(super) fn fully_connected(exported: &Exported) -> Described {
    let Some(Operator::FullyConnected(dense)) = exported.operator else {
        return Ok(None);
    };
    let filter = Role::Filter {
        shape: vec![dense.output_depth, dense.input_depth],
        fan_in: dense.input_depth,
    };
    let keep = exported.output.shape.len() == exported.input(0)?.shape.len()
        && exported.output.shape.len() > 2;
    let fields = vec![(fully_connected::KEEP_NUM_DIMS, flag(keep))];
    layer(filter, dense.output_depth, fields)
}

pub(super) fn batch_matmul(exported: &Exported) -> Described {
    let Some(Operator::BatchedMatmul(product)) = exported.operator else {
        return Ok(None);
    };
    let fields = vec![
        (batch_matmul::ADJ_X, flag(product.left.transposed)),
        (batch_matmul::ADJ_Y, flag(product.right.transposed)),
    ];
    with(vec![Role::Activation; 2], fields)
}

pub(super) fn softmax(_: &Exported) -> Described {
    with(
        vec![Role::Activation],
        vec![(softmax::BETA, Value::Float(1.0))],
    )
}

pub(super) fn concatenation(exported: &Exported) -> Described {
    let Some(Operator::Concat(concat)) = exported.operator else {
        return Ok(None);
    };
    let axis = own_axis(concat.axis, exported.output.shape.len())?;
    let fields = vec![(concatenation::AXIS, Value::Word(axis))];
    let roles = vec![Role::Activation; exported.node.inputs.len()];
    with(roles, fields)
}

pub(super) fn split(exported: &Exported) -> Described {
    let Some(Operator::Split(parts)) = exported.operator else {
        return Ok(None);
    };
    let axis = own_axis(parts.axis, exported.output.shape.len())?;
    with(
        vec![scalar(axis), Role::Activation],
        number_of_parts(exported),
    )
}

pub(super) fn split_v(exported: &Exported) -> Described {
    let Some(Operator::Split(parts)) = exported.operator else {
        return Ok(None);
    };
    let axis = own_axis(parts.axis, exported.output.shape.len())?;
    let sizes = vector(signed(&parts.parts)?);
    let roles = vec![Role::Activation, sizes, scalar(axis)];
    with(roles, number_of_parts(exported))
}

fn number_of_parts(exported: &Exported) -> Options {
    let parts = exported.node.outputs.len() as u32;
    vec![(split::NUM_SPLITS, Value::Word(parts))]
}

pub(super) fn pad(exported: &Exported) -> Described {
    let Some(Operator::Pad(pad)) = exported.operator else {
        return Ok(None);
    };
    let rank = exported.output.shape.len();
    let mut values = Vec::new();
    for axis in own_axes(rank)? {
        let after = pad.output[axis].wrapping_sub(pad.before[axis]);
        let after = after.wrapping_sub(pad.input[axis]);
        values.extend(signed(&[pad.before[axis], after])?);
    }
    let shape = vec![rank as u32, 2];
    with(
        vec![Role::Activation, Role::Integers { values, shape }],
        Vec::new(),
    )
}

pub(super) fn reshape(exported: &Exported) -> Described {
    with(
        vec![Role::Activation, vector(signed(&exported.output.shape)?)],
        Vec::new(),
    )
}

pub(super) fn transpose(exported: &Exported) -> Described {
    let Some(Operator::Transpose(transpose)) = exported.operator else {
        return Ok(None);
    };
    let rank = exported.output.shape.len();
    let axes = own_axes(rank)?;
    let first = axes.start as u32;
    let permutation: Vec<u32> = axes
        .map(|axis| transpose.permutation[axis].wrapping_sub(first))
        .collect();
    let roles = vec![Role::Activation, vector(signed(&permutation)?)];
    with(roles, Vec::new())
}

pub(super) fn slice(exported: &Exported) -> Described {
    let Some(Operator::StridedSlice(slice)) = exported.operator else {
        return Ok(None);
    };
    let axes = own_axes(exported.output.shape.len())?;
    let begin = vector(signed(&slice.begin[axes.clone()])?);
    let size = vector(signed(&slice.output[axes])?);
    with(vec![Role::Activation, begin, size], Vec::new())
}

pub(super) fn strided_slice(exported: &Exported) -> Described {
    let Some(Operator::StridedSlice(slice)) = exported.operator else {
        return Ok(None);
    };
    let axes = own_axes(exported.output.shape.len())?;
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
    with(roles, fields)
}

pub(super) fn resize_bilinear(exported: &Exported) -> Described {
    let Some(Operator::ResizeBilinear(resize)) = exported.operator else {
        return Ok(None);
    };
    let align_corners = (resize_bilinear::ALIGN_CORNERS, resize.align_corners);
    let centers = resize_bilinear::HALF_PIXEL_CENTERS;
    resized(
        resize.output,
        align_corners,
        (centers, resize.half_pixel_centers),
    )
}

pub(super) fn resize_nearest(exported: &Exported) -> Described {
    let Some(Operator::ResizeNearest(resize)) = exported.operator else {
        return Ok(None);
    };
    let align_corners = (resize_nearest_neighbor::ALIGN_CORNERS, resize.align_corners);
    let centers = resize_nearest_neighbor::HALF_PIXEL_CENTERS;
    resized(
        resize.output,
        align_corners,
        (centers, resize.half_pixel_centers),
    )
}

pub(super) fn reduce(exported: &Exported) -> Described {
    let Some(operator) = exported.operator else {
        return Ok(None);
    };
    let axes = match operator {
        Operator::SpatialMean(_) => [false, true, true, false],
        Operator::Reduce(reduce) => reduce.axes,
        _ => return Ok(None),
    };
    let rank = exported.input(0)?.shape.len();
    let own = own_axes(rank)?;
    let first = own.start;
    let axes: Vec<u32> = own
        .filter(|&axis| axes[axis])
        .map(|axis| (axis - first) as u32)
        .collect();
    let fields = vec![(
        reducer::KEEP_DIMS,
        flag(exported.output.shape.len() == rank),
    )];
    let roles = vec![Role::Activation, vector(signed(&axes)?)];
    with(roles, fields)
}

pub(super) fn cast(exported: &Exported) -> Described {
    let fields = vec![
        (cast::IN_TYPE, type_number(exported.input(0)?)?),
        (cast::OUT_TYPE, type_number(exported.output)?),
    ];
    with(vec![Role::Activation], fields)
}

pub(super) fn leaky_relu(_: &Exported) -> Described {
    with(
        vec![Role::Activation],
        vec![(leaky_relu::ALPHA, Value::Float(0.1))],
    )
}

fn plain(activations: usize) -> Described {
    Ok(Some(Roles {
        roles: vec![Role::Activation; activations],
        options: None,
    }))
}

fn with(roles: Vec<Role>, fields: Options) -> Described {
    let options = Some(fields);
    Ok(Some(Roles { roles, options }))
}

/// An activation, a filter, a bias.
fn layer(filter: Role, outputs: u32, fields: Options) -> Described {
    with(vec![Role::Activation, filter, Role::Bias(outputs)], fields)
}

/// A size that an input says, and the two options of both ways to resize.
fn resized(output: Shape, align_corners: (Field, bool), centers: (Field, bool)) -> Described {
    let size = vector(signed(&output[1..3])?);
    let fields = [align_corners, centers].map(|(field, set)| (field, flag(set)));
    with(vec![Role::Activation, size], fields.to_vec())
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

/// The options of a window, with the scheme that gives its padding.
fn window(
    fields: &WindowFields,
    window: Window,
    input: Shape,
    output: Shape,
) -> Result<Options, String> {
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
    let mut options = vec![(fields.padding, Value::Byte(scheme.cast_unsigned()))];
    options.extend(extents(fields.stride, window.stride));
    let dilation = fields.dilation.into_iter();
    options.extend(dilation.flat_map(|fields| extents(fields, window.dilation)));
    Ok(options)
}
