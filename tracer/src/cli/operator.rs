//! An operator and its shapes, as the user gives them on the command line.

use anyhow::{Context, bail, ensure};
use dmo_analysis::operator::{
    Accumulation, BatchedMatmul, Concat, Conv2d, DepthwiseConv2d, Elementwise, ElementwiseBinary,
    FullyConnected, Interpolation, Matmul, Operator, Pad, Pool2d, Reduce, Reduction, Reshape,
    ResizeBilinear, ResizeNearest, Shape, Softmax, SpatialMean, Split, StridedSlice, Transpose,
    TransposeConv2d, Window, tflite_padding_before,
};
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::Case;

/// Operator and shapes.
#[derive(clap::Args, Clone)]
pub struct OperatorArguments {
    /// Operator: conv2d, depthwise_conv2d, transpose_conv2d, max_pool, avg_pool,
    /// fully_connected, batched_matmul, matmul, relu, relu6, quantize, dequantize, add, mul,
    /// softmax, concat, split, pad, mean, reduce, reshape, transpose, strided_slice,
    /// resize_nearest, resize_bilinear
    operator: String,
    /// Shape of the input, NxHxWxC (fewer numbers: the last ones); once for each input
    #[arg(long, required = true, value_name = "SHAPE")]
    input: Vec<String>,
    /// Filter: conv2d OxHxWxI, depthwise 1xHxWxO, fully_connected OxI; pooling HxW
    #[arg(long, value_name = "SHAPE")]
    filter: Option<String>,
    /// Shape of the output, where it does not follow: pad, transpose_conv2d, resize, slice
    #[arg(long, value_name = "SHAPE")]
    output: Option<String>,
    /// Stride: one number or HxW
    #[arg(long, default_value = "1")]
    stride: String,
    /// Dilation: one number or HxW
    #[arg(long, default_value = "1")]
    dilation: String,
    /// Padding: same, valid, or what lies before the input: one number or HxW (pad: NxHxWxC)
    #[arg(long, default_value = "valid")]
    padding: String,
    /// Axis of concat and split, 0 to 3; reduced axes as in 1x2
    #[arg(long)]
    axis: Option<String>,
    /// Extents of split's parts on the axis, as in 3x5
    #[arg(long)]
    parts: Option<String>,
    /// For each axis of transpose's output, that of its input, as in 0x2x1x3
    #[arg(long)]
    permutation: Option<String>,
    /// First index of strided_slice on each axis, as in 0x1x1x0
    #[arg(long)]
    begin: Option<String>,
    /// Type of the activations: int8, int16, float32
    #[arg(long, default_value = "int8")]
    dtype: String,
}

impl OperatorArguments {
    /// The operator with its shapes and types.
    pub fn case(&self) -> anyhow::Result<Case> {
        let element_type = match self.dtype.as_str() {
            "int8" => ElementType::Int8,
            "int16" => ElementType::Int16,
            "float32" => ElementType::Float32,
            other => bail!("--dtype {other}: expected int8, int16 or float32"),
        };
        let (input_type, output_type) = match self.operator.as_str() {
            "quantize" => (ElementType::Float32, element_type),
            "dequantize" => (element_type, ElementType::Float32),
            "matmul" if element_type == ElementType::Int8 => (element_type, ElementType::Int32),
            _ => (element_type, element_type),
        };
        let (operator, kind) = self
            .operator(input_type.size_bytes(), output_type.size_bytes())
            .with_context(|| self.operator.clone())?;
        Ok(Case {
            operator,
            kind,
            input_type,
            output_type,
        })
    }

