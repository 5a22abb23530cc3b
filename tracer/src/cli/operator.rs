//! An operator and its shapes, as the user gives them on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dmo_trace::kernels::Case;
use dmo_trace::study::case::{CaseError, CaseRequest, names};

/// Operator and shapes.
#[derive(clap::Args, Clone)]
pub struct OperatorArguments {
    /// The operator
    #[arg(value_parser = operators(), ignore_case = true)]
    operator: String,
    /// Shape of an input, NxHxWxC, or fewer numbers for the last dimensions; give it once per
    /// input. svdf: BxI; lstm: BxTxI, or TxBxI with --order time-major
    #[arg(long, required = true, value_name = "SHAPE")]
    input: Vec<String>,
    /// Shape of the filter. conv2d: OxHxWxI; depthwise_conv2d: 1xHxWxO; transpose_conv2d: OxHxWxI,
    /// or 1xHxWx1 to take the depths from --input and --output; fully_connected: OxI; pooling: HxW;
    /// svdf: FILTERSxI; lstm: UNITSxI
    #[arg(long, value_name = "SHAPE")]
    filter: Option<String>,
    /// Shape of the output, if it does not follow from the input (pad, mirror_pad,
    /// transpose_conv2d, resize, slice, space_to_batch, batch_to_space); for other operators it is checked
    #[arg(long, value_name = "SHAPE")]
    output: Option<String>,
    /// Stride: one number or HxW; strided_slice: one per axis, negative values allowed [default: 1];
    /// space_to_depth, depth_to_space, space_to_batch and batch_to_space: height and width of a block
    #[arg(long, allow_hyphen_values = true)]
    stride: Option<String>,
    /// Dilation: one number or HxW [default: 1]
    #[arg(long)]
    dilation: Option<String>,
    /// Padding: same, valid, or the padding before the input as one number or HxW (pad and mirror_pad: NxHxWxC;
    /// batch_to_space: what is cropped there)
    /// [default: valid]
    #[arg(long, value_parser = lower_case)]
    padding: Option<String>,
    /// Axis of concat, split, unpack, gather, arg_max, arg_min and cumsum, 0 to 3, or -4 to -1 counted from the last; pack: the one
    /// before which it makes another; reductions: axes such as 1x2
    #[arg(long, allow_hyphen_values = true)]
    axis: Option<String>,
    /// Sizes of split's parts along the axis, for example 3x5
    #[arg(long)]
    parts: Option<String>,
    /// transpose: for each axis of the output the axis of the input, for example 0x2x1x3
    #[arg(long)]
    permutation: Option<String>,
    /// First index of a slice on each axis, for example 0x1x1x0 [default: 0x0x0x0]
    #[arg(long)]
    begin: Option<String>,
    /// Coordinates of a pixel in resize: half-pixel (its centre), corner, or align-corners
    /// [default: half-pixel]
    #[arg(long)]
    coordinates: Option<String>,
    /// Filters per unit of svdf, with a memory of 8 steps (O_s does not depend on it) [default: 1]
    #[arg(long)]
    rank: Option<String>,
    /// First dimension of lstm's input: batch-major or time-major [default: batch-major]
    #[arg(long)]
    order: Option<String>,
    /// Element type of the activations: int8, uint8, int16, int32, int64, float32, bool
    #[arg(long, default_value = "int8")]
    dtype: String,
    /// Element type of the output of requantize, cast and softmax [default: the same as --dtype]
    #[arg(long)]
    to: Option<String>,
}

/// The names that TensorFlow Lite has for some operators, in lower case, each after ours.
const NAMES_IN_MODELS: [(&str, &str); 11] = [
    ("avg_pool", "average_pool_2d"),
    ("batch_to_space", "batch_to_space_nd"),
    ("batched_matmul", "batch_matmul"),
    ("concat", "concatenation"),
    ("conv2d", "conv_2d"),
    ("depthwise_conv2d", "depthwise_conv_2d"),
    ("lstm", "unidirectional_sequence_lstm"),
    ("max_pool", "max_pool_2d"),
    ("resize_nearest", "resize_nearest_neighbor"),
    ("space_to_batch", "space_to_batch_nd"),
    ("transpose_conv2d", "transpose_conv"),
];

/// Reads an operator's name, as it is here or in models.
fn operators() -> impl TypedValueParser<Value = String> {
    let value = |name: &'static str| {
        let same = NAMES_IN_MODELS.iter().filter(move |(own, _)| *own == name);
        PossibleValue::new(name).aliases(same.map(|(_, in_models)| *in_models))
    };
    PossibleValuesParser::new(names().map(value)).map(|text| {
        let given = text.to_ascii_lowercase();
        let own = NAMES_IN_MODELS
            .iter()
            .find(|(_, in_models)| *in_models == given);
        own.map_or(given.clone(), |(own, _)| (*own).to_owned())
    })
}

/// SAME and VALID, as TensorFlow writes them, are same and valid.
fn lower_case(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.to_ascii_lowercase())
}

impl OperatorArguments {
    /// The operator with its shapes and types, checked.
    pub fn case(&self) -> Result<Case, CaseError> {
        self.request().case()
    }

    fn request(&self) -> CaseRequest {
        let given = self.clone();
        CaseRequest {
            operator: given.operator,
            input: given.input,
            filter: given.filter,
            output: given.output,
            stride: given.stride,
            dilation: given.dilation,
            padding: given.padding,
            axis: given.axis,
            parts: given.parts,
            permutation: given.permutation,
            begin: given.begin,
            coordinates: given.coordinates,
            rank: given.rank,
            order: given.order,
            dtype: Some(given.dtype),
            to: given.to,
        }
    }
}
