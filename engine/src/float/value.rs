//! Operands unpacked, and results packed: FPUnpack and FPProcessNaN of the manual.

use super::format::Float;
use super::real::{Mode, Real};
use super::status::{self, has};

/// What a number that is no NaN stands for. Zeros and infinities with whether they are negative.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// A zero.
    Zero(bool),
    /// A number other than zero.
    Finite(Real),
    /// An infinity.
    Infinity(bool),
}

/// The operand, or zero where that is what FPSCR makes of it.
pub fn flushed<F: Float>(bits: F, fpscr: &mut u32) -> F {
    if has(*fpscr, status::FLUSH_TO_ZERO) && bits.is_denormal() && !F::IS_HALF {
        *fpscr |= status::DENORMAL_OPERAND;
        return F::new(bits.is_negative(), 0);
    }
    bits
}

/// What an operation on these gives where one of them is a NaN.
pub fn nan_among<F: Float, const N: usize>(operands: [F; N], fpscr: &mut u32) -> Option<F> {
    let signalling = operands.into_iter().find(|bits| bits.is_signalling());
    let first = signalling.or_else(|| operands.into_iter().find(|bits| bits.is_nan()))?;
    if signalling.is_some() {
        *fpscr |= status::INVALID;
    }
    Some(if has(*fpscr, status::DEFAULT_NAN) {
        F::from_bits(F::NAN)
    } else {
        F::from_bits(first.into() | F::QUIET)
    })
}

impl Value {
    /// Of a number that is no NaN.
    pub fn of<F: Float>(bits: F) -> Self {
        if bits.magnitude() == F::EXPONENT {
            Value::Infinity(bits.is_negative())
        } else {
            Value::of_finite(bits)
        }
    }

    /// Of a number in a format that has neither infinities nor NaNs.
    pub fn of_finite<F: Float>(bits: F) -> Self {
        let field = bits.magnitude() >> F::FRACTION_BITS;
        let fraction = bits.magnitude() & F::FRACTION;
        let leading = u64::from(field != 0) << F::FRACTION_BITS;
        let exponent = field.max(1) as i32 - 1 + F::SMALLEST_EXPONENT;
        let unit = exponent - F::FRACTION_BITS.cast_signed();
        Value::from_real(
            Real::new(bits.is_negative(), (leading | fraction).into(), unit),
            bits.is_negative(),
        )
    }

    /// A real number, or where there is none a zero of this sign.
    pub fn from_real(real: Option<Real>, negative: bool) -> Self {
        real.map_or(Value::Zero(negative), Value::Finite)
    }

    fn is_negative(self) -> bool {
        match self {
            Value::Zero(negative) | Value::Infinity(negative) => negative,
            Value::Finite(real) => real.negative,
        }
    }

    /// The sum; none where it is invalid.
    pub fn plus(self, other: Self, mode: Mode) -> Option<Self> {
        use Value::*;
        let cancelled = mode == Mode::Down;
        Some(match (self, other) {
            (Infinity(one), Infinity(another)) if one != another => return None,
            (Infinity(negative), _) | (_, Infinity(negative)) => Infinity(negative),
            (Zero(one), Zero(another)) if one == another => Zero(one),
            (Zero(_), Zero(_)) => Zero(cancelled),
            (Zero(_), Finite(real)) | (Finite(real), Zero(_)) => Finite(real),
            (Finite(one), Finite(another)) => Value::from_real(one.plus(another), cancelled),
        })
    }

    /// The product; none where it is invalid.
    pub fn times(self, other: Self) -> Option<Self> {
        use Value::*;
        let negative = self.is_negative() != other.is_negative();
        Some(match (self, other) {
            (Infinity(_), Zero(_)) | (Zero(_), Infinity(_)) => return None,
            (Infinity(_), _) | (_, Infinity(_)) => Infinity(negative),
            (Zero(_), _) | (_, Zero(_)) => Zero(negative),
            (Finite(one), Finite(another)) => Value::from_real(one.times(another), negative),
        })
    }

    /// The quotient; none where it is invalid.
    pub fn divided_by(self, other: Self, fpscr: &mut u32) -> Option<Self> {
        use Value::*;
        let negative = self.is_negative() != other.is_negative();
        Some(match (self, other) {
            (Infinity(_), Infinity(_)) | (Zero(_), Zero(_)) => return None,
            (Infinity(_), _) => Infinity(negative),
            (Zero(_), _) | (_, Infinity(_)) => Zero(negative),
            (Finite(_), Zero(_)) => {
                *fpscr |= status::DIVISION_BY_ZERO;
                Infinity(negative)
            }
            (Finite(one), Finite(another)) => Value::from_real(one.divided_by(another), negative),
        })
    }

    /// The square root; none where it is invalid.
    pub fn square_root(self) -> Option<Self> {
        match self {
            Value::Zero(_) | Value::Infinity(false) => Some(self),
            Value::Finite(real) if !real.negative => {
                Some(Value::from_real(real.square_root(), false))
            }
            _ => None,
        }
    }

    /// Rounded to a format.
    pub fn round<F: Float>(self, mode: Mode, fpscr: &mut u32) -> F {
        match self {
            Value::Zero(negative) => F::new(negative, 0),
            Value::Infinity(negative) => F::new(negative, F::EXPONENT),
            Value::Finite(real) => real.round(mode, fpscr),
        }
    }
}

/// The result of an operation, where none is an invalid one.
pub fn result<F: Float>(value: Option<Value>, fpscr: &mut u32) -> F {
    if let Some(value) = value {
        return value.round(Mode::current(*fpscr), fpscr);
    }
    *fpscr |= status::INVALID;
    F::from_bits(F::NAN)
}
