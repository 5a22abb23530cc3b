//! The numbers of quantised kernels, against exact arithmetic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test may fail loudly"
)]

use dmo_analysis::graph::parameters::{Activation, Affine};
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::quantisation::{Multiplier, activation_range, radius};
use proptest::prelude::*;

fn words(ratio: f64) -> [i32; 2] {
    Multiplier::new("ratio", ratio).unwrap().words()
}

#[test]
fn multipliers_worked_out_by_hand() {
    let power = |exponent: i32| f64::from(exponent).exp2();
    let half = 1 << 30;
    for (ratio, expected) in [
        (0.0, [0, 0]),
        (0.5, [half, 0]),
        (1.0, [half, 1]),
        (3.0, [3 << 29, 2]),
        // 0.8 * 2^31 = 1717986918.4, and 0.1 = 0.8 / 8.
        (0.1, [1_717_986_918, -3]),
        // 2/3 * 2^31 = 1431655765.3
        (1.0 / 3.0, [1_431_655_765, -1]),
        // Rounding carries to the next power of two.
        (1.0 - power(-40), [half, 1]),
        (power(-31) - power(-80), [half, -30]),
        // The least: 2^-32 = 1/2 * 2^-31.
        (power(-32), [half, -31]),
        // What carries to it is not too small.
        (power(-32) - power(-80), [half, -31]),
        // What does not is.
        (power(-32) - power(-60), [0, 0]),
        (power(-33), [0, 0]),
        (f64::MIN_POSITIVE / 2.0, [0, 0]),
        (power(29), [half, 30]),
    ] {
        assert_eq!(words(ratio), expected, "{ratio:e}");
    }
}

#[test]
fn ratios_that_no_kernel_takes() {
    for ratio in [-1.0, f64::NAN, f64::INFINITY, f64::from(30).exp2()] {
        let error = Multiplier::new("ratio of scales", ratio).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("ratio of scales"), "{error}");
    }
    let wide = Multiplier::new("ratio", 2.0).unwrap();
    assert_eq!(wide.shift, 2);
    assert_eq!(
        wide.within("ratio", -31..=0).unwrap_err().to_string(),
        "the shift of the ratio is 2; the kernel takes shifts from -31 to 0"
    );
}

#[test]
fn fifteen_bits() {
    let of = |ratio| Multiplier::new("ratio", ratio).unwrap().words_of_15_bits();
    assert_eq!(of(0.5), [1 << 14, 0]);
    // 2/3 * 2^15 = 21845.3, and 16/3 = 2/3 * 8.
    assert_eq!(of(16.0 / 3.0), [21845, 3]);
    // 32767.8 would not fit.
    assert_eq!(of(32767.8 / 32768.0), [32767, 0]);
}

#[test]
fn means_worked_out_by_hand() {
    let mean = |ratio, count| {
        let sum = Multiplier::new("ratio", ratio).unwrap();
        sum.divided(count).words()
    };
    assert_eq!(mean(0.5, 1), [1 << 30, 0]);
    assert_eq!(mean(0.5, 4), [1 << 30, -2]);
    // 2^31 / 3 = 715827882.7
    assert_eq!(mean(1.0, 3), [715_827_882, 0]);
    assert_eq!(mean(1.0, 9), [954_437_176, -2]);
    assert_eq!(mean(0.0, 9), [0, -3]);
    // No bits of the shift are left.
    assert_eq!(mean(f64::from(-32).exp2(), 4), [1 << 28, -31]);
}

proptest! {
    /// The greatest multiplier that, so many times, is not more than that of the sum.
    #[test]
    fn means(ratio in 1e-6..1e6_f64, count in 1_u32..=1 << 23) {
        let sum = Multiplier::new("ratio", ratio).unwrap();
        let mean = sum.divided(count);
        let whole = i128::from(sum.multiplier) << (sum.shift - mean.shift);
        let part = i128::from(mean.multiplier);
        prop_assert!(part * i128::from(count) <= whole);
        prop_assert!((part + 1) * i128::from(count) > whole);
        prop_assert!(mean.multiplier >= 1 << 29 || mean.shift == -31);
    }
}

/// The greatest difference from the zero point: `(2^bits - 1) * 2^(31 - bits) / 2^shift`.
#[test]
fn radii() {
    for bits in [4_u32, 5] {
        for shift in 0..=30 {
            let exact = (((1_i128 << bits) - 1) << (31 - bits)) >> shift;
            assert_eq!(i128::from(radius(bits, shift)), exact);
        }
    }
}

#[test]
fn activations_of_known_models() {
    let of = |activation, scale, zero_point, element_type| {
        activation_range(activation, Affine { scale, zero_point }, element_type).unwrap()
    };
    let int8 = ElementType::Int8;
    // MobileNet's: [0, 6) in 256 steps.
    assert_eq!(
        of(Activation::Relu6, 0.023_528_477, -128, int8),
        [-128, 127]
    );
    assert_eq!(of(Activation::Relu6, 0.1, -10, int8), [-10, 50]);
    assert_eq!(of(Activation::Relu, 0.1, 5, int8), [5, 127]);
    assert_eq!(of(Activation::ReluN1To1, 0.25, 1, int8), [-3, 5]);
    assert_eq!(of(Activation::None, 0.1, 5, int8), [-128, 127]);
    assert_eq!(of(Activation::Relu6, 0.1, 0, ElementType::Uint8), [0, 60]);
    assert_eq!(of(Activation::Relu, 0.1, 0, ElementType::Int16), [0, 32767]);
    let tiny = Affine {
        scale: 1e-12,
        zero_point: 0,
    };
    assert!(activation_range(Activation::Relu6, tiny, int8).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// In whole numbers: the ratio is `mantissa / 2^53 * 2^exponent`, and the multiplier is
    /// its 31 leading bits.
    #[test]
    fn multipliers_are_the_nearest(mantissa in 1_u64 << 52..1 << 53, exponent in -31..=29) {
        let ratio = mantissa as f64 * f64::from(exponent - 53).exp2();
        let [multiplier, shift] = words(ratio);
        prop_assert!(multiplier >= 1 << 30);
        // Both in units of 2^(exponent - 53).
        let found = i128::from(multiplier) << (22 + shift - exponent);
        let error: i128 = found - i128::from(mantissa);
        prop_assert!(shift == exponent || shift == exponent + 1);
        prop_assert!(error.abs() <= 1 << 21, "{error}");
        // Within 2^-31 of the ratio, which the multiplier's 31 bits allow.
        prop_assert!(error.abs() << 31 <= i128::from(mantissa));
    }

    /// The least and the greatest number are those next to the limits.
    #[test]
    fn limits_are_the_nearest(scale in 0.001_f32..1.0, zero_point in -128..=127) {
        let output = Affine { scale, zero_point };
        let [low, high] = activation_range(Activation::Relu6, output, ElementType::Int8).unwrap();
        let real = |quantised: i32| f64::from(scale) * f64::from(quantised - zero_point);
        // The quotient is rounded to a float first, as in TensorFlow Lite Micro: up to 2^-17 of a step.
        let half = f64::from(scale) * (0.5 + 2_f64.powi(-16));
        prop_assert_eq!(low, zero_point);
        prop_assert!((-128..=127).contains(&high));
        prop_assert!((real(high) - 6.0).abs() <= half || high == 127 && real(high) < 6.0);
    }
}
