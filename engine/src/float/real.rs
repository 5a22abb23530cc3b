//! Numbers in between: as exact as arithmetic needs them, until they are rounded to a format.

use super::format::Float;
use super::status::{self, has};
use crate::operation::Rounding;
use std::cmp::Ordering;

/// How to round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// To nearest, ties to even.
    TiesEven,
    /// To nearest, ties away from zero.
    TiesAway,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Mode {
    /// That of FPSCR.
    pub fn current(fpscr: u32) -> Self {
        match (fpscr & status::ROUNDING) >> status::ROUNDING.trailing_zeros() {
            0 => Mode::TiesEven,
            1 => Mode::Up,
            2 => Mode::Down,
            _ => Mode::Zero,
        }
    }

    /// That of an instruction.
    pub fn of(rounding: Rounding, fpscr: u32) -> Self {
        match rounding {
            Rounding::TiesEven => Mode::TiesEven,
            Rounding::TiesAway => Mode::TiesAway,
            Rounding::Up => Mode::Up,
            Rounding::Down => Mode::Down,
            Rounding::Zero => Mode::Zero,
            Rounding::Current => Mode::current(fpscr),
        }
    }

    /// Whether too large a number becomes infinity, and not the largest number.
    fn overflows_to_infinity(self, negative: bool) -> bool {
        match self {
            Mode::TiesEven | Mode::TiesAway => true,
            Mode::Up => !negative,
            Mode::Down => negative,
            Mode::Zero => false,
        }
    }
}

/// The highest bit that is set in a significand.
const TOP: u32 = 125;
/// How far a significand of at most 53 bits is shifted left.
const SPARE: u32 = TOP - 52;

/// A real number other than zero: significand divided by 2 to the power of 125, times 2 to the
/// power of the exponent. The lowest bit of the significand stands for all that are below it.
#[derive(Debug, Clone, Copy)]
pub struct Real {
    /// Whether it is less than zero.
    pub negative: bool,
    /// The power of 2 that is not above its magnitude.
    pub exponent: i32,
    significand: u128,
}

/// Shifts to the right; the lowest bit stands for all that are lost.
fn shift_right(significand: u128, distance: u32) -> u128 {
    match significand.checked_shr(distance) {
        Some(shifted) => shifted | u128::from(shifted << distance != significand),
        None => u128::from(significand != 0),
    }
}

impl Real {
    /// An integer times 2 to the power of `exponent`; none where it is 0.
    pub fn new(negative: bool, integer: u128, exponent: i32) -> Option<Self> {
        let top = integer.checked_ilog2()?;
        let significand = match TOP.checked_sub(top) {
            Some(distance) => integer << distance,
            None => shift_right(integer, top - TOP),
        };
        Some(Real {
            negative,
            exponent: exponent + top.cast_signed(),
            significand,
        })
    }

    /// Times 2 to the power of `by`.
    pub fn scaled(self, by: i32) -> Self {
        let exponent = self.exponent + by;
        Real { exponent, ..self }
    }

    /// The sum; none where it is 0.
    pub fn plus(self, other: Self) -> Option<Self> {
        let key = |real: &Self| (real.exponent, real.significand);
        let (large, small) = match key(&self).cmp(&key(&other)) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        let distance = large.exponent.abs_diff(small.exponent);
        let addend = shift_right(small.significand, distance);
        let sum = if large.negative == small.negative {
            large.significand + addend
        } else {
            large.significand - addend
        };
        Self::new(large.negative, sum, large.exponent - TOP.cast_signed())
    }

    /// The product of two numbers with at most 53 significant bits; never none.
    pub fn times(self, other: Self) -> Option<Self> {
        let product = (self.significand >> SPARE) * (other.significand >> SPARE);
        let exponent = self.exponent + other.exponent - 2 * 52;
        Self::new(self.negative != other.negative, product, exponent)
    }

    /// The quotient of two numbers with at most 53 significant bits; never none.
    pub fn divided_by(self, other: Self) -> Option<Self> {
        let (dividend, divisor) = (self.significand, other.significand >> SPARE);
        let quotient = (dividend / divisor) | u128::from(dividend % divisor != 0);
        let exponent = self.exponent - other.exponent - SPARE.cast_signed();
        Self::new(self.negative != other.negative, quotient, exponent)
    }

    /// The square root of a number with at most 53 significant bits; never none.
    pub fn square_root(self) -> Option<Self> {
        let exponent = self.exponent - TOP.cast_signed();
        let odd = exponent & 1;
        let radicand = self.significand << odd;
        let root = radicand.isqrt();
        let doubled = root << 1 | u128::from(root * root != radicand);
        Self::new(false, doubled, (exponent - odd) / 2 - 1)
    }

    /// As a multiple of 2 to the power of `unit`, and whether that is exact. The unit is at least
    /// the exponent minus 124.
    fn multiple(self, unit: i32, mode: Mode) -> (u128, bool) {
        let distance = (TOP.cast_signed() + unit - self.exponent).min(127);
        let kept = self.significand >> distance;
        let rest = self.significand - (kept << distance);
        let to_half = rest.cmp(&(1 << (distance - 1)));
        let up = match mode {
            Mode::TiesEven => to_half.is_gt() || to_half.is_eq() && kept & 1 == 1,
            Mode::TiesAway => to_half.is_ge(),
            Mode::Up => rest != 0 && !self.negative,
            Mode::Down => rest != 0 && self.negative,
            Mode::Zero => false,
        };
        (kept + u128::from(up), rest == 0)
    }

    /// Rounded to an integer, and whether it was one; none where the magnitude is above 2 to the
    /// power of 64.
    pub fn to_integer(self, mode: Mode) -> Option<(i128, bool)> {
        if self.exponent >= 64 {
            return None;
        }
        let (magnitude, exact) = self.multiple(0, mode);
        let magnitude = magnitude.cast_signed();
        Some((if self.negative { -magnitude } else { magnitude }, exact))
    }

    /// Rounded to a format: FPRound of the manual.
    pub fn round<F: Float>(self, mode: Mode, fpscr: &mut u32) -> F {
        let tiny = self.exponent < F::SMALLEST_EXPONENT;
        if tiny && has(*fpscr, status::FLUSH_TO_ZERO) && !F::IS_HALF {
            *fpscr |= status::UNDERFLOW;
            return F::new(self.negative, 0);
        }
        let exponent = self.exponent.max(F::SMALLEST_EXPONENT);
        let (kept, exact) = self.multiple(exponent - F::FRACTION_BITS.cast_signed(), mode);
        // The leading bit of a normal number, and that of one rounded up to the next power of two,
        // adds one to the exponent.
        let biased = u64::from(exponent.abs_diff(F::SMALLEST_EXPONENT));
        let magnitude = (biased << F::FRACTION_BITS) + kept as u64;
        if F::IS_HALF && has(*fpscr, status::ALTERNATIVE_HALF) {
            if magnitude >= F::SIGN {
                *fpscr |= status::INVALID;
                return F::new(self.negative, F::SIGN - 1);
            }
        } else if magnitude >= F::EXPONENT {
            *fpscr |= status::OVERFLOW | status::INEXACT;
            let finite = u64::from(!mode.overflows_to_infinity(self.negative));
            return F::new(self.negative, F::EXPONENT - finite);
        }
        if !exact {
            *fpscr |= status::INEXACT | if tiny { status::UNDERFLOW } else { 0 };
        }
        F::new(self.negative, magnitude)
    }
}
