//! Floating-point arithmetic, as the manual has it: on bits, with FPSCR in and out.
//!
//! Single precision is `u32`, double `u64`, and half, which is only converted, `u16`. Names in the
//! manual are FPAdd and so on. Results and flags are exact; the host's arithmetic is a short cut.

mod convert;
mod format;
mod host;
mod real;
pub(crate) mod status;
mod value;

pub use convert::{convert, from_fixed, from_integer, round_to_integral, to_fixed, to_integer};
pub use format::Float;
pub use host::Arithmetic;

use host::{accepted, asks};
use std::cmp::Ordering;
use value::{Value, flushed, nan_among, result};

/// Whether FPSCR lets the host compute with these operands.
fn is_for_host<F: Arithmetic, const N: usize>(operands: [F; N], fpscr: u32) -> bool {
    fpscr & status::ROUNDING == 0 && operands.into_iter().all(F::is_ordinary)
}

/// The number with the other sign.
pub fn negate<F: Float>(a: F) -> F {
    F::from_bits(a.into() ^ F::SIGN)
}

/// The number without its sign.
pub fn absolute<F: Float>(a: F) -> F {
    F::from_bits(a.magnitude())
}

/// The sum: VADD.
#[inline]
pub fn add<F: Arithmetic>(a: F, b: F, fpscr: &mut u32) -> F {
    if is_for_host([a, b], *fpscr)
        && let Some(sum) = accepted(a.host_add(b, asks(*fpscr)), fpscr)
    {
        return sum;
    }
    add_exactly(a, b, fpscr)
}

#[inline(never)]
fn add_exactly<F: Float>(a: F, b: F, fpscr: &mut u32) -> F {
    let [a, b] = [a, b].map(|bits| flushed(bits, fpscr));
    if let Some(nan) = nan_among([a, b], fpscr) {
        return nan;
    }
    let sum = Value::of(a).plus(Value::of(b), real::Mode::current(*fpscr));
    result(sum, fpscr)
}

/// The difference: VSUB.
#[inline]
pub fn sub<F: Arithmetic>(a: F, b: F, fpscr: &mut u32) -> F {
    let b = if b.is_nan() { b } else { negate(b) };
    add(a, b, fpscr)
}

/// The product: VMUL.
#[inline]
pub fn mul<F: Arithmetic>(a: F, b: F, fpscr: &mut u32) -> F {
    if is_for_host([a, b], *fpscr)
        && let Some(product) = a.host_multiply(b, asks(*fpscr))
        && let Some(product) = accepted(product, fpscr)
    {
        return product;
    }
    mul_exactly(a, b, fpscr)
}

#[inline(never)]
fn mul_exactly<F: Float>(a: F, b: F, fpscr: &mut u32) -> F {
    let [a, b] = [a, b].map(|bits| flushed(bits, fpscr));
    if let Some(nan) = nan_among([a, b], fpscr) {
        return nan;
    }
    result(Value::of(a).times(Value::of(b)), fpscr)
}

/// The quotient: VDIV.
#[inline]
pub fn div<F: Arithmetic>(a: F, b: F, fpscr: &mut u32) -> F {
    if is_for_host([a, b], *fpscr)
        && let Some(quotient) = a.host_divide(b, asks(*fpscr))
        && let Some(quotient) = accepted(quotient, fpscr)
    {
        return quotient;
    }
    div_exactly(a, b, fpscr)
}

#[inline(never)]
fn div_exactly<F: Float>(a: F, b: F, fpscr: &mut u32) -> F {
    let [a, b] = [a, b].map(|bits| flushed(bits, fpscr));
    if let Some(nan) = nan_among([a, b], fpscr) {
        return nan;
    }
    let quotient = Value::of(a).divided_by(Value::of(b), fpscr);
    result(quotient, fpscr)
}

