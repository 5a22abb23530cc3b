//! Hooks as TOML, and the sets that are built in.

use super::parser::{ParseError, default_name, element_type, number, role};
use super::{BufferHook, Expression, Function, LayerHook};
use crate::program::marks::MAX_BUFFERS;
use dmo_analysis::trace::ElementType;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The sets of hooks that are built in: name and TOML text.
pub const READY_MADE: &[(&str, &str)] = &[
    (
        "cmsis-nn",
        concat!(
            include_str!("cmsis-nn.toml"),
            include_str!("cmsis-nn/convolve-7.toml"),
            include_str!("cmsis-nn/svdf-5.toml")
        ),
    ),
    (
        "cmsis-nn-6",
        concat!(
            include_str!("cmsis-nn.toml"),
            include_str!("cmsis-nn/convolve-4.toml"),
            include_str!("cmsis-nn/svdf-5.toml")
        ),
    ),
    (
        "cmsis-nn-4",
        concat!(
            include_str!("cmsis-nn.toml"),
            include_str!("cmsis-nn/convolve-4.toml"),
            include_str!("cmsis-nn/svdf-4.toml")
        ),
    ),
];

/// The built-in set of this name.
pub fn ready_made(name: &str) -> Option<&'static str> {
    READY_MADE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, text)| text)
}

/// Why a TOML text has no hooks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FileError {
    #[error("{0}")]
    Toml(String),
    #[error("it has no layer")]
    NoLayers,
    #[error("line {line}: {what} is '{given}', expected {expected}")]
    Value {
        line: usize,
        what: &'static str,
        given: String,
        expected: &'static str,
    },
    #[error("line {line}: {what}: {error}")]
    Expression {
        line: usize,
        what: &'static str,
        error: ParseError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    layer: Vec<LayerTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerTable {
    name: Option<Spanned<String>>,
    operator: Option<Spanned<String>>,
    function: Spanned<OneOrMore>,
    buffers: Spanned<Vec<BufferTable>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a name, an address or a list of them")]
enum OneOrMore {
    One(Text),
    More(Vec<Text>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a number")]
enum Text {
    Number(i64),
    Text(String),
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferTable {
    role: Spanned<String>,
    name: Option<Spanned<String>>,
    address: Spanned<Text>,
    size: Spanned<Text>,
    #[serde(rename = "type")]
    element_type: Option<Spanned<String>>,
    #[serde(default)]
    optional: bool,
}

/// Reads hooks; one for each function of each layer.
pub(super) fn parse(text: &str) -> Result<Vec<LayerHook>, FileError> {
    let file: File = toml::from_str(text).map_err(|error| FileError::Toml(error.to_string()))?;
    if file.layer.is_empty() {
        return Err(FileError::NoLayers);
    }
    let reader = Reader { text };
    let layers: Result<Vec<Vec<LayerHook>>, FileError> = file
        .layer
        .into_iter()
        .map(|layer| reader.layer(layer))
        .collect();
    Ok(layers?.into_iter().flatten().collect())
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn layer(&self, layer: LayerTable) -> Result<Vec<LayerHook>, FileError> {
        let operator = layer.operator.map(|name| self.name(name, "operator"));
        let operator = operator.transpose()?;
        let name = layer.name.map(|name| self.name(name, "name")).transpose()?;
        let span = layer.buffers.span();
        let buffers = layer.buffers.into_inner();
        if !(1..=MAX_BUFFERS as usize).contains(&buffers.len()) {
            let given = buffers.len().to_string();
            return Err(self.value(&span, "the number of buffers", &given, "1 to 64"));
        }
        let buffers: Result<Vec<BufferHook>, FileError> = buffers
            .into_iter()
            .map(|buffer| self.buffer(buffer))
            .collect();
        let buffers = buffers?;
        let span = layer.function.span();
        let functions = match layer.function.into_inner() {
            OneOrMore::One(function) => vec![function],
            OneOrMore::More(functions) => functions,
        };
        functions
            .iter()
            .map(|function| {
                let function = self.function(function, &span)?;
                Ok(LayerHook {
                    name: name.clone().unwrap_or_else(|| function.to_string()),
                    operator: operator.clone(),
                    function,
                    buffers: buffers.clone(),
                })
            })
            .collect()
    }

    fn function(&self, text: &Text, span: &Range<usize>) -> Result<Function, FileError> {
        const EXPECTED: &str = "the name of a function or its 32-bit address";
        let wrong = || self.value(span, "function", &text.to_string(), EXPECTED);
        match text {
            Text::Number(address) => u32::try_from(*address)
                .map(Function::Address)
                .map_err(|_| wrong()),
            Text::Text(name) if name.starts_with(|first: char| first.is_ascii_digit()) => {
                number(name).map(Function::Address).ok_or_else(wrong)
            }
            Text::Text(name) if is_name(name) => Ok(Function::Name(name.clone())),
            Text::Text(_) => Err(wrong()),
        }
    }

    fn buffer(&self, buffer: BufferTable) -> Result<BufferHook, FileError> {
        const ROLES: &str = "in, out, scratch, state or const";
        const TYPES: &str = "int8, uint8, int16, int32, int64, float32 or bool";
        let role_span = buffer.role.span();
        let role_name = buffer.role.into_inner();
        let role =
            role(&role_name).ok_or_else(|| self.value(&role_span, "role", &role_name, ROLES))?;
        let name = match buffer.name {
            Some(name) => self.name(name, "name")?,
            None => default_name(role).to_owned(),
        };
        let element_type = match buffer.element_type {
            None => ElementType::Int8,
            Some(given) => element_type(given.get_ref())
                .ok_or_else(|| self.value(&given.span(), "type", given.get_ref(), TYPES))?,
        };
        Ok(BufferHook {
            name,
            role,
            element_type,
            address: self.expression(&buffer.address, "address")?,
            size_bytes: self.expression(&buffer.size, "size")?,
            optional: buffer.optional,
        })
    }

    fn expression(
        &self,
        text: &Spanned<Text>,
        what: &'static str,
    ) -> Result<Expression, FileError> {
        let expression = text.get_ref().to_string();
        expression.parse().map_err(|error| FileError::Expression {
            line: self.line(&text.span()),
            what,
            error,
        })
    }

    fn name(&self, name: Spanned<String>, what: &'static str) -> Result<String, FileError> {
        if is_name(name.get_ref()) {
            Ok(name.into_inner())
        } else {
            let span = name.span();
            let expected = "1 to 4096 bytes without control characters";
            Err(self.value(&span, what, name.get_ref(), expected))
        }
    }

    fn value(
        &self,
        span: &Range<usize>,
        what: &'static str,
        given: &str,
        expected: &'static str,
    ) -> FileError {
        FileError::Value {
            line: self.line(span),
            what,
            given: given.escape_debug().to_string(),
            expected,
        }
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        1 + before.filter(|&&byte| byte == b'\n').count()
    }
}

/// Returns `true` if a function, a layer or a buffer may have this name.
fn is_name(name: &str) -> bool {
    const MAX_BYTES: usize = 4096;
    !name.trim().is_empty() && name.len() <= MAX_BYTES && !name.contains(char::is_control)
}
