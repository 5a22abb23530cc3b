//! Conversions between formats, and to and from integers and fixed point.

use super::*;
use crate::float;
use crate::operation::Rounding;

const ROUNDINGS: [Rounding; 6] = [
    Rounding::TiesEven,
    Rounding::Up,
    Rounding::Down,
    Rounding::Zero,
    Rounding::TiesAway,
    Rounding::Current,
];

fn by_name(rounding: Rounding, fpscr: u32) -> Round {
    match rounding {
        Rounding::TiesEven => Round::NearestTiesToEven,
        Rounding::Up => Round::TowardPositive,
        Rounding::Down => Round::TowardNegative,
        Rounding::Zero => Round::TowardZero,
        Rounding::TiesAway => Round::NearestTiesToAway,
        Rounding::Current => round(fpscr),
    }
}

fn values<F: Judged>(count: usize) -> Vec<F> {
    let mut random = Random(43);
    let mut values = special::<F>();
    values.extend((0..count).map(|_| random.float::<F>()));
    values
}

/// FPToFixed.
fn fixed<F: Judged>(
    value: F,
    (signed, bits, fraction): (bool, u32, u32),
    round: Round,
    fpscr: &mut u32,
) -> i128 {
    let [value] = flush([value], fpscr);
    let scaled = value.quad().scalbn(fraction as i32);
    let mut exact = false;
    let (result, status) = if signed {
        let result = scaled.to_i128_r(bits as usize, round, &mut exact);
        (result.value, result.status)
    } else {
        let result = scaled.to_u128_r(bits as usize, round, &mut exact);
        (result.value as i128, result.status)
    };
    if value.soft().is_nan() {
        *fpscr |= status::INVALID;
        return 0;
    }
    if status.intersects(Status::INVALID_OP) {
        *fpscr |= status::INVALID;
    } else if status.intersects(Status::INEXACT) {
        *fpscr |= status::INEXACT;
    }
    result
}

fn integers<F: Judged>() -> usize {
    let mut cases = 0;
    for value in values::<F>(5_000) {
        for fpscr in settings() {
            for (rounding, signed) in ROUNDINGS.iter().flat_map(|&r| [(r, false), (r, true)]) {
                let (mut flags, mut expected_flags) = (fpscr, fpscr);
                let round = by_name(rounding, fpscr);
                let expected = fixed(value, (signed, 32, 0), round, &mut expected_flags) as u32;
                let found = float::to_integer(value, signed, rounding, &mut flags);
                assert_eq!(
                    [found, flags],
                    [expected, expected_flags],
                    "{value:x} {fpscr:x} {rounding:?} {signed}"
                );
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn to_integers() {
    let expected = (SPECIAL + 5_000) * 32 * 12;
    assert_eq!([integers::<u32>(), integers::<u64>()], [expected; 2]);
}

/// The shapes of fixed point: signed, bits, bits of the fraction.
fn shapes() -> Vec<(bool, u32, u32)> {
    let sizes = (0..=16).map(|fraction| (16, fraction));
    let sizes = sizes.chain((0..=32).map(|fraction| (32, fraction)));
    sizes
        .flat_map(|(bits, fraction)| [(false, bits, fraction), (true, bits, fraction)])
        .collect()
}

fn to_fixed<F: Judged>() -> usize {
    let mut cases = 0;
    for value in values::<F>(2_000) {
        for fpscr in settings() {
            let shape = shapes()[cases % 100];
            let (mut flags, mut expected_flags) = (fpscr, fpscr);
            let expected = fixed(value, shape, Round::TowardZero, &mut expected_flags);
            let found = float::to_fixed(value, shape.0, shape.1, shape.2, &mut flags);
            assert!(
                found == F::from_bits(expected as u64) && flags == expected_flags,
                "{value:x} {fpscr:x} {shape:?}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
            );
            // 7 has no factor in common with 100: each value meets other shapes.
            cases += 7;
        }
    }
    cases / 7
}

#[test]
fn to_fixed_point() {
    let expected = (SPECIAL + 2_000) * 32;
    assert_eq!([to_fixed::<u32>(), to_fixed::<u64>()], [expected; 2]);
}

fn from_fixed<F: Judged>() -> usize {
    let edges = [
        0,
        1,
        2,
        0x7fff,
        0x8000,
        0xffff,
        1 << 24,
        (1 << 24) + 1,
        (1 << 25) - 1,
    ];
    let edges = edges
        .into_iter()
        .chain([0x7fff_ffff, 0x8000_0000, 0xffff_ff7f, !0_u32]);
    let mut random = Random(47);
    let words: Vec<u32> = edges
        .chain((0..1_000).map(|_| random.next() as u32 >> random.below(32)))
        .collect();
    let mut cases = 0;
    for (&word, (signed, bits, fraction)) in words
        .iter()
        .flat_map(|word| shapes().into_iter().map(move |shape| (word, shape)))
    {
        let shift = 32 - bits;
        let integer = if signed {
            i128::from((word << shift).cast_signed() >> shift)
        } else {
            i128::from((word << shift) >> shift)
        };
        let exact = Quad::from_i128(integer).value.scalbn(-(fraction as i32));
        for fpscr in settings() {
            let judged = |round| {
                let result = F::rounded(exact, round);
                let inexact = result.status.intersects(Status::INEXACT);
                let flags = fpscr | if inexact { status::INEXACT } else { 0 };
                (F::of_soft(result.value), flags)
            };
            let mut flags = fpscr;
            // What is above the lowest bits does not count.
            let register = F::from_bits(u64::from(word) | 0x1234_5678 << 32);
            let found = float::from_fixed(register, signed, bits, fraction, &mut flags);
            assert_eq!((found, flags), judged(Round::NearestTiesToEven));
            if bits == 32 && fraction == 0 {
                let mut flags = fpscr;
                let found = float::from_integer(word, signed, &mut flags);
                assert_eq!((found, flags), judged(round(fpscr)));
            }
            cases += 1;
        }
    }
    cases
}

#[test]
fn from_fixed_point_and_integers() {
    let expected = 1_013 * 100 * 32;
    assert_eq!([from_fixed::<u32>(), from_fixed::<u64>()], [expected; 2]);
}

fn integral<F: Judged>() -> usize {
    let mut cases = 0;
    for value in values::<F>(5_000) {
        for fpscr in settings() {
            for (rounding, exact) in ROUNDINGS.iter().flat_map(|&r| [(r, false), (r, true)]) {
                let mut expected_flags = fpscr;
                let [operand] = flush([value], &mut expected_flags);
                let expected = nan([operand], &mut expected_flags).unwrap_or_else(|| {
                    let soft = operand.soft();
                    let result = soft.round_to_integral(by_name(rounding, fpscr)).value;
                    if exact && result != soft {
                        expected_flags |= status::INEXACT;
                    }
                    F::of_soft(result)
                });
                let mut flags = fpscr;
                let found = float::round_to_integral(value, rounding, exact, &mut flags);
                assert!(
                    found == expected && flags == expected_flags,
                    "{value:x} {fpscr:x} {rounding:?} {exact}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
                );
                cases += 1;
            }
        }
    }
    cases
}

#[test]
fn to_integral_numbers() {
    let expected = (SPECIAL + 5_000) * 32 * 12;
    assert_eq!([integral::<u32>(), integral::<u64>()], [expected; 2]);
}
