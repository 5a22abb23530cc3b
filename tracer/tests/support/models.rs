//! Real models, and kernels to run them on.

use super::tools::{self, REQUIRE_ALL};
use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::machine::Limits;
use libtest_mimic::{Completion, Failed, Trial};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bounds of one operator.
pub const LIMITS: Limits = Limits {
    max_instructions: 10_000_000_000,
    timeout: Duration::from_secs(600),
};

/// The repository's own models.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// What the names of the repository's own stand-ins for real models begin with.
const STAND_IN: &str = "stand_in_";

/// Where real models are, and whether they have to be: in `$DMO_TRACE_MODELS`, else beside the
/// repository, if that folder is there.
fn folder() -> (PathBuf, bool) {
    match std::env::var_os("DMO_TRACE_MODELS") {
        Some(folder) => (PathBuf::from(folder), true),
        None => {
            let beside = own().join("../../../../shared/models");
            let is_there = beside.is_dir();
            (beside, is_there)
        }
    }
}

/// The model of this path among the golden outputs, else among real models.
pub fn find(model: &str) -> Option<PathBuf> {
    let paths = [own(), folder().0].map(|folder| folder.join(model));
    paths.into_iter().find(|path| path.is_file())
}

/// A test of a model's file. Without the model it is ignored; it fails if the model is one of the
/// repository's own, or if all real models are required and their folder is there.
pub fn trial(
    name: impl Into<String>,
    model: &str,
    test: impl FnOnce(&[u8]) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let file = find(model);
    let required = model.starts_with(STAND_IN) || tools::required() && folder().1;
    Trial::ignorable_test(name, move || match file {
        Some(file) => test(&std::fs::read(file)?).map(|()| Completion::Completed),
        None if required => Err(format!("the model is missing, and {REQUIRE_ALL} is set").into()),
        None => Ok(Completion::ignored_with("the model is missing")),
    })
}

/// A set of kernels for the Cortex-M4.
pub fn library(set: &str) -> KernelLibrary {
    let image = images::find(set, Some("cortex-m4")).expect("a built-in set");
    KernelLibrary::new(&image.elf(), None, DEFAULT_RAM).expect("a library")
}
