//! What an operator is called.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the kind of a custom operator begins with, before its own name.
const CUSTOM_PREFIX: &str = "CUSTOM:";
/// What the kind of a builtin operator without a name begins with, before its code.
const UNKNOWN_PREFIX: &str = "BUILTIN:";

/// The variants with their names; those of the schema come first, in the order of their codes.
macro_rules! kinds {
    ($($variant:ident $name:literal,)*) => {
        /// The kind of an operator: what it computes, whatever its shapes and types.
        ///
        /// Its text is the name in TensorFlow Lite's schema. What is known of each kind stands
        /// in one row of the catalogue, `graph/tflite/catalogue.rs`.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
            /// One that has no variant, by its text: `CUSTOM:` and the name of a custom operator,
            /// `BUILTIN:` and the code of a builtin one that is newer than this list.
            Other(String),
        }

        impl Kind {
            const NAMED: &[(Self, &str)] = &[$((Self::$variant, $name),)*];

            /// Its text.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }
        }
    };
}

#[rustfmt::skip]
kinds! {
    Add "ADD", AveragePool2d "AVERAGE_POOL_2D", Concatenation "CONCATENATION", Conv2d "CONV_2D",
    DepthwiseConv2d "DEPTHWISE_CONV_2D", DepthToSpace "DEPTH_TO_SPACE", Dequantize "DEQUANTIZE",
    EmbeddingLookup "EMBEDDING_LOOKUP", Floor "FLOOR", FullyConnected "FULLY_CONNECTED",
    HashtableLookup "HASHTABLE_LOOKUP", L2Normalization "L2_NORMALIZATION", L2Pool2d "L2_POOL_2D",
    LocalResponseNormalization "LOCAL_RESPONSE_NORMALIZATION", Logistic "LOGISTIC",
    LshProjection "LSH_PROJECTION", Lstm "LSTM", MaxPool2d "MAX_POOL_2D", Mul "MUL", Relu "RELU",
    ReluN1To1 "RELU_N1_TO_1", Relu6 "RELU6", Reshape "RESHAPE", ResizeBilinear "RESIZE_BILINEAR",
    Rnn "RNN", Softmax "SOFTMAX", SpaceToDepth "SPACE_TO_DEPTH", Svdf "SVDF", Tanh "TANH",
    ConcatEmbeddings "CONCAT_EMBEDDINGS", SkipGram "SKIP_GRAM", Call "CALL", Custom "CUSTOM",
    EmbeddingLookupSparse "EMBEDDING_LOOKUP_SPARSE", Pad "PAD",
    UnidirectionalSequenceRnn "UNIDIRECTIONAL_SEQUENCE_RNN", Gather "GATHER",
    BatchToSpaceNd "BATCH_TO_SPACE_ND", SpaceToBatchNd "SPACE_TO_BATCH_ND", Transpose "TRANSPOSE",
    Mean "MEAN", Sub "SUB", Div "DIV", Squeeze "SQUEEZE",
    UnidirectionalSequenceLstm "UNIDIRECTIONAL_SEQUENCE_LSTM", StridedSlice "STRIDED_SLICE",
    BidirectionalSequenceRnn "BIDIRECTIONAL_SEQUENCE_RNN", Exp "EXP", TopkV2 "TOPK_V2",
    Split "SPLIT", LogSoftmax "LOG_SOFTMAX", Delegate "DELEGATE",
    BidirectionalSequenceLstm "BIDIRECTIONAL_SEQUENCE_LSTM", Cast "CAST", Prelu "PRELU",
    Maximum "MAXIMUM", ArgMax "ARG_MAX", Minimum "MINIMUM", Less "LESS", Neg "NEG", Padv2 "PADV2",
    Greater "GREATER", GreaterEqual "GREATER_EQUAL", LessEqual "LESS_EQUAL", Select "SELECT",
    Slice "SLICE", Sin "SIN", TransposeConv "TRANSPOSE_CONV", SparseToDense "SPARSE_TO_DENSE",
    Tile "TILE", ExpandDims "EXPAND_DIMS", Equal "EQUAL", NotEqual "NOT_EQUAL", Log "LOG",
    Sum "SUM", Sqrt "SQRT", Rsqrt "RSQRT", Shape "SHAPE", Pow "POW", ArgMin "ARG_MIN",
    FakeQuant "FAKE_QUANT", ReduceProd "REDUCE_PROD", ReduceMax "REDUCE_MAX", Pack "PACK",
    LogicalOr "LOGICAL_OR", OneHot "ONE_HOT", LogicalAnd "LOGICAL_AND", LogicalNot "LOGICAL_NOT",
    Unpack "UNPACK", ReduceMin "REDUCE_MIN", FloorDiv "FLOOR_DIV", ReduceAny "REDUCE_ANY",
    Square "SQUARE", ZerosLike "ZEROS_LIKE", Fill "FILL", FloorMod "FLOOR_MOD", Range "RANGE",
    ResizeNearestNeighbor "RESIZE_NEAREST_NEIGHBOR", LeakyRelu "LEAKY_RELU",
    SquaredDifference "SQUARED_DIFFERENCE", MirrorPad "MIRROR_PAD", Abs "ABS", SplitV "SPLIT_V",
    Unique "UNIQUE", Ceil "CEIL", ReverseV2 "REVERSE_V2", AddN "ADD_N", GatherNd "GATHER_ND",
    Cos "COS", Where "WHERE", Rank "RANK", Elu "ELU", ReverseSequence "REVERSE_SEQUENCE",
    MatrixDiag "MATRIX_DIAG", Quantize "QUANTIZE", MatrixSetDiag "MATRIX_SET_DIAG", Round "ROUND",
    HardSwish "HARD_SWISH", If "IF", While "WHILE", NonMaxSuppressionV4 "NON_MAX_SUPPRESSION_V4",
    NonMaxSuppressionV5 "NON_MAX_SUPPRESSION_V5", ScatterNd "SCATTER_ND", SelectV2 "SELECT_V2",
    Densify "DENSIFY", SegmentSum "SEGMENT_SUM", BatchMatmul "BATCH_MATMUL",
    PlaceholderForGreaterOpCodes "PLACEHOLDER_FOR_GREATER_OP_CODES", Cumsum "CUMSUM",
    CallOnce "CALL_ONCE", BroadcastTo "BROADCAST_TO", Rfft2d "RFFT2D", Conv3d "CONV_3D",
    Imag "IMAG", Real "REAL", ComplexAbs "COMPLEX_ABS", Hashtable "HASHTABLE",
    HashtableFind "HASHTABLE_FIND", HashtableImport "HASHTABLE_IMPORT",
    HashtableSize "HASHTABLE_SIZE", ReduceAll "REDUCE_ALL", Conv3dTranspose "CONV_3D_TRANSPOSE",
    VarHandle "VAR_HANDLE", ReadVariable "READ_VARIABLE", AssignVariable "ASSIGN_VARIABLE",
    BroadcastArgs "BROADCAST_ARGS", RandomStandardNormal "RANDOM_STANDARD_NORMAL",
    Bucketize "BUCKETIZE", RandomUniform "RANDOM_UNIFORM", Multinomial "MULTINOMIAL", Gelu "GELU",
    DynamicUpdateSlice "DYNAMIC_UPDATE_SLICE", Relu0To1 "RELU_0_TO_1",
    UnsortedSegmentProd "UNSORTED_SEGMENT_PROD", UnsortedSegmentMax "UNSORTED_SEGMENT_MAX",
    UnsortedSegmentSum "UNSORTED_SEGMENT_SUM", Atan2 "ATAN2",
    UnsortedSegmentMin "UNSORTED_SEGMENT_MIN", Sign "SIGN", Bitcast "BITCAST",
    BitwiseXor "BITWISE_XOR", RightShift "RIGHT_SHIFT",
    // Kernels here tell these apart, the schema does not; and rows: of the input, handed over, and of
    // tensors in tiles, kept for the next tile.
    Matmul "MATMUL", Requantize "REQUANTIZE", InputRows "INPUT_ROWS", KeptRows "KEPT_ROWS",
    // Custom operators of TensorFlow Lite Micro.
    CircularBuffer "CIRCULAR_BUFFER", DetectionPostprocess "TFLite_Detection_PostProcess",
    SignalDelay "SignalDelay", SignalEnergy "SignalEnergy",
    SignalFftAutoScale "SignalFftAutoScale", SignalFilterBank "SignalFilterBank",
    SignalFilterBankLog "SignalFilterBankLog",
    SignalFilterBankSpectralSubtraction "SignalFilterBankSpectralSubtraction",
    SignalFilterBankSquareRoot "SignalFilterBankSquareRoot", SignalFramer "SignalFramer",
    SignalIrfft "SignalIrfft", SignalOverlapAdd "SignalOverlapAdd", SignalPcan "SignalPCAN",
    SignalRfft "SignalRfft", SignalStacker "SignalStacker", SignalWindow "SignalWindow",
    Decode "TFLM_DECODE",
}

