//! The safe overlap O_s of an operator's buffers from its shape alone, for the loops of
//! TensorFlow Lite's reference kernels.
//!
//! A reference kernel stores output elements in ascending order, one per step, after
//! the loads of that step. Let step `j` store element `w(j)` and load from
//! `r(j)` upwards. The least displacement that is safe together with all larger ones is
//! then `max(w(j) - r(j))` over the steps, floored at 0. Positions are sums over batch,
//! row, column and channel, and so is the maximum: each axis has its own. This is exact,
//! also where the published closed form ([`Overlap::published_bytes`]) is not.
//!
//! Every file below holds one operator: what shapes it takes, its accesses one by one
//! in program order ([`Operator::accesses`]), and the closed form that they are
//! condensed to. [`Operator::traced_overlaps`] finds O_s from the accesses, without
//! any formula. Derivations: `docs/formulas.md`.
//!
//! These numbers hold for those loops only. Other kernels of the same operator, such as
//! those of CMSIS-NN, may allow far less: trace them. A pair's O_s holds if the input
//! dies here and the operator's other buffers lie apart from one another; scratch
//! buffers and persistent state lie apart from everything.
//!
//! | operator | loops, the last one fastest | file |
//! |---|---|---|
//! | [`Conv2d`] | b, oy, ox, oc, then fy, fx, ic | `conv.rs` |
//! | [`DepthwiseConv2d`] | b, oy, ox, ic, m, then fy, fx | `depthwise.rs` |
//! | [`DepthwiseInPlace`] | b, c, then iy, ix; then oy, ox | `depthwise_in_place.rs` |
//! | [`TransposeConv2d`] | b, iy, ix, ic, then fy, fx, oc | `transpose_conv.rs` |
//! | [`Pool2d`] | b, oy, ox, c, then fy, fx | `pool.rs` |
//! | [`FullyConnected`] | b, oc, then ic | `fully_connected.rs` |
//! | [`BatchedMatmul`] | b, m, n, then k | `batched_matmul.rs` |
//! | [`Matmul`] | zero, then k, i, j | `matmul.rs` |
//! | [`Elementwise`] | i | `elementwise.rs` |
//! | [`ElementwiseBinary`] | b, y, x, c | `elementwise_binary.rs` |
//! | [`Softmax`] | row, then three times c | `softmax.rs` |
//! | [`Concat`] | outer, input, then its run | `concat.rs` |
//! | [`Split`] | outer, output, then its run | `split.rs` |
//! | [`Pad`] | b, y, x, c of the output | `pad.rs` |
//! | [`Reshape`] | i | `reshape.rs` |
//! | [`Transpose`] | b, y, x, c of the output | `transpose.rs` |
//! | [`StridedSlice`] | b, y, x, c of the output | `strided_slice.rs` |
//! | [`ResizeNearest`] | b, y, x, c of the output | `resize_nearest.rs` |
//! | [`ResizeBilinear`] | b, y, x, c of the output | `resize_bilinear.rs` |
//! | [`SpatialMean`] | b, c, then h, w | `spatial_mean.rs` |
//! | [`Reduce`] | start values, then b, y, x, c of the input; or this, then the output | `reduce.rs` |
//! | [`Svdf`] | b, filter, ic; then the output | `svdf.rs` |
//! | [`InputRows`] | row that is there, then new row | `input_rows.rs` |
//! | [`KeptRows`] | i | `kept_rows.rs` |
//! | [`Lstm`] | time, then gate, unit, ic; then its output | `lstm.rs` |
//! | [`ArgExtreme`] | before, after, then the axis | `arg_extreme.rs` |
//! | [`CumulativeSum`] | after, before, then the axis; or all backwards | `cumulative_sum.rs` |
//! | [`DepthSpace`] | b, y, x, c of the larger image | `depth_space.rs` |
//! | [`BatchSpace`] | b, y, x, c of the tensor with more batches | `batch_space.rs` |
//! | [`Gather`] | as the data say | `gather.rs` |
//! | [`UpdateSlice`] | as the data say | `update_slice.rs` |
//! | [`BroadcastArgs`] | from the end | `broadcast_args.rs` |
//! | [`ShapeOf`] | i | `shape_of.rs` |
//! | [`Zeros`] | i | `zeros.rs` |
//! | [`ElementwiseMany`] | b, y, x, c | `elementwise_many.rs` |
//! | [`MirrorPad`] | b, y, x, c of the output | `mirror_pad.rs` |
//! | [`Pack`] | input, outer, then its run | `pack.rs` |
//! | [`Staged`] | round: its input, then its output | `staged.rs` |
//! | [`Unpack`] | output, outer, then its run | `unpack.rs` |
//! | [`Opaque`] | not known | `opaque.rs` |
//! | [`Apart`] | not relied on | `apart.rs` |
//! | [`Pitched`] | those of the operator that it has on parts of larger tensors | `pitched.rs` |
//!
//! To add an operator: one file, one variant of [`Operator`], one row above, one section
//! of `docs/formulas.md`.

