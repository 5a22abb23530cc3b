//! The safe overlap O_s of an operator from its shape alone, for the loops of
//! TensorFlow Lite's reference kernels.
//!
//! A reference kernel stores output elements in ascending order, one per step, after
//! the loads of that step. Let step `j` store element `w(j)` and load from
//! `r(j)` upwards. The least displacement that is safe together with all larger ones is
//! then `max(w(j) - r(j))` over the steps, floored at 0, in elements. Positions are
//! sums over batch, row, column and channel, and so is the maximum:
//!
//! ```text
//! F = max over oy of  oy*O_w*O_d - t_h(oy)*I_w*I_d      t(o): first tap of output
//! G = max over ox of  ox*O_d     - t_w(ox)*I_d          o inside the input
//! C = max over channels
//! S* = max(0, (B-1)*max(0, OB1 - IB1) + F + G + C)      OB1, IB1: elements per batch
//! O_s = OB - S* * T, at most IB                         T: bytes per element
//! ```
//!
//! This is exact, also where the published closed form is not (it can exceed the exact
//! value for several batches, for strides above the kernel and for strides that
//! differ). The same module holds each kernel's accesses one by one
//! ([`Operator::accesses`]), from which [`Operator::traced_overlap`] finds O_s without any
//! formula.
//!
//! These numbers hold for those loops only. Other kernels of the same operator, such as
//! those of CMSIS-NN, may allow far less: trace them.
//!
//! | operator | loops, the last one fastest | file |
//! |---|---|---|
//! | [`Conv2d`] | b, oy, ox, oc, then fy, fx, ic | `conv.rs` |
//! | [`DepthwiseConv2d`] | b, oy, ox, ic, m, then fy, fx | `depthwise.rs` |
//! | [`Pool2d`] | b, oy, ox, c, then fy, fx | `pool.rs` |
//! | [`FullyConnected`] | b, oc, then ic | `fully_connected.rs` |
//! | [`Elementwise`] | i | `elementwise.rs` |
//! | [`Softmax`] | row, then three times c | `softmax.rs` |
//!
//! To add an operator: one file, one variant of [`Operator`], one row above.

mod conv;
mod depthwise;
mod elementwise;
mod fully_connected;
mod pool;
mod softmax;
mod window;

pub use conv::Conv2d;
pub use depthwise::DepthwiseConv2d;
pub use elementwise::Elementwise;
pub use fully_connected::FullyConnected;
pub use pool::Pool2d;
pub use softmax::Softmax;
pub use window::{Window, tflite_padding_before};

use crate::overlap::overlap_bytes;
use crate::trace::AccessKind;
use serde::{Deserialize, Serialize};

/// Batch, height, width, channels.
pub type Shape = [u32; 4];

/// An operator with all that decides its accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operator")]
#[expect(missing_docs, reason = "the types say all there is to say")]
pub enum Operator {
    Conv2d(Conv2d),
    DepthwiseConv2d(DepthwiseConv2d),
    Pool2d(Pool2d),
    FullyConnected(FullyConnected),
    Elementwise(Elementwise),
    Softmax(Softmax),
}

/// The loops of one operator. Only [`Operator`] calls it, and only `check` and
/// `buffers` before `check` has passed.
trait ReferenceKernel {
    /// Whether the shape makes sense in itself; the buffers' sizes are checked apart.
    fn check(&self) -> Result<(), ShapeError>;

    /// The activations it loads and those it stores.
    fn buffers(&self) -> (Buffer, Buffer);

    /// In bytes, the least displacement that is safe together with all larger ones, by
    /// formula; none when the kernel never loads its input.
    fn displacement_bytes(&self) -> Option<u32>;

    /// Each load of the input and each store to the output, in program order:
    /// load or store, and the position of the element.
    fn accesses(&self, visit: &mut dyn FnMut(AccessKind, u32));
}

/// One of the two buffers.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    name: &'static str,
    shape: Shape,
    element_bytes: u32,
}

impl Buffer {
    fn pair(input: Shape, output: Shape, element_bytes: [u32; 2]) -> (Self, Self) {
        let buffer = |name, shape, element_bytes| Self {
            name,
            shape,
            element_bytes,
        };
        (
            buffer("input", input, element_bytes[0]),
            buffer("output", output, element_bytes[1]),
        )
    }

    fn size_bytes(self) -> Result<u32, ShapeError> {
        if self.shape.contains(&0) {
            return Err(ShapeError::Zero { what: self.name });
        }
        if !matches!(self.element_bytes, 1 | 2 | 4 | 8) {
            return Err(ShapeError::ElementSize {
                buffer: self.name,
                given: self.element_bytes,
            });
        }
        self.shape
            .iter()
            .try_fold(self.element_bytes, |size, &extent| size.checked_mul(extent))
            .ok_or(ShapeError::BufferTooLarge {
                buffer: self.name,
                shape: self.shape,
                element_bytes: self.element_bytes,
            })
    }
}