    #[expect(clippy::too_many_lines, reason = "one arm an operator")]
    fn operator(&self, from: u32, to: u32) -> anyhow::Result<(Operator, &'static str)> {
        let input = self.input(0)?;
        let elements = || {
            let count = input
                .iter()
                .map(|&extent| u64::from(extent))
                .product::<u64>();
            u32::try_from(count).context("--input has more elements than fit in 32 bits")
        };
        let element_bytes = from;
        let inputs = match self.operator.as_str() {
            "batched_matmul" | "matmul" | "add" | "mul" => 2..=2,
            "concat" => 2..=64,
            _ => 1..=1,
        };
        ensure!(
            inputs.contains(&self.input.len()),
            "{} shapes given by --input, expected {}",
            self.input.len(),
            if inputs.start() == inputs.end() {
                inputs.start().to_string()
            } else {
                "at least 2".to_owned()
            }
        );
        Ok(match self.operator.as_str() {
            "conv2d" => {
                let [out, height, width, depth] = self.filter()?;
                ensure!(
                    depth > 0 && input[3].is_multiple_of(depth),
                    "the filter's depth {depth} does not divide the input's {}",
                    input[3]
                );
                let (window, [oh, ow]) = self.window(input, [height, width])?;
                let conv = Conv2d {
                    input,
                    output: [input[0], oh, ow, out],
                    window,
                    groups: input[3] / depth,
                    element_bytes,
                };
                (Operator::Conv2d(conv), "conv2d")
            }
            "depthwise_conv2d" => {
                let [_, height, width, out] = self.filter()?;
                ensure!(
                    input[3] > 0 && out.is_multiple_of(input[3]),
                    "the filter's depth {out} is no multiple of the input's {}",
                    input[3]
                );
                let (window, [oh, ow]) = self.window(input, [height, width])?;
                let conv = DepthwiseConv2d {
                    input,
                    output: [input[0], oh, ow, out],
                    window,
                    multiplier: out / input[3],
                    element_bytes,
                };
                (Operator::DepthwiseConv2d(conv), "depthwise_conv2d")
            }
            "transpose_conv2d" => {
                let [_, height, width, _] = self.filter()?;
                let output = self.output()?;
                let stride = self.pair("--stride", &self.stride)?;
                let padding_before = match self.padding.as_str() {
                    "valid" => [0, 0],
                    "same" => [0, 1].map(|axis| {
                        let kernel = [height, width][axis];
                        let extents = (output[axis + 1], input[axis + 1]);
                        tflite_padding_before(extents.0, extents.1, kernel, stride[axis], 1)
                    }),
                    text => self.pair("--padding", text)?,
                };
                let conv = TransposeConv2d {
                    input,
                    output,
                    window: Window {
                        kernel: [height, width],
                        stride,
                        padding_before,
                        ..Window::default()
                    },
                    accumulation: match from {
                        4 => Accumulation::Output,
                        _ => Accumulation::Scratch,
                    },
                    element_bytes,
                };
                (Operator::TransposeConv2d(conv), "transpose_conv2d")
            }
            "max_pool" | "avg_pool" => {
                let filter = self.filter.as_deref().context("--filter HxW is missing")?;
                let kernel = self.pair("--filter", filter)?;
                let (window, [oh, ow]) = self.window(input, kernel)?;
                let pool = Pool2d {
                    input,
                    output: [input[0], oh, ow, input[3]],
                    window,
                    element_bytes,
                };
                let kind = match self.operator.as_str() {
                    "max_pool" => "max",
                    _ => "average",
                };
                (Operator::Pool2d(pool), kind)
            }
            "fully_connected" => {
                let [_, _, out, depth] = self.filter()?;
                let elements = elements()?;
                ensure!(
                    depth > 0 && elements.is_multiple_of(depth),
                    "the filter's {depth} inputs do not divide the input's {elements} elements"
                );
                let layer = FullyConnected {
                    batches: elements / depth,
                    input_depth: depth,
                    output_depth: out,
                    element_bytes,
                };
                (Operator::FullyConnected(layer), "fully_connected")
            }
            "batched_matmul" | "matmul" => {
                let ([_, batches, rows, inner], b) = (input, self.input(1)?);
                ensure!(
                    b[1] == batches && b[2] == inner,
                    "the inputs {input:?} and {b:?} cannot be multiplied: expected BxMxK and BxKxN"
                );
                if self.operator == "matmul" {
                    ensure!(batches == 1, "matmul has no batches: batched_matmul has");
                    let matmul = Matmul {
                        rows,
                        inner,
                        columns: b[3],
                        input_element_bytes: from,
                        output_element_bytes: to,
                    };
                    return Ok((Operator::Matmul(matmul), "matmul"));
                }
                let matmul = BatchedMatmul {
                    batches,
                    rows,
                    inner,
                    columns: b[3],
                    input_element_bytes: from,
                    output_element_bytes: to,
                };
                (Operator::BatchedMatmul(matmul), "batched_matmul")
            }
            name @ ("relu" | "relu6" | "quantize" | "dequantize") => {
                let layer = Elementwise {
                    elements: elements()?,
                    input_element_bytes: from,
                    output_element_bytes: to,
                };
                let kind = match name {
                    "relu" => "relu",
                    "relu6" => "relu6",
                    "quantize" => "quantize",
                    _ => "dequantize",
                };
                (Operator::Elementwise(layer), kind)
            }
            name @ ("add" | "mul") => {
                let inputs = [input, self.input(1)?];
                let output = [0, 1, 2, 3].map(|axis| inputs[0][axis].max(inputs[1][axis]));
                let binary = ElementwiseBinary {
                    inputs,
                    output,
                    input_element_bytes: [from, from],
                    output_element_bytes: to,
                };
                let kind = if name == "add" { "add" } else { "mul" };
                (Operator::ElementwiseBinary(binary), kind)
            }
            "softmax" => {
                ensure!(input[3] > 0, "--input has no channels");
                let softmax = Softmax {
                    rows: elements()? / input[3],
                    depth: input[3],
                    input_element_bytes: from,
                    output_element_bytes: to,
                };
                (Operator::Softmax(softmax), "softmax")
            }
            "concat" => {
                let inputs = (0..self.input.len()).map(|index| self.input(index));
                let concat = Concat {
                    inputs: inputs.collect::<Result<_, _>>()?,
                    axis: self.axis()?,
                    element_bytes,
                };
                (Operator::Concat(concat), "concat")
            }
            "split" => {
                let parts = self.parts.as_deref().context("--parts is missing")?;
                let split = Split {
                    input,
                    axis: self.axis()?,
                    parts: numbers("--parts", parts)?,
                    element_bytes,
                };
                (Operator::Split(split), "split")
            }
            "pad" => {
                let before = match self.padding.as_str() {
                    "same" | "valid" => bail!("--padding NxHxWxC is missing"),
                    text => shape("--padding", text, 0)?,
                };
                let pad = Pad {
                    input,
                    before,
                    output: self.output()?,
                    element_bytes,
                };
                (Operator::Pad(pad), "pad")
            }
            "mean" if from < 4 => {
                let mean = SpatialMean {
                    input,
                    input_element_bytes: from,
                    output_element_bytes: to,
                };
                (Operator::SpatialMean(mean), "mean")
            }
            name @ ("mean" | "reduce") => {
                let axes = self.axis.as_deref().unwrap_or("1x2");
                let listed = numbers("--axis", axes)?;
                ensure!(
                    listed.iter().all(|&axis| axis < 4),
                    "--axis: expected 0 to 3"
                );
                let reduce = Reduce {
                    input,
                    axes: [0, 1, 2, 3].map(|axis| listed.contains(&axis)),
                    reduction: match name {
                        "mean" => Reduction::Mean,
                        _ => Reduction::Fold,
                    },
                    input_element_bytes: from,
                    output_element_bytes: to,
                };
                let kind = if name == "mean" { "mean" } else { "reduce" };
                (Operator::Reduce(reduce), kind)
            }
            "reshape" => {
                let reshape = Reshape {
                    elements: elements()?,
                    element_bytes,
                };
                (Operator::Reshape(reshape), "reshape")
            }
            "transpose" => {
                let text = self
                    .permutation
                    .as_deref()
                    .context("--permutation is missing")?;
                let transpose = Transpose {
                    input,
                    permutation: four("--permutation", text)?,
                    element_bytes,
                };
                (Operator::Transpose(transpose), "transpose")
            }
            "strided_slice" => {
                let stride = shape("--stride", &self.stride, 1)?;
                let slice = StridedSlice {
                    input,
                    begin: four("--begin", self.begin.as_deref().unwrap_or("0x0x0x0"))?,
                    stride: stride.map(|step| i32::try_from(step).unwrap_or(i32::MAX)),
                    output: self.output()?,
                    element_bytes,
                };
                (Operator::StridedSlice(slice), "strided_slice")
            }
            "resize_nearest" => {
                let resize = ResizeNearest {
                    input,
                    output: self.output()?,
                    align_corners: false,
                    half_pixel_centers: true,
                    element_bytes,
                };
                (Operator::ResizeNearest(resize), "resize_nearest")
            }
            "resize_bilinear" => {
                let resize = ResizeBilinear {
                    input,
                    output: self.output()?,
                    align_corners: false,
                    half_pixel_centers: true,
                    interpolation: match from {
                        4 => Interpolation::Float,
                        _ => Interpolation::FixedPoint,
                    },
                    element_bytes,
                };
                (Operator::ResizeBilinear(resize), "resize_bilinear")
            }
            _ => bail!("unknown operator\n  hint: dmo-trace overlap --help lists them"),
        })
    }

