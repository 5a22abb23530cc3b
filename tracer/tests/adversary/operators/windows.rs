//! Convolutions and pooling.

use super::{ANY, activation_code, element_is, quantized_like};
use crate::draft::{Draft, Quantization};
use crate::tree::Part;
use dmo_analysis::graph::{Kind, TensorType};

struct Windows {
    kernel: [u32; 2],
    stride: [u32; 2],
    dilation: [u32; 2],
    is_valid: bool,
    output: [u32; 2],
}

/// A window that fits into this height and width.
fn window(draft: &mut Draft, input: [u32; 2], dilated: bool) -> Option<Windows> {
    let stride = draft.between(1, 3);
    let mut found = Windows {
        kernel: [0; 2],
        stride: [
            stride,
            if draft.once_in(4) {
                draft.between(1, 3)
            } else {
                stride
            },
        ],
        dilation: [1; 2],
        is_valid: draft.once_in(2),
        output: [0; 2],
    };
    if dilated && draft.once_in(4) {
        found.dilation = [draft.between(1, 3), draft.between(1, 3)];
    }
    for (axis, extent) in input.into_iter().enumerate() {
        let most = (extent - 1) / found.dilation[axis] + 1;
        found.kernel[axis] = draft.between(1, 4).min(most);
        let reach = (found.kernel[axis] - 1) * found.dilation[axis] + 1;
        let places = if found.is_valid {
            (extent + 1).checked_sub(reach)?
        } else {
            extent
        };
        found.output[axis] = places.div_ceil(found.stride[axis]);
    }
    Some(found)
}

/// How large products of random weights may be, so that results are spread over the type.
const SPREAD: f32 = 0.011;

/// Filters whose products with an input, as many as `fan_in`, fit the output, with their biases.
pub(super) fn filters(
    draft: &mut Draft,
    shape: &[u32],
    [input, output]: [usize; 2],
    fan_in: u32,
    axis: usize,
) -> [i32; 2] {
    let element = draft.element(input);
    let root = (fan_in as f32).sqrt();
    let channels = shape[axis];
    if element == TensorType::Float32 {
        let filter = draft.floats(shape, 1.7 / root);
        let bias = biases_or_none(draft, channels, element, &[]);
        return [filter as i32, bias];
    }
    let scale = |draft: &Draft, id: usize| draft.tensor(id).quantization.as_ref().unwrap().scale();
    let input_scale = scale(draft, input);
    let unit = scale(draft, output) / input_scale * SPREAD / root;
    let is_narrow = element == TensorType::Int8 && draft.once_in(6);
    // Products of matrices take no narrow weights of several scales.
    let per_channel = draft.once_in(2) && !(is_narrow && shape.len() == 2);
    let count = if per_channel { channels } else { 1 };
    let scales: Vec<f32> = (0..count)
        .map(|_| unit * (1.0 + draft.uniform().abs()))
        .collect();
    let quantization = Quantization {
        scales: scales.clone(),
        zero_point: 0,
        axis: axis as u32,
    };
    let filter_type = if is_narrow {
        TensorType::Int4
    } else {
        TensorType::Int8
    };
    let filter = draft.random_data(shape, filter_type, Some(quantization));
    let scales: Vec<f32> = scales.iter().map(|scale| scale * input_scale).collect();
    let bias = biases_or_none(draft, channels, element, &scales);
    [filter as i32, bias]
}

fn biases_or_none(draft: &mut Draft, count: u32, element: TensorType, scales: &[f32]) -> i32 {
    if draft.once_in(6) {
        -1
    } else {
        draft.biases(count, element, scales) as i32
    }
}

fn byte(flag: bool) -> Part {
    Part::Byte(u8::from(flag))
}

pub(super) fn conv(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, ANY))?;
    let [batches, height, width, depth] = four(draft, input);
    let window = window(draft, [height, width], true)?;
    let groups = if depth.is_multiple_of(2) && draft.once_in(8) {
        2
    } else {
        1
    };
    let channels = draft.between(1, 8) * groups;
    let shape = [batches, window.output[0], window.output[1], channels];
    let output = quantized_like(draft, input, &shape)?;
    let filter = [channels, window.kernel[0], window.kernel[1], depth / groups];
    let fan_in = filter[1..].iter().product();
    let [filter, bias] = filters(draft, &filter, [input, output], fan_in, 0);
    let options = vec![
        (0, byte(window.is_valid)),
        (1, Part::Word(window.stride[1])),
        (2, Part::Word(window.stride[0])),
        (3, Part::Byte(activation_code(draft))),
        (4, Part::Word(window.dilation[1])),
        (5, Part::Word(window.dilation[0])),
    ];
    draft.add(
        Kind::Conv2d,
        &[input as i32, filter, bias],
        &[output],
        Some((1, options)),
    );
    Some(())
}

