//! Conversions between half, single and double precision.

use super::*;
use crate::float;

/// Formats converted from single or double precision, judged by `expected`.
fn all<From: Judged, To: float::Float + std::fmt::LowerHex>(
    settings: &[u32],
    expected: impl Fn(From, &mut u32) -> To,
) -> usize {
    let mut random = Random(53);
    let mut values = special::<From>();
    for _ in 0..20_000 {
        let value: From = random.float();
        // Of the range of half precision, and with ties of it.
        let exponent = (From::of_host(1.0) >> From::FRACTION_BITS) - 27 + random.below(45);
        let cut = From::FRACTION << (From::FRACTION_BITS - 12) & From::FRACTION;
        let fraction = value.into() & cut | value.into() & random.next() & random.below(2);
        let magnitude = exponent << From::FRACTION_BITS | fraction & From::FRACTION;
        values.extend([value, From::new(value.is_negative(), magnitude)]);
    }
    for &value in &values {
        for &fpscr in settings {
            let (mut flags, mut expected_flags) = (fpscr, fpscr);
            let expected = expected(value, &mut expected_flags);
            let found: To = float::convert(value, &mut flags);
            assert!(
                found == expected && flags == expected_flags,
                "{value:x} {fpscr:x}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
            );
        }
    }
    values.len() * settings.len()
}

/// Settings with and without the alternative half precision.
fn half_settings() -> Vec<u32> {
    let settings = settings().into_iter();
    settings
        .flat_map(|bits| [bits, bits | status::ALTERNATIVE_HALF])
        .collect()
}

/// A NaN's fraction moves with its highest bits first, here by so many to the left.
fn moved_nan<From: Judged, To: float::Float>(nan: From, left: i32, fpscr: &mut u32) -> To {
    *fpscr |= u32::from(nan.soft().is_signaling());
    if has(*fpscr, status::DEFAULT_NAN) {
        return To::from_bits(To::EXPONENT | To::QUIET);
    }
    let payload = nan.into() & (From::QUIET - 1);
    let payload = if left > 0 {
        payload << left
    } else {
        payload >> -left
    };
    let sign = if nan.soft().is_negative() {
        To::SIGN
    } else {
        0
    };
    To::from_bits(sign | To::EXPONENT | To::QUIET | payload)
}

fn number(quad: Quad) -> f64 {
    f64::from_bits(u64::of_soft(u64::rounded(quad, Round::TowardZero).value))
}

#[test]
fn single_to_double() {
    let cases = all::<u32, u64>(&half_settings(), |value, fpscr| {
        let [value] = flush([value], fpscr);
        if value.soft().is_nan() {
            return moved_nan(value, 29, fpscr);
        }
        f64::from(f32::from_bits(value)).to_bits()
    });
    assert_eq!(cases, (SPECIAL + 40_000) * 64);
}

#[test]
fn double_to_single() {
    let cases = all::<u64, u32>(&half_settings(), |value, fpscr| {
        let [value] = flush([value], fpscr);
        if value.soft().is_nan() {
            return moved_nan(value, -29, fpscr);
        }
        let exact = value.quad();
        let result = u32::rounded(exact, round(*fpscr));
        judge(result.value, result.status, exact, fpscr)
    });
    assert_eq!(cases, (SPECIAL + 40_000) * 64);
}

/// The power of two that is not above a positive number, at least that of the smallest normal half.
fn power(magnitude: f64) -> i32 {
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    exponent.max(-14)
}

