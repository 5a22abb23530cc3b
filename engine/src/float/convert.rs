//! Conversions between formats, and to and from integers and fixed point.

use super::format::Float;
use super::host::rounded;
use super::real::{Mode, Real};
use super::status::{self, has};
use super::value::{Value, flushed, nan_among};
use crate::operation::Rounding;

/// A floating-point number in another format: VCVT between single and double precision, VCVTB and
/// VCVTT.
pub fn convert<From: Float, To: Float>(value: From, fpscr: &mut u32) -> To {
    if value.is_ordinary()
        && Mode::current(*fpscr) == Mode::TiesEven
        && let Some(number) = value.to_host()
        && let Some(converted) = rounded(number, fpscr)
    {
        return converted;
    }
    let value = flushed(value, fpscr);
    let alternative = has(*fpscr, status::ALTERNATIVE_HALF);
    let converted = if From::IS_HALF && alternative {
        Value::of_finite(value)
    } else if value.is_nan() {
        return convert_nan(value, fpscr);
    } else {
        Value::of(value)
    };
    match converted {
        Value::Infinity(negative) if To::IS_HALF && alternative => {
            *fpscr |= status::INVALID;
            To::new(negative, To::SIGN - 1)
        }
        _ => converted.round(Mode::current(*fpscr), fpscr),
    }
}

fn convert_nan<From: Float, To: Float>(nan: From, fpscr: &mut u32) -> To {
    let has_none = To::IS_HALF && has(*fpscr, status::ALTERNATIVE_HALF);
    if nan.is_signalling() || has_none {
        *fpscr |= status::INVALID;
    }
    let negative = nan.is_negative();
    if has_none {
        return To::new(negative, 0);
    }
    if has(*fpscr, status::DEFAULT_NAN) {
        return To::from_bits(To::NAN);
    }
    let fraction = (nan.into() & From::FRACTION) << (64 - From::FRACTION_BITS);
    To::new(negative, To::NAN | fraction >> (64 - To::FRACTION_BITS))
}

/// To an integer of 32 bits, saturating: VCVT, VCVTR, VCVTA, VCVTN, VCVTP, VCVTM.
pub fn to_integer<F: Float>(value: F, signed: bool, rounding: Rounding, fpscr: &mut u32) -> u32 {
    let mode = Mode::of(rounding, *fpscr);
    saturated(value, signed, 32, 0, mode, fpscr) as u32
}

/// To fixed point of 16 or 32 bits, saturating and rounded towards zero, and extended to a
/// register: VCVT.
pub fn to_fixed<F: Float>(value: F, signed: bool, bits: u32, fraction: u32, fpscr: &mut u32) -> F {
    let fixed = saturated(value, signed, bits, fraction, Mode::Zero, fpscr);
    F::from_bits(fixed.cast_unsigned())
}

/// A power of two, as the host has it.
fn power(exponent: i32) -> f64 {
    f64::from_bits(u64::from((1023 + exponent).cast_unsigned()) << 52)
}

/// FPToFixed of the manual.
fn saturated<F: Float>(
    value: F,
    signed: bool,
    bits: u32,
    fraction: u32,
    mode: Mode,
    fpscr: &mut u32,
) -> i64 {
    let (smallest, largest) = if signed {
        (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    if mode == Mode::Zero
        && value.is_ordinary()
        && let Some(number) = value.to_host()
    {
        let number = number * power(fraction.cast_signed());
        let integer = number as i64;
        if (smallest..=largest).contains(&integer) {
            if integer as f64 != number {
                *fpscr |= status::INEXACT;
            }
            return integer;
        }
    }
    let value = flushed(value, fpscr);
    if value.is_nan() {
        *fpscr |= status::INVALID;
        return 0;
    }
    let integer = match Value::of(value) {
        Value::Zero(_) => return 0,
        Value::Infinity(_) => None,
        Value::Finite(real) => real.scaled(fraction.cast_signed()).to_integer(mode),
    };
    match integer {
        Some((integer, exact)) if (smallest.into()..=largest.into()).contains(&integer) => {
            if !exact {
                *fpscr |= status::INEXACT;
            }
            integer as i64
        }
        _ => {
            *fpscr |= status::INVALID;
            if value.is_negative() {
                smallest
            } else {
                largest
            }
        }
    }
}

/// Of an integer of 32 bits, rounded as FPSCR says: VCVT.
pub fn from_integer<F: Float>(integer: u32, signed: bool, fpscr: &mut u32) -> F {
    scaled(integer.into(), signed, 32, 0, Mode::current(*fpscr), fpscr)
}

/// Of fixed point in the lowest 16 or 32 bits of a register, rounded to nearest: VCVT.
pub fn from_fixed<F: Float>(
    value: F,
    signed: bool,
    bits: u32,
    fraction: u32,
    fpscr: &mut u32,
) -> F {
    scaled(value.into(), signed, bits, fraction, Mode::TiesEven, fpscr)
}

/// FixedToFP of the manual.
fn scaled<F: Float>(
    fixed: u64,
    signed: bool,
    bits: u32,
    fraction: u32,
    mode: Mode,
    fpscr: &mut u32,
) -> F {
    let top = fixed << (64 - bits);
    let integer = if signed {
        top.cast_signed() >> (64 - bits)
    } else {
        (top >> (64 - bits)).cast_signed()
    };
    if mode == Mode::TiesEven
        && let Some(rounded) = rounded(integer as f64 * power(-fraction.cast_signed()), fpscr)
    {
        return rounded;
    }
    let magnitude = integer.unsigned_abs().into();
    let real = Real::new(integer < 0, magnitude, -fraction.cast_signed());
    Value::from_real(real, false).round(mode, fpscr)
}

/// To an integer in the same format: VRINTA and so on, and with `exact`, which sets the flag of
/// an inexact result, VRINTX.
pub fn round_to_integral<F: Float>(
    value: F,
    rounding: Rounding,
    exact: bool,
    fpscr: &mut u32,
) -> F {
    let value = flushed(value, fpscr);
    if let Some(nan) = nan_among([value], fpscr) {
        return nan;
    }
    let Value::Finite(real) = Value::of(value) else {
        return value;
    };
    if real.exponent >= F::FRACTION_BITS.cast_signed() {
        return value;
    }
    let Some((integer, is_exact)) = real.to_integer(Mode::of(rounding, *fpscr)) else {
        return value;
    };
    if exact && !is_exact {
        *fpscr |= status::INEXACT;
    }
    let rounded = Real::new(real.negative, integer.unsigned_abs(), 0);
    Value::from_real(rounded, real.negative).round(Mode::TiesEven, fpscr)
}
