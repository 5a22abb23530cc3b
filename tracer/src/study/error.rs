//! Why a study cannot be made.

mod firmware;
mod kernels;

pub use firmware::{ArenaPlaceError, ArenaUseError, FirmwareError};
pub use kernels::KernelsError;

use super::case::CaseError;
use super::compare::CompareError;
use super::form::OutOfReach;
use super::input::InputError;
use crate::call::CallError;
use crate::call::archive::ArchiveError;
use crate::codegen::compilation::CompileError;
use crate::codegen::network::NetworkError;
use crate::kernels::versions::VersionError;
use crate::mcu::cpu::CpuError;
use crate::mcu::machine::MachineError;
use crate::measure::MeasureError;
use crate::model::DeployError;
use crate::model::verify::VerifyError;
use crate::program::allocation::AllocationError;
use crate::program::execution::RunError;
use crate::program::inferences::InferenceError;
use crate::program::interpreter::EventError;
use crate::program::target::TargetError;
use dmo_analysis::arena::ArenaError;
use dmo_analysis::firmware::PlaceError;
use dmo_analysis::foreign::ForeignError;
use dmo_analysis::graph::sketch::SketchError;
use dmo_analysis::graph::tflite::{TfliteError, VariableError};
use dmo_analysis::graph::{OperatorId, TensorId, TensorType};
use dmo_analysis::handover::{PlannedKernels, SCHEMA, TiledError};
use dmo_analysis::replay::ReplayError;
use dmo_analysis::schedule::ScheduleError;
use dmo_analysis::tflm::TflmError;
use dmo_analysis::transform::TransformError;
use dmo_analysis::transform::decode::DecodeError;
use dmo_analysis::transform::integer_io::IntegerIoError;
use dmo_analysis::transform::stream::StreamError;
use dmo_analysis::verify::{Clash, Misaligned};
use dmo_analysis::wording::grouped;
use dmo_planner::minimalloc::TableError;
use dmo_planner::plan::tflm::ALIGNMENT;
use dmo_planner::problem::ProblemError;
use dmo_planner::regions::{NoRoom, RegionsError};
use std::fmt::Display;
use std::path::{Path, PathBuf};

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
    Kernels(#[from] KernelsError),
    Archive(#[from] ArchiveError),
    /// The kernels have nothing to do with it.
    Cpu(#[from] CpuError),
    Plan(#[from] PlanError),
    PlanToCheck(#[from] PlanToCheckError),
    OtherKernels(#[from] Box<OtherKernels>),
    Emit(#[from] EmitError),
    Build(#[from] BuildError),
    Network(#[from] NetworkError),
    Compile(#[from] CompileError),
    ArenaPlace(#[from] ArenaPlaceError),
    Allocation(#[from] Box<AllocationError>),
    Run(#[from] Box<RunError>),
    ArenaUse(#[from] Box<ArenaUseError>),
    Replay(#[from] ReplayError),
    Firmware(#[from] FirmwareError),
    Target(#[from] TargetError),
    Inference(#[from] Box<InferenceError>),
    Events(#[from] EventError),
    Placed(#[from] PlaceError),
    Tflite(#[from] TfliteError),
    Variables(#[from] VariableError),
    Table(#[from] TableError),
    Foreign(#[from] ForeignError),
    Schedule(#[from] ScheduleError),
    Arena(#[from] ArenaError),
    Tflm(#[from] TflmError),
    Transform(#[from] TransformError),
    IntegerIo(#[from] IntegerIoError),
    Decode(#[from] DecodeError),
    Stream(#[from] StreamError),
    Tiled(#[from] TiledError),
    Deploy(#[from] DeployError),
    Verify(#[from] VerifyError),
    Measure(#[from] MeasureError),
    Case(#[from] CaseError),
    Compare(#[from] CompareError),
    Grid(#[from] GridError),
    Sketch(#[from] SketchError),
    Machine(#[from] MachineError),
}

/// Why no C library can be made of a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BuildError {
    #[error(
        "--kernels {given}: a library brings its kernels along as C: those of dsp-packed, \
         reference, plain and dsp"
    )]
    Kernels { given: String },
    #[error(
        "{model} has no weights\n  hint: `dmo-trace zoo export {model} --out model.tflite` makes a file with random ones"
    )]
    NoModelFile { model: String },
    #[error("{model} takes whole windows, and there is nothing to compare; please report this")]
    NotStreamed { model: String },
    #[error(
        "{model} has {subgraphs} subgraphs: generated code computes one, and knows further ones only where \
         CALL_ONCE runs them to initialise variables\n  hint: a model for each signature, without IF and WHILE"
    )]
    Subgraphs { model: String, subgraphs: usize },
    #[error("{}; no C code was written\n  hint: {hint}", .operators.join("\n  "))]
    NotExecuted {
        operators: Vec<String>,
        hint: &'static str,
    },
    #[error("{function} has no C source; please report this")]
    NoSource { function: String },
    #[error(
        "--name {given}: a C identifier begins with a letter and has only letters, digits and underscores, up to 48 of them"
    )]
    Name { given: String },
    #[error("{0}")]
    OutOfReach(Box<OutOfReach>),
    #[error(
        "--ram, --flash and --front do not go with --region\n  hint: the capacities of the regions are the \
         limits; --allow split,patch allows tiles, if they are needed or faster"
    )]
    LimitsOfRegions,
    #[error("{model}: {error}")]
    NoRoom { model: String, error: NoRoom },
    #[error("--ram: this engine does not measure the stack\n  hint: leave out --engine unicorn")]
    UnknownStack,
    #[error("the compiled library: {function} returns {status}, not 0")]
    Status { function: String, status: i32 },
    #[error("tensor {tensor} has elements of type {given}, which have no C type")]
    ElementType { tensor: String, given: TensorType },
}

/// Why a model cannot be planned as requested.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanError {
    #[error(
        "{model} carries a plan, of which {key} says nothing\n  hint: leave out {key}, or say plan = \"anew\" \
         to plan the model as if it carried none"
    )]
    CarriesPlan { model: String, key: &'static str },
    #[error(
        "--overlap analytic is what TensorFlow Lite's reference kernels allow: --kernels, --cpu, \
         --cmsis-nn-version and --inputs go with --overlap traced, or none"
    )]
    FormulasOfKernels,
    #[error(
        "{name} is a model, and a plan is a .json file\n  hint: a model that carries its plan is given alone, without \
         --plan"
    )]
    PlanIsModel { name: String },
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
    #[error(
        "{model}: its input cannot be handed over in rows: there has to be one input with rows and \
         columns, and a run in tiles that begins with all operators that read it\n  hint: more time \
         (--time 60) or more recomputation (--max-recompute 50%) may find such a run"
    )]
    NoSlices { model: String },
    #[error("these kernels cannot run the tiles of the plan: operator {} {}: {reason}", operator.0, kind.escape_debug())]
    NotRunInTiles {
        operator: OperatorId,
        kind: String,
        reason: String,
    },
    #[error(
        "--slices: the input is never in the arena as a whole, to be kept there or left out of it\n  hint: \
         leave out {given}"
    )]
    WholeInput { given: &'static str },
    #[error("the plan found does not pass its check, please report this: {found:?} {misaligned:?}")]
    Unsafe {
        found: Vec<Clash>,
        misaligned: Vec<Misaligned>,
    },
    #[error(
        "{model}: its operators cannot be changed (--allow other than accumulate, or savings): some \
         run on an accelerator, in memory that the accelerator's compiler has laid out"
    )]
    Accelerated { model: String },
    #[error(
        "{model}: its operators cannot be changed (--allow other than accumulate, or savings): it has \
         {subgraphs} subgraphs, which are planned together as they are"
    )]
    Subgraphs { model: String, subgraphs: usize },
    #[error("{model}: --allow prune: it has resource variables, and what they hold is not known")]
    Variables { model: String },
    #[error(
        "{model}: --allow prune looks at weights, and a network of the zoo has none of its own: \
         give a .tflite file"
    )]
    NothingToPrune { model: String },
    #[error(
        "{model}: --integer-io leaves conversions of a model's file out, and a network of the zoo has none: \
         give a .tflite file"
    )]
    NoEnds { model: String },
    #[error("--allow other than accumulate does not go with --fix")]
    ChangeOfFixed,
    #[error(
        "--pin {tensor}: --allow other than accumulate makes other tensors of the model's\n  hint: pin \
         inputs, outputs, scratch or states"
    )]
    PinOfChanged { tensor: usize },
    #[error(
        "kernels and cpu: nothing runs on them with verify = false and a plan with overlap \
         {overlap:?}"
    )]
    NothingRuns { overlap: &'static str },
    #[error(transparent)]
    Regions(#[from] RegionsError),
    #[error("--pin: there is no region {name:?}, --region gives one its name")]
    PinnedNowhere { name: String },
    #[error("--pin {tensor}: the model has {tensors} tensors")]
    PinOfNone { tensor: usize, tensors: usize },
    #[error(
        "{model}: --pin {tensor}={regions}: the tensor lies in no region, it is a constant, a state or \
         excluded\n  hint: leave out --pin {tensor}={regions}"
    )]
    PinOfOutside {
        model: String,
        tensor: usize,
        regions: String,
    },
    #[error(
        "{model}: --pin {what}={regions}: none of the model's {what} lies in a region{why}\n  hint: \
         leave out --pin {what}={regions}"
    )]
    PinOfNothing {
        model: String,
        what: &'static str,
        regions: String,
        why: &'static str,
    },
    #[error(
        "--pin states: there are none to be placed: the model keeps nothing between inferences, or \
         the plan is for a runtime, which places them itself"
    )]
    PinOfStates,
    #[error("the alignments of regions and tensors have no common multiple")]
    NoCommonAlignment,
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error("region {name} overflows, please report this")]
    RegionOverflows { name: String },
    #[error(
        "the plans of {tool} are only read\n  hint: --out FILE.csv writes what was planned as a table"
    )]
    OnlyRead { tool: &'static str },
    #[error(
        "{memory}: in the tool's own plan buffers share bytes that are in use at the same time, as far as the file says: what the tool means by that is not known, so nothing is written\n  hint: `dmo-trace audit {file}` names them"
    )]
    Unexplained { file: String, memory: String },
    #[error("{problem}: the plan found does not pass its check: please report this")]
    InvalidPlan { problem: String },
}

