//! What is used of TensorFlow Lite's schema: numbers of fields and options.
//! They are those of `tensorflow/lite/schema/schema.fbs`, version 3c.

/// A field of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub table: &'static str,
    pub name: &'static str,
    pub number: usize,
}

macro_rules! tables {
    ($($table:ident { $($field:ident = $number:literal),* $(,)? })*) => {
        $(#[allow(dead_code, reason = "the tables name what they have, used or not")]
        pub(crate) mod $table {
            use super::Field;
            $(pub const $field: Field = Field {
                table: stringify!($table),
                name: stringify!($field),
                number: $number,
            };)*
        })*
    };
}

tables! {
    model {
        VERSION = 0, OPERATOR_CODES = 1, SUBGRAPHS = 2, DESCRIPTION = 3, BUFFERS = 4,
        METADATA_BUFFER = 5, METADATA = 6, SIGNATURE_DEFS = 7,
    }
    operator_code { DEPRECATED_BUILTIN_CODE = 0, CUSTOM_CODE = 1, VERSION = 2, BUILTIN_CODE = 3 }
    subgraph { TENSORS = 0, INPUTS = 1, OUTPUTS = 2, OPERATORS = 3, NAME = 4 }
    tensor {
        SHAPE = 0, TYPE = 1, BUFFER = 2, NAME = 3, QUANTIZATION = 4, IS_VARIABLE = 5, SPARSITY = 6,
        SHAPE_SIGNATURE = 7, HAS_RANK = 8,
    }
    quantization {
        MIN = 0, MAX = 1, SCALE = 2, ZERO_POINT = 3, DETAILS_TYPE = 4, QUANTIZED_DIMENSION = 6,
    }
    operator {
        OPCODE_INDEX = 0, INPUTS = 1, OUTPUTS = 2, OPTIONS_TYPE = 3, OPTIONS = 4,
        CUSTOM_OPTIONS = 5, CUSTOM_OPTIONS_FORMAT = 6, MUTATING_VARIABLE_INPUTS = 7,
        INTERMEDIATES = 8, LARGE_CUSTOM_OPTIONS_OFFSET = 9, DEBUG_METADATA_INDEX = 13,
    }
    buffer { DATA = 0, OFFSET = 1, SIZE = 2 }
    metadata { NAME = 0, BUFFER = 1 }
    signature_def { INPUTS = 0, OUTPUTS = 1, SIGNATURE_KEY = 2, SUBGRAPH_INDEX = 4 }
    tensor_map { NAME = 0, TENSOR_INDEX = 1 }

    conv_2d {
        PADDING = 0, STRIDE_W = 1, STRIDE_H = 2, ACTIVATION = 3, DILATION_W = 4, DILATION_H = 5,
        QUANTIZED_BIAS_TYPE = 6,
    }
    depthwise_conv_2d {
        PADDING = 0, STRIDE_W = 1, STRIDE_H = 2, MULTIPLIER = 3, ACTIVATION = 4, DILATION_W = 5,
        DILATION_H = 6,
    }
    transpose_conv { PADDING = 0, STRIDE_W = 1, STRIDE_H = 2, ACTIVATION = 3 }
    pool_2d {
        PADDING = 0, STRIDE_W = 1, STRIDE_H = 2, FILTER_W = 3, FILTER_H = 4, ACTIVATION = 5,
    }
    fully_connected {
        ACTIVATION = 0, WEIGHTS_FORMAT = 1, KEEP_NUM_DIMS = 2, ASYMMETRIC_QUANTIZE_INPUTS = 3,
    }
    add { ACTIVATION = 0 }
    sub { ACTIVATION = 0 }
    mul { ACTIVATION = 0 }
    div { ACTIVATION = 0 }
    l2_norm { ACTIVATION = 0 }
    softmax { BETA = 0 }
    concatenation { AXIS = 0, ACTIVATION = 1 }
    reshape { NEW_SHAPE = 0 }
    squeeze { SQUEEZE_DIMS = 0 }
    reducer { KEEP_DIMS = 0 }
    strided_slice {
        BEGIN_MASK = 0, END_MASK = 1, ELLIPSIS_MASK = 2, NEW_AXIS_MASK = 3, SHRINK_AXIS_MASK = 4,
        OFFSET = 5,
    }
    split { NUM_SPLITS = 0 }
    leaky_relu { ALPHA = 0 }
    cast { IN_TYPE = 0, OUT_TYPE = 1 }
    resize_bilinear { ALIGN_CORNERS = 2, HALF_PIXEL_CENTERS = 3 }
    resize_nearest_neighbor { ALIGN_CORNERS = 0, HALF_PIXEL_CENTERS = 1 }
    batch_matmul { ADJ_X = 0, ADJ_Y = 1, ASYMMETRIC_QUANTIZE_INPUTS = 2 }
    svdf { RANK = 0, ACTIVATION = 1, ASYMMETRIC_QUANTIZE_INPUTS = 2 }
    unidirectional_sequence_lstm {
        ACTIVATION = 0, CELL_CLIP = 1, PROJ_CLIP = 2, TIME_MAJOR = 3,
        ASYMMETRIC_QUANTIZE_INPUTS = 4, DIAGONAL_RECURRENT_TENSORS = 5,
    }
    gather { AXIS = 0, BATCH_DIMS = 1 }
    pack { VALUES_COUNT = 0, AXIS = 1 }
    unpack { NUM = 0, AXIS = 1 }
    mirror_pad { MODE = 0 }
    cumsum { EXCLUSIVE = 0, REVERSE = 1 }
    depth_space { BLOCK_SIZE = 0 }
    call { SUBGRAPH = 0 }
    if_ { THEN_SUBGRAPH = 0, ELSE_SUBGRAPH = 1 }
    while_ { COND_SUBGRAPH = 0, BODY_SUBGRAPH = 1 }
    call_once { INIT_SUBGRAPH = 0 }
    var_handle { CONTAINER = 0, SHARED_NAME = 1 }
}

