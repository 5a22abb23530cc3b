//! Tables of Fourier transforms: what KISS FFT 130 makes when it is prepared.

use dmo_analysis::trace::ElementType;
use std::f64::consts::PI;

/// Most radices of a transform that fits into memory.
const MOST_STAGES: usize = 32;

/// The radices of a complex transform, in the order of the stages: fours, a two, threes, fives;
/// `None` if there are others. The library tries no radix beyond the root of all points, and takes
/// what is left then as the last one.
pub(super) fn radices(points: u32) -> Option<Vec<i32>> {
    let root = points.isqrt();
    let (mut rest, mut radix) = (points, 4);
    let mut radices = Vec::new();
    while rest > 1 && radices.len() < MOST_STAGES {
        while !rest.is_multiple_of(radix) {
            radix = match radix {
                4 => 2,
                2 => 3,
                other => other + 2,
            };
            if radix > root {
                radix = rest;
            }
        }
        if radix > 5 {
            return None;
        }
        radices.push(radix as i32);
        rest /= radix;
    }
    (rest == 1 && !radices.is_empty()).then_some(radices)
}

/// To frequencies, or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Back,
}

impl Way {
    const fn sign(self) -> f64 {
        match self {
            Self::Forward => -1.0,
            Self::Back => 1.0,
        }
    }
}

/// `exp(2 pi i k / points)` for all k, in a direction.
pub(super) fn turns(points: u32, way: Way, element_type: ElementType) -> Vec<u8> {
    let phase = |k: u32| way.sign() * 2.0 * PI * f64::from(k) / f64::from(points);
    complex((0..points).map(phase), element_type)
}

/// `exp(pi i ((k + 1) / points + 1 / 2))` for k below half of the points, in a direction.
pub(super) fn half_turns(points: u32, way: Way, element_type: ElementType) -> Vec<u8> {
    let share = |k: u32| f64::from(k + 1) / f64::from(points) + 0.5;
    complex(
        (0..points / 2).map(|k| way.sign() * PI * share(k)),
        element_type,
    )
}

/// Cosine and sine of each phase, as the greatest number of the type times what they are.
fn complex(phases: impl Iterator<Item = f64>, element_type: ElementType) -> Vec<u8> {
    let whole = |greatest: f64, number: f64| (0.5 + greatest * number).floor();
    let bytes = |number: f64| match element_type {
        ElementType::Int16 => (whole(i16::MAX.into(), number) as i16)
            .to_le_bytes()
            .to_vec(),
        ElementType::Int32 => (whole(i32::MAX.into(), number) as i32)
            .to_le_bytes()
            .to_vec(),
        _ => (number as f32).to_le_bytes().to_vec(),
    };
    phases
        .flat_map(|phase| [phase.cos(), phase.sin()])
        .flat_map(bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_multiply_to_all_points() {
        let mut known = 0;
        for points in 2..2000 {
            let Some(radices) = radices(points) else {
                continue;
            };
            known += 1;
            assert_eq!(radices.iter().product::<i32>(), points as i32);
            assert!(radices.iter().all(|radix| (2..=5).contains(radix)));
        }
        assert_eq!(known, 106, "numbers of 2, 3 and 5 alone below 2000");
        assert_eq!(radices(256), Some(vec![4; 4]));
        assert_eq!(radices(240), Some(vec![4, 4, 3, 5]));
        assert_eq!(radices(32), Some(vec![4, 4, 2]));
        assert_eq!([0, 1, 7, 14, 49].map(radices), [const { None }; 5]);
    }
}