pub(super) fn depthwise_conv(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, ANY))?;
    let [batches, height, width, depth] = four(draft, input);
    let window = window(draft, [height, width], true)?;
    let multiplier = if draft.once_in(3) {
        draft.between(2, 3)
    } else {
        1
    };
    let channels = depth * multiplier;
    let shape = [batches, window.output[0], window.output[1], channels];
    let output = quantized_like(draft, input, &shape)?;
    let filter = [1, window.kernel[0], window.kernel[1], channels];
    let fan_in = window.kernel[0] * window.kernel[1];
    let [filter, bias] = filters(draft, &filter, [input, output], fan_in, 3);
    if bias < 0 {
        // The runtime breaks without.
        return None;
    }
    let options = vec![
        (0, byte(window.is_valid)),
        (1, Part::Word(window.stride[1])),
        (2, Part::Word(window.stride[0])),
        (3, Part::Word(multiplier)),
        (4, Part::Byte(activation_code(draft))),
        (5, Part::Word(window.dilation[1])),
        (6, Part::Word(window.dilation[0])),
    ];
    let inputs = [input as i32, filter, bias];
    draft.add(
        Kind::DepthwiseConv2d,
        &inputs,
        &[output],
        Some((2, options)),
    );
    Some(())
}

/// It is the gradient of a convolution from its output to its input.
pub(super) fn transpose_conv(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, ANY))?;
    let [batches, height, width, depth] = four(draft, input);
    let channels = draft.between(1, 6);
    let stride = [draft.between(1, 3), draft.between(1, 3)];
    let kernel = [draft.between(1, 4), draft.between(1, 4)];
    let is_valid = draft.once_in(2);
    let extent = |axis: usize, input: u32| {
        if is_valid {
            (input - 1) * stride[axis] + kernel[axis]
        } else {
            input * stride[axis]
        }
    };
    let shape = [batches, extent(0, height), extent(1, width), channels];
    let output = quantized_like(draft, input, &shape)?;
    let filter = [channels, kernel[0], kernel[1], depth];
    let [filter, bias] = filters(draft, &filter, [input, output], depth * 2, 0);
    let filter = if draft.element(filter as usize) == TensorType::Int4 {
        return None;
    } else {
        filter
    };
    let extents = shape.map(|extent| extent as i32);
    let extents = draft.vector(&extents);
    let options = vec![
        (0, byte(is_valid)),
        (1, Part::Word(stride[1])),
        (2, Part::Word(stride[0])),
    ];
    let mut inputs = vec![extents as i32, filter, input as i32];
    inputs.extend((bias >= 0).then_some(bias));
    draft.add(Kind::TransposeConv, &inputs, &[output], Some((49, options)));
    Some(())
}

pub(super) fn pool(draft: &mut Draft) -> Option<()> {
    let input = draft.source(|tensor| tensor.rank() == 4 && element_is(tensor, ANY))?;
    let mut kinds = vec![Kind::MaxPool2d, Kind::AveragePool2d];
    if draft.element(input) == TensorType::Float32 {
        kinds.push(Kind::L2Pool2d);
    }
    let kind = kinds[draft.random.below(kinds.len())].clone();
    let [batches, height, width, depth] = four(draft, input);
    let window = window(draft, [height, width], false)?;
    let shape = [batches, window.output[0], window.output[1], depth];
    let output = draft.like(input, &shape)?;
    let options = vec![
        (0, byte(window.is_valid)),
        (1, Part::Word(window.stride[1])),
        (2, Part::Word(window.stride[0])),
        (3, Part::Word(window.kernel[1])),
        (4, Part::Word(window.kernel[0])),
        (5, Part::Byte(activation_code(draft))),
    ];
    draft.add(kind, &[input as i32], &[output], Some((5, options)));
    Some(())
}

pub(super) fn four(draft: &Draft, id: usize) -> [u32; 4] {
    draft.shape(id).try_into().unwrap()
}
