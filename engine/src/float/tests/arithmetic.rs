//! Addition, subtraction, multiplication, division, square roots and fused multiplication.

use super::*;
use crate::float;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

const OPERATIONS: [Operation; 4] = [
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Div,
];

fn apply<S: rustc_apfloat::Float>(op: Operation, a: S, b: S, round: Round) -> StatusAnd<S> {
    match op {
        Operation::Add => a.add_r(b, round),
        Operation::Sub => a.sub_r(b, round),
        Operation::Mul => a.mul_r(b, round),
        Operation::Div => a.div_r(b, round),
    }
}

fn binary<F: Judged>(op: Operation, a: F, b: F, fpscr: u32) {
    let mut expected_flags = fpscr;
    let [x, y] = flush([a, b], &mut expected_flags);
    let expected = nan([x, y], &mut expected_flags).unwrap_or_else(|| {
        let result = apply(op, x.soft(), y.soft(), round(fpscr));
        let exact = apply(op, x.quad(), y.quad(), Round::TowardZero).value;
        judge(result.value, result.status, exact, &mut expected_flags)
    });
    let (short, long): (Function<F>, Function<F>) = match op {
        Operation::Add => (float::add, float::add_exactly),
        Operation::Sub => (float::sub, |a, b, fpscr| {
            let b = if b.is_nan() { b } else { float::negate(b) };
            float::add_exactly(a, b, fpscr)
        }),
        Operation::Mul => (float::mul, float::mul_exactly),
        Operation::Div => (float::div, float::div_exactly),
    };
    for function in [short, long] {
        let mut flags = fpscr;
        let found = function(a, b, &mut flags);
        let is_right = found == expected && flags == expected_flags;
        assert!(
            is_right,
            "{op:?} {a:x} {b:x} {fpscr:x}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
        );
    }
}

type Function<F> = fn(F, F, &mut u32) -> F;

fn all_four<F: Judged>(a: F, b: F, fpscr: u32) -> usize {
    for op in OPERATIONS {
        binary(op, a, b, fpscr);
    }
    OPERATIONS.len()
}

fn all_binary<F: Judged>() -> usize {
    let values = special::<F>();
    let mut cases = 0;
    for fpscr in settings() {
        for &a in &values {
            for &b in &values {
                cases += all_four(a, b, fpscr);
            }
        }
    }
    let mut random = Random(17);
    for index in 0..100_000 {
        let fpscr = settings()[random.below(32) as usize] & if index % 2 == 0 { !0 } else { 31 };
        let (a, b) = (random.float(), random.float::<F>());
        cases += all_four(a, b, fpscr);
    }
    cases
}

#[test]
fn single_operations() {
    assert_eq!(all_binary::<u32>(), SPECIAL * SPECIAL * 32 * 4 + 400_000);
}

#[test]
fn double_operations() {
    assert_eq!(all_binary::<u64>(), SPECIAL * SPECIAL * 32 * 4 + 400_000);
}

fn fused<F: Judged>(addend: F, a: F, b: F, fpscr: u32) {
    let mut expected_flags = fpscr;
    let [z, x, y] = flush([addend, a, b], &mut expected_flags);
    let result = x.soft().mul_add_r(y.soft(), z.soft(), round(fpscr));
    let product = x.soft().mul_r(y.soft(), Round::TowardZero);
    let invalid =
        product.status.intersects(Status::INVALID_OP) && !x.soft().is_nan() && !y.soft().is_nan();
    let expected = if invalid && !z.soft().is_signaling() {
        expected_flags |= status::INVALID;
        F::from_bits(F::EXPONENT | F::QUIET)
    } else if let Some(nan) = nan([z, x, y], &mut expected_flags) {
        nan
    } else {
        let exact = x.quad().mul_add_r(y.quad(), z.quad(), Round::TowardZero);
        judge(
            result.value,
            result.status,
            exact.value,
            &mut expected_flags,
        )
    };
    for function in [float::mul_add, float::mul_add_exactly] {
        let mut flags = fpscr;
        let found = function(addend, a, b, &mut flags);
        let is_right = found == expected && flags == expected_flags;
        assert!(
            is_right,
            "{addend:x} + {a:x} * {b:x} {fpscr:x}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
        );
    }
}

