//! Weights, biases and ratios of a layer as the kernels of `dmo_dsp_packed.h` read them.

use crate::call::{CallError, inexpressible};
use crate::kernels::Job;
use crate::kernels::convolution::{Convolution, FILTER};
use crate::kernels::quantisation::Multiplier;
use dmo_analysis::trace::ElementType;

/// What the kernels add to a channel's sum, and scale it by.
#[derive(Debug, Clone)]
struct Channel {
    /// In the filter's order of taps.
    weights: Vec<i8>,
    bias: i64,
    ratio: Multiplier,
}

/// A layer whose channels the fast requantisation takes.
#[derive(Debug)]
pub(super) struct Layer {
    channels: Vec<Channel>,
    input_offset: i64,
    /// Of the output, as the kernels round with it.
    half_offset: i32,
}

/// Sums that stay below this, bias included, can be doubled.
const SUM_LIMIT: i64 = 1 << 30;
/// 256 times a sum below this has 32 bits.
const HIGH_SUM_LIMIT: i64 = 1 << 23;
/// 32 times a bias below this has 32 bits.
const BIAS_LIMIT: i64 = 1 << 26;
const LEAST_SHIFT: i32 = -16;

impl Layer {
    /// The layer with a ratio for each channel.
    ///
    /// # Errors
    /// When a channel needs exact arithmetic, or a constant is missing.
    pub fn of(job: &Job, conv: &Convolution, ratios: &[Multiplier]) -> Result<Self, CallError> {
        let input_offset = -i64::from(job.input(conv.input_operand)?.zero_point);
        let count = conv.channels() as usize;
        let elements = conv.filter.iter().map(|&extent| extent as usize);
        let taps = elements.product::<usize>() / count.max(1);
        let filter =
            job.checked_constant(FILTER, "filter", ElementType::Int8, (taps * count) as u64)?;
        let biases = job.biases(conv.bias_operand, ElementType::Int32, count)?;
        let place = |channel: usize, tap: usize| match conv.multiplier {
            None => channel * taps + tap,
            Some(_) => tap * count + channel,
        };
        let output = OutputRange {
            offset: job.output()?.zero_point,
            limits: job.activation()?,
        };
        let channels = ratios.iter().zip(biases).enumerate();
        let channels = channels.map(|(index, (&ratio, bias))| {
            let weights = (0..taps).map(|tap| filter[place(index, tap)] as i8);
            let channel = Channel {
                weights: weights.collect(),
                bias,
                ratio,
            };
            channel.fast(index, input_offset, &output)
        });
        Ok(Self {
            channels: channels.collect::<Result<_, _>>()?,
            input_offset,
            half_offset: 2 * (output.offset + i32::from(i8::MAX) - output.limits[1]) + 1,
        })
    }

    /// Pairs of channels, with rows of taps: how many, and of how many taps.
    ///
    /// # Errors
    /// When two weights do not share a number.
    pub fn pairs(&self, [rows, line]: [u32; 2]) -> Result<Vec<i32>, CallError> {
        let order = order_of_taps(rows as usize, line as usize);
        let greatest = greatest_input(self.input_offset);
        let mut words = Vec::new();
        for (pair, channels) in self.channels.chunks(2).enumerate() {
            let p = &channels[0];
            let nothing = p.without_weights();
            let q = channels.get(1).unwrap_or(&nothing);
            q.ensure_high(2 * pair + 1, greatest)?;
            words.extend(shared(p, q, &order, 2 * pair)?);
            words.extend([p, q].into_iter().flat_map(Channel::packed_numbers));
        }
        Ok(words)
    }

