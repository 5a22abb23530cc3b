//! Models, each with what may go of it and what may not.

use super::builder::{Affine, Border, Layer, NONE, Net, RELU, RELU6, USUAL};
use dmo_analysis::random::SplitMix64;

/// A model and the channels that are to go.
pub struct Case {
    pub name: &'static str,
    pub file: Vec<u8>,
    /// The tensor, and its channels.
    #[allow(dead_code, reason = "not all that share the cases look at it")]
    pub removed: Vec<(usize, Vec<u32>)>,
}

fn case(name: &'static str, file: Vec<u8>, removed: &[(i32, &[u32])]) -> Case {
    let removed = removed.iter();
    let removed = removed.map(|(tensor, channels)| (*tensor as usize, channels.to_vec()));
    Case {
        name,
        file,
        removed: removed.collect(),
    }
}

/// Small weights other than 0.
pub fn weights(random: &mut SplitMix64, count: usize) -> Vec<i8> {
    let weight = |_| match random.below(16) as i8 - 8 {
        0 => 3,
        weight => weight,
    };
    (0..count).map(weight).collect()
}

fn biases(random: &mut SplitMix64, count: usize) -> Vec<i32> {
    (0..count)
        .map(|_| random.below(2000) as i32 - 1000)
        .collect()
}

/// A layer of `outputs` rows of `depth` weights.
pub fn layer(seed: u64, outputs: usize, depth: usize) -> Layer {
    let mut random = SplitMix64::new(seed);
    Layer::new(
        weights(&mut random, outputs * depth),
        biases(&mut random, outputs),
    )
}

/// Rows without weights, so that the outputs are what the bias makes of them.
pub fn constant_rows(mut layer: Layer, rows: &[usize], bias: i32) -> Layer {
    let biases = layer.bias.as_mut().unwrap();
    let depth = layer.weights.len() / biases.len();
    for &row in rows {
        layer.weights[row * depth..(row + 1) * depth].fill(0);
        biases[row] = bias;
    }
    layer
}

/// No weights for an input channel.
fn unread(mut layer: Layer, channel: usize, channels: usize) -> Layer {
    let own = layer.weights.iter_mut().skip(channel).step_by(channels);
    own.for_each(|weight| *weight = 0);
    layer
}

/// A bias that makes another number than the zero point; 0 makes the zero point.
const OTHER: i32 = 3000;

/// What follows the layer that is looked at: a filter of three by three, and its border.
fn with_reader(first: &Layer, border: Border, change: fn(Layer) -> Layer) -> (Vec<u8>, i32) {
    let mut net = Net::default();
    let input = net.input(&[1, 6, 6, 3]);
    let middle = net.conv(input, 4, first);
    let reader = change(layer(2, 3, 36).window(3, border));
    let output = net.conv(middle, 3, &reader);
    (net.finish(output), middle)
}

/// All that are made by hand.
pub fn cases() -> Vec<Case> {
    let mut cases = borders();
    cases.extend(saturated());
    cases.extend(limits());
    cases.extend(branches());
    cases.extend(shapes());
    cases.extend(runs());
    cases.extend(shared());
    cases
}