/// The square root: VSQRT.
#[inline]
pub fn sqrt<F: Arithmetic>(a: F, fpscr: &mut u32) -> F {
    if is_for_host([a], *fpscr)
        && let Some(root) = accepted(a.host_square_root(asks(*fpscr)), fpscr)
    {
        return root;
    }
    sqrt_exactly(a, fpscr)
}

#[inline(never)]
fn sqrt_exactly<F: Float>(a: F, fpscr: &mut u32) -> F {
    let a = flushed(a, fpscr);
    if let Some(nan) = nan_among([a], fpscr) {
        return nan;
    }
    result(Value::of(a).square_root(), fpscr)
}

/// An addend plus a product, rounded once: VFMA.
#[inline]
pub fn mul_add<F: Arithmetic>(addend: F, a: F, b: F, fpscr: &mut u32) -> F {
    if is_for_host([addend, a, b], *fpscr)
        && let Some(sum) = a.host_multiply_add(b, addend)
        && let Some(sum) = accepted(sum, fpscr)
    {
        return sum;
    }
    mul_add_exactly(addend, a, b, fpscr)
}

#[inline(never)]
fn mul_add_exactly<F: Float>(addend: F, a: F, b: F, fpscr: &mut u32) -> F {
    let [addend, a, b] = [addend, a, b].map(|bits| flushed(bits, fpscr));
    let magnitudes = [a.magnitude(), b.magnitude()];
    let is_invalid = magnitudes.contains(&0) && magnitudes.contains(&F::EXPONENT);
    if is_invalid && !addend.is_signalling() {
        return result(None, fpscr);
    }
    if let Some(nan) = nan_among([addend, a, b], fpscr) {
        return nan;
    }
    let mode = real::Mode::current(*fpscr);
    let product = Value::of(a).times(Value::of(b));
    let sum = product.and_then(|product| Value::of(addend).plus(product, mode));
    result(sum, fpscr)
}

/// Where a number that is no NaN is in the order of all of them; the two zeros are one.
fn rank<F: Float>(bits: F) -> i64 {
    let magnitude = bits.magnitude().cast_signed();
    if bits.is_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// The larger: VMAXNM. A single quiet NaN counts as missing, and zero is above minus zero.
pub fn max_num<F: Float>(a: F, b: F, fpscr: &mut u32) -> F {
    extreme(a, b, Ordering::Greater, fpscr)
}

/// The smaller: VMINNM. A single quiet NaN counts as missing, and minus zero is below zero.
pub fn min_num<F: Float>(a: F, b: F, fpscr: &mut u32) -> F {
    extreme(a, b, Ordering::Less, fpscr)
}

fn extreme<F: Float>(a: F, b: F, wanted: Ordering, fpscr: &mut u32) -> F {
    let [a, b] = [a, b].map(|bits| flushed(bits, fpscr));
    if !a.is_signalling() && !b.is_signalling() && a.is_nan() != b.is_nan() {
        return if a.is_nan() { b } else { a };
    }
    if let Some(nan) = nan_among([a, b], fpscr) {
        return nan;
    }
    let by_sign = b.is_negative().cmp(&a.is_negative());
    if rank(a).cmp(&rank(b)).then(by_sign) == wanted {
        a
    } else {
        b
    }
}

/// Compares: VCMP, and with `quiet_nan_exc` VCMPE, for which any NaN is invalid. Gives N, Z, C and
/// V in bits 31 to 28.
pub fn compare<F: Float>(a: F, b: F, quiet_nan_exc: bool, fpscr: &mut u32) -> u32 {
    let [a, b] = [a, b].map(|bits| flushed(bits, fpscr));
    if a.is_nan() || b.is_nan() {
        if quiet_nan_exc || a.is_signalling() || b.is_signalling() {
            *fpscr |= status::INVALID;
        }
        return 0b0011 << 28;
    }
    let flags = match rank(a).cmp(&rank(b)) {
        Ordering::Less => 0b1000,
        Ordering::Equal => 0b0110,
        Ordering::Greater => 0b0010,
    };
    flags << 28
}

#[cfg(test)]
mod tests;