/// Options of a window that moves; height first, then width.
pub(crate) struct WindowFields {
    pub padding: Field,
    pub stride: [Field; 2],
    /// If it can be other than 1.
    pub dilation: Option<[Field; 2]>,
}

impl WindowFields {
    pub const CONV_2D: Self = Self {
        padding: conv_2d::PADDING,
        stride: [conv_2d::STRIDE_H, conv_2d::STRIDE_W],
        dilation: Some([conv_2d::DILATION_H, conv_2d::DILATION_W]),
    };
    pub const DEPTHWISE_CONV_2D: Self = Self {
        padding: depthwise_conv_2d::PADDING,
        stride: [depthwise_conv_2d::STRIDE_H, depthwise_conv_2d::STRIDE_W],
        dilation: Some([depthwise_conv_2d::DILATION_H, depthwise_conv_2d::DILATION_W]),
    };
    pub const TRANSPOSE_CONV: Self = Self {
        padding: transpose_conv::PADDING,
        stride: [transpose_conv::STRIDE_H, transpose_conv::STRIDE_W],
        dilation: None,
    };
    pub const POOL_2D: Self = Self {
        padding: pool_2d::PADDING,
        stride: [pool_2d::STRIDE_H, pool_2d::STRIDE_W],
        dilation: None,
    };
}

/// Numbers of the members of the union of options.
pub(crate) mod options {
    pub const CONV_2D: u8 = 1;
    pub const DEPTHWISE_CONV_2D: u8 = 2;
    pub const POOL_2D: u8 = 5;
    pub const SVDF: u8 = 6;
    pub const FULLY_CONNECTED: u8 = 8;
    pub const SOFTMAX: u8 = 9;
    pub const CONCATENATION: u8 = 10;
    pub const ADD: u8 = 11;
    pub const L2_NORM: u8 = 12;
    pub const RESIZE_BILINEAR: u8 = 15;
    pub const CALL: u8 = 16;
    pub const RESHAPE: u8 = 17;
    pub const SPACE_TO_DEPTH: u8 = 19;
    pub const MUL: u8 = 21;
    pub const PAD: u8 = 22;
    pub const GATHER: u8 = 23;
    pub const TRANSPOSE: u8 = 26;
    pub const REDUCER: u8 = 27;
    pub const SUB: u8 = 28;
    pub const DIV: u8 = 29;
    pub const SQUEEZE: u8 = 30;
    pub const STRIDED_SLICE: u8 = 32;
    pub const SPLIT: u8 = 35;
    pub const CAST: u8 = 37;
    pub const ARG_MAX: u8 = 40;
    pub const PAD_V2: u8 = 43;
    pub const SLICE: u8 = 48;
    pub const TRANSPOSE_CONV: u8 = 49;
    pub const SHAPE: u8 = 55;
    pub const ARG_MIN: u8 = 57;
    pub const PACK: u8 = 59;
    pub const ONE_HOT: u8 = 61;
    pub const UNPACK: u8 = 64;
    pub const UNIDIRECTIONAL_SEQUENCE_LSTM: u8 = 71;
    pub const RESIZE_NEAREST_NEIGHBOR: u8 = 74;
    pub const LEAKY_RELU: u8 = 75;
    pub const MIRROR_PAD: u8 = 77;
    pub const SPLIT_V: u8 = 79;
    pub const REVERSE_SEQUENCE: u8 = 87;
    pub const IF: u8 = 92;
    pub const WHILE: u8 = 93;
    pub const DEPTH_TO_SPACE: u8 = 94;
    pub const BATCH_MATMUL: u8 = 101;
    pub const CUMSUM: u8 = 102;
    pub const CALL_ONCE: u8 = 103;
    pub const VAR_HANDLE: u8 = 111;
    pub const GELU: u8 = 116;
}

/// `Padding`.
pub(crate) const PADDING_SAME: i8 = 0;
pub(crate) const PADDING_VALID: i8 = 1;

/// The code of operators that name themselves.
pub(crate) const CUSTOM: i32 = 32;

/// Size in bytes of this many elements, packed where they are smaller than a byte.
pub(crate) fn size_bytes(bits: u64, shape: &[u32]) -> Option<u64> {
    let bits = shape.iter().try_fold(u128::from(bits), |size, &extent| {
        size.checked_mul(u128::from(extent))
    })?;
    i64::try_from(bits.div_ceil(8)).ok().map(i64::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sizes() {
        assert_eq!(size_bytes(4, &[3, 3]), Some(5));
        assert_eq!(size_bytes(32, &[]), Some(4));
        assert_eq!(size_bytes(8, &[1 << 31, 1 << 31]), Some(1 << 62));
        assert_eq!(size_bytes(8, &[u32::MAX, u32::MAX]), None);
        assert_eq!(size_bytes(8, &[u32::MAX; 9]), None);
    }
}
