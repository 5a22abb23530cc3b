//! The catalogue of operators: one row for each kind of which more than the name is known.
//!
//! A row that is `named` has kernels here; one that is only `lowered` is planned all the same,
//! by its loops. To add kernels for an element-wise operator: its row and its name here, their
//! contracts in `tracer/src/kernels/`, and for quantised ones the numbers that they compute with
//! where no model says it (`tracer/src/kernels/invented.rs`). A kind without a row keeps its
//! tensors and gets no kernel, so that nothing overlaps.

mod row;
mod types;

use super::apart::WhyApart;
use super::lower::{
    FileNode, axes, detection, elements, extents, gathers, moves, products, signal, slices, windows,
};
use super::schema::{
    add, concatenation, conv_2d, depthwise_conv_2d, div, fully_connected, l2_norm, mul, options,
    sub, svdf, transpose_conv,
};
use super::value_options as values;
use super::{circular_buffer, roles, scratch};
use crate::graph::{Kind, TensorType};
use crate::trace::ElementType;
pub(super) use row::Row;
pub(super) use types::takes;

static ROWS: &[Row] = &[
    Row::of(Kind::Conv2d)
        .named("conv2d")
        .lowered(windows::conv)
        .scratch(scratch::unpacked_filter)
        .cmsis_nn_scratch(scratch::cmsis_nn::conv)
        .written(roles::conv)
        .options(options::CONV_2D)
        .activation(conv_2d::ACTIVATION)
        .weights()
        .pitched(int8_or_float32),
    Row::of(Kind::DepthwiseConv2d)
        .named("depthwise_conv2d")
        .lowered(windows::depthwise_conv)
        .scratch(scratch::unpacked_filter)
        .cmsis_nn_scratch(scratch::cmsis_nn::depthwise_conv)
        .written(roles::depthwise_conv)
        .options(options::DEPTHWISE_CONV_2D)
        .activation(depthwise_conv_2d::ACTIVATION)
        .weights()
        .pitched(int8_or_float32),
    Row::of(Kind::TransposeConv)
        .named("transpose_conv2d")
        .lowered(windows::transpose_conv)
        .scratch(scratch::transpose_conv)
        .cmsis_nn_scratch(scratch::cmsis_nn::transpose_conv)
        .written(roles::transpose_conv)
        .options(options::TRANSPOSE_CONV)
        .activation(transpose_conv::ACTIVATION),
    Row::pool(Kind::MaxPool2d)
        .named("max")
        .pitched(int8_or_float32),
    Row::pool(Kind::AveragePool2d)
        .named("average")
        .cmsis_nn_scratch(scratch::cmsis_nn::average_pool)
        .pitched(int8_or_float32),
    Row::pool(Kind::L2Pool2d).named("l2_pool"),
    Row::of(Kind::FullyConnected)
        .named("fully_connected")
        .lowered(products::fully_connected)
        .scratch(scratch::unpacked_filter)
        .cmsis_nn_scratch(scratch::cmsis_nn::fully_connected)
        .written(roles::fully_connected)
        .options(options::FULLY_CONNECTED)
        .activation(fully_connected::ACTIVATION)
        .values(values::fully_connected)
        .weights(),
    Row::of(Kind::BatchMatmul)
        .named("batched_matmul")
        .lowered(products::batch_matmul)
        .written(roles::batch_matmul)
        .options(options::BATCH_MATMUL)
        .values(values::batch_matmul),
    Row::of(Kind::Matmul).named("matmul"),
    // One loop over the elements of an input.
    Row::unary(Kind::Relu)
        .named("relu")
        .pitched(int8_or_float32),
    Row::unary(Kind::Relu6)
        .named("relu6")
        .pitched(|element| element == TensorType::Float32),
    Row::unary(Kind::Logistic).named("logistic"),
    Row::unary(Kind::Tanh).named("tanh"),
    Row::unary(Kind::HardSwish).named("hard_swish"),
    Row::unary(Kind::LeakyRelu)
        .named("leaky_relu")
        .written(roles::leaky_relu)
        .options(options::LEAKY_RELU)
        .values(values::leaky_relu),
    Row::unary(Kind::Quantize).named("quantize"),
    Row::unary(Kind::Dequantize).named("dequantize"),
    Row::unary(Kind::Requantize).named("requantize"),
    Row::of(Kind::InputRows).named("input_rows"),
    Row::of(Kind::KeptRows).named("kept_rows"),
    Row::unary(Kind::Abs).named("abs"),
    Row::unary(Kind::Cast)
        .named("cast")
        .written(roles::cast)
        .options(options::CAST),
    Row::unary(Kind::Ceil).named("ceil"),
    Row::unary(Kind::Cos).named("cos"),
    Row::unary(Kind::Elu).named("elu"),
    Row::unary(Kind::Exp).named("exp"),
    Row::unary(Kind::Floor).named("floor"),
    Row::unary(Kind::Log).named("log"),
    Row::unary(Kind::LogicalNot).named("logical_not"),
    Row::unary(Kind::Neg).named("neg"),
    Row::unary(Kind::Round).named("round"),
    Row::unary(Kind::Rsqrt).named("rsqrt"),
    Row::unary(Kind::Sin).named("sin"),
    Row::unary(Kind::Sqrt).named("sqrt"),
    Row::unary(Kind::Square).named("square"),
    Row::of(Kind::ReluN1To1).written(roles::unary),
    // One loop over the elements of the output, or one for each axis where an input serves
    // several elements.
    Row::arithmetic(Kind::Add, options::ADD, add::ACTIVATION)
        .named("add")
        .weights()
        .pitched(int8_or_float32),
    Row::arithmetic(Kind::Sub, options::SUB, sub::ACTIVATION).named("sub"),
    Row::arithmetic(Kind::Mul, options::MUL, mul::ACTIVATION)
        .named("mul")
        .weights()
        .pitched(int8_or_float32),
    Row::arithmetic(Kind::Div, options::DIV, div::ACTIVATION).named("div"),
    Row::binary(Kind::Maximum).named("maximum"),
    Row::binary(Kind::Minimum).named("minimum"),
    Row::binary(Kind::Equal).named("equal"),
    Row::binary(Kind::FloorDiv)
        .named("floor_div")
        .written(roles::unknown),
    Row::binary(Kind::FloorMod)
        .named("floor_mod")
        .written(roles::unknown),
    Row::binary(Kind::Greater).named("greater"),
    Row::binary(Kind::GreaterEqual).named("greater_equal"),
    Row::binary(Kind::Less).named("less"),
    Row::binary(Kind::LessEqual).named("less_equal"),
    Row::binary(Kind::LogicalAnd).named("logical_and"),
    Row::binary(Kind::LogicalOr).named("logical_or"),
    Row::binary(Kind::NotEqual).named("not_equal"),
    Row::binary(Kind::Prelu).named("prelu"),
    Row::binary(Kind::SquaredDifference).named("squared_difference"),
    Row::of(Kind::Softmax)
        .named("softmax")
        .lowered(elements::softmax)
        .written(roles::softmax)
        .options(options::SOFTMAX)
        .values(values::softmax),
    // What only moves elements.
    Row::of(Kind::Concatenation)
        .named("concat")
        .lowered(moves::concatenation)
        .apart(WhyApart::Copies)
        .written(roles::concatenation)
        .options(options::CONCATENATION)
        .activation(concatenation::ACTIVATION),
    Row::of(Kind::Split)
        .named("split")
        .lowered(|node| moves::split(node, 1, 0))
        .apart(WhyApart::Copies)
        .written(roles::split)
        .options(options::SPLIT),
    Row::of(Kind::SplitV)
        .named("split")
        .lowered(|node| moves::split(node, 0, 2))
        .apart(WhyApart::Copies)
        .written(roles::split_v)
        .options(options::SPLIT_V),
    Row::of(Kind::Pad)
        .named("pad")
        .lowered(moves::pad)
        .written(roles::pad)
        .options(options::PAD)
        .pitched(|_| true),
    Row::of(Kind::Padv2)
        .named("pad")
        .lowered(moves::pad)
        .options(options::PAD_V2)
        .pitched(|_| true),
    Row::reduction(Kind::Mean)
        .named("mean")
        .scratch(scratch::sum),
    Row::reduction(Kind::Sum).named("sum").scratch(scratch::sum),
    Row::reduction(Kind::ReduceMax)
        .named("reduce_max")
        .scratch(scratch::axes),
    Row::reduction(Kind::ReduceMin)
        .named("reduce_min")
        .scratch(scratch::axes),
    Row::reduction(Kind::ReduceProd),
    Row::reduction(Kind::ReduceAny).written(roles::unknown),
    Row::reduction(Kind::ReduceAll)
        .named("reduce_all")
        .written(roles::unknown)
        .scratch(scratch::axes),
    Row::of(Kind::AddN)
        .named("add_n")
        .lowered(elements::add_n)
        .scratch(scratch::add_n),
    Row::of(Kind::SelectV2)
        .named("select")
        .lowered(elements::select),
    // Along one axis.
    Row::of(Kind::ArgMax)
        .named("arg_max")
        .lowered(axes::arg_extreme)
        .options(options::ARG_MAX),
    Row::of(Kind::ArgMin)
        .named("arg_min")
        .lowered(axes::arg_extreme)
        .options(options::ARG_MIN),
    Row::of(Kind::Cumsum)
        .named("cumsum")
        .lowered(axes::cumulative_sum)
        .options(options::CUMSUM),
    Row::of(Kind::Reshape)
        .named("reshape")
        .lowered(moves::reshape)
        .written(roles::reshape)
        .options(options::RESHAPE)
        .keeps_bytes(),
    Row::unary(Kind::ExpandDims)
        .named("expand_dims")
        .written(roles::unknown)
        .keeps_bytes(),
    Row::of(Kind::Squeeze)
        .named("squeeze")
        .lowered(moves::squeeze)
        .apart(WhyApart::Copies)
        .keeps_bytes(),
    Row::of(Kind::Transpose)
        .named("transpose")
        .lowered(moves::transpose)
        .written(roles::transpose)
        .options(options::TRANSPOSE),
    Row::of(Kind::Slice)
        .named("slice")
        .lowered(slices::slice)
        .written(roles::slice)
        .options(options::SLICE),
    Row::of(Kind::StridedSlice)
        .named("strided_slice")
        .lowered(slices::strided_slice)
        .written(roles::strided_slice)
        .options(options::STRIDED_SLICE),
    // Constant indices may be those of a slice.
    Row::of(Kind::Gather)
        .named("gather")
        .lowered(gathers::gather)
        .apart(WhyApart::Indices)
        .options(options::GATHER),
    Row::of(Kind::ReverseV2)
        .named("strided_slice")
        .lowered(slices::reverse)
        .apart(WhyApart::Copies),
    Row::of(Kind::Pack)
        .named("pack")
        .lowered(axes::pack)
        .options(options::PACK),
    Row::of(Kind::Unpack)
        .named("unpack")
        .lowered(axes::unpack)
        .options(options::UNPACK),
    Row::of(Kind::SpaceToDepth)
        .named("space_to_depth")
        .lowered(axes::depth_space)
        .options(options::SPACE_TO_DEPTH),
    Row::of(Kind::DepthToSpace)
        .named("depth_to_space")
        .lowered(axes::depth_space)
        .options(options::DEPTH_TO_SPACE),
    Row::of(Kind::MirrorPad)
        .named("mirror_pad")
        .lowered(axes::mirror_pad)
        .scratch(scratch::mirror_pad)
        .options(options::MIRROR_PAD),
    Row::of(Kind::BatchToSpaceNd)
        .named("batch_to_space")
        .lowered(axes::batch_space)
        .apart(WhyApart::Copies),
    Row::of(Kind::SpaceToBatchNd)
        .named("space_to_batch")
        .lowered(axes::batch_space)
        .apart(WhyApart::Copies),
    Row::of(Kind::BroadcastTo)
        .named("strided_slice")
        .lowered(slices::broadcast_to)
        .apart(WhyApart::Copies),
    Row::of(Kind::DynamicUpdateSlice)
        .named("update_slice")
        .lowered(extents::update_slice)
        .apart(WhyApart::Copies),
    Row::of(Kind::BroadcastArgs)
        .named("broadcast_args")
        .lowered(extents::broadcast_args)
        .apart(WhyApart::Backwards),
    Row::of(Kind::EmbeddingLookup)
        .named("gather")
        .lowered(gathers::embedding_lookup)
        .apart(WhyApart::Indices),
    Row::of(Kind::GatherNd)
        .named("gather")
        .lowered(gathers::gather_nd)
        .apart(WhyApart::Indices),
    Row::of(Kind::ResizeNearestNeighbor)
        .named("resize_nearest")
        .lowered(moves::resize_nearest)
        .apart(WhyApart::Copies)
        .written(roles::resize_nearest)
        .options(options::RESIZE_NEAREST_NEIGHBOR),
    Row::of(Kind::ResizeBilinear)
        .named("resize_bilinear")
        .lowered(moves::resize_bilinear)
        .written(roles::resize_bilinear)
        .options(options::RESIZE_BILINEAR),
    Row::of(Kind::Svdf)
        .named("svdf")
        .lowered(products::svdf)
        .scratch(scratch::svdf)
        .options(options::SVDF)
        .activation(svdf::ACTIVATION)
        .values(values::svdf),
    Row::of(Kind::UnidirectionalSequenceLstm)
        .named("lstm")
        .lowered(products::lstm)
        .scratch(scratch::lstm)
        .cmsis_nn_scratch(scratch::cmsis_nn::lstm)
        .options(options::UNIDIRECTIONAL_SEQUENCE_LSTM)
        .values(values::lstm),
    Row::of(Kind::CircularBuffer)
        .named("circular_buffer")
        .lowered(circular_buffer::lowered)
        .apart(WhyApart::Copies),
    Row::of(Kind::LogSoftmax)
        .named("log_softmax")
        .lowered(elements::softmax),
    Row::of(Kind::L2Normalization)
        .named("l2_normalization")
        .lowered(elements::softmax)
        .options(options::L2_NORM)
        .activation(l2_norm::ACTIVATION),
    Row::of(Kind::BidirectionalSequenceLstm).activation_not_read(),
    Row::of(Kind::BidirectionalSequenceRnn).activation_not_read(),
    Row::of(Kind::Conv3d).activation_not_read(),
    Row::of(Kind::Conv3dTranspose).activation_not_read(),
    Row::of(Kind::Lstm).activation_not_read(),
    Row::of(Kind::Rnn).activation_not_read(),
    Row::of(Kind::UnidirectionalSequenceRnn).activation_not_read(),
    // What its inputs hold does not matter.
    Row::of(Kind::Shape)
        .named("shape")
        .lowered(extents::shape_of)
        .apart(WhyApart::NoLoads)
        .reads_shape_only(),
    Row::of(Kind::Rank)
        .apart(WhyApart::NoLoads)
        .reads_shape_only(),
    Row::of(Kind::ZerosLike)
        .named("zeros_like")
        .lowered(extents::zeros_like)
        .apart(WhyApart::NoLoads)
        .reads_shape_only(),
    Row::of(Kind::Fill)
        .named("strided_slice")
        .lowered(slices::fill)
        .apart(WhyApart::NoLoads),
    // Operators of other runtimes whose loops depend on the data.
    Row::of(Kind::TopkV2).apart(WhyApart::Data),
    Row::of(Kind::Unique).apart(WhyApart::Data),
    Row::of(Kind::Where).apart(WhyApart::Data),
    Row::of(Kind::NonMaxSuppressionV4).apart(WhyApart::Data),
    Row::of(Kind::NonMaxSuppressionV5).apart(WhyApart::Data),
    Row::of(Kind::ScatterNd).apart(WhyApart::Indices),
    Row::of(Kind::OneHot).apart(WhyApart::Indices),
    // Custom operators of TensorFlow Lite Micro.
    Row::of(Kind::DetectionPostprocess)
        .named("detection_postprocess")
        .lowered(detection::postprocess)
        .apart(WhyApart::Data)
        .scratch(scratch::detection_postprocess),
    Row::of(Kind::SignalDelay)
        .named("signal_delay")
        .lowered(signal::delay),
    Row::of(Kind::SignalEnergy)
        .named("signal_energy")
        .lowered(signal::energy)
        .apart(WhyApart::PartOfOutput),
    Row::of(Kind::SignalFftAutoScale)
        .named("signal_scale")
        .lowered(signal::scale)
        .apart(WhyApart::Outputs),
    Row::of(Kind::SignalFilterBank)
        .named("signal_filter_bank")
        .lowered(signal::filter_bank),
    Row::of(Kind::SignalFilterBankLog)
        .named("signal_log")
        .lowered(signal::logarithm),
    Row::of(Kind::SignalFilterBankSpectralSubtraction)
        .named("signal_subtract_noise")
        .lowered(signal::noise)
        .apart(WhyApart::Outputs),
    Row::of(Kind::SignalFilterBankSquareRoot)
        .named("signal_square_root")
        .lowered(signal::square_root),
    Row::of(Kind::SignalFramer)
        .named("signal_framer")
        .lowered(signal::framer)
        .apart(WhyApart::PartOfOutput),
    Row::of(Kind::SignalIrfft)
        .named("irfft")
        .lowered(signal::irfft)
        .apart(WhyApart::InOutput),
    Row::of(Kind::SignalOverlapAdd)
        .named("signal_overlap_add")
        .lowered(signal::overlap_add),
    Row::of(Kind::SignalPcan)
        .named("signal_pcan")
        .lowered(signal::gain_control)
        .apart(WhyApart::Copies),
    Row::of(Kind::SignalRfft)
        .named("rfft")
        .lowered(signal::rfft)
        .scratch(scratch::rfft),
    Row::of(Kind::SignalStacker)
        .named("signal_stacker")
        .lowered(signal::stacker)
        .apart(WhyApart::PartOfOutput),
    Row::of(Kind::SignalWindow)
        .named("signal_window")
        .lowered(signal::window),
    Row::of(Kind::Decode)
        .named("decode")
        .lowered(extents::decode)
        .apart(WhyApart::NoLoads),
    // Whose effects are not all seen in their tensors.
    Row::of_variable(Kind::AssignVariable, "assign_variable"),
    Row::of(Kind::Call).hidden_state(),
    Row::of(Kind::CallOnce).hidden_state(),
    Row::of(Kind::Hashtable).hidden_state(),
    Row::of(Kind::HashtableFind).hidden_state(),
    Row::of(Kind::HashtableImport).hidden_state(),
    Row::of(Kind::HashtableSize).hidden_state(),
    Row::of(Kind::If).hidden_state(),
    Row::of(Kind::Multinomial).hidden_state(),
    Row::of(Kind::RandomStandardNormal).hidden_state(),
    Row::of(Kind::RandomUniform).hidden_state(),
    Row::of_variable(Kind::ReadVariable, "read_variable"),
    Row::of(Kind::VarHandle).hidden_state(),
    Row::of(Kind::While).hidden_state(),
];

