//! An operator and its shapes, as the user gives them on the command line.

mod elementwise;
mod moves;
mod numbers;
mod products;
mod reductions;
mod sequences;
mod windows;

use anyhow::{Context, bail, ensure};
use clap::builder::PossibleValuesParser;
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Operator, Shape, ShapeError};
use dmo_analysis::trace::ElementType;
use dmo_trace::kernels::Case;
use std::ops::RangeInclusive;

/// Operator and shapes.
#[derive(clap::Args, Clone)]
pub struct OperatorArguments {
    /// The operator
    #[arg(value_parser = PossibleValuesParser::new(names()))]
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
    /// Shape of the output, if it does not follow from the input (pad, transpose_conv2d, resize,
    /// slice); for other operators it is checked
    #[arg(long, value_name = "SHAPE")]
    output: Option<String>,
    /// Stride: one number or HxW; strided_slice: one per axis, negative values allowed [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    stride: Option<String>,
    /// Dilation: one number or HxW [default: 1]
    #[arg(long)]
    dilation: Option<String>,
    /// Padding: same, valid, or the padding before the input as one number or HxW (pad: NxHxWxC)
    /// [default: valid]
    #[arg(long, value_parser = lower_case)]
    padding: Option<String>,
    /// Axis of concat and split, 0 to 3, or -4 to -1 counted from the last; reductions: axes such
    /// as 1x2
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
    /// Element type of the activations: int8, uint8, int16, int32, float32
    #[arg(long, default_value = "int8")]
    dtype: String,
    /// Element type of the output of requantize and softmax [default: the same as --dtype]
    #[arg(long)]
    to: Option<String>,
}

/// An operator of the command line.
#[derive(Clone)]
struct CommandOperator {
    name: &'static str,
    /// [`Kind::kernel_name`] of what computes it.
    kernel_name: &'static str,
    inputs: RangeInclusive<usize>,
    /// The options that it takes beside --input, --output and --dtype.
    options: &'static [&'static str],
    build: fn(&OperatorArguments, Sizes) -> anyhow::Result<Operator>,
}

const fn one(
    name: &'static str,
    options: &'static [&'static str],
    build: fn(&OperatorArguments, Sizes) -> anyhow::Result<Operator>,
) -> CommandOperator {
    several(name, 1..=1, options, build)
}

const fn two(
    name: &'static str,
    build: fn(&OperatorArguments, Sizes) -> anyhow::Result<Operator>,
) -> CommandOperator {
    several(name, 2..=2, &[], build)
}

const fn several(
    name: &'static str,
    inputs: RangeInclusive<usize>,
    options: &'static [&'static str],
    build: fn(&OperatorArguments, Sizes) -> anyhow::Result<Operator>,
) -> CommandOperator {
    CommandOperator {
        name,
        kernel_name: name,
        inputs,
        options,
        build,
    }
}

/// SAME and VALID, as TensorFlow writes them, are same and valid.
fn lower_case(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.to_ascii_lowercase())
}

const WINDOW: &[&str] = &["filter", "stride", "dilation", "padding"];
const POOL: &[&str] = &["filter", "stride", "padding"];
const MAX_CONCAT: usize = 64;

/// Convolutions, pools and products.
const LAYERS: &[CommandOperator] = &[
    one("conv2d", WINDOW, windows::conv2d),
    one("depthwise_conv2d", WINDOW, windows::depthwise_conv2d),
    CommandOperator {
        kernel_name: "depthwise_conv2d",
        ..one("depthwise_in_place", WINDOW, windows::depthwise_in_place)
    },
    one("transpose_conv2d", POOL, windows::transpose_conv2d),
    CommandOperator {
        kernel_name: "max",
        ..one("max_pool", POOL, windows::pool)
    },
    CommandOperator {
        kernel_name: "average",
        ..one("avg_pool", POOL, windows::pool)
    },
    one("fully_connected", &["filter"], products::fully_connected),
    two("batched_matmul", products::batched_matmul),
    two("matmul", products::matmul),
];

/// The rest, named after those of the catalogue that go element by element.
const FURTHER: &[CommandOperator] = &[
    one("softmax", &["to"], elementwise::softmax),
    several("concat", 2..=MAX_CONCAT, &["axis"], moves::concat),
    one("split", &["axis", "parts"], moves::split),
    one("pad", &["padding"], moves::pad),
    one("mean", &["axis"], reductions::mean),
    one("sum", &["axis"], reductions::fold),
    one("reduce_max", &["axis"], reductions::fold),
    one("reduce_min", &["axis"], reductions::fold),
    one("reshape", &[], moves::reshape),
    one("transpose", &["permutation"], moves::transpose),
    one("slice", &["begin"], moves::slice),
    one("strided_slice", &["begin", "stride"], moves::slice),
    one("resize_nearest", &["coordinates"], moves::resize_nearest),
    one("resize_bilinear", &["coordinates"], moves::resize_bilinear),
    one("svdf", &["filter", "rank"], sequences::svdf),
    one("lstm", &["filter", "order"], sequences::lstm),
];

/// Shapes that do not fit together, each of them possible by itself: a grid leaves such
/// combinations out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Misfit(String);

/// Whether shapes that do not fit together are all that is wrong.
pub fn is_misfit(error: &anyhow::Error) -> bool {
    error.is::<Misfit>() || error.is::<ShapeError>()
}

/// Names of all operators.
pub fn names() -> impl Iterator<Item = &'static str> {
    operators().map(|known| known.name)
}

