//! Random networks in which channels are constant, saturated or unread.

use super::builder::{Affine, Border, Id, Layer, NONE, Net, RELU, RELU6, USUAL};
use super::cases::layer;
use dmo_analysis::random::SplitMix64;

/// A network of a few layers.
pub fn network(seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    let mut net = Net::default();
    let side = 2 + random.below(4) as i32;
    let depth = 1 + random.below(4) as i32;
    let mut last = net.input(&[1, side, side, depth]);
    let outputs = 2 + random.below(6) as i32;
    last = convolution(&mut net, &mut random, last, outputs);
    for _ in 0..2 + random.below(4) {
        last = step(&mut net, &mut random, last);
    }
    let shape = net.shape(last);
    let depth: i32 = shape.iter().product();
    if random.below(2) == 0 {
        last = net.reshape(last, &[1, depth]);
    }
    let planted = planted(&mut random, 3, depth as usize, shape[3] as usize);
    last = net.fully_connected(last, 3, depth, &planted);
    net.finish(last)
}

fn step(net: &mut Net, random: &mut SplitMix64, last: Id) -> Id {
    let shape = net.shape(last);
    match random.below(8) {
        0 | 1 => {
            let outputs = 2 + random.below(6) as i32;
            convolution(net, random, last, outputs)
        }
        2 | 3 => {
            let multiplier = 1 + random.below(2) as i32;
            let outputs = (shape[3] * multiplier) as usize;
            let mut layer = planted(random, outputs, 9, outputs);
            layer.multiplier = multiplier;
            net.depthwise(last, &layer.window(3, Border::Same))
        }
        4 => {
            let one = convolution(net, random, last, shape[3]);
            let other = convolution(net, random, last, shape[3]);
            let [one, other] = [one, other].map(|id| net.quantize(id, USUAL));
            if net.shape(one) == net.shape(other) {
                net.add(one, other, [NONE, RELU][random.below(2)])
            } else {
                one
            }
        }
        5 => {
            let average = random.below(2) == 0;
            let same = net.quantize(last, USUAL);
            net.pool(same, 2, Border::Same, average)
        }
        6 => {
            let same = net.quantize(last, USUAL);
            net.pad(same)
        }
        _ => {
            let same = net.quantize(last, USUAL);
            let other = convolution(net, random, same, shape[3]);
            let other = net.quantize(other, USUAL);
            if net.shape(same) == net.shape(other) {
                net.concatenation(&[same, other], 1 + random.below(3))
            } else {
                other
            }
        }
    }
}

fn convolution(net: &mut Net, random: &mut SplitMix64, input: Id, outputs: i32) -> Id {
    let shape = net.shape(input);
    let kernel = if random.below(2) == 0 { 1 } else { 3 };
    let fits = shape[1] >= kernel && shape[2] >= kernel;
    let border = if fits && random.below(2) == 0 {
        Border::Valid
    } else {
        Border::Same
    };
    let channels = shape[3] as usize;
    let depth = (kernel * kernel) as usize * channels;
    let layer = planted(random, outputs as usize, depth, channels).window(kernel, border);
    net.conv(input, outputs, &layer)
}

/// A layer with rows without weights, rows far out, and channels that it does not read.
fn planted(random: &mut SplitMix64, outputs: usize, depth: usize, channels: usize) -> Layer {
    let mut layer = layer(random.next_u64(), outputs, depth);
    layer.per_channel = random.below(2) == 0;
    layer.activation = [NONE, RELU, RELU6][random.below(3)];
    if random.below(4) > 0 {
        // Few products need a small scale for their sum to vary.
        let scale = 0.002 + 0.0002 * random.below(100) as f32;
        let zero_point = [-128, random.below(256) as i64 - 128][random.below(2)];
        layer.output = Affine { scale, zero_point };
    }
    let bias = layer.bias.as_mut().unwrap();
    for (row, bias) in bias.iter_mut().enumerate() {
        match random.below(9) {
            0 | 1 => {
                let start = row * depth;
                layer.weights[start..start + depth].fill(0);
                *bias = [0, 3000, -3000, 20_000, -20_000][random.below(5)];
            }
            2 => *bias = [-200_000, 200_000][random.below(2)],
            _ => {}
        }
    }
    for channel in 0..channels {
        if random.below(8) == 0 {
            let own = layer.weights.iter_mut().skip(channel).step_by(channels);
            own.for_each(|weight| *weight = 0);
        }
    }
    layer
}