/// Of a kind of which only the name is known.
static NAME_ONLY: Row = Row::of(Kind::Custom);

/// All rows.
#[cfg(test)]
pub(super) fn rows() -> &'static [Row] {
    ROWS
}

/// Whether it is of the signal library, whose kernels refuse all that is not known here.
pub(crate) fn is_refused_signal(node: &FileNode<'_>) -> bool {
    let lower = row(node.kind).lower;
    node.kind.name().starts_with("Signal") && lower.is_some_and(|lower| lower(node).is_none())
}

/// The kind's row.
pub(super) fn row(kind: &Kind) -> &'static Row {
    let known = ROWS.iter().find(|row| row.kind == *kind);
    known.unwrap_or(&NAME_ONLY)
}

fn int8_or_float32(element: TensorType) -> bool {
    matches!(element, TensorType::Int8 | TensorType::Float32)
}

impl Kind {
    /// The kind that kernels here, the command line and layers of traces know by this name.
    pub fn of_kernels(name: &str) -> Option<Self> {
        let row = ROWS.iter().find(|row| row.kernel_name == Some(name));
        row.map(|row| row.kind.clone())
    }

    /// What kernels here call it; its text if there are none.
    pub fn kernel_name(&self) -> &str {
        row(self).kernel_name.unwrap_or(self.name())
    }