fn borders() -> Vec<Case> {
    let same = |change: Layer| change;
    let zero_point = constant_rows(layer(1, 4, 3), &[1], 0);
    let other = constant_rows(layer(1, 4, 3), &[1], OTHER);
    let mut cases = Vec::new();
    let (file, middle) = with_reader(&zero_point, Border::Same, same);
    cases.push(case("zero_point_beside_a_border", file, &[(middle, &[1])]));
    let (file, _) = with_reader(&other, Border::Same, same);
    cases.push(case("constant_beside_a_border", file, &[]));
    let (file, middle) = with_reader(&other, Border::Valid, same);
    cases.push(case("constant_without_a_border", file, &[(middle, &[1])]));
    let by_one = |layer: Layer| Layer {
        per_channel: false,
        ..layer
    };
    let first = by_one(other);
    let (file, middle) = with_reader(&first, Border::Valid, by_one);
    cases.push(case("one_scale_for_all", file, &[(middle, &[1])]));
    let first = layer(1, 4, 3);
    let (file, middle) = with_reader(&first, Border::Same, |layer| unread(layer, 2, 4));
    cases.push(case("unread", file, &[(middle, &[2])]));
    let (file, _) = with_reader(&first, Border::Same, same);
    cases.push(case("all_needed", file, &[]));
    // Padding puts zero points around a constant.
    for (name, bias, gone) in [("padded", OTHER, false), ("padded_zero_point", 0, true)] {
        let mut net = Net::default();
        let input = net.input(&[1, 4, 4, 3]);
        let middle = net.conv(input, 4, &constant_rows(layer(3, 4, 3), &[0], bias));
        let padded = net.pad(middle);
        let output = net.conv(padded, 2, &layer(4, 2, 36).window(3, Border::Valid));
        let file = net.finish(output);
        let removed: [(i32, &[u32]); 2] = [(middle, &[0]), (padded, &[0])];
        cases.push(case(name, file, if gone { &removed } else { &[] }));
    }
    cases
}

/// Weights that do not matter, since the result is beyond what the output can be.
fn saturated() -> Vec<Case> {
    let mut cases = Vec::new();
    let of = |activation, bias, output| {
        let mut first = layer(5, 4, 3).activation(activation);
        first.bias.as_mut().unwrap()[3] = bias;
        first.output = output;
        with_reader(&first, Border::Valid, |layer| layer)
    };
    let (file, middle) = of(RELU6, 100_000, USUAL);
    cases.push(case("at_six", file, &[(middle, &[3])]));
    let (file, middle) = of(RELU, -100_000, USUAL);
    cases.push(case("at_zero", file, &[(middle, &[3])]));
    let (file, middle) = of(NONE, -100_000, USUAL);
    cases.push(case("at_the_least", file, &[(middle, &[3])]));
    // The largest sum of the last row's products, and what is rounded to more than 0.
    let row = layer(5, 4, 3).weights[9..].to_vec();
    let most = |&weight: &i8| i32::from(weight) * if weight > 0 { 147 } else { -108 };
    let most: i32 = row.iter().map(most).sum();
    let (file, middle) = of(RELU, 30 - most, USUAL);
    cases.push(case("just_at_zero", file, &[(middle, &[3])]));
    let (file, _) = of(RELU, 50 - most, USUAL);
    cases.push(case("just_above_zero", file, &[]));
    cases
}

fn limits() -> Vec<Case> {
    let mut cases = Vec::new();
    let first = || constant_rows(layer(6, 4, 3), &[2], OTHER);
    // What is added to the bias would not fit.
    let (file, _) = with_reader(&first(), Border::Valid, |mut layer| {
        layer.bias.as_mut().unwrap()[1] = i32::MAX - 36 * 8 * 255;
        layer.bias.as_mut().unwrap()[1] += 60_000;
        layer
    });
    cases.push(case("full_bias", file, &[]));
    let no_bias = |layer: Layer| Layer {
        bias: None,
        ..layer
    };
    let (file, _) = with_reader(&first(), Border::Valid, no_bias);
    cases.push(case("no_bias", file, &[]));
    let zero_point = constant_rows(layer(6, 4, 3), &[2], 0);
    let (file, middle) = with_reader(&zero_point, Border::Valid, no_bias);
    cases.push(case("no_bias_needed", file, &[(middle, &[2])]));
    // The application reads it.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let output = net.conv(input, 4, &first());
    cases.push(case("output", net.finish(output), &[]));
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &first());
    net.outputs.push(middle);
    let output = net.conv(middle, 2, &layer(7, 2, 4));
    cases.push(case("output_and_read", net.finish(output), &[]));
    // The application stores it.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let output = net.conv(input, 2, &unread(layer(7, 2, 3), 1, 3));
    cases.push(case("unread_input", net.finish(output), &[]));
    // One channel has to stay.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let all = constant_rows(layer(8, 4, 3), &[0, 1, 2, 3], OTHER);
    let middle = net.conv(input, 4, &all);
    let output = net.conv(middle, 2, &layer(9, 2, 4));
    cases.push(case(
        "all_constant",
        net.finish(output),
        &[(middle, &[1, 2, 3])],
    ));
    // Groups take channels by their place.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 4]);
    let middle = net.conv(input, 4, &constant_rows(layer(10, 4, 4), &[1], OTHER));
    let grouped = constant_rows(layer(11, 4, 2), &[2], OTHER);
    let parameters = net.parameters(&grouped, &[4, 1, 1, 2], 0);
    let output = net.conv_of(middle, 4, &grouped, &parameters);
    let output = net.conv(output, 2, &layer(12, 2, 4));
    cases.push(case("groups", net.finish(output), &[]));
    let mut net = Net::default();
    net.is_float = true;
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.relu(input);
    let output = net.relu(middle);
    cases.push(case("float", net.finish(output), &[]));
    cases
}

