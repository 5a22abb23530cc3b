//! Leads: how far, in bytes, the next store is ahead of a load.
//!
//! In kernels that store their output in ascending order both positions are sums over
//! the axes, and so is the longest lead.

use super::Shape;

/// Elements from one index to the next on each axis.
pub(super) fn strides(shape: Shape) -> [u32; 4] {
    let [_, height, width, depth] = shape;
    [height * width * depth, width * depth, depth, 1]
}

/// Bytes from one index to the next on each axis.
pub(super) fn strides_bytes(shape: Shape, element_bytes: u32) -> [i64; 4] {
    strides(shape).map(|elements| i64::from(elements) * i64::from(element_bytes))
}

/// The maximum of `c * slope` over the indices `c` of an axis.
pub(super) fn longest(extent: u32, slope: i64) -> i64 {
    (i64::from(extent) - 1) * slope.max(0)
}

/// The sum over the axes of [`longest`].
pub(super) fn longest_of_axes(extents: Shape, slopes: [i64; 4]) -> i64 {
    (0..4)
        .map(|axis| longest(extents[axis], slopes[axis]))
        .sum()
}

/// The difference of two arrays of strides.
pub(super) fn slopes(stored: [i64; 4], loaded: [i64; 4]) -> [i64; 4] {
    std::array::from_fn(|axis| stored[axis] - loaded[axis])
}

/// Calls `visit` with the indices and the position of each element, in order.
#[inline]
pub(super) fn each_element(shape: Shape, mut visit: impl FnMut(Shape, u32)) {
    let mut position = 0;
    for b in 0..shape[0] {
        for y in 0..shape[1] {
            for x in 0..shape[2] {
                for c in 0..shape[3] {
                    visit([b, y, x, c], position);
                    // After the last element it may not fit, and is not used.
                    position = position.wrapping_add(1);
                }
            }
        }
    }
}

/// The position of an element.
#[inline]
pub(super) fn position(indices: Shape, strides: [u32; 4]) -> u32 {
    indices[0] * strides[0]
        + indices[1] * strides[1]
        + indices[2] * strides[2]
        + indices[3] * strides[3]
}