mod apart;
mod arg_extreme;
mod batch_space;
mod batched_matmul;
mod broadcast_args;
mod buffer;
mod concat;
mod conv;
mod cumulative_sum;
mod depth_space;
mod depthwise;
mod depthwise_in_place;
mod elementwise;
mod elementwise_binary;
mod elementwise_many;
mod error;
mod fully_connected;
mod gather;
mod input_rows;
mod kept_rows;
mod lstm;
mod matmul;
mod mirror_pad;
mod opaque;
mod pack;
mod pad;
mod pair;
mod pitched;
mod pool;
mod published;
mod reduce;
mod reshape;
mod resize_bilinear;
mod resize_nearest;
mod shape_of;
mod softmax;
mod spatial_mean;
mod split;
mod staged;
mod store_lead;
mod strided_slice;
mod svdf;
mod traffic;
mod transpose;
mod transpose_conv;
mod unpack;
mod update_slice;
mod window;
mod zeros;

pub use apart::{Apart, ApartBuffer};
pub use arg_extreme::ArgExtreme;
pub use batch_space::{BatchDirection, BatchSpace};
pub use batched_matmul::{BatchedMatmul, MatrixOperand, OuterBatches};
pub use broadcast_args::BroadcastArgs;
pub use buffer::{Buffer, Buffers, Shape};
pub use concat::Concat;
pub use conv::Conv2d;
pub use cumulative_sum::CumulativeSum;
pub use depth_space::{DepthDirection, DepthSpace};
pub use depthwise::DepthwiseConv2d;
pub use depthwise_in_place::DepthwiseInPlace;
pub use elementwise::Elementwise;
pub use elementwise_binary::ElementwiseBinary;
pub use elementwise_many::{ElementwiseInput, ElementwiseMany};
pub use error::ShapeError;
pub use fully_connected::FullyConnected;
pub use gather::Gather;
pub use input_rows::InputRows;
pub use kept_rows::KeptRows;
pub use lstm::Lstm;
pub use matmul::Matmul;
pub use mirror_pad::MirrorPad;
pub use opaque::Opaque;
pub use pack::Pack;
pub use pad::Pad;
pub use pair::{Method, Overlap};
pub use pitched::{Pitch, Pitched, PitchedShape};
pub use pool::Pool2d;
pub use reduce::{Reduce, Reduction};
pub use reshape::Reshape;
pub use resize_bilinear::{Interpolation, ResizeBilinear};
pub use resize_nearest::ResizeNearest;
pub use shape_of::ShapeOf;
pub use softmax::Softmax;
pub use spatial_mean::SpatialMean;
pub use split::Split;
pub use staged::Staged;
pub use strided_slice::StridedSlice;
pub use svdf::Svdf;
pub use traffic::Traffic;
pub use transpose::Transpose;
pub use transpose_conv::{Accumulation, TransposeConv2d};
pub use unpack::Unpack;
pub use update_slice::UpdateSlice;
pub use window::{Padding, Window, tflite_padding_before};
pub use zeros::Zeros;

