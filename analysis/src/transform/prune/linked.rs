//! Operators whose channels come and go together.

use super::channels::{Channel, Channels};
use super::range::{Range, Sum, rounded};
use crate::graph::TensorId;
use crate::graph::parameters::Affine;

/// An operator whose channels come and go together.
#[derive(Debug)]
pub(super) struct Linked {
    pub output: TensorId,
    /// Channels that are made of one another.
    pub links: Vec<[Channel; 2]>,
    pub flow: Flow,
    /// The constant that names the output's shape, where it does.
    pub shape_operand: Option<usize>,
}

/// What becomes of the values.
#[derive(Debug, Clone)]
pub(super) enum Flow {
    /// Anything.
    Any,
    /// They stay within what they were, `border` beside them, and are cut to the limits.
    Within { border: Option<i32>, limits: Range },
    /// They are brought to another scale.
    Rescaled {
        from: Affine,
        to: Affine,
        limits: Range,
        /// The kernel may be off by so much before it rounds, if that is more than all may be.
        error: f64,
    },
    /// The numbers of two tensors are added; of one with a single channel this one.
    Added {
        operands: [(TensorId, Affine); 2],
        to: Affine,
        limits: Range,
    },
}

impl Linked {
    /// What each output channel can be.
    pub(super) fn ranges(&self, channels: &Channels) -> Vec<Range> {
        let count = channels.count(self.output);
        match &self.flow {
            Flow::Any => vec![Range::ANY; count],
            Flow::Within { border, limits } => {
                let sources = self.sources(channels, count);
                let within = |source: Option<Range>| {
                    let range = source.unwrap_or(Range::ANY);
                    let range = border.map_or(range, |border| range.or(Range::only(border)));
                    range.clamped(*limits)
                };
                sources.into_iter().map(within).collect()
            }
            Flow::Rescaled {
                from,
                to,
                limits,
                error,
            } => {
                let sources = self.sources(channels, count);
                let rescale = |source: Option<Range>| {
                    let range = source.unwrap_or(Range::ANY);
                    let shifted = |value: i32| i64::from(value) - i64::from(from.zero_point);
                    let sum = Sum {
                        least: shifted(range.least),
                        greatest: shifted(range.greatest),
                    };
                    let ratio = f64::from(from.scale) / f64::from(to.scale);
                    sum.rescaled(ratio, *error, to.zero_point, *limits)
                };
                sources.into_iter().map(rescale).collect()
            }
            Flow::Added {
                operands,
                to,
                limits,
            } => {
                let channel = |index: usize| added(channels, index, operands, *to, *limits);
                (0..count).map(channel).collect()
            }
        }
    }

    /// What the channels can be that each output channel is made of.
    fn sources(&self, channels: &Channels, count: usize) -> Vec<Option<Range>> {
        let mut sources: Vec<Option<Range>> = vec![None; count];
        for &[input, output] in &self.links {
            let range = channels.range(input);
            if let Some(source) = sources.get_mut(output.index as usize) {
                *source = Some(source.map_or(range, |known| known.or(range)));
            }
        }
        sources
    }
}

/// The kernels add numbers that have 20 bits more than the larger scale has; each may be off by a
/// bit or two, and so may the sum.
fn added(
    channels: &Channels,
    index: usize,
    operands: &[(TensorId, Affine); 2],
    to: Affine,
    limits: Range,
) -> Range {
    const FIXED: f64 = (1 << 20) as f64;
    const COARSE: f64 = 1.0 / (1 << 14) as f64;
    let [mut least, mut greatest, mut size, mut scale] = [0.0f64; 4];
    for &(tensor, from) in operands {
        let index = if channels.count(tensor) == 1 {
            0
        } else {
            index
        };
        let index = index as u32;
        let range = channels.range(Channel { tensor, index });
        let ratio = f64::from(from.scale) / f64::from(to.scale);
        let number = |value: i32| f64::from(value - from.zero_point) * ratio;
        least += number(range.least);
        greatest += number(range.greatest);
        size += number(range.least).abs().max(number(range.greatest).abs());
        scale = scale.max(2.0 * ratio);
    }
    if !(size.is_finite() && scale < FIXED / 64.0) {
        return limits;
    }
    let error = 8.0 * scale / FIXED + size * COARSE + COARSE;
    rounded(least, greatest, error, to.zero_point).clamped(limits)
}