fn branches() -> Vec<Case> {
    let mut cases = Vec::new();
    // Both sides lose it, or none.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let one = net.conv(input, 4, &constant_rows(layer(20, 4, 3), &[0, 1], OTHER));
    let other = net.conv(input, 4, &constant_rows(layer(21, 4, 3), &[1, 2], 700));
    let sum = net.add(one, other, NONE);
    let output = net.conv(sum, 2, &layer(22, 2, 4));
    let removed: [(i32, &[u32]); 3] = [(one, &[1]), (other, &[1]), (sum, &[1])];
    cases.push(case("sum", net.finish(output), &removed));
    // A constant at which the sum may be rounded either way is none.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &layer(23, 4, 3));
    let added = net.constant(&[1, 1, 1, 4], USUAL, &[5, 6, 7, 8]);
    let sum = net.add(middle, added, NONE);
    let output = net.conv(sum, 2, &unread(layer(24, 2, 4), 3, 4));
    let removed: [(i32, &[u32]); 3] = [(middle, &[3]), (added, &[3]), (sum, &[3])];
    cases.push(case("sum_with_a_vector", net.finish(output), &removed));
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &layer(23, 4, 3));
    let factor = net.constant(&[1, 1, 1, 1], USUAL, &[50]);
    let product = net.mul(middle, factor);
    let output = net.conv(product, 2, &unread(layer(24, 2, 4), 0, 4));
    let removed: [(i32, &[u32]); 2] = [(middle, &[0]), (product, &[0])];
    cases.push(case("product_with_a_number", net.finish(output), &removed));
    // The input cannot lose its side.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 4]);
    let one = net.conv(input, 4, &constant_rows(layer(25, 4, 4), &[1], 0));
    let sum = net.add(one, input, NONE);
    let output = net.conv(sum, 2, &unread(layer(26, 2, 4), 1, 4));
    cases.push(case("sum_with_the_input", net.finish(output), &[]));
    // Two readers.
    for (name, border, gone) in [
        ("two_readers", Border::Valid, true),
        ("one_of_two_readers_needs_it", Border::Same, false),
    ] {
        let mut net = Net::default();
        let input = net.input(&[1, 4, 4, 3]);
        let middle = net.conv(input, 4, &constant_rows(layer(27, 4, 3), &[3], OTHER));
        let one = net.conv(middle, 2, &layer(28, 2, 4));
        let other = net.conv(middle, 2, &layer(29, 2, 36).window(3, border));
        net.outputs.push(one);
        let removed: [(i32, &[u32]); 1] = [(middle, &[3])];
        let file = net.finish(other);
        cases.push(case(name, file, if gone { &removed } else { &[] }));
    }
    for (name, axis, removed) in [
        (
            "concatenation_of_channels",
            3,
            [vec![0], vec![2], vec![0, 6]],
        ),
        ("concatenation_of_columns", 2, [vec![2], vec![2], vec![2]]),
    ] {
        let mut net = Net::default();
        let input = net.input(&[1, 4, 4, 3]);
        let rows: &[usize] = if axis == 3 { &[0] } else { &[0, 2] };
        let one = net.conv(input, 4, &constant_rows(layer(30, 4, 3), rows, OTHER));
        let other = net.conv(input, 4, &constant_rows(layer(31, 4, 3), &[2], OTHER));
        // Each scale makes its own number of the same bias.
        let both = net.concatenation(&[one, other], axis);
        let channels = net.shape(both)[3] as usize;
        let output = net.conv(both, 2, &layer(32, 2, channels));
        let [a, b, c] = &removed;
        let removed: [(i32, &[u32]); 3] = [(one, a), (other, b), (both, c)];
        cases.push(case(name, net.finish(output), &removed));
    }
    cases
}