use crate::trace::AccessKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::any::Any;

/// An operator with all that decides its accesses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operator")]
#[expect(missing_docs, reason = "the types say all there is to say")]
pub enum Operator {
    Conv2d(Conv2d),
    DepthwiseConv2d(DepthwiseConv2d),
    DepthwiseInPlace(DepthwiseInPlace),
    TransposeConv2d(TransposeConv2d),
    Pool2d(Pool2d),
    FullyConnected(FullyConnected),
    BatchedMatmul(BatchedMatmul),
    Matmul(Matmul),
    Elementwise(Elementwise),
    ElementwiseBinary(ElementwiseBinary),
    Softmax(Softmax),
    Concat(Concat),
    Split(Split),
    Pad(Pad),
    Reshape(Reshape),
    Transpose(Transpose),
    StridedSlice(StridedSlice),
    ResizeNearest(ResizeNearest),
    ResizeBilinear(ResizeBilinear),
    SpatialMean(SpatialMean),
    Reduce(Reduce),
    Svdf(Svdf),
    Lstm(Lstm),
    ArgExtreme(ArgExtreme),
    CumulativeSum(CumulativeSum),
    DepthSpace(DepthSpace),
    BatchSpace(BatchSpace),
    Gather(Gather),
    UpdateSlice(UpdateSlice),
    BroadcastArgs(BroadcastArgs),
    ShapeOf(ShapeOf),
    Zeros(Zeros),
    ElementwiseMany(ElementwiseMany),
    InputRows(InputRows),
    /// Rows that the next tile needs too.
    KeptRows(KeptRows),
    MirrorPad(MirrorPad),
    Pack(Pack),
    Staged(Staged),
    Unpack(Unpack),
    Opaque(Opaque),
    /// Of which nothing may overlap, measured or not.
    Apart(Apart),
    Pitched(Pitched),
}

/// `$then` with the operator's own type as `$kernel`: one copy of the code per
/// operator, so that its loops are compiled together with what visits them.
macro_rules! with_kernel {
    ($operator:expr, $kernel:ident => $then:expr) => {
        match $operator {
            Operator::Conv2d($kernel) => $then,
            Operator::DepthwiseConv2d($kernel) => $then,
            Operator::DepthwiseInPlace($kernel) => $then,
            Operator::TransposeConv2d($kernel) => $then,
            Operator::Pool2d($kernel) => $then,
            Operator::FullyConnected($kernel) => $then,
            Operator::BatchedMatmul($kernel) => $then,
            Operator::Matmul($kernel) => $then,
            Operator::Elementwise($kernel) => $then,
            Operator::ElementwiseBinary($kernel) => $then,
            Operator::Softmax($kernel) => $then,
            Operator::Concat($kernel) => $then,
            Operator::Split($kernel) => $then,
            Operator::Pad($kernel) => $then,
            Operator::Reshape($kernel) => $then,
            Operator::Transpose($kernel) => $then,
            Operator::StridedSlice($kernel) => $then,
            Operator::ResizeNearest($kernel) => $then,
            Operator::ResizeBilinear($kernel) => $then,
            Operator::SpatialMean($kernel) => $then,
            Operator::Reduce($kernel) => $then,
            Operator::Svdf($kernel) => $then,
            Operator::Lstm($kernel) => $then,
            Operator::ArgExtreme($kernel) => $then,
            Operator::CumulativeSum($kernel) => $then,
            Operator::DepthSpace($kernel) => $then,
            Operator::BatchSpace($kernel) => $then,
            Operator::Gather($kernel) => $then,
            Operator::UpdateSlice($kernel) => $then,
            Operator::BroadcastArgs($kernel) => $then,
            Operator::ShapeOf($kernel) => $then,
            Operator::Zeros($kernel) => $then,
            Operator::ElementwiseMany($kernel) => $then,
            Operator::InputRows($kernel) => $then,
            Operator::KeptRows($kernel) => $then,
            Operator::MirrorPad($kernel) => $then,
            Operator::Pack($kernel) => $then,
            Operator::Staged($kernel) => $then,
            Operator::Unpack($kernel) => $then,
            Operator::Opaque($kernel) => $then,
            Operator::Apart($kernel) => $then,
            Operator::Pitched($kernel) => $then,
        }
    };
}

