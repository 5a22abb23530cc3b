//! What generated code says of its model.

use super::c_interface::scalar_bytes;
use super::literal::float;
use super::template::Values;
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::graph::{OperatorId, TensorType};
use dmo_analysis::wording::grouped;

/// A model and the plan that its code is made for.
#[derive(Debug, Clone)]
pub struct Description {
    /// The library's name, a C identifier.
    pub name: String,
    /// The name and an underscore: what every external name begins with.
    pub prefix: String,
    /// The model file's name.
    pub model: String,
    /// The model file's hash.
    pub sha256: String,
    /// Which ends are integers where the file's are floats, in words; `None` if all are as there.
    pub integer_io: Option<String>,
    /// The kernels' set.
    pub kernels: String,
    /// The CPU that they were planned on.
    pub cpu: String,
    /// The model's inputs in the arena.
    pub inputs: Vec<EndpointDescription>,
    /// The input that is handed over in rows instead; `None` if it lies in the arena.
    pub rows: Option<RowsDescription>,
    /// The model's outputs.
    pub outputs: Vec<EndpointDescription>,
    /// Each operator of the model in words.
    pub operators: Vec<String>,
    /// The deepest stack that a kernel used when it was measured; `None` if it was not.
    pub stack_bytes: Option<u32>,
    /// Multiply-accumulates of an inference.
    pub macs: u64,
    /// The memories that it is placed in, a paragraph; empty of one arena.
    pub layout: String,
    /// The inputs are as they were when an inference has ended.
    pub keeps_inputs: bool,
    /// How it takes the rows of a window over time; `None` if it takes whole windows.
    pub stream: Option<StreamDescription>,
}

/// How a model takes the rows of a window over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamDescription {
    /// Rows of the window.
    pub window_rows: u32,
    /// Rows that an inference takes.
    pub new_rows: u32,
    /// Inferences whose outputs are of no whole window.
    pub warm_up: u32,
}

/// An input that the application hands over in rows.
#[derive(Debug, Clone)]
pub struct RowsDescription {
    /// The input.
    pub input: EndpointDescription,
    /// At most this many rows are handed over at once.
    pub most: u32,
}

impl RowsDescription {
    /// Rows of the input.
    pub fn rows(&self) -> u32 {
        self.input.shape.get(1).copied().unwrap_or(1).max(1)
    }

    /// Elements of a row.
    pub fn row_elements(&self) -> u64 {
        self.input.elements() / u64::from(self.rows())
    }

    /// Size of a row in bytes.
    pub fn row_bytes(&self) -> u64 {
        self.row_elements() * self.input.element_bytes()
    }

    /// Values for templates about it.
    pub fn values(&self, description: &Description) -> Values {
        let quantisation = self.input.quantisation_macros(description);
        self.input
            .values(description)
            .with("rows", self.rows())
            .with("row_elements", self.row_elements())
            .with("most_rows", self.most)
            .with("quantisation", quantisation)
    }
}

/// An input or output of the model.
#[derive(Debug, Clone)]
pub struct EndpointDescription {
    /// Its name in C: `input`, or `input0` where there are several.
    pub name: String,
    /// The tensor's name.
    pub tensor: String,
    /// Elements on each axis.
    pub shape: Vec<u32>,
    /// Type of its elements.
    pub element_type: TensorType,
    /// How it is quantised; `None` if it is not, or not known.
    pub quantisation: Option<Affine>,
}

impl EndpointDescription {
    /// The C type of an element.
    pub fn c_type(&self) -> &'static str {
        match self.element_type {
            TensorType::Float32 => "float",
            TensorType::Int8 => "int8_t",
            TensorType::Int16 => "int16_t",
            TensorType::Int32 => "int32_t",
            TensorType::Uint32 => "uint32_t",
            TensorType::Int64 => "int64_t",
            TensorType::Uint64 => "uint64_t",
            _ => "uint8_t",
        }
    }

    /// The least and the greatest element of a quantised type.
    pub fn limits(&self) -> Option<(i32, i32)> {
        match self.element_type {
            TensorType::Int8 => Some((-128, 127)),
            TensorType::Uint8 => Some((0, 255)),
            TensorType::Int16 => Some((-32768, 32767)),
            _ => None,
        }
    }

    /// Number of its elements.
    pub fn elements(&self) -> u64 {
        let extents = self.shape.iter().map(|&extent| u64::from(extent));
        extents.fold(1, u64::saturating_mul)
    }

    /// Size of an element in C.
    pub fn element_bytes(&self) -> u64 {
        scalar_bytes(self.c_type()).unwrap_or(1) as u64
    }

    /// Values for templates about this endpoint.
    pub fn values(&self, description: &Description) -> Values {
        let shape: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let shape = shape.join("x");
        let tensor = description.printable(&self.tensor);
        let (least, most) = self.limits().unwrap_or_default();
        description
            .values()
            .with("name", &self.name)
            .with("NAME", self.name.to_uppercase())
            .with("element", self.c_type())
            .with("elements", format!("{}u", self.elements()))
            .with("about", format!("{tensor}: {} {shape}", self.element_type))
            .with("least", least)
            .with("most", most)
    }

    /// A row of the README's table: what it is, its type and shape, and what a number in it stands for.
    pub fn readme_row(&self, what: &str) -> String {
        let shape: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let meaning = self.quantisation.map_or_else(String::new, |affine| {
            let sign = if affine.zero_point < 0 { '+' } else { '-' };
            let zero = affine.zero_point.unsigned_abs();
            format!(", of which x means {} * (x {sign} {zero})", affine.scale)
        });
        format!(
            "| {what} | `{}`: `{}` {}{meaning} |\n",
            self.name,
            self.c_type(),
            shape.join("x")
        )
    }

    /// Scale and zero point as macros; empty if it is not quantised.
    pub fn quantisation_macros(&self, description: &Description) -> String {
        let Some(affine) = self.quantisation else {
            return String::new();
        };
        let name = format!("{}{}", description.upper_prefix(), self.name.to_uppercase());
        format!(
            "#define {name}_SCALE {}\n#define {name}_ZERO_POINT {}\n",
            float(affine.scale),
            parenthesised(affine.zero_point)
        )
    }
}