/// A finite number in half precision, by arithmetic of the host that is exact.
fn finite_half(number: f64, fpscr: &mut u32) -> u16 {
    let sign = u16::from(number.is_sign_negative()) << 15;
    let magnitude = number.abs();
    let quantum = 2_f64.powi(power(magnitude) - 10);
    let count = magnitude / quantum;
    let towards = |up: bool| if up { count.ceil() } else { count.floor() };
    let rounded = match round(*fpscr) {
        Round::TowardPositive => towards(sign == 0),
        Round::TowardNegative => towards(sign != 0),
        Round::TowardZero => towards(false),
        _ => count.round_ties_even(),
    };
    let result = rounded * quantum;
    if has(*fpscr, status::ALTERNATIVE_HALF) {
        if result >= 131072.0 {
            *fpscr |= status::INVALID;
            return sign | 0x7fff;
        }
    } else if result >= 65536.0 {
        *fpscr |= status::OVERFLOW | status::INEXACT;
        let to_infinity = match round(*fpscr) {
            Round::TowardPositive => sign == 0,
            Round::TowardNegative => sign != 0,
            Round::TowardZero => false,
            _ => true,
        };
        return sign | if to_infinity { 0x7c00 } else { 0x7bff };
    }
    if rounded != count {
        *fpscr |= status::INEXACT;
        if magnitude < 2_f64.powi(-14) {
            *fpscr |= status::UNDERFLOW;
        }
    }
    if result < 2_f64.powi(-14) {
        return sign | (result * 2_f64.powi(24)) as u16;
    }
    let fraction = result / 2_f64.powi(power(result)) - 1.0;
    sign | ((power(result) + 15) as u16) << 10 | (fraction * 1024.0) as u16
}

fn to_half<From: Judged>(value: From, left: i32, fpscr: &mut u32) -> u16 {
    let [value] = flush([value], fpscr);
    let soft = value.soft();
    let alternative = has(*fpscr, status::ALTERNATIVE_HALF);
    let sign = u16::from(soft.is_negative()) << 15;
    if alternative && !soft.is_finite() {
        *fpscr |= status::INVALID;
        return sign | if soft.is_nan() { 0 } else { 0x7fff };
    }
    if soft.is_nan() {
        return moved_nan(value, left, fpscr);
    }
    if soft.is_infinite() {
        return sign | 0x7c00;
    }
    finite_half(number(value.quad()), fpscr)
}

#[test]
fn to_halves() {
    let single = all::<u32, u16>(&half_settings(), |value, fpscr| to_half(value, -13, fpscr));
    let double = all::<u64, u16>(&half_settings(), |value, fpscr| to_half(value, -42, fpscr));
    assert_eq!([single, double], [(SPECIAL + 40_000) * 64; 2]);
}

/// What a half stands for: a number, or with an exponent of ones the bits of single precision.
fn from_half(half: u16, fpscr: &mut u32) -> Result<f64, u32> {
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (i32::from(half >> 10 & 31), half & 0x3ff);
    if exponent == 31 && !has(*fpscr, status::ALTERNATIVE_HALF) {
        if fraction == 0 {
            return Err(sign | 0x7f80_0000);
        }
        *fpscr |= u32::from(half & 0x200 == 0);
        return Err(if has(*fpscr, status::DEFAULT_NAN) {
            0x7fc0_0000
        } else {
            sign | 0x7fc0_0000 | u32::from(fraction) << 13
        });
    }
    let leading = if exponent == 0 { 0.0 } else { 1024.0 };
    let magnitude = (leading + f64::from(fraction)) * 2_f64.powi(exponent.max(1) - 25);
    Ok(if sign == 0 { magnitude } else { -magnitude })
}

#[test]
fn from_all_halves() {
    let mut cases = 0;
    for half in 0..=u16::MAX {
        for fpscr in half_settings() {
            let [mut expected_flags, mut flags, mut wide_flags] = [fpscr; 3];
            let expected = from_half(half, &mut expected_flags);
            let single = expected.map_or_else(|bits| bits, |number| (number as f32).to_bits());
            let wide = |bits: u32| {
                let high = bits & 0x8000_0000 | 0x7ff0_0000 | (bits & 0x7f_ffff) >> 3;
                u64::from(high) << 32 | u64::from(bits & 7) << 29
            };
            let double = expected.map_or_else(wide, f64::to_bits);
            let found: (u32, u64) = (
                float::convert(half, &mut flags),
                float::convert(half, &mut wide_flags),
            );
            assert_eq!(found, (single, double), "{half:x} {fpscr:x}");
            assert_eq!(
                [flags, wide_flags],
                [expected_flags; 2],
                "{half:x} {fpscr:x}"
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 65_536 * 64);
}