/// Why there is no such model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SourceError {
    #[error(
        "no network {name:?}: `dmo-trace zoo` lists all{}",
        .similar.map(|similar| format!("\n  hint: did you mean zoo:{similar}?")).unwrap_or_default()
    )]
    NoNetwork {
        name: String,
        similar: Option<&'static str>,
    },
    #[error("element type {given:?}, expected float32 or int8")]
    Element { given: String },
}

/// Why a plan cannot be one of a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanToCheckError {
    #[error("schema {given:?}, expected {SCHEMA:?}")]
    Schema { given: String },
    #[error(
        "{plan} is the plan of another file than {model} (their SHA-256 differ); a plan belongs to \
         the file that was planned, not to the one that was emitted"
    )]
    OtherModel { plan: String, model: String },
    #[error(
        "{plan} is the plan of a model with other inputs and outputs\n  hint: plan it with --integer-io \
         if the model is to take and give integers, and without it if not"
    )]
    OtherEnds { plan: String },
    #[error(
        "{plan} is the plan of a model pruned in another way: what pruning makes of the file has \
         another SHA-256\n  hint: plan it anew with --allow prune"
    )]
    OtherPruning { plan: String },
    #[error("{plan} is the plan of a model that other operators are made of")]
    OtherRecipe { plan: String },
    #[error(
        "its order is not that of the operators that its recipe makes, {operators} in all; they run \
         as they are made"
    )]
    Order { operators: usize },
    #[error(
        "size of tensor {tensor} in bytes: {given} in the plan; {}",
        size.map_or_else(|| format!("the model has {tensors} tensors"), |size| format!("{size} in the model"))
    )]
    Size {
        tensor: usize,
        given: u64,
        tensors: usize,
        size: Option<u64>,
    },
    #[error("tensor {tensor} is placed twice")]
    Twice { tensor: usize },
    #[error("tensor {} {name:?} is a part of another, which the plan has elsewhere", tensor.0)]
    View { tensor: TensorId, name: String },
    #[error("scratch {index} is of operator {operator}, the model has {operators}")]
    NoOperator {
        index: usize,
        operator: usize,
        operators: usize,
    },
    #[error("scratch {index} of operator {operator} is placed twice")]
    ScratchTwice { index: usize, operator: usize },
    #[error(
        "scratch {index} of operator {operator} has {given} bytes, TensorFlow Lite Micro's kernel \
         wants {}\n  hint: dmo-trace verify, for a plan that was made for other kernels",
        .wanted.map_or("none".to_owned(), |bytes| bytes.to_string())
    )]
    ScratchSize {
        index: usize,
        operator: usize,
        given: u64,
        wanted: Option<u64>,
    },
    #[error("{placed} scratch buffers are placed, {needed} are needed, each once")]
    ScratchCount { placed: usize, needed: usize },
    #[error("alignment 0, or one that does not fit in 64 bits")]
    Alignment,
    #[error("something lies in region {region}, which the plan does not have")]
    NoRegion { region: usize },
    #[error(
        "something in region {} lies at {}, no multiple of its alignment, {} bytes",
        name.escape_debug(), grouped(*offset), grouped(*alignment)
    )]
    MisalignedInRegion {
        name: String,
        offset: u64,
        alignment: u64,
    },
    #[error("region {} has {what} 0, at least 1 is needed", name.escape_debug())]
    ZeroOfRegion { name: String, what: &'static str },
    #[error(
        "region {} has {} bytes, which is too large for 32-bit addresses, which reach {}",
        name.escape_debug(), grouped(*capacity_bytes), grouped(u32::MAX.into())
    )]
    LargeRegion { name: String, capacity_bytes: u64 },
    #[error("two regions are called {}", name.escape_debug())]
    SameRegion { name: String },
    #[error(
        "something in region {} ends at {}, beyond its {} bytes",
        name.escape_debug(), grouped(*end), grouped(*limit)
    )]
    BeyondRegion { name: String, end: u64, limit: u64 },
    #[error("overlap {given:?} is not known")]
    Overlap { given: String },
    #[error("there is no model file")]
    NoFile,
    #[error("{model} carries no plan (metadata OfflineMemoryAllocation): give one with --plan")]
    NoPlan { model: String },
    #[error("the plan has {offsets} offsets, the model {tensors} tensors")]
    Offsets { offsets: usize, tensors: usize },
    #[error(
        "tensor {} {name:?} keeps its content from one inference to the next, and the plan gives it an offset, where other tensors may overwrite it\n  hint: -1 leaves it to the runtime, which keeps it apart", tensor.0
    )]
    State { tensor: TensorId, name: String },
    #[error(
        "TensorFlow Lite Micro takes the offset of tensor {} for that of a state in another subgraph, which then has no memory\n  hint: -1 leaves it to the runtime", tensor.0
    )]
    TakenForState { tensor: TensorId },
    #[error("tensor {tensor} is to lie at {offset}")]
    Negative { tensor: usize, offset: i32 },
}

