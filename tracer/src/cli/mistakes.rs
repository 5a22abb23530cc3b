//! What to type instead, where the command line is wrong in a way that is known.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use goblin::elf::header::ELFMAG;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

/// The commands that have hints of their own.
const COMMANDS: [&str; 6] = ["explain", "overlap", "check", "verify", "build", "stream"];

/// The same error, with a hint where one is known.
pub fn explained(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
    let words: Vec<_> = words.filter(|word| !word.starts_with('-')).collect();
    // Before the command may be options with values.
    let known = words.iter().find(|word| COMMANDS.contains(&&***word));
    let command = known.or_else(|| words.first());
    let given = [
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
        ContextKind::InvalidArg,
    ];
    let given = given.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(given)) => Some(given.clone()),
        _ => None,
    });
    let hint = match (command.map(|it| &**it), given.as_deref()) {
        (_, Some("-o")) => Some("a file that is written: '--out FILE'".to_owned()),
        (Some("explain"), Some(file)) => instead(
            file,
            "'dmo-trace verify FILE' names the instructions that overwrite what is still needed; 'explain overlap' explains one operator",
            "a program's layers: 'dmo-trace explain run FILE'",
        ),
        (Some("overlap"), Some(file)) => instead(
            file,
            "each operator of a model: 'dmo-trace layers FILE'",
            "each layer of a program: 'dmo-trace run FILE'",
        ),
        (Some("check"), Some(file)) if has_extension(file, &["toml"]) => {
            Some(format!("a baseline: 'dmo-trace check --baseline {file}'"))
        }
        (Some("verify"), Some("--region")) => {
            Some("a plan in several memories: 'dmo-trace plan MODEL --region … --out plan.json', and '--plan plan.json'".to_owned())
        }
        (Some("build"), Some("--capacity")) => Some("all the RAM of the library: '--ram BYTES'".to_owned()),
        (Some(command), Some(file)) if command == file => instead(
            file,
            "a model's smallest arena: 'dmo-trace plan FILE'",
            "a program's layers: 'dmo-trace run FILE'",
        ),
        (Some("stream"), None) => rows_are_missing(&error),
        _ => None,
    };
    if let Some(hint) = hint {
        let hint = ContextValue::StyledStrs(vec![StyledStr::from(hint)]);
        error.insert(ContextKind::Suggested, hint);
        error.remove(ContextKind::SuggestedArg);
        // The list of all operators would hide it.
        error.remove(ContextKind::ValidValue);
    }
    error
}

/// The hint for a file that is a model, or the one for a program.
fn instead(file: &str, of_model: &str, of_program: &str) -> Option<String> {
    let hint = if is_model(file) {
        of_model
    } else if is_program(file) {
        of_program
    } else {
        return None;
    };
    Some(hint.replace("FILE", file))
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

fn is_program(name: &str) -> bool {
    let begins = || {
        // A pipe might never begin.
        if !Path::new(name).is_file() {
            return None;
        }
        let mut magic = [0; 4];
        let mut file = std::fs::File::open(name).ok()?;
        file.read_exact(&mut magic).ok()?;
        Some(magic)
    };
    has_extension(name, &["elf", "axf"]) || begins() == Some(*ELFMAG)
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension().and_then(|it| it.to_str());
    extension.is_some_and(|it| {
        extensions
            .iter()
            .any(|known| it.eq_ignore_ascii_case(known))
    })
}
