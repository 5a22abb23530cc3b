//! The host's arithmetic, for what it does just as the manual: ordinary numbers, rounded to nearest.

use super::format::Float;
use super::status::{self, has};

/// Significant bits of a number, without zeros at the end.
fn odd_part<F: Float>(bits: F) -> u128 {
    let significand = (bits.into() & F::FRACTION) | (F::FRACTION + 1);
    (significand >> significand.trailing_zeros()).into()
}

/// Whether the product of two numbers has few enough bits to be exact.
fn has_exact_product<F: Float>(a: F, b: F) -> bool {
    let is_zero = a.magnitude() == 0 || b.magnitude() == 0;
    is_zero || (odd_part(a) * odd_part(b)) >> (F::FRACTION_BITS + 1) == 0
}

/// A result, which is exact or not.
type Judged<F> = (F, bool);

/// A format of which the host has arithmetic: single or double precision.
///
/// The methods take ordinary operands. Their results are those of the manual where they are
/// ordinary too; whether they are exact is right then, and is not found out unless `asked`.
pub trait Arithmetic: Float {
    /// The sum.
    fn host_add(self, other: Self, asked: bool) -> Judged<Self>;
    /// The product; none where it is too small.
    fn host_multiply(self, other: Self, asked: bool) -> Option<Judged<Self>>;
    /// The quotient; none where it is too small.
    fn host_divide(self, other: Self, asked: bool) -> Option<Judged<Self>>;
    /// The square root.
    fn host_square_root(self, asked: bool) -> Judged<Self>;
    /// The product plus an addend, rounded once; none where the host has no such operation.
    fn host_multiply_add(self, other: Self, addend: Self) -> Option<Judged<Self>>;
}

/// The result of an operation on ordinary operands if it is ordinary, with its flag set.
pub fn accepted<F: Float>((bits, exact): Judged<F>, fpscr: &mut u32) -> Option<F> {
    if !bits.is_ordinary() {
        return None;
    }
    if !exact {
        *fpscr |= status::INEXACT;
    }
    Some(bits)
}

/// Whether it is still unknown that some result was inexact.
pub fn asks(fpscr: u32) -> bool {
    !has(fpscr, status::INEXACT)
}

/// The host's number, if the host rounds it to an ordinary one.
pub fn rounded<F: Float>(number: f64, fpscr: &mut u32) -> Option<F> {
    let bits = F::from_host(number)?;
    let back = bits.to_host()?;
    let is_lost = back == 0.0 && number != 0.0;
    (!is_lost)
        .then_some((bits, back == number))
        .and_then(|judged| accepted(judged, fpscr))
}

macro_rules! arithmetic {
    ($bits:ty, $host:ty, $multiply_add:expr) => {
        impl Arithmetic for $bits {
            fn host_add(self, other: Self, asked: bool) -> Judged<Self> {
                let (a, b) = (<$host>::from_bits(self), <$host>::from_bits(other));
                let sum = a + b;
                // The error of a sum is a number, which this finds.
                let part = sum - a;
                let exact = !asked || (a - (sum - part)) + (b - part) == 0.0;
                (sum.to_bits(), exact)
            }

            fn host_multiply(self, other: Self, asked: bool) -> Option<Judged<Self>> {
                let product = <$host>::from_bits(self) * <$host>::from_bits(other);
                let exact = !asked || has_exact_product(self, other);
                let is_zero = self.magnitude() == 0 || other.magnitude() == 0;
                (product != 0.0 || is_zero).then_some((product.to_bits(), exact))
            }

            fn host_divide(self, other: Self, asked: bool) -> Option<Judged<Self>> {
                let (a, b) = (<$host>::from_bits(self), <$host>::from_bits(other));
                let quotient = a / b;
                let is_inverse = || has_exact_product(quotient.to_bits(), other);
                let exact = !asked || is_inverse() && quotient * b == a;
                (quotient != 0.0 || a == 0.0).then_some((quotient.to_bits(), exact))
            }

            fn host_square_root(self, asked: bool) -> Judged<Self> {
                let square = <$host>::from_bits(self);
                let root = square.sqrt();
                let is_inverse = || has_exact_product(root.to_bits(), root.to_bits());
                (
                    root.to_bits(),
                    !asked || is_inverse() && root * root == square,
                )
            }

            fn host_multiply_add(self, other: Self, addend: Self) -> Option<Judged<Self>> {
                $multiply_add(self, other, addend)
            }
        }
    };
}

arithmetic!(u32, f32, single_multiply_add);
arithmetic!(u64, f64, |_, _, _| None);

/// By way of double precision, which has the product exactly. The sum is rounded there to odd: an
/// inexact one ends in a bit that is set, which is as good as all its bits for rounding it again.
fn single_multiply_add(a: u32, b: u32, addend: u32) -> Option<Judged<u32>> {
    let wide = |bits| f64::from(f32::from_bits(bits));
    let (product, addend) = (wide(a) * wide(b), wide(addend));
    let sum = product + addend;
    let part = sum - product;
    let error = (product - (sum - part)) + (addend - part);
    let is_even = sum.to_bits() & 1 == 0;
    let odd = if error == 0.0 || !is_even {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    };
    let result = odd as f32;
    let exact = error == 0.0 && f64::from(result) == sum;
    (result != 0.0 || sum == 0.0).then_some((result.to_bits(), exact))
}
