//! What `kTensorArenaSize` has to be for stock TensorFlow Lite Micro.

use super::error::{About, StudyError};
use super::plan_to_check::ensure_carried_plan;
use super::source::Source;
use dmo_analysis::graph::tflite::{RuntimeKernels, export};
use dmo_analysis::tflm::{TflmError, WholeArena, whole_arena};
use schemars::JsonSchema;
use serde::Serialize;

/// The whole arena of a model, with the reference kernels and with CMSIS-NN.
///
/// # Errors
/// When it is not known how much of the arena the model's plan takes, or a network of the zoo has
/// no model file.
pub fn whole_arenas(source: &Source) -> Result<[WholeArena; 2], StudyError> {
    ensure_carried_plan(source)?;
    let exported;
    let file = match &source.file {
        Some(file) => file,
        None => {
            // Values do not matter.
            exported = export(source.original(), 0).about(&source.name)?;
            &exported
        }
    };
    of_file(file).about(&source.name)
}

/// What a model needs with some kernels before and after something was done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ArenaChange {
    /// The kernels.
    pub kernels: RuntimeKernels,
    /// The least `kTensorArenaSize` of the model as it was given, in bytes.
    pub before_bytes: u64,
    /// The same of what was made of it.
    pub after_bytes: u64,
    /// What some operators allocate is not known, so that both are too small.
    pub is_lower_bound: bool,
}

impl ArenaChange {
    /// From one model file to another, with some kernels.
    ///
    /// # Errors
    /// As [`whole_arenas`].
    pub(super) fn all(
        before: &[u8],
        after: &[u8],
        kernels: &[RuntimeKernels],
    ) -> Result<Vec<Self>, TflmError> {
        let change = |&kernels: &RuntimeKernels| {
            let before = whole_arena(before, kernels)?;
            let after = whole_arena(after, kernels)?;
            Ok(Self {
                kernels,
                before_bytes: before.needed_bytes,
                after_bytes: after.needed_bytes,
                is_lower_bound: !(before.unknown.is_empty() && after.unknown.is_empty()),
            })
        };
        kernels.iter().map(change).collect()
    }
}

/// The same of a model file.
fn of_file(file: &[u8]) -> Result<[WholeArena; 2], StudyError> {
    Ok([
        whole_arena(file, RuntimeKernels::Reference)?,
        whole_arena(file, RuntimeKernels::CmsisNn)?,
    ])
}
