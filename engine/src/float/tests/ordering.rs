//! Comparisons, the larger and the smaller, and signs.

use super::*;
use crate::float;
use std::cmp::Ordering;

fn compare<F: Judged>(a: F, b: F, fpscr: u32) {
    for signal in [false, true] {
        let mut expected_flags = fpscr;
        let [x, y] = flush([a, b], &mut expected_flags).map(Judged::quad);
        let signalling = a.soft().is_signaling() || b.soft().is_signaling();
        let expected = match x.partial_cmp(&y) {
            Some(Ordering::Less) => 8,
            Some(Ordering::Equal) => 6,
            Some(Ordering::Greater) => 2,
            None => {
                expected_flags |= u32::from(signal || signalling);
                3
            }
        };
        let mut flags = fpscr;
        let found = float::compare(a, b, signal, &mut flags);
        assert_eq!(
            [found, flags],
            [expected << 28, expected_flags],
            "{a:x} {b:x} {fpscr:x} {signal}"
        );
    }
}

/// As the manual has it: a single quiet NaN becomes the infinity that never wins.
fn extreme<F: Judged>(a: F, b: F, fpscr: u32, largest: bool) {
    let mut expected_flags = fpscr;
    let [mut x, mut y] = flush([a, b], &mut expected_flags);
    let quiet = [x, y].map(|bits| bits.soft().is_nan() && !bits.soft().is_signaling());
    let worst = F::new(largest, F::EXPONENT);
    match quiet {
        [true, false] => x = worst,
        [false, true] => y = worst,
        _ => {}
    }
    let expected = nan([x, y], &mut expected_flags).unwrap_or_else(|| {
        F::of_soft(if largest {
            x.soft().maximum(y.soft())
        } else {
            x.soft().minimum(y.soft())
        })
    });
    let mut flags = fpscr;
    let found = if largest {
        float::max_num(a, b, &mut flags)
    } else {
        float::min_num(a, b, &mut flags)
    };
    assert!(
        found == expected && flags == expected_flags,
        "{a:x} {b:x} {fpscr:x} {largest}: {found:x} {flags:x}, not {expected:x} {expected_flags:x}"
    );
}

fn all<F: Judged>() -> usize {
    let values = special::<F>();
    let mut random = Random(41);
    let mut pairs: Vec<(F, F)> = Vec::new();
    for &a in &values {
        pairs.extend(values.iter().map(|&b| (a, b)));
    }
    pairs.extend((0..10_000).map(|_| (random.float(), random.float())));
    for fpscr in settings() {
        for &(a, b) in &pairs {
            compare(a, b, fpscr);
            extreme(a, b, fpscr, false);
            extreme(a, b, fpscr, true);
        }
    }
    pairs.len()
}

#[test]
fn comparisons_and_extremes() {
    let expected = SPECIAL * SPECIAL + 10_000;
    assert_eq!([all::<u32>(), all::<u64>()], [expected; 2]);
}

#[test]
fn signs() {
    let values = special::<u32>();
    for &bits in &values {
        let (minus, plus) = (-f32::from_bits(bits), f32::from_bits(bits).abs());
        assert_eq!(float::negate(bits), minus.to_bits());
        assert_eq!(float::absolute(bits), plus.to_bits());
    }
    assert_eq!(values.len(), SPECIAL);
}
