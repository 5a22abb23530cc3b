//! Kernels, strides, dilations and paddings.

use crate::operator::{Shape, Window};

/// What a convolution or pooling moves over its input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taps {
    pub kernel: [u32; 2],
    stride: u32,
    dilation: u32,
    padded: bool,
}

/// Height and width of a kernel; one number for a square one.
pub(super) trait Extent {
    fn extent(self) -> [u32; 2];
}

impl Extent for u32 {
    fn extent(self) -> [u32; 2] {
        [self; 2]
    }
}

impl Extent for [u32; 2] {
    fn extent(self) -> [u32; 2] {
        self
    }
}

/// `SAME` padding: as many outputs as inputs, divided by the stride and rounded up.
pub(super) fn same(kernel: impl Extent) -> Taps {
    Taps {
        kernel: kernel.extent(),
        stride: 1,
        dilation: 1,
        padded: true,
    }
}

/// `VALID` padding, which is none.
pub(super) fn valid(kernel: impl Extent) -> Taps {
    Taps {
        padded: false,
        ..same(kernel)
    }
}

impl Taps {
    pub fn stride(self, stride: u32) -> Self {
        Self { stride, ..self }
    }

    pub fn dilation(self, dilation: u32) -> Self {
        Self { dilation, ..self }
    }

    fn outputs(self, axis: usize, input: u32) -> u32 {
        let reach = (self.kernel[axis] - 1) * self.dilation;
        let first_taps = if self.padded { input } else { input - reach };
        first_taps.div_ceil(self.stride)
    }

    pub fn output(self, input: Shape, channels: u32) -> Shape {
        let [height, width] = [0, 1].map(|axis| self.outputs(axis, input[axis + 1]));
        [input[0], height, width, channels]
    }

    pub fn window(self, input: Shape, output: Shape) -> Window {
        let window = Window {
            kernel: self.kernel,
            stride: [self.stride; 2],
            dilation: [self.dilation; 2],
            ..Window::default()
        };
        window.with_tflite_padding(input, output)
    }
}
