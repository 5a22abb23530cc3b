//! Random networks over a window of time.

use super::builder::{Border, Id, Layer, NONE, Net, RELU, USUAL};
use super::cases::layer;
use dmo_analysis::random::SplitMix64;

/// A network over a window of some rows, of which it may pad some in time.
pub fn network(seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    let mut net = Net::default();
    let rows = 6 + random.below(20) as i32;
    let channels = 1 + random.below(5) as i32;
    // Time is the axis of rows, or that of columns.
    let last = if random.below(4) == 0 {
        net.input(&[1, 1, rows, channels])
    } else {
        let columns = [1, 2, 4][random.below(3)];
        net.input(&[1, rows, columns, channels])
    };
    let steps = 2 + random.below(5);
    let last = (0..steps).fold(last, |last, _| step(&mut net, &mut random, last));
    let last = end(&mut net, &mut random, last);
    net.finish(last)
}

fn step(net: &mut Net, random: &mut SplitMix64, last: Id) -> Id {
    let shape = net.shape(last);
    match random.below(12) {
        0..=3 => {
            let outputs = 1 + random.below(6) as i32;
            let layer = windowed(random, &shape, outputs as usize, shape[3] as usize);
            net.conv(last, outputs, &layer)
        }
        4..=6 => {
            let layer = windowed(random, &shape, shape[3] as usize, 1);
            net.depthwise(last, &layer)
        }
        7 => {
            let taps = 1 + random.below(shape[1].min(shape[2]) as usize) as i32;
            let same = net.quantize(last, USUAL);
            net.pool(same, taps, Border::Valid, random.below(2) == 0)
        }
        8 => {
            let same = net.quantize(last, USUAL);
            let other = pixelwise(net, random, same, shape[3]);
            net.add(same, other, [NONE, RELU][random.below(2)])
        }
        9 => {
            let same = net.quantize(last, USUAL);
            let other = pixelwise(net, random, same, 2);
            net.concatenation(&[same, other], 3)
        }
        10 => {
            let folded = match random.below(2) {
                0 => vec![1, shape[1], 1, shape[2] * shape[3]],
                _ => vec![1, 1, shape[1] * shape[2], shape[3]],
            };
            let same = net.quantize(last, USUAL);
            net.reshape(same, &folded)
        }
        _ => {
            let same = net.quantize(last, USUAL);
            net.relu(same)
        }
    }
}

/// Another tensor of the same rows.
fn pixelwise(net: &mut Net, random: &mut SplitMix64, input: Id, outputs: i32) -> Id {
    let depth = net.shape(input)[3] as usize;
    let layer = layer(random.next_u64(), outputs as usize, depth);
    net.conv(input, outputs, &layer)
}

/// A layer whose windows fit; its weights are of so many outputs and input channels.
fn windowed(random: &mut SplitMix64, shape: &[i32], outputs: usize, channels: usize) -> Layer {
    let dilation = if shape[1] > 4 && random.below(4) == 0 {
        2
    } else {
        1
    };
    let most = 1 + (shape[1] - 1) / dilation;
    let rows = 1 + random.below(most.min(4) as usize) as i32;
    let columns = 1 + random.below(shape[2].min(4) as usize) as i32;
    let depth = (rows * columns) as usize * channels;
    let border = match random.below(10) {
        0 => Border::Same,
        _ => Border::Valid,
    };
    let mut layer = layer(random.next_u64(), outputs, depth).window(rows, border);
    layer.columns = Some(columns);
    layer.dilation = dilation;
    layer.stride = if random.below(4) == 0 { 2 } else { 1 };
    layer.activation = [NONE, RELU][random.below(2)];
    layer
}

fn end(net: &mut Net, random: &mut SplitMix64, last: Id) -> Id {
    let shape = net.shape(last);
    let elements: i32 = shape.iter().product();
    let dense = |net: &mut Net, random: &mut SplitMix64, last: Id, depth: i32| {
        let layer = layer(random.next_u64(), 3, depth as usize);
        net.fully_connected(last, 3, depth, &layer)
    };
    match random.below(3) {
        0 => {
            let mean = net.mean(last, USUAL);
            dense(net, random, mean, shape[3])
        }
        1 => {
            let same = net.quantize(last, USUAL);
            let flat = net.reshape(same, &[1, elements]);
            dense(net, random, flat, elements)
        }
        // The rows themselves.
        _ => last,
    }
}