fn shapes() -> Vec<Case> {
    let mut cases = Vec::new();
    // Through pooling and another shape into a bias, as networks that classify end.
    for (name, average) in [("average", true), ("largest", false)] {
        let mut net = Net::default();
        let input = net.input(&[1, 4, 4, 3]);
        let middle = net.conv(input, 5, &constant_rows(layer(40, 5, 3), &[0, 4], OTHER));
        let pooled = net.pool(middle, 2, Border::Same, average);
        let pooled = net.pool(pooled, 4, Border::Valid, average);
        let flat = net.reshape(pooled, &[1, 5]);
        let output = net.fully_connected(flat, 3, 5, &layer(41, 3, 5));
        let gone: &[u32] = &[0, 4];
        let all = [middle, pooled - 1, pooled, flat].map(|id| (id, gone));
        cases.push(case(name, net.finish(output), &all));
    }
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &constant_rows(layer(42, 4, 3), &[1], OTHER));
    let shifted = Affine {
        zero_point: 7,
        ..USUAL
    };
    let mean = net.mean(middle, shifted);
    let output = net.fully_connected(mean, 3, 4, &layer(43, 3, 4));
    let removed: [(i32, &[u32]); 2] = [(middle, &[1]), (mean, &[1])];
    cases.push(case("mean", net.finish(output), &removed));
    // Each channel is in several places of a row.
    for (name, named) in [("flat", true), ("flat_by_the_layer", false)] {
        let mut net = Net::default();
        let input = net.input(&[1, 2, 2, 3]);
        let middle = net.conv(input, 4, &constant_rows(layer(44, 4, 3), &[2], OTHER));
        let gone: [u32; 4] = [2, 6, 10, 14];
        let mut removed: Vec<(i32, &[u32])> = vec![(middle, &[2])];
        let mut flat = middle;
        if named {
            flat = net.reshape(middle, &[1, 16]);
            removed.push((flat, &gone));
        }
        let output = net.fully_connected(flat, 3, 16, &layer(45, 3, 16));
        cases.push(case(name, net.finish(output), &removed));
    }
    // Weights with a zero point: those that equal it count as none.
    let mut net = Net::default();
    let input = net.input(&[1, 4]);
    let middle = net.fully_connected(input, 4, 4, &layer(46, 4, 4));
    let mut reader = layer(47, 2, 4);
    reader.per_channel = false;
    for row in 0..2 {
        reader.weights[4 * row + 1] = 5;
        reader.weights[4 * row + 2] = 0;
    }
    let output = net.fully_connected(middle, 2, 4, &reader);
    net.set_zero_point(output - 2, 5);
    let removed: [(i32, &[u32]); 1] = [(middle, &[1])];
    cases.push(case(
        "weights_with_a_zero_point",
        net.finish(output),
        &removed,
    ));
    cases
}

