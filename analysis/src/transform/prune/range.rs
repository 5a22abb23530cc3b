//! The values that a channel can take, and what arithmetic makes of them.
//!
//! All of it errs to the wide side. Kernels round in different ways: TensorFlow Lite Micro once
//! after the multiplication and once after the shift, or once in all, others in floating point. A
//! range holds what any of them can give, so that a channel is constant only where they agree.

use crate::graph::parameters::{Activation, Affine};

/// Least and greatest value, both possible as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub least: i32,
    pub greatest: i32,
}

impl Range {
    /// All that eight bits hold.
    pub(super) const ANY: Self = Self {
        least: i8::MIN as i32,
        greatest: i8::MAX as i32,
    };

    pub(super) fn new(least: i32, greatest: i32) -> Self {
        Self { least, greatest }
    }

    pub(super) fn only(value: i32) -> Self {
        Self::new(value, value)
    }

    /// The value, where there is one only.
    pub(super) fn constant(self) -> Option<i32> {
        (self.least == self.greatest).then_some(self.least)
    }

    /// What is in one of them.
    pub(super) fn or(self, other: Self) -> Self {
        Self::new(
            self.least.min(other.least),
            self.greatest.max(other.greatest),
        )
    }

    pub(super) fn clamped(self, limits: Self) -> Self {
        let clamp = |value: i32| value.max(limits.least).min(limits.greatest);
        Self::new(clamp(self.least), clamp(self.greatest))
    }
}

/// Relative error of a ratio that a kernel may have, with much to spare: single precision.
const RELATIVE: f64 = 1.0 / (1 << 20) as f64;
/// No result of any use is as large.
const MOST: f64 = (1u32 << 30) as f64;

/// A sum of products in a kernel's accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub least: i64,
    pub greatest: i64,
}

impl Sum {
    /// What a kernel makes of it: times the ratio, rounded, on the zero point, within the limits.
    /// It may be off by `error` before it rounds, or by what rounding twice comes to.
    /// Where an accumulator or a product could leave 32 bits, anything within the limits.
    pub(super) fn rescaled(self, ratio: f64, error: f64, zero_point: i32, limits: Range) -> Range {
        let fits = |value: i64| i32::try_from(value).is_ok();
        // A left shift comes before the multiplication.
        let shift = ratio.log2().ceil().max(0.0) + 1.0;
        let shifted = |value: i64| (value as f64).abs() * shift.exp2() < MOST;
        let is_plain = ratio.is_finite()
            && ratio > 0.0
            && [self.least, self.greatest]
                .iter()
                .all(|&value| fits(value) && (ratio < 0.5 || shifted(value)));
        if !is_plain {
            return limits;
        }
        // Rounding twice: the first is half a unit before the shift to the right, at most a quarter
        // of one after it.
        let twice = ratio.min(0.25);
        let [least, greatest] = [self.least, self.greatest].map(|value| value as f64 * ratio);
        rounded(least, greatest, error.max(twice), zero_point).clamped(limits)
    }
}

/// To the nearest, by a kernel that may be off by `error` and a little before it rounds.
pub(super) fn rounded(least: f64, greatest: f64, error: f64, zero_point: i32) -> Range {
    let slack = |value: f64| error + value.abs() * RELATIVE + RELATIVE;
    let number = |value: f64| value.clamp(-MOST, MOST) as i32 + zero_point;
    // A half may go either way.
    Range::new(
        number((least - slack(least) - 0.5).ceil()),
        number((greatest + slack(greatest) + 0.5).floor()),
    )
}

/// What a fused activation lets pass, in the scale of the output, and what eight bits hold.
pub(super) fn limits(activation: Activation, output: Affine) -> Range {
    let (low, high) = activation.limits();
    let quantised = |limit: f32| {
        let steps = (limit / output.scale).round();
        f64::from(steps).clamp(-MOST, MOST) as i32 + output.zero_point
    };
    let mut limits = Range::ANY;
    if low.is_finite() {
        limits.least = limits.least.max(quantised(low));
    }
    if high.is_finite() {
        limits.greatest = limits.greatest.min(quantised(high));
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// As TensorFlow Lite Micro does it, by default and with `TFLITE_SINGLE_ROUNDING`.
    fn kernels(sum: i32, ratio: f64) -> [i32; 3] {
        let exponent = ratio.log2().floor() as i32 + 1;
        let mut shift = exponent;
        let mut multiplier = (ratio / f64::from(exponent).exp2() * 31f64.exp2()).round() as i64;
        if multiplier == 1 << 31 {
            (multiplier, shift) = (1 << 30, shift + 1);
        }
        let (left, right) = (shift.max(0), (-shift).max(0));
        let product = i64::from(sum << left) * multiplier;
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        let high = (product + nudge) / (1i64 << 31);
        let mask = (1i64 << right) - 1;
        let threshold = (mask >> 1) + i64::from(high < 0);
        let twice = (high >> right) + i64::from((high & mask) > threshold);
        let total = 31 - shift;
        let once = (i64::from(sum) * multiplier + (1i64 << (total - 1))) >> total;
        let float = (sum as f32 * ratio as f32).round_ties_even();
        [twice as i32, once as i32, float as i32]
    }

    /// Every value of every sum in a range is in the range of results, which is as narrow as it
    /// can be for almost all.
    #[test]
    fn results_of_all_roundings_are_in_range() {
        let mut random = SplitMix64::new(7);
        let (mut seen, mut narrow) = (0, 0);
        for _ in 0..200_000 {
            let ratio = (1.0 + random.below(1 << 20) as f64 / 1_048_576.0)
                * (random.below(14) as f64 - 12.0).exp2();
            let most = (200.0 / ratio).min(1e6) as i64;
            let sum = random.below((2 * most + 1) as usize) as i64 - most;
            let own = Sum {
                least: sum,
                greatest: sum,
            };
            let zero_point = random.below(256) as i32 - 128;
            let wide = Range::new(-100_000, 100_000);
            let range = own.rescaled(ratio, 0.0, zero_point, wide);
            for value in kernels(sum as i32, ratio) {
                let value = value + zero_point;
                assert!(
                    (range.least..=range.greatest).contains(&value),
                    "{sum} * {ratio} + {zero_point}: {value} is not in {range:?}"
                );
                seen += 1;
            }
            narrow += usize::from(range.constant().is_some());
        }
        assert_eq!(seen, 600_000);
        assert!(narrow > 150_000, "{narrow} of 200000 are known");
    }

    #[test]
    fn a_half_may_go_either_way() {
        assert_eq!(rounded(2.5, 2.5, 0.0, 0), Range::new(2, 3));
        assert_eq!(rounded(2.4, 2.4, 0.0, 10), Range::only(12));
        assert_eq!(rounded(2.4, 2.4, 0.25, 0), Range::new(2, 3));
    }

    #[test]
    fn what_may_overflow_is_not_known() {
        let sum = Sum {
            least: 1 << 31,
            greatest: 1 << 31,
        };
        assert_eq!(sum.rescaled(1e-9, 0.0, 0, Range::ANY), Range::ANY);
        let shifted = Sum {
            least: 1 << 20,
            greatest: 1 << 20,
        };
        assert_eq!(shifted.rescaled(2048.0, 0.0, 0, Range::ANY), Range::ANY);
    }
}
