//! The catalogue of operators: one row for each kind of which more than the name is known.
//!
//! A row that is `named` has kernels here; one that is only `lowered` is planned all the same,
//! by its loops. To add kernels for an element-wise operator: its row and its name here, their
//! contracts in `tracer/src/kernels/`, and for quantised ones the numbers that they compute with
//! where no model says it (`tracer/src/kernels/invented.rs`). A kind without a row keeps its
//! tensors and gets no kernel, so that nothing overlaps.

use super::circular_buffer;
use super::lower::{FileNode, Lowered, elements, moves, products, windows};
use super::roles::{self, Exported, Roles};
use super::schema::{
    Field, add, concatenation, conv_2d, depthwise_conv_2d, div, fully_connected, l2_norm, mul,
    options, pool_2d, sub, svdf, transpose_conv,
};
use super::scratch;
use super::value_options::{self as values, FusedActivation, Problem, ValueOptions};
use crate::graph::parameters::Parameters;
use crate::graph::{Kind, TensorType};
use crate::trace::ElementType;

/// Reads the options that an operator computes with.
type ReadValues = fn(&ValueOptions, &mut Parameters) -> Result<(), Problem>;

/// Sizes in bytes of an operator's scratch buffers.
type ScratchSizes = fn(&FileNode) -> Option<Vec<u64>>;

/// What is known of a kind. What its row does not mention is not so, or not known.
pub(super) struct Row {
    kind: Kind,
    kernel_name: Option<&'static str>,
    elementwise: Option<usize>,
    /// Its loops and shapes in the reference kernels.
    pub lower: fn(&FileNode) -> Option<Lowered>,
    /// Sizes in bytes of the reference kernels' scratch buffers.
    pub scratch: ScratchSizes,
    /// The same of TensorFlow Lite Micro's glue to CMSIS-NN, where it differs.
    pub cmsis_nn_scratch: Option<ScratchSizes>,
    /// What its inputs are and its options, where it is written to a file.
    pub roles: fn(&Exported) -> Result<Option<Roles>, String>,
    /// The number of its options in the schema's union; 0 if they are not used.
    pub options: u8,
    /// Where its options have an activation.
    pub activation: FusedActivation,
    /// Reads what else of its options it computes with.
    pub values: Option<ReadValues>,
    has_hidden_state: bool,
    keeps_bytes: bool,
    reads_shape_only: bool,
    has_weights: bool,
    has_pitched_kernel: fn(TensorType) -> bool,
}

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
    Row::pool(Kind::L2Pool2d),
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
    Row::unary(Kind::Abs),
    Row::unary(Kind::Cast)
        .written(roles::cast)
        .options(options::CAST),
    Row::unary(Kind::Ceil),
    Row::unary(Kind::Cos),
    Row::unary(Kind::Elu),
    Row::unary(Kind::Exp),
    Row::unary(Kind::Floor),
    Row::unary(Kind::Log),
    Row::unary(Kind::LogicalNot),
    Row::unary(Kind::Neg),
    Row::unary(Kind::Round),
    Row::unary(Kind::Rsqrt),
    Row::unary(Kind::Sin),
    Row::unary(Kind::Sqrt),
    Row::unary(Kind::Square),
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
    Row::arithmetic(Kind::Div, options::DIV, div::ACTIVATION),
    Row::binary(Kind::Maximum).named("maximum"),
    Row::binary(Kind::Minimum).named("minimum"),
    Row::binary(Kind::Equal),
    Row::binary(Kind::FloorDiv).written(roles::unknown),
    Row::binary(Kind::FloorMod).written(roles::unknown),
    Row::binary(Kind::Greater),
    Row::binary(Kind::GreaterEqual),
    Row::binary(Kind::Less),
    Row::binary(Kind::LessEqual),
    Row::binary(Kind::LogicalAnd),
    Row::binary(Kind::LogicalOr),
    Row::binary(Kind::NotEqual),
    Row::binary(Kind::Prelu),
    Row::binary(Kind::SquaredDifference),
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
        .written(roles::concatenation)
        .options(options::CONCATENATION)
        .activation(concatenation::ACTIVATION),
    Row::of(Kind::Split)
        .named("split")
        .lowered(|node| moves::split(node, 1, 0))
        .written(roles::split)
        .options(options::SPLIT),
    Row::of(Kind::SplitV)
        .named("split")
        .lowered(|node| moves::split(node, 0, 2))
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
        .written(roles::unknown)
        .scratch(scratch::axes),
    Row::of(Kind::MirrorPad).scratch(scratch::mirror_pad),
    Row::of(Kind::AddN).scratch(scratch::add_n),
    Row::of(Kind::Reshape)
        .named("reshape")
        .lowered(moves::reshape)
        .written(roles::reshape)
        .options(options::RESHAPE)
        .keeps_bytes(),
    Row::of(Kind::ExpandDims)
        .lowered(elements::unary)
        .keeps_bytes(),
    Row::of(Kind::Squeeze).keeps_bytes(),
    Row::of(Kind::Transpose)
        .named("transpose")
        .lowered(moves::transpose)
        .written(roles::transpose)
        .options(options::TRANSPOSE),
    Row::of(Kind::Slice)
        .named("slice")
        .lowered(moves::slice)
        .written(roles::slice)
        .options(options::SLICE),
    Row::of(Kind::StridedSlice)
        .named("strided_slice")
        .lowered(moves::strided_slice)
        .written(roles::strided_slice)
        .options(options::STRIDED_SLICE),
    Row::of(Kind::ResizeNearestNeighbor)
        .named("resize_nearest")
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
        .lowered(circular_buffer::lowered),
    Row::of(Kind::L2Normalization)
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
    Row::of(Kind::Shape).reads_shape_only(),
    Row::of(Kind::Rank).reads_shape_only(),
    Row::of(Kind::ZerosLike).reads_shape_only(),
    // Whose effects are not all seen in their tensors.
    Row::of(Kind::AssignVariable).hidden_state(),
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
    Row::of(Kind::ReadVariable).hidden_state(),
    Row::of(Kind::VarHandle).hidden_state(),
    Row::of(Kind::While).hidden_state(),
];

