//! What to type instead, where the command line is wrong in a way that is known.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;
use std::path::Path;

/// The same error, with a hint where one is known.
pub fn explained(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let command = words.find(|word| !word.starts_with('-'));
    let named = error.get(ContextKind::InvalidSubcommand);
    let named = named.or_else(|| error.get(ContextKind::InvalidValue));
    let hint = match (command.as_deref(), named) {
        (Some("explain"), Some(ContextValue::String(file))) => instead_of_explain(file),
        (Some("overlap"), Some(ContextValue::String(file))) => instead_of_overlap(file),
        (Some("stream"), None) => rows_are_missing(&error),
        _ => None,
    };
    if let Some(hint) = hint {
        let hint = ContextValue::StyledStrs(vec![StyledStr::from(hint)]);
        error.insert(ContextKind::Suggested, hint);
        // The list of all operators would hide it.
        error.remove(ContextKind::ValidValue);
    }
    error
}

/// What `explain` cannot explain by itself.
fn instead_of_explain(file: &str) -> Option<String> {
    if is_model(file) {
        Some(format!(
            "'dmo-trace verify {file}' names the instructions that overwrite what is still needed; 'explain overlap' explains one operator"
        ))
    } else if is_file(file) {
        Some(format!(
            "a program's layers: 'dmo-trace explain run {file}'"
        ))
    } else {
        None
    }
}

/// What is not one operator.
fn instead_of_overlap(file: &str) -> Option<String> {
    if is_model(file) {
        Some(format!(
            "each operator of a model: 'dmo-trace layers {file}'"
        ))
    } else if is_file(file) {
        Some(format!("each layer of a program: 'dmo-trace run {file}'"))
    } else {
        None
    }
}

fn rows_are_missing(error: &clap::Error) -> Option<String> {
    let missing = error.get(ContextKind::InvalidArg)?;
    missing.to_string().contains("--rows").then(|| {
        "the rows of the input's window that are new in each inference, for example '--rows 1'"
            .to_owned()
    })
}

fn is_model(name: &str) -> bool {
    name.starts_with("zoo:") || has_extension(name, &["tflite"])
}

fn is_file(name: &str) -> bool {
    Path::new(name).is_file() || has_extension(name, &["elf", "axf", "bin", "out"])
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| {
        extensions
            .iter()
            .any(|known| it.eq_ignore_ascii_case(known))
    })
}