    /// Blocks of four channels, of which there are at least four: their weights tap by tap, then the
    /// numbers of each. The last block ends with the last channel.
    pub fn blocks_of_channels(&self) -> Vec<i32> {
        const BLOCK: usize = 4;
        let mut words = Vec::new();
        for first in (0..self.channels.len()).step_by(BLOCK) {
            let first = first.min(self.channels.len().saturating_sub(BLOCK));
            let block = &self.channels[first..];
            let block = &block[..BLOCK.min(block.len())];
            for tap in 0..block[0].weights.len() {
                let byte =
                    |channel: usize| block.get(channel).map_or(0, |it| it.weights[tap] as u8);
                words.push(i32::from_le_bytes([0, 1, 2, 3].map(byte)));
            }
            let numbers = block
                .iter()
                .map(|channel| channel.numbers(self.half_offset));
            words.extend(numbers.flatten());
        }
        words
    }

    /// Blocks of eight outputs, all with this ratio: groups of four inputs, then the biases.
    ///
    /// # Errors
    /// When two weights do not share a number, or outputs have another ratio.
    pub fn blocks_of_outputs(&self, ratio: Multiplier) -> Result<Vec<i32>, CallError> {
        const BLOCK: usize = 8;
        let inputs = self.channels.first().map_or(0, |it| it.weights.len());
        let order = order_of_taps(1, inputs);
        let mut words = Vec::new();
        for (index, given) in self.channels.chunks(BLOCK).enumerate() {
            let mut block = given.to_vec();
            block.resize(BLOCK, given[0].without_weights());
            let mut pairs = Vec::new();
            for (pair, channels) in block.chunks_exact(2).enumerate() {
                let first = BLOCK * index + 2 * pair;
                let [p, q] = [&channels[0], &channels[1]];
                // The input's offset is in the bias.
                q.ensure_high(first + 1, -i64::from(i8::MIN))?;
                pairs.push(shared(p, q, &order, first)?);
            }
            for half in 0..inputs / 2 {
                words.extend(pairs.iter().map(|pair| pair[half]));
            }
            for (output, channel) in block.iter().enumerate() {
                if channel.ratio != ratio {
                    let what = format!("the ratio of output {}", BLOCK * index + output);
                    return Err(inexpressible(what, "another", "that of all outputs"));
                }
                let sum: i64 = channel.weights.iter().map(|&it| i64::from(it)).sum();
                words.push((2 * (channel.bias + self.input_offset * sum)) as i32);
            }
        }
        Ok(words)
    }
}

/// The greatest distance from 0 of an input with its offset.
fn greatest_input(offset: i64) -> i64 {
    let ends = [i8::MIN, i8::MAX].map(|end| (i64::from(end) + offset).abs());
    ends[0].max(ends[1])
}

/// Taps in the order of the kernels, in groups of four; `None`: nothing.
fn order_of_taps(rows: usize, line: usize) -> Vec<Option<usize>> {
    let whole = line / 4 * 4;
    let taps = |columns: std::ops::Range<usize>| {
        (0..rows).flat_map(move |row| columns.clone().map(move |column| row * line + column))
    };
    let mut order: Vec<_> = taps(0..whole).chain(taps(whole..line)).map(Some).collect();
    order.resize(order.len().next_multiple_of(4), None);
    order
}

/// Numbers 256 * q + p of all taps, two in a word: of each four taps 0 and 2, then 1 and 3.
fn shared(
    p: &Channel,
    q: &Channel,
    order: &[Option<usize>],
    first: usize,
) -> Result<Vec<i32>, CallError> {
    let number = |tap: Option<usize>| {
        let Some(tap) = tap else { return Ok(0) };
        let number = 256 * i32::from(q.weights[tap]) + i32::from(p.weights[tap]);
        i16::try_from(number).map_err(|_| {
            let what = format!("weight {tap} of channels {first} and {}", first + 1);
            inexpressible(what, number, "numbers of 16 bits")
        })
    };
    let numbers = order.iter().copied().map(number);
    let numbers = numbers.collect::<Result<Vec<i16>, _>>()?;
    let word = |low: i16, high: i16| i32::from(low) & 0xffff | i32::from(high) << 16;
    let groups = numbers.chunks_exact(4);
    Ok(groups
        .flat_map(|it| [word(it[0], it[2]), word(it[1], it[3])])
        .collect())
}

