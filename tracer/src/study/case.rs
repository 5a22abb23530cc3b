//! An operator and its shapes in words, as options and grids give them.

mod along_axis;
mod elementwise;
mod error;
mod moves;
mod numbers;
mod products;
mod reductions;
mod sequences;
mod signal;
mod stacks;
mod windows;

pub use error::CaseError;

use crate::kernels::Case;
use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Operator, Shape};
use dmo_analysis::trace::ElementType;
use error::{Context, Result, bail, ensure};
use std::ops::RangeInclusive;

/// An operator and its shapes in the words of `dmo-trace overlap`: each field is the option of that
/// name, `None` if it is not given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CaseRequest {
    /// Name of the operator, one of [`names`].
    pub operator: String,
    /// Shapes of the inputs, NxHxWxC, or fewer numbers for the last dimensions.
    pub input: Vec<String>,
    /// Shape of the filter.
    pub filter: Option<String>,
    /// Shape of the output, if it does not follow from the input.
    pub output: Option<String>,
    /// One number or HxW; of `strided_slice` one for each axis.
    pub stride: Option<String>,
    /// One number or HxW.
    pub dilation: Option<String>,
    /// `same`, `valid`, or the padding before the input.
    pub padding: Option<String>,
    /// Axis, or axes such as 1x2.
    pub axis: Option<String>,
    /// Sizes of the parts of `split`.
    pub parts: Option<String>,
    /// For each axis of the output the axis of the input.
    pub permutation: Option<String>,
    /// First index on each axis.
    pub begin: Option<String>,
    /// `half-pixel`, `corner` or `align-corners`.
    pub coordinates: Option<String>,
    /// Filters per unit of `svdf`.
    pub rank: Option<String>,
    /// `batch-major` or `time-major`.
    pub order: Option<String>,
    /// Type of the elements of the activations; `None`: int8.
    pub dtype: Option<String>,
    /// Type of the elements of the output; `None`: the same.
    pub to: Option<String>,
}

/// An operator that can be named.
#[derive(Clone)]
struct NamedOperator {
    name: &'static str,
    /// [`Kind::kernel_name`] of what computes it.
    kernel_name: &'static str,
    inputs: RangeInclusive<usize>,
    /// The options that it takes beside --input, --output and --dtype.
    options: &'static [&'static str],
    build: fn(&CaseRequest, Sizes) -> Result<Operator>,
}

const fn one(
    name: &'static str,
    options: &'static [&'static str],
    build: fn(&CaseRequest, Sizes) -> Result<Operator>,
) -> NamedOperator {
    several(name, 1..=1, options, build)
}

const fn two(
    name: &'static str,
    build: fn(&CaseRequest, Sizes) -> Result<Operator>,
) -> NamedOperator {
    several(name, 2..=2, &[], build)
}

const fn several(
    name: &'static str,
    inputs: RangeInclusive<usize>,
    options: &'static [&'static str],
    build: fn(&CaseRequest, Sizes) -> Result<Operator>,
) -> NamedOperator {
    NamedOperator {
        name,
        kernel_name: name,
        inputs,
        options,
        build,
    }
}

const WINDOW: &[&str] = &["filter", "stride", "dilation", "padding"];
const POOL: &[&str] = &["filter", "stride", "padding"];
const MAX_CONCAT: usize = 64;

/// Convolutions, pools and products.
const LAYERS: &[NamedOperator] = &[
    one("conv2d", WINDOW, windows::conv2d),
    one("depthwise_conv2d", WINDOW, windows::depthwise_conv2d),
    NamedOperator {
        kernel_name: "depthwise_conv2d",
        ..one("depthwise_in_place", WINDOW, windows::depthwise_in_place)
    },
    one("transpose_conv2d", POOL, windows::transpose_conv2d),
    NamedOperator {
        kernel_name: "max",
        ..one("max_pool", POOL, windows::pool)
    },
    NamedOperator {
        kernel_name: "average",
        ..one("avg_pool", POOL, windows::pool)
    },
    one("l2_pool", POOL, windows::pool),
    one("fully_connected", &["filter"], products::fully_connected),
    two("batched_matmul", products::batched_matmul),
    two("matmul", products::matmul),
];