/// A plan was made for other kernels than it is to run on.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OtherKernels {
    #[error(
        "the plan was made for {planned}, not for {cpu}\n  hint: --cpu {planned}, or plan again \
         with --kernels {kernels} --cpu {cpu}",
        planned = .planned.escape_debug()
    )]
    Cpu {
        planned: String,
        kernels: String,
        cpu: &'static str,
    },
    #[error(
        "the plan was made for other kernels ({planned}) than these ({kernels} on {cpu}, code {}): \
         what was measured on those says nothing of these\n  hint: name those with --kernels, or plan \
         again with --kernels {kernels} --cpu {cpu}",
        .code_sha256.chars().take(12).collect::<String>()
    )]
    Code {
        planned: PlannedKernels,
        kernels: String,
        cpu: &'static str,
        code_sha256: String,
    },
    #[error(
        "the plan was made for other kernels ({planned}) than these ({now}){}: what was measured on \
         those says nothing of these\n  hint: the same --kernels, in the same order, or plan again \
         with --overlap traced",
        first_other(.planned, .now)
    )]
    Combination {
        planned: PlannedKernels,
        now: PlannedKernels,
    },
}

/// The first operator that another function computes.
fn first_other(planned: &PlannedKernels, now: &PlannedKernels) -> String {
    let pairs = planned.functions.iter().zip(&now.functions).enumerate();
    let mut others = pairs.filter(|(_, (planned, now))| planned != now);
    let name = |function: &Option<String>| match function {
        Some(function) => function.escape_debug().to_string(),
        None => "nothing".to_owned(),
    };
    let Some((operator, (planned, now))) = others.next() else {
        return String::new();
    };
    format!(
        ": operator {operator} is computed by {}, not by {}",
        name(now),
        name(planned)
    )
}