/// What outputs can be.
struct OutputRange {
    offset: i32,
    limits: [i32; 2],
}

impl OutputRange {
    /// The output for a sum, by a ratio whose shift is at most 0.
    fn of(&self, sum: i64, ratio: Multiplier) -> i32 {
        let product = (sum * i64::from(ratio.multiplier) + (1 << 30)) >> 31;
        let right = -ratio.shift;
        let half = if right == 0 { 0 } else { 1_i64 << (right - 1) };
        // To nearest, halves away from zero.
        let quotient = product.signum() * ((product.abs() + half) >> right);
        (quotient as i32 + self.offset).clamp(self.limits[0], self.limits[1])
    }
}

impl Channel {
    /// To stand where there is none.
    fn without_weights(&self) -> Self {
        Self {
            weights: vec![0; self.weights.len()],
            bias: 0,
            ratio: self.ratio,
        }
    }

    /// How far the products can take a sum.
    fn largest_products(&self, greatest_input: i64) -> i64 {
        let weights = self.weights.iter();
        let magnitudes: i64 = weights.map(|&it| i64::from(it).abs()).sum();
        magnitudes * greatest_input
    }

    /// The same as far as outputs go, with numbers that the kernels take.
    fn fast(
        self,
        index: usize,
        input_offset: i64,
        output: &OutputRange,
    ) -> Result<Self, CallError> {
        let products = self.largest_products(greatest_input(input_offset));
        let is_fast = (LEAST_SHIFT..=-1).contains(&self.ratio.shift)
            && self.bias.abs() < BIAS_LIMIT
            && self.bias.abs() + products < SUM_LIMIT;
        if is_fast {
            return Ok(self);
        }
        self.constant(products, output).ok_or_else(|| {
            let what = format!("shift and bias of channel {index}");
            let given = format!("{} and {}", self.ratio.shift, self.bias);
            inexpressible(what, given, "what needs no exact arithmetic")
        })
    }

    /// A channel without weights that gives this one's only output; `None` if it has several.
    fn constant(&self, products: i64, output: &OutputRange) -> Option<Self> {
        let sums = [self.bias - products, self.bias + products];
        let in_range = sums.iter().all(|&sum| i32::try_from(sum).is_ok());
        if !in_range || self.ratio.multiplier < 0 || self.ratio.shift > 0 {
            return None;
        }
        // Outputs grow with their sums.
        let [least, greatest] = sums.map(|sum| output.of(sum, self.ratio));
        // A quarter of the sum is what is added to the output's offset.
        let quarter = Multiplier {
            multiplier: 1 << 30,
            shift: -1,
        };
        (least == greatest).then(|| Self {
            weights: vec![0; self.weights.len()],
            bias: 4 * i64::from(least - output.offset),
            ratio: quarter,
        })
    }

    /// # Errors
    /// When the sum does not fit beside another one.
    fn ensure_high(&self, index: usize, greatest_input: i64) -> Result<(), CallError> {
        let products = self.largest_products(greatest_input);
        if products < HIGH_SUM_LIMIT {
            return Ok(());
        }
        let what = format!("the greatest sum of channel {index}");
        Err(inexpressible(
            what,
            products,
            format!("less than {HIGH_SUM_LIMIT}"),
        ))
    }

    fn numbers(&self, half_offset: i32) -> [i32; 4] {
        let shift = -self.ratio.shift - 1;
        let doubled = 2 * self.bias as i32;
        [doubled, self.ratio.multiplier, half_offset << shift, shift]
    }

    fn packed_numbers(&self) -> [i32; 2] {
        let shift = -self.ratio.shift - 1;
        [32 * self.bias as i32 + shift, self.ratio.multiplier]
    }
}
