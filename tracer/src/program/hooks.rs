//! Layers by symbol: which functions of a program are layers, and where their buffers are,
//! for programs without marks. See `docs/hooks.md`.
//!
//! A layer begins before the first instruction of its function and ends when control is
//! back at the caller. Which calls are inside a call does not matter: the outermost is the
//! layer.

mod call;
mod expression;
mod file;
mod parser;
mod resolve;

pub use call::{BufferRange, HookError, HookedCall};
pub use expression::{CallPhase, CallState, EvaluationError, Expression, SymbolValue};
pub use file::{FileError, READY_MADE, ready_made};
pub use parser::{MAX_TEXT_BYTES, ParseError};
pub use resolve::{Hooks, ResolveError, is_of_library};

use dmo_analysis::trace::{ElementType, Role};

/// A function that is a layer, as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerHook {
    /// Name of the layer in reports.
    pub name: String,
    /// Name of the operator that it computes; by default the name of the function.
    pub operator: Option<String>,
    /// The function.
    pub function: Function,
    /// The layer's buffers, at least one.
    pub buffers: Vec<BufferHook>,
}

/// A function of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Function {
    /// By name, mangled or not.
    Name(String),
    /// By address; the Thumb bit is ignored.
    Address(u32),
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address:#010x}"),
        }
    }
}

/// A buffer of a function, as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferHook {
    /// Name in reports.
    pub name: String,
    /// The buffer's role: read, written, both.
    pub role: Role,
    /// Type of its elements.
    pub element_type: ElementType,
    /// Address of its first byte.
    pub address: Expression,
    /// Length in bytes.
    pub size_bytes: Expression,
    /// Where address or size is 0, the layer does without it.
    pub optional: bool,
}

/// Reads the hooks of a TOML text.
///
/// # Errors
/// When it is no TOML, or its expressions are wrong.
pub fn parse_file(text: &str) -> Result<Vec<LayerHook>, FileError> {
    file::parse(text)
}
