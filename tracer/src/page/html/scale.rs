//! From steps and bytes to the pixels of a picture.

use dmo_analysis::wording::grouped;

/// An area of a picture and what it stands for.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Width and height of the whole picture.
    pub size: [f64; 2],
    /// What the width of the area stands for.
    pub across: f64,
    /// What its height stands for.
    pub up: f64,
}

/// Around the area: for the numbers of the axes.
pub const LEFT: f64 = 72.0;
pub const RIGHT: f64 = 12.0;
pub const TOP: f64 = 8.0;
pub const BOTTOM: f64 = 42.0;

impl Scale {
    pub fn width(&self) -> f64 {
        self.size[0] - LEFT - RIGHT
    }

    pub fn height(&self) -> f64 {
        self.size[1] - TOP - BOTTOM
    }

    /// Pixels from the left of the area.
    pub fn x(&self, across: f64) -> f64 {
        round(across / self.across.max(1.0) * self.width())
    }

    /// Pixels from the top of the area.
    pub fn y(&self, up: f64) -> f64 {
        round(self.height() - up / self.up.max(1.0) * self.height())
    }
}

/// Tenths of a pixel are enough, and short.
pub fn round(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

/// Multiples of 1, 2 or 5 times a power of ten up to `extent`, at most `most` beside 0.
pub fn ticks(extent: u64, most: u64) -> Vec<u64> {
    let steps = (0..19).map(|power| 10_u64.pow(power));
    let mut steps = steps.flat_map(|power| [power, 2 * power, 5 * power]);
    let step = steps.find(|step| extent / step <= most.max(1));
    let step = step.unwrap_or(u64::MAX);
    (0..=extent / step).map(|index| index * step).collect()
}

/// The number at a tick of an axis of multiply-accumulates, short.
pub fn tick_text(number: u64, extent: u64) -> String {
    match extent {
        20_000_000.. if number > 0 => format!("{} M", grouped(number / 1_000_000)),
        20_000.. if number > 0 => format!("{} k", grouped(number / 1000)),
        _ => grouped(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_grow_upwards() {
        let scale = Scale {
            size: [LEFT + RIGHT + 100.0, TOP + BOTTOM + 50.0],
            across: 10.0,
            up: 1000.0,
        };
        assert_eq!(
            [scale.x(0.0), scale.x(5.0), scale.x(10.0)],
            [0.0, 50.0, 100.0]
        );
        assert_eq!([scale.y(0.0), scale.y(1000.0)], [50.0, 0.0]);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(4096, 5), [0, 1000, 2000, 3000, 4000]);
        assert_eq!(ticks(0, 5), [0]);
        assert_eq!(ticks(u64::MAX, 5).len(), 4);
        assert_eq!(tick_text(5_000_000, 5_000_000), "5,000 k");
        assert_eq!(tick_text(0, 50_000_000), "0");
    }
}
