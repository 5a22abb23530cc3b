//! Real models, and what runs them: TensorFlow Lite and TensorFlow Lite Micro, where their Python
//! packages are installed.

use libtest_mimic::{Completion, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const RUNTIME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runtime.py");
/// What the script calls a runtime, and its package.
pub const RUNTIMES: [(&str, &str); 2] = [("lite", "ai_edge_litert"), ("micro", "tflite_micro")];
/// The exit status of the script when the runtime does not load the model.
pub const NOT_LOADED: i32 = 3;

/// A test of a model: a stand-in of the repository's own by its name, else one of
/// `$DMO_TRACE_MODELS` or beside the repository by its path there.
pub fn trial(
    what: &str,
    name: &'static str,
    test: impl FnOnce(&[u8]) -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(format!("{what} {name}"), move || {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let given = std::env::var_os("DMO_TRACE_MODELS").map(PathBuf::from);
        let (folder, is_there) = match given {
            _ if name.starts_with(STAND_IN) => (here.join("../tracer/tests/golden"), true),
            Some(folder) => (folder, true),
            None => {
                let folder = here.join("../../shared/models");
                let is_there = folder.is_dir();
                (folder, is_there)
            }
        };
        match std::fs::read(folder.join(format!("{name}.tflite"))) {
            Ok(file) => test(&file),
            // Who has no such folder has none of its models.
            Err(_) if !is_there => Ok(Completion::ignored_with("the models are not here")),
            Err(_) => missing("the model is missing"),
        }
    })
}

/// What the names of the repository's own models begin with.
const STAND_IN: &str = "stand_in_";

/// What a test comes to that lacks something: a failure in continuous integration.
pub fn missing(what: &str) -> Result<Completion, Failed> {
    let required = std::env::var_os(REQUIRE_ALL);
    if required.is_some_and(|value| value != "0" && !value.is_empty()) {
        return Err(format!("{what}, and {REQUIRE_ALL} is set").into());
    }
    Ok(Completion::ignored_with(what))
}

const REQUIRE_ALL: &str = "DMO_TRACE_REQUIRE_ALL";
pub const NO_PACKAGE: &str = "the Python package of the runtime is missing";

pub fn is_installed(package: &str) -> bool {
    Command::new("python3")
        .args(["-c", &format!("import numpy, {package}")])
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|output| output.status.success())
}

pub fn same_results(
    runtime: &str,
    installed: bool,
    name: &str,
    file: &[u8],
    planned: &[u8],
) -> Result<Completion, Failed> {
    if !installed {
        return missing(NO_PACKAGE);
    }
    let name = name.replace(['/', ' '], "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |which| folder.join(format!("{name}-{runtime}-{which}.tflite"));
    std::fs::write(path("old"), file)?;
    std::fs::write(path("new"), planned)?;
    let run = |paths: &[PathBuf]| {
        let mut command = Command::new("python3");
        command.arg(RUNTIME).arg(runtime).args(paths);
        command.stdin(Stdio::null()).output()
    };
    let output = run(&[path("old"), path("new")])?;
    match output.status.code() {
        Some(0) => return Ok(Completion::Completed),
        Some(NOT_LOADED) => {
            return Ok(Completion::ignored_with(
                "the runtime does not load the model",
            ));
        }
        // Killed by a signal.
        None if run(&[path("old")])?.status.code().is_none() => {
            return Ok(Completion::ignored_with(
                "the runtime breaks on the model as it is",
            ));
        }
        _ => {}
    }
    let text = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&text).into_owned().into())
}

/// What TensorFlow Lite Micro takes of its arena for a model, in bytes: for activations and
/// scratch buffers, and for itself; none where it does not load it.
pub fn arena(name: &str, file: &[u8]) -> Option<[u64; 2]> {
    let name = name.replace(['/', ' '], "-");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-arena.tflite"));
    std::fs::write(&path, file).ok()?;
    let mut command = Command::new("python3");
    command.arg(RUNTIME).arg("arena").arg(path);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}