    fn input(&self, index: usize) -> anyhow::Result<Shape> {
        let text = self.input.get(index).context("--input is missing")?;
        shape("--input", text, 1)
    }

    fn output(&self) -> anyhow::Result<Shape> {
        let text = self
            .output
            .as_deref()
            .context("--output is missing: it does not follow from the rest")?;
        shape("--output", text, 1)
    }

    fn filter(&self) -> anyhow::Result<Shape> {
        let text = self.filter.as_deref().context("--filter is missing")?;
        shape("--filter", text, 1)
    }

    fn axis(&self) -> anyhow::Result<u32> {
        let text = self.axis.as_deref().context("--axis is missing")?;
        text.parse()
            .ok()
            .filter(|&axis| axis < 4)
            .with_context(|| format!("--axis {text}: expected 0 to 3"))
    }

    fn pair(&self, what: &str, text: &str) -> anyhow::Result<[u32; 2]> {
        match numbers(what, text)?[..] {
            [both] => Ok([both, both]),
            [height, width] => Ok([height, width]),
            _ => bail!("{what} {text}: expected one number or HxW"),
        }
    }

    /// The window, and the output's height and width that follow from it.
    fn window(&self, input: Shape, kernel: [u32; 2]) -> anyhow::Result<(Window, [u32; 2])> {
        let stride = self.pair("--stride", &self.stride)?;
        let dilation = self.pair("--dilation", &self.dilation)?;
        let mut padding_before = [0, 0];
        let mut output = [0, 0];
        for axis in 0..2 {
            let what = ["height", "width"][axis];
            ensure!(
                stride[axis] > 0 && dilation[axis] > 0 && kernel[axis] > 0,
                "stride, dilation and filter must be at least 1 on each axis"
            );
            let extent = u64::from(input[axis + 1]);
            let reach = u64::from(kernel[axis] - 1) * u64::from(dilation[axis]) + 1;
            let padded = match self.padding.as_str() {
                "same" => {
                    output[axis] = input[axis + 1].div_ceil(stride[axis]);
                    padding_before[axis] = tflite_padding_before(
                        input[axis + 1],
                        output[axis],
                        kernel[axis],
                        stride[axis],
                        dilation[axis],
                    );
                    continue;
                }
                "valid" => extent,
                text => {
                    padding_before[axis] = self.pair("--padding", text)?[axis];
                    extent + 2 * u64::from(padding_before[axis])
                }
            };
            ensure!(
                padded >= reach,
                "the filter reaches over {reach} elements, the input's {what} is {padded}\n  hint: --padding same"
            );
            output[axis] = u32::try_from((padded - reach) / u64::from(stride[axis]) + 1)
                .with_context(|| format!("the output's {what} does not fit in 32 bits"))?;
        }
        let window = Window {
            kernel,
            stride,
            dilation,
            padding_before,
        };
        Ok((window, output))
    }
}

fn numbers(what: &str, text: &str) -> anyhow::Result<Vec<u32>> {
    text.split('x')
        .map(|number| {
            number
                .parse()
                .with_context(|| format!("{what} {text}: '{number}' is not a number"))
        })
        .collect()
}

/// Up to four numbers; missing ones in front are `missing`.
fn shape(what: &str, text: &str, missing: u32) -> anyhow::Result<Shape> {
    let given = numbers(what, text)?;
    ensure!(given.len() <= 4, "{what} {text}: at most four numbers");
    let mut shape = [missing; 4];
    shape[4 - given.len()..].copy_from_slice(&given);
    Ok(shape)
}

fn four(what: &str, text: &str) -> anyhow::Result<[u32; 4]> {
    let given = numbers(what, text)?;
    given
        .try_into()
        .map_err(|_| anyhow::anyhow!("{what} {text}: expected four numbers"))
}