/// Why a shape makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum ShapeError {
    #[error("the {what} is 0 or has an extent of 0, expected at least 1")]
    Zero { what: &'static str },
    #[error("the {what} is {given}, limit {limit}")]
    TooLarge {
        what: &'static str,
        given: u32,
        limit: u32,
    },
    #[error("elements of the {buffer} have {given} bytes, expected 1, 2, 4 or 8")]
    ElementSize { buffer: &'static str, given: u32 },
    #[error(
        "the {buffer} {shape:?} with {element_bytes} bytes per element does not fit \
         in 32-bit addresses"
    )]
    BufferTooLarge {
        buffer: &'static str,
        shape: Shape,
        element_bytes: u32,
    },
    #[error("the {what} is {given}, expected {expected} ({reason})")]
    Mismatch {
        what: &'static str,
        given: u32,
        expected: u32,
        reason: &'static str,
    },
    #[error("the {what} is {given}, which {groups} groups do not divide")]
    Groups {
        what: &'static str,
        given: u32,
        groups: u32,
    },
}

fn expect_equal(
    what: &'static str,
    given: u32,
    expected: u32,
    reason: &'static str,
) -> Result<(), ShapeError> {
    if given != expected {
        return Err(ShapeError::Mismatch {
            what,
            given,
            expected,
            reason,
        });
    }
    Ok(())
}

impl Operator {
    fn kernel(&self) -> &dyn ReferenceKernel {
        match self {
            Self::Conv2d(kernel) => kernel,
            Self::DepthwiseConv2d(kernel) => kernel,
            Self::Pool2d(kernel) => kernel,
            Self::FullyConnected(kernel) => kernel,
            Self::Elementwise(kernel) => kernel,
            Self::Softmax(kernel) => kernel,
        }
    }

    /// Sizes of the input and the output in bytes.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn buffer_bytes(&self) -> Result<(u32, u32), ShapeError> {
        let kernel = self.kernel();
        let (input, output) = kernel.buffers();
        let sizes = (input.size_bytes()?, output.size_bytes()?);
        kernel.check()?;
        Ok(sizes)
    }

    /// O_s in bytes by formula; 0 when the kernel never loads its input, for then
    /// something is wrong with the shape.
    ///
    /// ```
    /// use dmo_analysis::operator::{DepthwiseConv2d, Operator, Window};
    ///
    /// // MobileNet v2, second depthwise convolution, float32.
    /// let depthwise = Operator::DepthwiseConv2d(DepthwiseConv2d {
    ///     input: [1, 112, 112, 96],
    ///     output: [1, 56, 56, 96],
    ///     window: Window { kernel: [3, 3], stride: [2, 2], ..Window::default() },
    ///     multiplier: 1,
    ///     element_bytes: 4,
    /// });
    /// assert_eq!(depthwise.safe_overlap(), Ok(1_204_224));
    /// ```
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn safe_overlap(&self) -> Result<u32, ShapeError> {
        self.overlap(self.displacement()?)
    }

    /// The least displacement `input_start - output_start` in bytes that is safe together
    /// with all larger ones, by formula; none when the kernel never loads its input.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn displacement(&self) -> Result<Option<u32>, ShapeError> {
        self.buffer_bytes()?;
        Ok(self.kernel().displacement_bytes())
    }

    /// [`safe_overlap`](Self::safe_overlap) from the accesses one by one: slow, and
    /// independent of every formula.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn traced_overlap(&self) -> Result<u32, ShapeError> {
        self.overlap(self.traced_displacement()?)
    }

    /// [`displacement`](Self::displacement) from the accesses one by one.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn traced_displacement(&self) -> Result<Option<u32>, ShapeError> {
        let (mut highest_end, mut displacement) = (0_u32, None);
        self.accesses(|kind, offset, size_bytes| match kind {
            AccessKind::Store => highest_end = highest_end.max(offset + size_bytes),
            AccessKind::Load => {
                // None is less than any number.
                displacement = displacement.max(Some(highest_end.saturating_sub(offset)));
            }
        })?;
        Ok(displacement)
    }

    fn overlap(&self, displacement: Option<u32>) -> Result<u32, ShapeError> {
        let (input_bytes, output_bytes) = self.buffer_bytes()?;
        Ok(displacement.map_or(0, |displacement| {
            overlap_bytes(displacement, input_bytes, output_bytes)
        }))
    }

    /// Calls `visit` for each load of the input and each store to the output, in
    /// program order, with the offset in the buffer and the size, in bytes.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn accesses(&self, mut visit: impl FnMut(AccessKind, u32, u32)) -> Result<(), ShapeError> {
        self.buffer_bytes()?;
        let kernel = self.kernel();
        let (input, output) = kernel.buffers();
        kernel.accesses(&mut |kind, element| {
            let element_bytes = match kind {
                AccessKind::Load => input.element_bytes,
                AccessKind::Store => output.element_bytes,
            };
            visit(kind, element * element_bytes, element_bytes);
        });
        Ok(())
    }
}
