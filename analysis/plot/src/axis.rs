//! Ticks and their numbers.

use dmo_analysis::wording::grouped;

/// Multiples of 1, 2 or 5 times a power of ten in `0..=extent`, at least `gap` pixels
/// apart on `length` pixels.
pub(super) fn ticks(extent: u64, length: i32, gap: i32) -> Vec<u64> {
    let most = u64::from((length / gap.max(1)).max(1).unsigned_abs());
    let step = steps()
        .find(|step| extent / step <= most)
        .unwrap_or(u64::MAX);
    (0..=extent / step).map(|index| index * step).collect()
}

/// 1, 2, 5, 10, 20, 50, ...
fn steps() -> impl Iterator<Item = u64> {
    (0..19)
        .map(|power| 10_u64.pow(power))
        .flat_map(|power| [power, 2 * power, 5 * power])
}

/// Multiples of a power of two in `first..=last`, at least `gap` pixels apart.
pub(super) fn address_ticks((first, last): (u64, u64), length: i32, gap: i32) -> Vec<u64> {
    let most = u64::from((length / gap.max(1)).max(1).unsigned_abs());
    let step = (0..63)
        .map(|power| 1_u64 << power)
        .find(|step| (last - first) / step <= most)
        .unwrap_or(1 << 63);
    (first.div_ceil(step)..=last / step)
        .map(|index| index * step)
        .collect()
}

/// A tick of a long axis in millions.
pub(super) fn time_tick(time: u64, extent: u64) -> String {
    if extent < 10_000_000 || time == 0 {
        grouped(time)
    } else {
        format!("{} M", grouped(time / 1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_apart() {
        assert_eq!(ticks(4096, 250, 40), [0, 1000, 2000, 3000, 4000]);
        assert_eq!(ticks(1, 250, 40), [0, 1]);
        assert_eq!(ticks(0, 250, 40), [0]);
        assert_eq!(ticks(u64::MAX, 10, 40).len(), 2);
        assert_eq!(ticks(4 << 20, 20, 40), [0]);
        assert_eq!(
            address_ticks((0x2000_0010, 0x2000_4000), 100, 50),
            [0x2000_2000, 0x2000_4000]
        );
        assert_eq!(
            address_ticks((0xffff_fff0, 1 << 32), 100, 50),
            [0xffff_fff0, 0xffff_fff8, 1 << 32]
        );
    }

    #[test]
    fn long_times_are_in_millions() {
        assert_eq!(time_tick(20_000_000, 50_000_000), "20 M");
    }
}
