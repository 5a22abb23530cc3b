//! Why a study cannot be made.

use super::emit::EmitError;
use super::firmware::ArenaPlaceError;
use super::input::InputError;
use super::plan_to_check::PlanToCheckError;
use super::source::SourceError;
use super::verify::OtherKernels;
use crate::call::CallError;
use crate::call::archive::ArchiveError;
use crate::kernels::versions::VersionError;
use crate::mcu::cpu::CpuError;
use crate::mcu::machine::MachineError;
use crate::measure::MeasureError;
use crate::model::DeployError;
use crate::model::verify::VerifyError;
use dmo_analysis::arena::ArenaError;
use dmo_analysis::firmware::PlaceError;
use dmo_analysis::graph::tflite::TfliteError;
use dmo_analysis::handover::TiledError;
use dmo_analysis::schedule::ScheduleError;
use dmo_analysis::transform::TransformError;
use dmo_analysis::verify::{Clash, Misaligned};
use dmo_planner::minimalloc::TableError;
use std::fmt::Display;

/// Why a study cannot be made. Its `source()` is the cause of what its message says.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StudyError {
    /// Of a model, a file, an option.
    #[error("{place}")]
    In {
        place: String,
        source: Box<StudyError>,
    },
    Input(#[from] InputError),
    Json(#[from] serde_json::Error),
    Source(#[from] SourceError),
    Call(#[from] CallError),
    Version(#[from] VersionError),
    Archive(#[from] ArchiveError),
    /// The kernels have nothing to do with it.
    Cpu(#[from] CpuError),
    Plan(#[from] PlanError),
    PlanToCheck(#[from] PlanToCheckError),
    OtherKernels(#[from] Box<OtherKernels>),
    Emit(#[from] EmitError),
    ArenaPlace(#[from] ArenaPlaceError),
    Placed(#[from] PlaceError),
    Tflite(#[from] TfliteError),
    Table(#[from] TableError),
    Schedule(#[from] ScheduleError),
    Arena(#[from] ArenaError),
    Transform(#[from] TransformError),
    Tiled(#[from] TiledError),
    Deploy(#[from] DeployError),
    Verify(#[from] VerifyError),
    Measure(#[from] MeasureError),
    Machine(#[from] MachineError),
}

/// Why a model cannot be planned as requested.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanError {
    #[error(
        "--overlap analytic is what TensorFlow Lite's reference kernels allow: --kernels, --cpu, \
         --cmsis-nn-version and --inputs go with --overlap traced, or none"
    )]
    FormulasOfKernels,
    #[error(
        "--align {given}: these kernels were measured in buffers at multiples of {measured} bytes; \
         elsewhere they may fault, or go through their buffers in another order\n  hint: --align \
         {measured}"
    )]
    BelowMeasured { given: u64, measured: u32 },
    #[error("--fix {tensor}: the model has {tensors} tensors")]
    NoTensor { tensor: usize, tensors: usize },
    #[error("{model}: no plan was found in time")]
    NoChangeInTime { model: String },
    #[error("the plan found does not pass its check, please report this: {found:?} {misaligned:?}")]
    Unsafe {
        found: Vec<Clash>,
        misaligned: Vec<Misaligned>,
    },
    #[error(
        "{model}: its work cannot be changed (--allow other than accumulate, savings): operators run \
         on an accelerator, in memory that its compiler has laid out"
    )]
    Accelerated { model: String },
    #[error("--allow other than accumulate goes with neither --fix nor --region")]
    ChangeOfFixed,
    #[error(
        "kernels and cpu: nothing runs on them with verify = false and a plan with overlap \
         {overlap:?}"
    )]
    NothingRuns { overlap: &'static str },
    #[error("--region {name}: given twice")]
    RegionTwice { name: String },
    #[error("region {name} overflows, please report this")]
    RegionOverflows { name: String },
    #[error("{problem}: the plan found does not pass its check: please report this")]
    InvalidPlan { problem: String },
}

impl StudyError {
    /// The same of `place`: a model, a file.
    pub(super) fn about(self, place: impl Display) -> Self {
        Self::In {
            place: place.to_string(),
            source: Box::new(self),
        }
    }
}

/// Says what an error is about.
pub(super) trait About<T> {
    /// The error is about `place`: a model, a file.
    fn about(self, place: impl Display) -> Result<T, StudyError>;
}

impl<T, E: Into<StudyError>> About<T> for Result<T, E> {
    fn about(self, place: impl Display) -> Result<T, StudyError> {
        self.map_err(|error| error.into().about(place))
    }
}
