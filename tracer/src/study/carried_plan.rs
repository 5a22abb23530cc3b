//! With which kernels a model's own plan is safe.

use super::audit::Audit;
use super::error::{About, StudyError};
use super::overlap_source::OverlapKind;
use super::plan_to_check::PlanToCheck;
use super::source::Source;
use schemars::JsonSchema;
use serde::Serialize;

/// The kernels with which a plan in a model's file is safe by its geometry: nothing is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CarriedPlan {
    /// Nothing overlaps while it is in use.
    SafeWithAnyKernels,
    /// Buffers overlap, no further than TensorFlow Lite's reference kernels allow.
    SafeWithReferenceKernels,
    /// Buffers overlap further than the reference kernels allow, or the plan is faulty.
    UnsafeWithReferenceKernels,
}

impl CarriedPlan {
    /// That of this model; `None` where its file carries no plan.
    ///
    /// # Errors
    /// When the plan cannot be read, or is not of this model.
    pub fn of(source: &Source) -> Result<Option<Self>, StudyError> {
        if source.carried_offsets().is_none() {
            return Ok(None);
        }
        let graph = source.graph();
        let plan = PlanToCheck::carried(source, graph)?;
        let is_safe = |kind: OverlapKind| match kind.of(graph) {
            Some(overlaps) => {
                let audit = Audit::of(&plan, graph, &overlaps, 1).about(&source.name)?;
                Ok::<_, StudyError>(audit.is_safe())
            }
            None => Ok(false),
        };
        Ok(Some(if is_safe(OverlapKind::None)? {
            Self::SafeWithAnyKernels
        } else if is_safe(OverlapKind::Analytic)? {
            Self::SafeWithReferenceKernels
        } else {
            Self::UnsafeWithReferenceKernels
        }))
    }
}