/// The rest, named after those of the catalogue that go element by element.
const FURTHER: &[NamedOperator] = &[
    one("softmax", &["to"], elementwise::softmax),
    several("concat", 2..=MAX_CONCAT, &["axis"], moves::concat),
    one("split", &["axis", "parts"], moves::split),
    one("pad", &["padding"], moves::pad),
    one("mean", &["axis"], reductions::mean),
    one("sum", &["axis"], reductions::fold),
    one("reduce_max", &["axis"], reductions::fold),
    one("reduce_min", &["axis"], reductions::fold),
    one("reduce_all", &["axis"], reductions::fold),
    one("reshape", &[], moves::reshape),
    one("transpose", &["permutation"], moves::transpose),
    one("slice", &["begin"], moves::slice),
    one("strided_slice", &["begin", "stride"], moves::slice),
    several("pack", 1..=MAX_CONCAT, &["axis"], stacks::pack),
    one("unpack", &["axis"], stacks::unpack),
    one("space_to_depth", &["stride"], stacks::space_to_depth),
    one("depth_to_space", &["stride"], stacks::depth_to_space),
    one(
        "space_to_batch",
        &["stride", "padding"],
        stacks::space_to_batch,
    ),
    one(
        "batch_to_space",
        &["stride", "padding"],
        stacks::batch_to_space,
    ),
    several("gather", 2..=2, &["axis"], stacks::gather),
    two("update_slice", stacks::update_slice),
    two("broadcast_args", stacks::broadcast_args),
    one("mirror_pad", &["padding"], stacks::mirror_pad),
    two("select", elementwise::select),
    several("add_n", 2..=MAX_CONCAT, &[], elementwise::add_n),
    one("arg_max", &["axis"], along_axis::arg_extreme),
    one("arg_min", &["axis"], along_axis::arg_extreme),
    one("cumsum", &["axis"], along_axis::cumulative_sum),
    one("l2_normalization", &[], elementwise::softmax),
    one("log_softmax", &[], elementwise::softmax),
    one("resize_nearest", &["coordinates"], moves::resize_nearest),
    one("resize_bilinear", &["coordinates"], moves::resize_bilinear),
    one("svdf", &["filter", "rank"], sequences::svdf),
    one("lstm", &["filter", "order"], sequences::lstm),
    one("signal_window", &[], signal::elementwise),
    one("signal_log", &["to"], signal::elementwise),
    one("signal_square_root", &["to"], signal::square_root),
    one("signal_delay", &[], signal::delay),
    one("signal_filter_bank", &["to"], signal::rows),
    one("signal_overlap_add", &[], signal::rows),
    one("rfft", &[], signal::rows),
];

/// Names of all operators.
pub fn names() -> impl Iterator<Item = &'static str> {
    operators().map(|known| known.name)
}