    /// The kind as which kernels here compute it on inputs of this type; `None` if none do.
    pub fn computed_as(&self, input: ElementType) -> Option<Self> {
        if *self == Self::Quantize && input != ElementType::Float32 {
            return Some(Self::Requantize);
        }
        Self::of_kernels(row(self).kernel_name?)
    }

    /// The names in [`of_kernels`](Self::of_kernels) of what goes element by element, with the
    /// number of inputs.
    pub fn elementwise() -> impl Iterator<Item = (&'static str, usize)> {
        ROWS.iter()
            .filter_map(|row| Some((row.kernel_name?, row.elementwise?)))
    }

    /// Whether its effects are not all seen in its tensors: it draws random numbers, runs a
    /// subgraph, or keeps a table or a variable. Such operators stay in the file's order. Nobody
    /// knows what a builtin operator does whose code is newer than the list of kinds.
    pub fn has_hidden_state(&self) -> bool {
        self.is_unknown() || row(self).has_hidden_state
    }

    /// Whether the reference kernels may compute it on a first input of this type. Of kinds that are not
    /// element-wise that depends on more.
    pub fn takes(&self, input: TensorType) -> bool {
        takes(self, input)
    }

    /// Whether the loops of the reference kernel are known for some types, shapes and options.
    pub fn has_known_loops(&self) -> bool {
        row(self).lower.is_some()
    }