/// The loops of one operator. Only [`Operator`] calls it, and only `check` and
/// `buffers` before the buffers' sizes and `check` have passed.
trait ReferenceKernel {
    /// Whether the shapes make sense together, if there is anything besides the buffers' sizes,
    /// which have been checked.
    fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// The activations it loads and those it stores.
    fn buffers(&self) -> Buffers;

    /// In bytes, the least displacement of this input from this output that is safe
    /// together with all larger ones, by formula; none when the kernel never loads the
    /// input. Not floored at 0.
    fn displacement_bytes(&self, input: usize, output: usize) -> Option<i64>;

    /// Each load of an input and each store to an output, in program order:
    /// load or store, index of the input or output, position of the element. Loads of
    /// outputs, scratch and weights are no part of it.
    fn accesses<F: FnMut(AccessKind, usize, u32)>(&self, visit: F);
}

impl Operator {
    /// The inputs and outputs, checked.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn buffers(&self) -> Result<Buffers, ShapeError> {
        let buffers = with_kernel!(self, kernel => kernel.buffers());
        for buffer in buffers.inputs.iter().chain(&buffers.outputs) {
            buffer.check()?;
        }
        with_kernel!(self, kernel => kernel.check())?;
        Ok(buffers)
    }

    /// Calls `visit` for each load of an input and each store to an output, in program
    /// order, with the index of the input or output and the element's position in it.
    ///
    /// # Errors
    /// When the shape makes no sense.
    pub fn accesses(&self, visit: impl FnMut(AccessKind, usize, u32)) -> Result<(), ShapeError> {
        self.buffers()?;
        with_kernel!(self, kernel => kernel.accesses(visit));
        Ok(())
    }

    /// The operator as one of its kinds; `None` if it is of another.
    ///
    /// ```
    /// use dmo_analysis::operator::{Operator, Reshape, Softmax};
    ///
    /// let operator = Operator::Reshape(Reshape { elements: 6, element_bytes: 1 });
    /// assert!(operator.of::<Reshape>().is_some() && operator.of::<Softmax>().is_none());
    /// ```
    pub fn of<T: Any>(&self) -> Option<&T> {
        with_kernel!(self, kernel => (kernel as &dyn Any).downcast_ref())
    }

    /// The window of a convolution or pooling, and the shapes of its input and its output;
    /// `None` for other operators.
    pub(crate) fn windowed(&self) -> Option<(Window, Shape, Shape)> {
        match self {
            Self::Conv2d(conv) => Some((conv.window, conv.input, conv.output)),
            Self::DepthwiseConv2d(conv) => Some((conv.window, conv.input, conv.output)),
            Self::Pool2d(pool) => Some((pool.window, pool.input, pool.output)),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn windowed_mut(&mut self) -> Option<(&mut Window, &mut Shape, &mut Shape)> {
        match self {
            Self::Conv2d(conv) => Some((&mut conv.window, &mut conv.input, &mut conv.output)),
            Self::DepthwiseConv2d(conv) => {
                Some((&mut conv.window, &mut conv.input, &mut conv.output))
            }
            Self::Pool2d(pool) => Some((&mut pool.window, &mut pool.input, &mut pool.output)),
            _ => None,
        }
    }

    /// By formula, `None` if the input is never loaded; the buffers are checked.
    fn closed_displacement(&self, input: usize, output: usize) -> Option<u32> {
        let bytes = with_kernel!(self, kernel => kernel.displacement_bytes(input, output))?;
        // It is at most the output's size, which fits.
        Some(u32::try_from(bytes.max(0)).unwrap_or(u32::MAX))
    }
}
