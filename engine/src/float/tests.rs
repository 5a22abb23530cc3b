//! Floating-point arithmetic, judged by the soft floats of LLVM and by the host.

mod arithmetic;
mod conversions;
mod formats;
mod ordering;

use super::host::Arithmetic;
use super::status::{self, has};
use rustc_apfloat::ieee::{Double, Quad, Single};
use rustc_apfloat::{Float as _, FloatConvert, Round, Status, StatusAnd};

/// A format, with the soft float that judges it.
trait Judged: Arithmetic + std::fmt::Debug + std::fmt::LowerHex {
    type Soft: FloatConvert<Quad>;

    fn rounded(quad: Quad, round: Round) -> StatusAnd<Self::Soft>;

    /// The bits of the number that is nearest to a positive one of the host.
    fn of_host(value: f64) -> u64;

    fn soft(self) -> Self::Soft {
        Self::Soft::from_bits(self.into().into())
    }

    fn of_soft(soft: Self::Soft) -> Self {
        Self::from_bits(soft.to_bits() as u64)
    }

    fn quad(self) -> Quad {
        self.soft().convert(&mut false).value
    }
}

impl Judged for u32 {
    type Soft = Single;

    fn rounded(quad: Quad, round: Round) -> StatusAnd<Single> {
        quad.convert_r(round, &mut false)
    }

    fn of_host(value: f64) -> u64 {
        (value as f32).to_bits().into()
    }
}

impl Judged for u64 {
    type Soft = Double;

    fn rounded(quad: Quad, round: Round) -> StatusAnd<Double> {
        quad.convert_r(round, &mut false)
    }

    fn of_host(value: f64) -> u64 {
        value.to_bits()
    }
}

/// Magnitudes of numbers in the middle of the range; those next to them are special too.
const ROUND: [f64; 13] = [
    0.1,
    0.5,
    1.0,
    1.5,
    2.5,
    7.0,
    32768.0,
    65536.0,
    8388607.5,
    16777216.0,
    2147483647.5,
    2147483648.0,
    4294967296.0,
];

/// Values at which something changes, of both signs.
fn special<F: Judged>() -> Vec<F> {
    let smallest = F::FRACTION + 1;
    let quiet = F::EXPONENT | F::QUIET;
    let mut magnitudes = vec![0, 1, 2, 3, F::QUIET, F::FRACTION - 1, F::FRACTION];
    magnitudes.extend([0, 1, 2].map(|above| smallest + above));
    magnitudes.extend([0, 1].map(|above| 2 * smallest + above));
    magnitudes.extend([3 * smallest, (F::of_host(1.0) + smallest) / 2]);
    for value in ROUND.map(F::of_host) {
        magnitudes.extend([value - 1, value, value + 1]);
    }
    for integer in [1_u64 << F::FRACTION_BITS, 3 << (F::FRACTION_BITS - 1)] {
        magnitudes.push(F::of_host(integer as f64) + 1);
    }
    magnitudes.extend([1, 2, 3, smallest, 2 * smallest + 1].map(|below| F::EXPONENT - below));
    magnitudes.extend([F::EXPONENT, quiet, quiet | 5, F::SIGN - 1]);
    magnitudes.extend([1, 0x55, F::QUIET - 1].map(|payload| F::EXPONENT | payload));
    let signs = [false, true].into_iter();
    let values = signs.flat_map(|sign| magnitudes.iter().map(move |&bits| F::new(sign, bits)));
    let values: Vec<F> = values.collect();
    assert!(values.len() >= 80);
    values
}