impl Kind {
    /// How many kinds of the schema have a name: the codes below.
    const CODES: usize = 162;
    /// Where custom operators begin among the names, after those that only kernels here tell apart.
    const CUSTOM: usize = Self::CODES + 4;

    /// The builtin operator of a code in TensorFlow Lite's schema.
    pub fn of_code(code: i32) -> Self {
        let known = usize::try_from(code)
            .ok()
            .filter(|&code| code < Self::CODES);
        known.map_or_else(
            || Self::Other(format!("{UNKNOWN_PREFIX}{code}")),
            |code| Self::NAMED[code].0.clone(),
        )
    }

    /// The custom operator of this name.
    pub fn custom(name: &str) -> Self {
        let known = Self::NAMED[Self::CUSTOM..]
            .iter()
            .find(|(_, known)| *known == name);
        known.map_or_else(
            || Self::Other(format!("{CUSTOM_PREFIX}{name}")),
            |(kind, _)| kind.clone(),
        )
    }

    /// Its text for a terminal: a model file's own names may hold anything.
    pub fn escape_debug(&self) -> std::str::EscapeDebug<'_> {
        self.name().escape_debug()
    }

    /// Its code in TensorFlow Lite's schema; `None` if it has no name there.
    pub fn code(&self) -> Option<usize> {
        let code = Self::NAMED.iter().position(|(kind, _)| kind == self);
        code.filter(|&code| code < Self::CODES)
    }

    /// Whether it is a custom operator that only its author knows.
    pub fn is_custom(&self) -> bool {
        self.name().starts_with(CUSTOM_PREFIX)
    }

    /// Whether it is a builtin operator whose code is newer than this list: it may do anything.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Other(name) if !name.starts_with(CUSTOM_PREFIX))
    }
}

impl From<&str> for Kind {
    fn from(name: &str) -> Self {
        let known = Self::NAMED.iter().find(|(_, known)| *known == name);
        known.map_or_else(|| Self::Other(name.to_owned()), |(kind, _)| kind.clone())
    }
}

impl From<String> for Kind {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.name().to_owned()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