    /// Why nothing may overlap at an operator of this kind, whatever its types, shapes and options;
    /// `None` if that depends on them.
    pub fn always_apart(&self) -> Option<WhyApart> {
        row(self).apart
    }

    /// Why nothing may overlap at an operator of this kind that has no kernel in its graph
    /// ([`Node::kernel`](crate::graph::Node::kernel)).
    pub fn why_apart(&self) -> WhyApart {
        let row = row(self);
        if let Some(why) = row.apart {
            why
        } else if self.is_unknown() {
            WhyApart::TooNew
        } else if row.has_hidden_state {
            WhyApart::HiddenState
        } else if self.is_custom() {
            WhyApart::Custom
        } else if row.lower.is_some() {
            WhyApart::NotThisWay
        } else {
            WhyApart::NotInRuntime
        }
    }

    /// Whether it goes element by element, of one input.
    pub(super) fn is_unary(&self) -> bool {
        row(self).elementwise == Some(1)
    }

    /// Whether its output holds its input's bytes, in their order.
    pub fn keeps_bytes(&self) -> bool {
        row(self).keeps_bytes
    }

    /// Whether it needs the shape of its inputs alone, and loads none of them.
    pub fn reads_shape_only(&self) -> bool {
        row(self).reads_shape_only
    }

    /// The runtime's kernel does not load this operand: it reads shapes only, or the shape that it is given
    /// is that of its output.
    pub fn loads_no(&self, operand: usize) -> bool {
        self.reads_shape_only() || (self == &Self::Reshape && operand == 1)
    }

    /// Whether its constants are weights.
    pub fn has_weights(&self) -> bool {
        row(self).has_weights
    }

    /// Whether a kernel takes tensors of these elements in parts of larger ones.
    pub fn has_pitched_kernel(&self, element: TensorType) -> bool {
        (row(self).has_pitched_kernel)(element)
    }
}

#[cfg(test)]
mod tests;
