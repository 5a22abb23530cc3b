//! What `kTensorArenaSize` has to be for stock TensorFlow Lite Micro.

use super::error::{About, StudyError};
use super::plan_to_check::ensure_carried_plan;
use super::runtime_scratch::{is_for_cmsis_nn, with_runtime_scratch};
use super::source::Source;
use super::verify::Verified;
use dmo_analysis::graph::tflite::{RuntimeKernels, export};
use dmo_analysis::tflm::{TflmError, WholeArena, whole_arena, whole_arena_in_place_of_cmsis_nn};
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

/// The whole arena of a model that carries a plan, with the kernels that it was verified on; `None`
/// where these are not for the model's file.
///
/// # Errors
/// As [`whole_arenas`].
pub fn verified_arena(
    source: &Source,
    verified: &Verified,
) -> Result<Option<WholeArena>, StudyError> {
    let Some(file) = source.file.as_deref() else {
        return Ok(None);
    };
    if source.is_changed() {
        return Ok(None);
    }
    let deployment = verified.deployed.model();
    let arena = if is_for_cmsis_nn(deployment) {
        let graph = with_runtime_scratch(source, deployment);
        let scratch = source.scratch_bytes(&graph, &graph.file_order());
        whole_arena_in_place_of_cmsis_nn(file, &scratch)
    } else {
        whole_arena(file, RuntimeKernels::Reference)
    };
    Ok(Some(arena.about(&source.name)?))
}

/// The least `kTensorArenaSize` of a model with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeArena {
    /// In bytes; of several sets of kernels the most.
    pub bytes: u64,
    /// What some operators allocate is not known, so that it is too small.
    pub is_lower_bound: bool,
}

impl RuntimeArena {
    /// Of a plan that is to be written into the model; `None` if none can be.
    pub(super) fn of_changes(changes: &[ArenaChange]) -> Option<Self> {
        Some(Self {
            bytes: changes.iter().map(|change| change.after_bytes).max()?,
            is_lower_bound: changes.iter().any(|change| change.is_lower_bound),
        })
    }

    /// Of a model that carries its plan.
    pub(super) fn of(arena: &WholeArena) -> Self {
        Self {
            bytes: arena.needed_bytes,
            is_lower_bound: !arena.unknown.is_empty(),
        }
    }
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
    /// With the scratch memory of the measured kernels, which are called in place of CMSIS-NN's.
    pub with_measured_scratch: bool,
}

/// Scratch memory of the operators of each subgraph of a model, in bytes.
pub(super) type Scratch = Vec<Vec<Vec<u64>>>;

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
                with_measured_scratch: false,
            })
        };
        kernels.iter().map(change).collect()
    }

    /// From one model file to another, with kernels that are called in place of CMSIS-NN's; before,
    /// with CMSIS-NN's own scratch memory where that of the kernels is not known.
    ///
    /// # Errors
    /// As [`whole_arenas`].
    pub(super) fn in_place_of_cmsis_nn(
        (before, scratch_before): (&[u8], Option<&Scratch>),
        (after, scratch_after): (&[u8], &Scratch),
    ) -> Result<Self, TflmError> {
        let before = match scratch_before {
            Some(scratch) => whole_arena_in_place_of_cmsis_nn(before, scratch)?,
            None => whole_arena(before, RuntimeKernels::CmsisNn)?,
        };
        let after = whole_arena_in_place_of_cmsis_nn(after, scratch_after)?;
        Ok(Self {
            kernels: RuntimeKernels::CmsisNn,
            before_bytes: before.needed_bytes,
            after_bytes: after.needed_bytes,
            is_lower_bound: !(before.unknown.is_empty() && after.unknown.is_empty()),
            with_measured_scratch: true,
        })
    }
}

/// The same of a model file.
fn of_file(file: &[u8]) -> Result<[WholeArena; 2], StudyError> {
    Ok([
        whole_arena(file, RuntimeKernels::Reference)?,
        whole_arena(file, RuntimeKernels::CmsisNn)?,
    ])
}