/// Why a plan cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}{reason}", path.display())]
pub struct EmitError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: EmitReason,
}

/// Why a plan cannot be written to a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EmitReason {
    #[error(": its name has to end in .json, .h, .tflite or .csv")]
    Form,
    #[error(": {0}")]
    Table(Box<TableError>),
    #[error(
        ": there is no model file\n  hint: `dmo-trace zoo export` writes one of a network of the zoo"
    )]
    NoModelFile,
    #[error(" with --align {given}: TensorFlow Lite Micro needs multiples of {ALIGNMENT}")]
    Alignment { given: u64 },
    #[error(": a changed model has other operators or tensors, which only .json and .tflite tell")]
    ChangedAsHeader,
    #[error(
        ": no standard operator works in place, is left out, keeps rows from tile to tile, or takes rows \
         of the input\n  hint: --allow split,patch"
    )]
    NotStandard,
    #[error(
        ": the plan is for kernels with packed weights, which TensorFlow Lite Micro does not call\n  \
         hint: --kernels dsp plans for the kernels that take CMSIS-NN's place in it"
    )]
    Packed,
    #[error(
        ": in tiles the outputs are not those of the model, please report this\n  hint: leave out --allow"
    )]
    OtherOutputs,
    #[error(": offsets in an arena of {arena_bytes} bytes do not fit in int32_t")]
    HeaderRange { arena_bytes: u64 },
    #[error(": offset {offset} does not fit in 31 bits")]
    ModelRange { offset: u64 },
    #[error(
        ": TensorFlow Lite Micro places {:?} itself, over {:?}, which is needed{}\n  hint: a .json or \
         .h file leaves nothing to it",
        pair[0], pair[1], if *keep_inputs { " (it does not know of --keep-inputs)" } else { "" }
    )]
    Clash {
        pair: [String; 2],
        keep_inputs: bool,
    },
    #[error(
        ": a plan of several regions is .json or .h; TensorFlow Lite Micro has all tensors of a \
         plan in one memory"
    )]
    Regions,
}