/// A generator of Marsaglia's kind.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 8) % end
    }

    /// A number: of any bits, or not far from 1, or with few bits in the fraction.
    fn float<F: Judged>(&mut self) -> F {
        let bits = self.next() & (F::SIGN | (F::SIGN - 1));
        let exponent = (F::of_host(1.0) >> F::FRACTION_BITS) - 32 + self.below(64);
        let near = bits & (F::SIGN | F::FRACTION) | exponent << F::FRACTION_BITS;
        let few = F::FRACTION << self.below(F::FRACTION_BITS.into()) & F::FRACTION;
        match self.below(4) {
            0 => F::from_bits(bits),
            1 => F::from_bits(near),
            2 => F::from_bits(near & !F::FRACTION | near & few),
            _ => F::from_bits(bits & !F::FRACTION | bits & few),
        }
    }
}

/// All settings of FPSCR: rounding, flushing, default NaNs, each with and without a flag that is
/// set already.
fn settings() -> Vec<u32> {
    let settings = (0..16).map(|bits| bits << status::ROUNDING.trailing_zeros());
    settings
        .flat_map(|bits| [bits, bits | status::INEXACT])
        .collect()
}

fn round(fpscr: u32) -> Round {
    match fpscr >> 22 & 3 {
        0 => Round::NearestTiesToEven,
        1 => Round::TowardPositive,
        2 => Round::TowardNegative,
        _ => Round::TowardZero,
    }
}

/// Operands as they count, with what is flushed as a flag.
fn flush<F: Judged, const N: usize>(operands: [F; N], fpscr: &mut u32) -> [F; N] {
    operands.map(|bits| {
        if bits.soft().is_denormal() && has(*fpscr, status::FLUSH_TO_ZERO) {
            *fpscr |= status::DENORMAL_OPERAND;
            return F::from_bits(bits.into() & F::SIGN);
        }
        bits
    })
}

/// FPProcessNaNs.
fn nan<F: Judged, const N: usize>(operands: [F; N], fpscr: &mut u32) -> Option<F> {
    let softs = operands.map(|bits| (bits.soft().is_signaling(), bits.soft().is_nan(), bits));
    let signalling = softs.iter().find(|(signalling, ..)| *signalling);
    if signalling.is_some() {
        *fpscr |= status::INVALID;
    }
    let (.., bits) = signalling.or(softs.iter().find(|(_, nan, _)| *nan))?;
    Some(if has(*fpscr, status::DEFAULT_NAN) {
        F::from_bits(F::EXPONENT | F::QUIET)
    } else {
        F::from_bits((*bits).into() | F::QUIET)
    })
}

/// A result with its status, given also with many more bits and rounded towards zero.
fn judge<F: Judged>(result: F::Soft, status: Status, exact: Quad, fpscr: &mut u32) -> F {
    if result.is_nan() {
        *fpscr |= status::INVALID;
        return F::from_bits(F::EXPONENT | F::QUIET);
    }
    let power = |exponent| Quad::from_u128(1).value.scalbn(exponent);
    let largest = 1 << (F::EXPONENT_BITS - 1);
    let tiny = exact.is_non_zero() && exact.abs() < power(2 - largest);
    if tiny && has(*fpscr, status::FLUSH_TO_ZERO) {
        *fpscr |= status::UNDERFLOW;
        return F::new(exact.is_negative(), 0);
    }
    let inexact = status.intersects(Status::INEXACT);
    let overflow = exact.is_finite() && exact.abs() >= power(largest);
    let flags = [
        (status.intersects(Status::INVALID_OP), status::INVALID),
        (
            status.intersects(Status::DIV_BY_ZERO),
            status::DIVISION_BY_ZERO,
        ),
        (
            status.intersects(Status::OVERFLOW) || overflow,
            status::OVERFLOW,
        ),
        (inexact, status::INEXACT),
        (tiny && inexact, status::UNDERFLOW),
    ];
    let set = flags.into_iter().filter(|(set, _)| *set);
    *fpscr |= set.map(|(_, flag)| flag).sum::<u32>();
    F::of_soft(result)
}

/// How many special values there are.
const SPECIAL: usize = 2 * (7 + 3 + 2 + 2 + 3 * ROUND.len() + 2 + 5 + 4 + 3);