/// Depthwise convolutions, other scales, and what goes one after the other.
fn runs() -> Vec<Case> {
    let mut cases = Vec::new();
    // Two outputs of each input channel: both go, or none.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 3, &layer(48, 3, 3));
    let mut twice = layer(49, 6, 9).window(3, Border::Same);
    twice.multiplier = 2;
    let deep = net.depthwise(middle, &twice);
    let mut reader = layer(50, 2, 6);
    for unused in [0, 1, 2] {
        reader = unread(reader, unused, 6);
    }
    let output = net.conv(deep, 2, &reader);
    let removed: [(i32, &[u32]); 2] = [(middle, &[0]), (deep, &[0, 1])];
    cases.push(case("multiplier", net.finish(output), &removed));
    // A depthwise convolution that has no weights for a channel that varies.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &layer(51, 4, 3));
    let mut each = unread(layer(52, 4, 9).window(3, Border::Same), 1, 4);
    each.bias.as_mut().unwrap()[1] = OTHER;
    let deep = net.depthwise(middle, &each);
    let output = net.conv(deep, 2, &layer(53, 2, 4));
    let removed: [(i32, &[u32]); 2] = [(middle, &[1]), (deep, &[1])];
    cases.push(case("depthwise", net.finish(output), &removed));
    // At a border a constant channel is no longer constant behind a depthwise convolution.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &constant_rows(layer(54, 4, 3), &[1], OTHER));
    let deep = net.depthwise(middle, &layer(55, 4, 9).window(3, Border::Same));
    let output = net.conv(deep, 2, &layer(56, 2, 4));
    cases.push(case("depthwise_at_a_border", net.finish(output), &[]));
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let middle = net.conv(input, 4, &constant_rows(layer(57, 4, 3), &[1], -OTHER));
    let to = Affine {
        scale: 0.0499,
        zero_point: 7,
    };
    let rescaled = net.quantize(middle, to);
    let active = net.relu(rescaled);
    let output = net.conv(active, 2, &layer(58, 2, 4));
    let removed: [(i32, &[u32]); 3] = [(middle, &[1]), (rescaled, &[1]), (active, &[1])];
    cases.push(case("another_scale", net.finish(output), &removed));
    // Nothing reads the last one's channel, so nothing the one before, and so on. What is left to
    // the last channel of the last one is rounded to one number.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let a = net.conv(input, 4, &layer(60, 4, 3));
    let only = |seed| {
        let mut layer = unread(layer(seed, 4, 4), 1, 4);
        layer.weights[4 + 1] = 5;
        layer
    };
    let b = net.conv(a, 4, &only(61));
    let c = net.conv(b, 4, &only(62));
    let output = net.conv(c, 2, &unread(layer(63, 2, 4), 1, 4));
    let removed: [(i32, &[u32]); 3] = [(a, &[1]), (b, &[1]), (c, &[1, 3])];
    cases.push(case("one_after_the_other", net.finish(output), &removed));
    cases
}

fn shared() -> Vec<Case> {
    let mut cases = Vec::new();
    // One filter and one bias for two layers, which lose different channels.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 3]);
    let one = net.conv(input, 4, &constant_rows(layer(70, 4, 3), &[0], OTHER));
    let other = net.conv(input, 4, &constant_rows(layer(71, 4, 3), &[2, 3], OTHER));
    let reader = layer(72, 2, 4);
    let parameters = net.parameters(&reader, &[2, 1, 1, 4], 0);
    let first = net.conv_of(one, 2, &reader, &parameters);
    let second = net.conv_of(other, 2, &reader, &parameters);
    net.outputs.push(first);
    let removed: [(i32, &[u32]); 2] = [(one, &[0]), (other, &[2, 3])];
    cases.push(case("one_filter_for_two", net.finish(second), &removed));
    // One buffer for two filters.
    let mut net = Net::default();
    let input = net.input(&[1, 4, 4, 4]);
    let one = net.conv(input, 4, &constant_rows(layer(73, 4, 4), &[1], OTHER));
    let first = net.conv(one, 4, &layer(74, 4, 4));
    let second = net.conv(first, 4, &layer(75, 4, 4));
    net.share(second - 2, first - 2);
    let removed: [(i32, &[u32]); 1] = [(one, &[1])];
    cases.push(case("one_buffer_for_two", net.finish(second), &removed));
    cases
}
