//! The closed forms as printed in Blacker, Bridges and Hadfield, 'Diagonal Memory
//! Optimisation for Machine Learning on Micro-controllers', section III-D.
//!
//! **Unsafe.** They are here to be compared with, not to be used: they exceed the exact
//! value for paddings below 0 (`VALID` with rows or columns left over, kernels below
//! the stride), for several batches, and where the horizontal stride exceeds the
//! vertical. `docs/errata.md` has an example of each.

use super::{Conv2d, DepthwiseConv2d, Operator, Pool2d, Shape, Window};

/// The line below all reads, `minR(i) = a i + b` before it is cut off at 0, equation
/// (9), in elements, with `a` as a fraction: so the comparison with the exact value is
/// free of rounding. Widest product: `b` below 2^80, times three 32-bit numbers at most.
pub(super) struct ReadBound {
    a_numerator: i128,
    a_denominator: i128,
    b: i128,
    /// Of the output, one for each element.
    iterations: i128,
    element_bytes: i128,
}

impl Operator {
    /// With (7) and (8) for depthwise convolution, (12) and (13) for convolution without
    /// groups, (14) and (15) for pooling. Of shapes that have been checked.
    pub(super) fn read_bound(&self) -> Option<ReadBound> {
        match self {
            Self::Conv2d(conv) if conv.groups == 1 => Some(conv.read_bound()),
            Self::DepthwiseConv2d(depthwise) => Some(depthwise.read_bound()),
            Self::Pool2d(pool) => Some(pool.read_bound()),
            _ => None,
        }
    }
}

impl Conv2d {
    fn read_bound(&self) -> ReadBound {
        let [_, _, input_width, input_depth] = self.input.map(i128::from);
        let [_, _, output_width, output_depth] = self.output.map(i128::from);
        ReadBound {
            // (12)
            a_numerator: i128::from(self.window.stride[0]) * input_width * input_depth,
            a_denominator: output_width * output_depth,
            // (13)
            b: self.window.printed_pixel(self.input, self.output) * input_depth + 1,
            iterations: elements(self.output),
            element_bytes: self.element_bytes.into(),
        }
    }
}

impl DepthwiseConv2d {
    fn read_bound(&self) -> ReadBound {
        let [_, _, input_width, input_depth] = self.input.map(i128::from);
        ReadBound {
            // (7)
            a_numerator: i128::from(self.window.stride[0]) * input_width,
            a_denominator: i128::from(self.output[2]) * i128::from(self.multiplier),
            // (8)
            b: (self.window.printed_pixel(self.input, self.output) + 1) * input_depth,
            iterations: elements(self.output),
            element_bytes: self.element_bytes.into(),
        }
    }
}

impl Pool2d {
    fn read_bound(&self) -> ReadBound {
        let [_, _, input_width, input_depth] = self.input.map(i128::from);
        ReadBound {
            // (14)
            a_numerator: i128::from(self.window.stride[0]) * input_width,
            a_denominator: self.output[2].into(),
            // (15)
            b: self.window.printed_pixel(self.input, self.output) * input_depth + 1,
            iterations: elements(self.output),
            element_bytes: self.element_bytes.into(),
        }
    }
}

impl ReadBound {
    /// (11), with `i_c` the number of iterations.
    pub(super) fn overlap_bytes(&self) -> f64 {
        let [(n1, d1), (n2, d2)] = self.terms();
        f64::min(n1 as f64 / d1 as f64, n2 as f64 / d2 as f64)
    }

    /// Whether (11) is above this number of bytes.
    pub(super) fn exceeds(&self, bytes: u32) -> bool {
        self.terms()
            .iter()
            .all(|(numerator, denominator)| *numerator > i128::from(bytes) * denominator)
    }

    /// The output's size plus either term of the minimum, as fractions.
    fn terms(&self) -> [(i128, i128); 2] {
        let Self {
            a_numerator,
            a_denominator,
            b,
            iterations,
            element_bytes,
        } = *self;
        [
            // i_c + b / a
            (iterations * a_numerator + b * a_denominator, a_numerator),
            // i_c + a i_c + b - i_c
            (a_numerator * iterations + b * a_denominator, a_denominator),
        ]
        .map(|(numerator, denominator)| (numerator * element_bytes, denominator))
    }
}

impl Window {
    /// `O_w S_w - P_h I_w - S_h I_w - S_w - P_w`, common to (8), (13) and (15).
    fn printed_pixel(&self, input: Shape, output: Shape) -> i128 {
        let [stride_h, stride_w] = self.stride.map(i128::from);
        let [padding_h, padding_w] = [0, 1].map(|axis| self.printed_padding(axis, input, output));
        let (input_width, output_width) = (i128::from(input[2]), i128::from(output[2]));
        output_width * stride_w
            - padding_h * input_width
            - stride_h * input_width
            - stride_w
            - padding_w
    }

    /// (5) and (6), which differ from [`tflite_padding_before`](super::tflite_padding_before)
    /// where the taps do not reach the input's end: they are below 0 there.
    fn printed_padding(&self, axis: usize, input: Shape, output: Shape) -> i128 {
        let [stride, dilation, kernel] =
            [self.stride, self.dilation, self.kernel].map(|extents| i128::from(extents[axis]));
        let [input, output] = [input, output].map(|shape| i128::from(shape[axis + 1]));
        let reach = output * stride - stride + kernel * dilation - dilation - input + 1;
        reach.div_euclid(2)
    }
}

fn elements(shape: Shape) -> i128 {
    shape.map(i128::from).iter().product()
}