fn operators() -> impl Iterator<Item = NamedOperator> {
    let elementwise = Kind::elementwise().map(|(name, inputs)| match (name, inputs) {
        ("requantize" | "cast", _) => one(name, &["to"], elementwise::unary),
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

impl CaseRequest {
    /// The names of all options.
    pub const OPTIONS: [&str; 15] = [
        "input",
        "filter",
        "output",
        "stride",
        "dilation",
        "padding",
        "axis",
        "parts",
        "permutation",
        "begin",
        "coordinates",
        "rank",
        "order",
        "dtype",
        "to",
    ];

    /// What an option is given; `None` if there is no such option, or it takes several values.
    pub fn option(&mut self, name: &str) -> Option<&mut Option<String>> {
        Some(match name {
            "filter" => &mut self.filter,
            "output" => &mut self.output,
            "stride" => &mut self.stride,
            "dilation" => &mut self.dilation,
            "padding" => &mut self.padding,
            "axis" => &mut self.axis,
            "parts" => &mut self.parts,
            "permutation" => &mut self.permutation,
            "begin" => &mut self.begin,
            "coordinates" => &mut self.coordinates,
            "rank" => &mut self.rank,
            "order" => &mut self.order,
            "dtype" => &mut self.dtype,
            "to" => &mut self.to,
            _ => return None,
        })
    }

    /// Name and value of all options that take one.
    fn options(&self) -> [(&'static str, &Option<String>); 14] {
        [
            ("filter", &self.filter),
            ("output", &self.output),
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
            ("dtype", &self.dtype),
            ("to", &self.to),
        ]
    }

    /// The operator with its shapes and types, checked.
    ///
    /// # Errors
    /// When there is no such operator, an option is missing, wrong or none of its, or shapes do not
    /// fit together.
    pub fn case(&self) -> Result<Case> {
        self.checked_case()
            .map_err(|error| error.about(&self.operator))
    }

    fn checked_case(&self) -> Result<Case> {
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

    fn check_options(&self, known: &NamedOperator) -> Result<()> {
        ensure!(
            known.inputs.contains(&self.input.len()),
            "{} shapes given by --input, expected {}",
            self.input.len(),
            match (known.inputs.start(), known.inputs.end()) {
                (start, end) if start == end => start.to_string(),
                (start, end) => format!("{start} to {end}"),
            }
        );
        for (option, value) in self.options() {
            let is_common = ["output", "dtype"].contains(&option);
            ensure!(
                is_common || value.is_none() || known.options.contains(&option),
                "it takes no --{option}{}",
                match known.options {
                    [] => String::new(),
                    options => format!("\n  hint: it takes --{}", options.join(", --")),
                }
            );
        }
        Ok(())
    }

    fn types(&self) -> Result<(ElementType, ElementType)> {
        let element_type =
            numbers::element_type("--dtype", self.dtype.as_deref().unwrap_or("int8"))?;
        Ok(match (self.operator.as_str(), &self.to) {
            ("quantize", _) => (ElementType::Float32, element_type),
            ("dequantize", _) => (element_type, ElementType::Float32),
            ("matmul", _) if element_type == ElementType::Int8 => {
                (element_type, ElementType::Int32)
            }
            ("select", _) => (ElementType::Bool, element_type),
            ("arg_max" | "arg_min", _) => (element_type, ElementType::Int32),
            ("equal" | "not_equal", _)
            | ("greater" | "greater_equal", _)
            | ("less" | "less_equal", _) => (element_type, ElementType::Bool),
            (_, Some(to)) => (element_type, numbers::element_type("--to", to)?),
            _ => (element_type, element_type),
        })
    }

    fn input(&self, index: usize) -> Result<Shape> {
        let text = self.input.get(index).context("--input is missing")?;
        numbers::extents("--input", text)
    }

    /// Elements of the first input.
    fn elements(&self) -> Result<u32> {
        let extents = self.input(0)?.map(u64::from);
        let count = extents.into_iter().fold(1, u64::saturating_mul);
        let error = || format!("--input has {count} elements, limit {}", u32::MAX);
        u32::try_from(count).map_err(|_| CaseError::misfit(error()))
    }

    fn output(&self) -> Result<Shape> {
        let text = self
            .output
            .as_deref()
            .context("--output is missing: it does not follow from the rest")?;
        numbers::extents("--output", text)
    }

    fn filter(&self) -> Result<Shape> {
        let text = self.filter.as_deref().context("--filter is missing")?;
        numbers::shape("--filter", text, 1)
    }

    fn axis(&self) -> Result<u32> {
        let text = self.axis.as_deref().context("--axis is missing")?;
        match numbers::numbers("--axis", text)?[..] {
            [axis] => numbers::axis(axis),
            _ => None,
        }
        .with_context(|| format!("--axis {text}: expected 0 to 3, or -4 to -1 from the end"))
    }
}

/// An --output that follows from the rest must be what follows.
fn check_output(operator: &Operator, given: Shape, expected: Shape) -> Result<()> {
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