fn parenthesised(number: i32) -> String {
    if number < 0 {
        format!("({number})")
    } else {
        number.to_string()
    }
}

impl Description {
    /// The prefix of macros.
    pub fn upper_prefix(&self) -> String {
        self.prefix.to_uppercase()
    }

    /// What the header says of the rows that an inference takes; empty if it takes whole windows.
    pub fn stream_macros(&self) -> String {
        let Some(stream) = self.stream else {
            return String::new();
        };
        let StreamDescription {
            window_rows,
            new_rows,
            warm_up,
        } = stream;
        let prefix = self.upper_prefix();
        format!(
            "\n// The input is {} of a stream. The outputs are those of the model on the\n\
             // last {window_rows} rows, once that many have been stored since init or reset: ignore those of the first\n\
             // {prefix}WARM_UP inferences. Where the stream is interrupted, call {}reset.\n\
             #define {prefix}NEW_ROWS {new_rows}u\n#define {prefix}WINDOW_ROWS {window_rows}u\n\
             #define {prefix}WARM_UP {warm_up}u\n",
            if new_rows == 1 {
                "the newest row".to_owned()
            } else {
                format!("the {new_rows} newest rows")
            },
            self.prefix
        )
    }

    /// What `invoke` takes besides the context, with the comma before it.
    fn rows_parameters(&self) -> String {
        let prefix = &self.prefix;
        let parameters = format!(", {prefix}read_rows read, void *user");
        self.rows.as_ref().map_or_else(String::new, |_| parameters)
    }

    /// An operator of the model in words.
    pub fn operator(&self, operator: OperatorId) -> String {
        let known = self.operators.get(operator.0);
        format!("{}: {}", operator.0, known.map_or("", String::as_str))
    }

    /// One line on what this is and where it comes from.
    pub fn line(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let model = self.printable(&self.model);
        let ends = self.integer_io.as_ref();
        let ends = ends.map_or_else(String::new, |ends| {
            format!(", with {ends} in place of floats")
        });
        format!("Generated by dmo-trace {version} from {model}{ends}. Do not edit.")
    }

    /// The comment at the top of a C file.
    pub fn banner(&self, what: &str) -> String {
        format!(
            "// SPDX-License-Identifier: MIT OR Apache-2.0\n//\n// {what}\n//\n// {}\n// SHA-256 of the model: {}",
            self.line(),
            self.sha256
        )
    }

    /// A name out of the model as it may stand in a comment: on one line, in ASCII, without what
    /// would end or continue it.
    pub fn printable(&self, text: &str) -> String {
        let safe = |character: char| match character {
            ' '..='~' if !"\\\"*?@".contains(character) => character,
            _ => '_',
        };
        text.chars().take(MOST_NAME).map(safe).collect()
    }

    /// Values for all templates.
    pub fn values(&self) -> Values {
        Values::default()
            .with("name", &self.name)
            .with("prefix", &self.prefix)
            .with("PREFIX", self.upper_prefix())
            .with("model", self.printable(&self.model))
            .with("sha256", &self.sha256)
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("url", env!("CARGO_PKG_REPOSITORY"))
            .with("line", self.line())
            .with("kernels", &self.kernels)
            .with("cpu", &self.cpu)
            .with("macs", grouped(self.macs))
            .with("rows_parameters", self.rows_parameters())
            .with("stream", self.stream_macros())
    }
}

/// Longer names are cut in comments.
const MOST_NAME: usize = 120;

/// The C identifier that is most like a file's name.
pub fn identifier(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let allowed = |character: char| {
        if character.is_ascii_alphanumeric() {
            character.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let name: String = stem.chars().map(allowed).collect();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name
    } else {
        format!("model_{name}")
    }
}
