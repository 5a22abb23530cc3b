//! What each kind of operator allocates in the tail, besides its node: options as the runtime
//! unpacks them (`TfLite...Params`, `tensorflow/lite/core/c/builtin_op_data.h`), the data that its
//! `Init` asks for (`OpData`, in the file of the kernel), and what its `Prepare` asks for.
//!
//! Sizes are those that the kernels ask for on a Cortex-M4. Without a row it is not known.

use super::persistent;
use super::signal;
use super::structures::Structure;
use crate::graph::Kind;
use crate::graph::tflite::RuntimeKernels;
use crate::graph::tflite::lower::FileNode;

type Persistent = fn(&FileNode, RuntimeKernels) -> Option<Vec<u64>>;

/// What a kind allocates.
pub(super) struct Row {
    kind: Kind,
    /// Its options, unpacked.
    pub options: Option<Structure>,
    /// `OpData` in bytes: of the reference kernel and of the glue to CMSIS-NN.
    data: [u64; 2],
    /// Persistent buffers in bytes; `None` where they are not known.
    pub persistent: Persistent,
}

#[rustfmt::skip]
static ROWS: &[Row] = &[
    Row::of(Kind::Abs).data(28),
    Row::of(Kind::Add).options(2, 1).data(60),
    Row::of(Kind::AddN).persistent(persistent::add_n),
    Row::of(Kind::ArgMax).options(1, 1),
    Row::of(Kind::ArgMin).options(1, 1),
    Row::of(Kind::AveragePool2d).options(40, 4).data_of(32, 36),
    Row::of(Kind::BatchMatmul).options(3, 1).data_of(16, 36).persistent(persistent::batch_matmul),
    Row::of(Kind::CallOnce).options(4, 4).data(8),
    Row::of(Kind::Cast).options(2, 1),
    Row::of(Kind::CircularBuffer).data(8),
    Row::of(Kind::Concatenation).options(8, 4).data(24),
    Row::of(Kind::Conv2d).options(28, 4).data_of(56, 60).persistent(persistent::conv),
    Row::of(Kind::Cumsum).options(2, 1).persistent(persistent::cumsum),
    Row::of(Kind::DepthToSpace).options(4, 4).persistent(persistent::output_shape),
    Row::of(Kind::DepthwiseConv2d).options(28, 4).data_of(56, 60).persistent(persistent::depthwise_conv),
    Row::of(Kind::Dequantize).data(32),
    Row::of(Kind::Div).options(1, 1).data(28),
    Row::of(Kind::Elu).data(256),
    Row::of(Kind::EmbeddingLookup).persistent(persistent::embedding_lookup),
    Row::of(Kind::Equal).data(32),
    Row::of(Kind::FullyConnected).options(5, 1).data_of(48, 72).persistent(persistent::fully_connected),
    Row::of(Kind::Gather).options(8, 4).persistent(persistent::output_shape),
    Row::of(Kind::GatherNd).persistent(persistent::output_shape),
    Row::of(Kind::Greater).data(32),
    Row::of(Kind::GreaterEqual).data(32),
    Row::of(Kind::HardSwish).data(20),
    Row::of(Kind::If).options(8, 4).data(8),
    Row::of(Kind::L2Normalization).options(1, 1).data(4),
    Row::of(Kind::L2Pool2d).options(40, 4).persistent(persistent::output_shape),
    Row::of(Kind::LeakyRelu).options(4, 4).data(24),
    Row::of(Kind::Less).data(32),
    Row::of(Kind::LessEqual).data(32),
    Row::of(Kind::LogSoftmax).persistent(persistent::log_softmax),
    Row::of(Kind::Logistic).data(16),
    Row::of(Kind::MaxPool2d).options(40, 4).data_of(32, 36),
    Row::of(Kind::Mean).options(1, 1).data(44),
    Row::of(Kind::MirrorPad).options(1, 1).data(20),
    Row::of(Kind::Mul).options(1, 1).data(36),
    Row::of(Kind::NotEqual).data(32),
    Row::of(Kind::Pack).options(8, 4),
    Row::of(Kind::Pad).data(56),
    Row::of(Kind::Padv2).data(56),
    Row::of(Kind::Prelu).data(28),
    Row::of(Kind::Quantize).data(32),
    Row::of(Kind::ReduceAll).options(1, 1).data(44),
    Row::of(Kind::ReduceMax).options(1, 1).data(44),
    Row::of(Kind::ReduceMin).options(1, 1).data(44),
    Row::of(Kind::Relu).data(28),
    Row::of(Kind::Relu6).data(8),
    Row::of(Kind::Reshape).options(36, 4),
    Row::of(Kind::ResizeBilinear).options(2, 1),
    Row::of(Kind::ResizeNearestNeighbor).options(2, 1),
    Row::of(Kind::Rsqrt).data(28),
    Row::of(Kind::SelectV2).data(1),
    Row::of(Kind::Shape).options(1, 1),
    Row::of(Kind::Softmax).options(4, 4).data_of(56, 64).persistent(persistent::softmax),
    Row::of(Kind::SpaceToBatchNd).data(4),
    Row::of(Kind::SpaceToDepth).options(4, 4).persistent(persistent::output_shape),
    Row::of(Kind::Split).options(4, 4),
    Row::of(Kind::SplitV).options(4, 4),
    Row::of(Kind::SquaredDifference).data(112),
    Row::of(Kind::Squeeze).options(36, 4),
    Row::of(Kind::StridedSlice).options(24, 4).data(84),
    Row::of(Kind::Sub).options(2, 1).data(52),
    Row::of(Kind::Sum).options(1, 1).data(44),
    Row::of(Kind::Svdf).options(8, 4).data_of(36, 40),
    Row::of(Kind::Tanh).data(16),
    Row::of(Kind::TransposeConv).options(16, 4).data_of(72, 76).persistent(persistent::transpose_conv),
    Row::of(Kind::UnidirectionalSequenceLstm).options(16, 4).data_of(688, 912).persistent(persistent::lstm),
    Row::of(Kind::Unpack).options(8, 4),
    Row::of(Kind::VarHandle).options(8, 4).data(4),
    Row::of(Kind::While).options(8, 4).data(8),
    // Custom operators: detection, and the signal library.
    Row::of(Kind::DetectionPostprocess).data(112),
    Row::of(Kind::SignalDelay).data(20).persistent(signal::delay),
    Row::of(Kind::SignalEnergy).data(8),
    Row::of(Kind::SignalFftAutoScale),
    Row::of(Kind::SignalFilterBank).data(36).persistent(signal::filter_bank),
    Row::of(Kind::SignalFilterBankLog).data(8),
    Row::of(Kind::SignalFilterBankSpectralSubtraction).data(44).persistent(signal::noise_estimate),
    Row::of(Kind::SignalFilterBankSquareRoot),
    Row::of(Kind::SignalFramer).data(28).persistent(signal::framer),
    Row::of(Kind::SignalIrfft).data(24).persistent(signal::transform),
    Row::of(Kind::SignalOverlapAdd).data(24).persistent(signal::overlap_add),
    Row::of(Kind::SignalPcan).data(4),
    Row::of(Kind::SignalRfft).data(32).persistent(signal::transform),
    Row::of(Kind::SignalStacker).data(36).persistent(signal::stacker),
    Row::of(Kind::SignalWindow).data(8),
    Row::of(Kind::Decode).persistent(persistent::decode),
    // Without data of their own.
    Row::of(Kind::AssignVariable),
    Row::of(Kind::BatchToSpaceNd),
    Row::of(Kind::BroadcastArgs),
    Row::of(Kind::BroadcastTo),
    Row::of(Kind::Ceil),
    Row::of(Kind::Cos),
    Row::of(Kind::DynamicUpdateSlice),
    Row::of(Kind::Exp),
    Row::of(Kind::ExpandDims),
    Row::of(Kind::Fill),
    Row::of(Kind::Floor),
    Row::of(Kind::FloorDiv),
    Row::of(Kind::FloorMod),
    Row::of(Kind::Log),
    Row::of(Kind::LogicalAnd),
    Row::of(Kind::LogicalNot),
    Row::of(Kind::LogicalOr),
    Row::of(Kind::Maximum),
    Row::of(Kind::Minimum),
    Row::of(Kind::Neg),
    Row::of(Kind::ReadVariable),
    Row::of(Kind::ReverseV2),
    Row::of(Kind::Round),
    Row::of(Kind::Sin),
    Row::of(Kind::Slice),
    Row::of(Kind::Sqrt),
    Row::of(Kind::Square),
    Row::of(Kind::Transpose),
    Row::of(Kind::ZerosLike),
];

/// The kind's row.
pub(super) fn row(kind: &Kind) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.kind == *kind)
}

impl Row {
    const fn of(kind: Kind) -> Self {
        Self {
            kind,
            options: None,
            data: [0; 2],
            persistent: |_, _| Some(Vec::new()),
        }
    }

    const fn options(mut self, size_bytes: u64, alignment: u64) -> Self {
        self.options = Some(Structure {
            size_bytes,
            alignment,
        });
        self
    }

    const fn data(self, bytes: u64) -> Self {
        self.data_of(bytes, bytes)
    }

    const fn data_of(mut self, reference: u64, cmsis_nn: u64) -> Self {
        self.data = [reference, cmsis_nn];
        self
    }

    const fn persistent(mut self, sizes: Persistent) -> Self {
        self.persistent = sizes;
        self
    }

    /// `OpData` in bytes; 0 if there is none.
    pub fn data_bytes(&self, kernels: RuntimeKernels) -> u64 {
        let [reference, cmsis_nn] = self.data;
        match kernels {
            RuntimeKernels::Reference => reference,
            RuntimeKernels::CmsisNn => cmsis_nn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_unique() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| row.kind != other.kind));
        }
    }
}
