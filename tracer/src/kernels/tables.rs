//! Tables that kernels look functions up in.

use std::ops::RangeInclusive;

/// 16-bit numbers as bytes.
pub(super) fn halfwords(values: impl Iterator<Item = i32>) -> Vec<u8> {
    values
        .flat_map(|value| (value as u16).to_le_bytes())
        .collect()
}

/// 513 samples of a function with values in [-1, 1], as Q0.15: what TensorFlow Lite Micro's
/// `gen_lut` makes, in single precision. Each sample but the last is moved by half of what
/// the interpolation would err by in the middle between it and the next.
pub(super) fn interpolated(range: RangeInclusive<f32>, function: fn(f32) -> f32) -> Vec<u8> {
    const STEPS: i32 = 512;
    let (start, end) = range.into_inner();
    let step = (end - start) / STEPS as f32;
    let at = |index: i32| start + index as f32 * step;
    let value = |x: f32| function(x) * 32768.0;
    let sample = |index: i32| {
        let here = value(at(index)).round();
        let interpolated = ((value(at(index + 1)) + here) / 2.0).round();
        let middle = value(at(index) + step / 2.0).round();
        here - ((interpolated - middle) / 2.0).round()
    };
    let samples = (0..STEPS).map(sample);
    let samples = samples.chain([value(end).round()]);
    halfwords(samples.map(|sample| sample.clamp(-32768.0, 32767.0) as i32))
}

/// What `log2(1 + i / 128)` exceeds `i / 128` by for i from 0 to 128, where 65536 stands for 1: what
/// TensorFlow Lite Micro's signal library has as `kLogLut`.
pub(super) fn logarithms() -> Vec<u8> {
    let entry = |index: i32| {
        let fraction = f64::from(index) / 128.0;
        (65536.0 * ((1.0 + fraction).log2() - fraction)).round() as i32
    };
    halfwords((0..=128).map(entry))
}

/// `s = 1 / (1 + exp(-i / 24))` for i from 0 to 255, where 65536 stands for 1: what
/// TensorFlow Lite has as `sigmoid_table_uint16`. Each entry but the last is raised by half of
/// the most that the interpolation of a concave curve lacks.
pub(super) fn sigmoid() -> Vec<u8> {
    let entry = |index: i32| {
        let s = 1.0 / (1.0 + (-f64::from(index) / 24.0).exp());
        let lacking = s * (1.0 - s) * (2.0 * s - 1.0) / (8.0 * 24.0 * 24.0);
        (65536.0 * (s + lacking / 2.0)).round() as i32
    };
    halfwords((0..255).map(entry).chain([65535]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some of the library's table; the largest is in its middle.
    #[test]
    fn logarithms_are_the_library_s() {
        let bytes = logarithms();
        let (pairs, _) = bytes.as_chunks();
        let entries: Vec<u16> = pairs.iter().map(|&pair| u16::from_le_bytes(pair)).collect();
        assert_eq!(entries.len(), 129);
        let some = [0, 1, 2, 57, 64, 127, 128].map(|index| entries[index]);
        assert_eq!(some, [0, 224, 442, 5641, 5568, 142, 0]);
        assert_eq!(entries.iter().max(), Some(&5641));
    }
}