/// Of a kind of which only the name is known.
static NAME_ONLY: Row = Row::of(Kind::Custom);

/// The kind's row.
pub(super) fn row(kind: &Kind) -> &'static Row {
    let known = ROWS.iter().find(|row| row.kind == *kind);
    known.unwrap_or(&NAME_ONLY)
}

fn int8_or_float32(element: TensorType) -> bool {
    matches!(element, TensorType::Int8 | TensorType::Float32)
}

impl Row {
    const fn of(kind: Kind) -> Self {
        Self {
            kind,
            kernel_name: None,
            elementwise: None,
            lower: |_| None,
            scratch: |_| None,
            cmsis_nn_scratch: None,
            roles: roles::unknown,
            options: 0,
            activation: FusedActivation::Absent,
            values: None,
            has_hidden_state: false,
            keeps_bytes: false,
            reads_shape_only: false,
            has_weights: false,
            has_pitched_kernel: |_| false,
        }
    }

    /// Element by element, of one input.
    const fn unary(kind: Kind) -> Self {
        let mut row = Self::of(kind)
            .lowered(elements::unary)
            .written(roles::unary);
        row.elementwise = Some(1);
        row
    }

    /// Element by element, of two inputs.
    const fn binary(kind: Kind) -> Self {
        let mut row = Self::of(kind)
            .lowered(elements::binary)
            .written(roles::binary);
        row.elementwise = Some(2);
        row
    }

    /// Element by element, of two inputs, with an activation after it.
    const fn arithmetic(kind: Kind, options: u8, activation: Field) -> Self {
        Self::binary(kind)
            .written(roles::arithmetic)
            .options(options)
            .activation(activation)
    }

    const fn pool(kind: Kind) -> Self {
        Self::of(kind)
            .lowered(windows::pool)
            .written(roles::pool)
            .options(options::POOL_2D)
            .activation(pool_2d::ACTIVATION)
    }

    const fn reduction(kind: Kind) -> Self {
        Self::of(kind)
            .lowered(elements::reduce)
            .written(roles::reduce)
            .options(options::REDUCER)
    }

    /// What kernels here call it, which they compute. The first row of a name is the kind as
    /// which they do.
    const fn named(mut self, kernel_name: &'static str) -> Self {
        self.kernel_name = Some(kernel_name);
        self
    }

    const fn lowered(mut self, lower: fn(&FileNode) -> Option<Lowered>) -> Self {
        self.lower = lower;
        self
    }

    const fn scratch(mut self, sizes: ScratchSizes) -> Self {
        self.scratch = sizes;
        self
    }

    const fn cmsis_nn_scratch(mut self, sizes: ScratchSizes) -> Self {
        self.cmsis_nn_scratch = Some(sizes);
        self
    }

    const fn written(mut self, roles: fn(&Exported) -> Result<Option<Roles>, String>) -> Self {
        self.roles = roles;
        self
    }

    const fn options(mut self, number: u8) -> Self {
        self.options = number;
        self
    }

    const fn activation(mut self, field: Field) -> Self {
        self.activation = FusedActivation::At(field);
        self
    }

    const fn activation_not_read(mut self) -> Self {
        self.activation = FusedActivation::NotRead;
        self
    }

    const fn values(
        mut self,
        read: fn(&ValueOptions, &mut Parameters) -> Result<(), Problem>,
    ) -> Self {
        self.values = Some(read);
        self
    }

    const fn hidden_state(mut self) -> Self {
        self.has_hidden_state = true;
        self
    }

    const fn keeps_bytes(mut self) -> Self {
        self.keeps_bytes = true;
        self
    }

    const fn reads_shape_only(mut self) -> Self {
        self.reads_shape_only = true;
        self
    }

    const fn weights(mut self) -> Self {
        self.has_weights = true;
        self
    }

    const fn pitched(mut self, types: fn(TensorType) -> bool) -> Self {
        self.has_pitched_kernel = types;
        self
    }
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

    /// The kind as which kernels here compute it on inputs of this type; `None` if there are
    /// none.
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

    /// Whether its output holds its input's bytes, in their order.
    pub fn keeps_bytes(&self) -> bool {
        row(self).keeps_bytes
    }

    /// Whether it needs the shape of its inputs alone, and loads none of them.
    pub fn reads_shape_only(&self) -> bool {
        row(self).reads_shape_only
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
mod tests {
    use super::*;

    /// A kind has one row.
    #[test]
    fn rows_are_unique() {
        for (index, row) in ROWS.iter().enumerate() {
            for other in &ROWS[..index] {
                assert_ne!(row.kind, other.kind);
            }
            assert!(row.kind.code().is_some() || row.kernel_name.is_some());
        }
    }
}