fn all_fused<F: Judged>() -> usize {
    let values = special::<F>();
    let mut random = Random(29);
    let mut cases = 0;
    let pick = |random: &mut Random| values[random.below(values.len() as u64) as usize];
    for fpscr in settings() {
        for &addend in &values {
            for &a in &values {
                fused(addend, a, pick(&mut random), fpscr);
                cases += 1;
            }
        }
    }
    for index in 0..200_000 {
        let fpscr = settings()[random.below(32) as usize] & if index % 2 == 0 { !0 } else { 31 };
        let (a, b): (F, F) = (random.float(), random.float());
        let product = F::of_soft(a.soft().mul_r(b.soft(), Round::TowardZero).value);
        let addend = match random.below(3) {
            0 => random.float(),
            1 => product,
            _ => F::from_bits(product.into() ^ F::SIGN ^ random.below(4)),
        };
        fused(addend, a, b, fpscr);
        cases += 1;
    }
    cases
}

#[test]
fn fused_single() {
    assert_eq!(all_fused::<u32>(), SPECIAL * SPECIAL * 32 + 200_000);
}

#[test]
fn fused_double() {
    assert_eq!(all_fused::<u64>(), SPECIAL * SPECIAL * 32 + 200_000);
}

/// The root by the host, moved to where its square is not above the number, or not below.
fn root<F: Judged>(a: F, nearest: F, round: Round) -> (F, bool) {
    let square = |bits: u64| F::from_bits(bits).quad() * F::from_bits(bits).quad();
    let mut floor = nearest.into();
    while square(floor).value > a.quad() {
        floor -= 1;
    }
    while square(floor + 1).value <= a.quad() {
        floor += 1;
    }
    let exact = square(floor).value == a.quad();
    let rounded = match round {
        Round::NearestTiesToEven => nearest.into(),
        Round::TowardPositive if !exact => floor + 1,
        _ => floor,
    };
    (F::from_bits(rounded), exact)
}

fn one_root<F: Judged>(a: F, fpscr: u32, by_host: fn(F) -> F) {
    let mut expected_flags = fpscr;
    let [x] = flush([a], &mut expected_flags);
    let soft = x.soft();
    let expected = nan([x], &mut expected_flags).unwrap_or_else(|| {
        if soft.is_zero() || soft.is_pos_infinity() {
            x
        } else if soft.is_negative() {
            expected_flags |= status::INVALID;
            F::from_bits(F::EXPONENT | F::QUIET)
        } else {
            let (root, exact) = root(x, by_host(x), round(fpscr));
            expected_flags |= if exact { 0 } else { status::INEXACT };
            root
        }
    });
    for function in [float::sqrt, float::sqrt_exactly] {
        let mut flags = fpscr;
        let found = function(a, &mut flags);
        let is_right = found == expected && flags == expected_flags;
        assert!(
            is_right,
            "{a:x} {fpscr:x}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
        );
    }
}

fn all_roots<F: Judged>(by_host: fn(F) -> F) -> usize {
    let mut random = Random(31);
    let mut values = special::<F>();
    for _ in 0..5_000 {
        let value: F = random.float();
        let square = value.soft().mul_r(value.soft(), Round::TowardZero).value;
        values.extend([value, F::of_soft(square)]);
    }
    for fpscr in settings() {
        for &a in &values {
            one_root(a, fpscr, by_host);
        }
    }
    values.len()
}

#[test]
fn square_roots() {
    let single = all_roots::<u32>(|bits| f32::from_bits(bits).sqrt().to_bits());
    let double = all_roots::<u64>(|bits| f64::from_bits(bits).sqrt().to_bits());
    assert_eq!([single, double], [SPECIAL + 10_000; 2]);
}