impl EmitReason {
    /// Of a file.
    pub fn of(self, path: &Path) -> EmitError {
        EmitError {
            path: path.to_owned(),
            reason: self,
        }
    }
}

/// A grid may not have more cases.
pub(super) const MAX_CASES: usize = 1_000_000;

/// What is wrong with a grid.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GridError {
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error("no case is left\n  {reasons}")]
    Empty { reasons: String },
    #[error("the grid has more than {MAX_CASES} cases, the limit\n  hint: several grids")]
    TooManyCases,
    #[error("it has more than {MAX_CASES} combinations, the limit\n  hint: several grids")]
    TooManyCombinations,
    #[error("unknown operator '{given}'\n  hint: one of {known}")]
    Operator { given: String, known: String },
    #[error("unknown key '{given}'\n  hint: one of {known}")]
    Key { given: String, known: String },
    #[error("key '{key}': its value is a {found}, {EXPECTED}")]
    NoList { key: String, found: &'static str },
    #[error("key '{key}': one of its values is a {found}, {EXPECTED}")]
    NoWord { key: String, found: &'static str },
    #[error("key '{key}' has no values")]
    NoValues { key: String },
    #[error("--{option} is given {count} values, and takes one")]
    Several { option: String, count: usize },
    #[error("kernels {kernels:?}: a name with control characters cannot be in a table")]
    Control { kernels: String },
}

const EXPECTED: &str = "expected a list of strings or whole numbers";

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