fn operators() -> impl Iterator<Item = CommandOperator> {
    let elementwise = Kind::elementwise().map(|(name, inputs)| match (name, inputs) {
        ("requantize", _) => one(name, &["to"], elementwise::unary),
        (_, 1) => one(name, &[], elementwise::unary),
        _ => two(name, elementwise::binary),
    });
    let further = FURTHER.iter().cloned();
    LAYERS.iter().cloned().chain(elementwise).chain(further)
}

/// Bytes per element of the inputs and of the output.
#[derive(Clone, Copy)]
struct Sizes {
    from: u32,
    to: u32,
}

impl OperatorArguments {
    /// The operator with its shapes and types, checked.
    pub fn case(&self) -> anyhow::Result<Case> {
        self.checked_case().with_context(|| self.operator.clone())
    }

    fn checked_case(&self) -> anyhow::Result<Case> {
        let known = operators()
            .find(|known| known.name == self.operator)
            .context("unknown operator")?;
        self.check_options(&known)?;
        let (input_type, output_type) = self.types()?;
        let sizes = Sizes {
            from: input_type.size_bytes(),
            to: output_type.size_bytes(),
        };
        let operator = (known.build)(self, sizes)?;
        let buffers = operator.buffers()?;
        if let (Some(given), [output]) = (&self.output, &buffers.outputs[..]) {
            check_output(
                &operator,
                numbers::extents("--output", given)?,
                output.shape,
            )?;
        }
        Ok(Case {
            operator,
            kind: Kind::of_kernels(known.kernel_name).context("no kernel computes it")?,
            input_type,
            output_type,
        })
    }

    fn check_options(&self, known: &CommandOperator) -> anyhow::Result<()> {
        ensure!(
            known.inputs.contains(&self.input.len()),
            "{} shapes given by --input, expected {}",
            self.input.len(),
            match (known.inputs.start(), known.inputs.end()) {
                (start, end) if start == end => start.to_string(),
                (start, end) => format!("{start} to {end}"),
            }
        );
        let given = [
            ("filter", &self.filter),
            ("stride", &self.stride),
            ("dilation", &self.dilation),
            ("padding", &self.padding),
            ("axis", &self.axis),
            ("parts", &self.parts),
            ("permutation", &self.permutation),
            ("begin", &self.begin),
            ("coordinates", &self.coordinates),
            ("rank", &self.rank),
            ("order", &self.order),
            ("to", &self.to),
        ];
        for (option, value) in given {
            ensure!(
                value.is_none() || known.options.contains(&option),
                "it takes no --{option}{}",
                match known.options {
                    [] => String::new(),
                    options => format!("\n  hint: it takes --{}", options.join(", --")),
                }
            );
        }
        Ok(())
    }

    fn types(&self) -> anyhow::Result<(ElementType, ElementType)> {
        let element_type = numbers::element_type("--dtype", &self.dtype)?;
        Ok(match (self.operator.as_str(), &self.to) {
            ("quantize", _) => (ElementType::Float32, element_type),
            ("dequantize", _) => (element_type, ElementType::Float32),
            ("matmul", _) if element_type == ElementType::Int8 => {
                (element_type, ElementType::Int32)
            }
            (_, Some(to)) => (element_type, numbers::element_type("--to", to)?),
            _ => (element_type, element_type),
        })
    }

    fn input(&self, index: usize) -> anyhow::Result<Shape> {
        let text = self.input.get(index).context("--input is missing")?;
        numbers::extents("--input", text)
    }

    /// Elements of the first input.
    fn elements(&self) -> anyhow::Result<u32> {
        let extents = self.input(0)?.map(u64::from);
        let count = extents.into_iter().fold(1, u64::saturating_mul);
        let error = || Misfit(format!("--input has {count} elements, limit {}", u32::MAX));
        u32::try_from(count).map_err(|_| error().into())
    }

    fn output(&self) -> anyhow::Result<Shape> {
        let text = self
            .output
            .as_deref()
            .context("--output is missing: it does not follow from the rest")?;
        numbers::extents("--output", text)
    }

    fn filter(&self) -> anyhow::Result<Shape> {
        let text = self.filter.as_deref().context("--filter is missing")?;
        numbers::shape("--filter", text, 1)
    }

    fn axis(&self) -> anyhow::Result<u32> {
        let text = self.axis.as_deref().context("--axis is missing")?;
        match numbers::numbers("--axis", text)?[..] {
            [axis] => numbers::axis(axis),
            _ => None,
        }
        .with_context(|| format!("--axis {text}: expected 0 to 3, or -4 to -1 from the end"))
    }
}

/// An --output that follows from the rest must be what follows.
fn check_output(operator: &Operator, given: Shape, expected: Shape) -> anyhow::Result<()> {
    let rows_only = matches!(
        operator,
        Operator::Elementwise(_)
            | Operator::Reshape(_)
            | Operator::Softmax(_)
            | Operator::FullyConnected(_)
            | Operator::Matmul(_)
            | Operator::BatchedMatmul(_)
            | Operator::Svdf(_)
            | Operator::Lstm(_)
    );
    if rows_only {
        let count = |shape: Shape| shape.map(u128::from).iter().product::<u128>();
        ensure!(
            count(given) == count(expected),
            Misfit(format!(
                "--output has {} elements, expected {}: it follows from the rest",
                count(given),
                count(expected)
            ))
        );
        return Ok(());
    }
    for (axis, name) in numbers::AXES.into_iter().enumerate() {
        if given[axis] != expected[axis] {
            bail!(Misfit(format!(
                "the output's {name} is {}, expected {}: it follows from the rest",
                given[axis], expected[axis]
            )));
        }
    }
    Ok(())
}
