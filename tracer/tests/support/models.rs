//! Real models, and kernels to run them on.

use dmo_trace::call::DEFAULT_RAM;
use dmo_trace::kernels::{KernelLibrary, images};
use dmo_trace::mcu::machine::Limits;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bounds of one operator.
pub const LIMITS: Limits = Limits {
    max_instructions: 10_000_000_000,
    timeout: Duration::from_secs(600),
};

/// The model of this path among the golden outputs, in `$DMO_TRACE_MODELS`, else beside the
/// repository.
pub fn find(model: &str) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = std::env::var_os("DMO_TRACE_MODELS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| here.join("../../shared/models"));
    let paths = [here.join("tests/golden"), folder].map(|folder| folder.join(model));
    paths.into_iter().find(|path| path.is_file())
}

/// A set of kernels for the Cortex-M4.
pub fn library(set: &str) -> KernelLibrary {
    let image = images::find(set, Some("cortex-m4")).expect("a built-in set");
    KernelLibrary::new(image.elf, None, DEFAULT_RAM).expect("a library")
}
