//! Why a firmware's model, arena or plan cannot be followed.

use crate::program::interpreter::EventError;
use crate::program::structures::StructureError;
use dmo_analysis::arena::ArenaError;

const HINT: &str = "hint: --arena START..END or START:SIZE takes addresses";

/// Why a firmware cannot run another model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FirmwareError {
    #[error("{}", no_interpreter(*.has_marks))]
    NoInterpreter { has_marks: bool },
    #[error(
        "the constructor of MicroInterpreter is not found in the program: nothing can be handed to an interpreter in place of the firmware's model\n  hint: it is inlined by -flto; link without"
    )]
    NoConstructor,
    #[error("the address space has no room for a model of {bytes} bytes beside the program")]
    NoRoom { bytes: u64 },
    #[error(
        "the interpreter has constants of the model elsewhere than in the file that it was handed: which model it runs is not certain"
    )]
    OtherConstants,
    #[error(
        "with this model in place of its own the program does not come to an inference: {problem}\n  hint: its AllocateTensors() has probably failed: register all operators of the model, and give the arena the size that `dmo-trace arena MODEL.tflite` prints, for the model is run without a plan too"
    )]
    NotBegun { problem: String },
    #[error("{given} does not go with --firmware, which runs the model as it is in its file")]
    Changed { given: &'static str },
    #[error(
        "the firmware overwrites tensors that are needed where it plans the model by itself, so that nothing can be measured: {problem}"
    )]
    UnsafeAlone { problem: String },
    #[error(
        "the plan that was made of the firmware's own overlaps is not safe when the firmware runs in it: {problem}\n  hint: please report this; --overlap none is safe"
    )]
    UnsafePlan { problem: String },
}

/// Firmware in which the places of tensors are compiled.
fn no_interpreter(has_marks: bool) -> String {
    let what = if has_marks {
        "the program has layer marks, and no interpreter of TensorFlow Lite Micro that can be found by its names"
    } else {
        "the program has no interpreter of TensorFlow Lite Micro that can be found by its names"
    };
    format!(
        "{what}: where its tensors lie is in its code, and cannot be changed without building it anew\n  hint: plan for its functions, --kernels FIRMWARE.elf --out offsets.h writes the offsets as C to type in; `dmo-trace run` then checks the firmware that is built with them (docs/firmware.md)"
    )
}

/// Why a firmware's arena cannot be observed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaPlaceError {
    #[error(
        "the functions of TensorFlow Lite Micro are not found in the program, because it is stripped or was optimised as a whole (-flto); {unseen}\n  hint: --model MODEL.tflite --arena SYMBOL, and a profiler or layer marks in the program (docs/firmware.md)"
    )]
    NoRuntime { unseen: Box<StructureError> },
    #[error("{events}\n  nor can its operators be followed without: {unseen}")]
    NoEvents {
        events: EventError,
        unseen: Box<StructureError>,
    },
    #[error(
        "the runtime describes the model's tensors in another way than TensorFlow Lite Micro\n  hint: firmware with the names of its functions can be followed (docs/firmware.md)"
    )]
    OtherStructures,
    #[error(
        "the runtime has the model's tensors elsewhere than its planner puts them, so that the place of the scratch memory cannot be told\n  hint: is --arena the whole arena? Firmware with the names of its functions can be followed (docs/firmware.md)"
    )]
    OtherPlanner,
    #[error(
        "the arena that the firmware hands to its interpreter is not found\n  hint: --arena SYMBOL, --arena START..END, or --arena START:SIZE"
    )]
    NoArena,
    #[error(
        "{model} has several subgraphs, whose operators run inside one another: that is not \
         supported"
    )]
    Subgraphs { model: String },
    #[error("{model}: the plan that it carries does not fit its tensors")]
    Carried { model: String },
    #[error("the program does not say the size of {symbol:?}\n  {HINT}")]
    NoSize { symbol: String },
    #[error("the program has no object {symbol:?}{similar}\n  {HINT}")]
    NoObject { symbol: String, similar: String },
    #[error("{count} objects are named {symbol:?}\n  {HINT}")]
    Several { symbol: String, count: usize },
    #[error("arena {arena:?} has no bytes")]
    Empty { arena: String },
    #[error("arena {arena:?}, [{start:#010x}, {end:#010x}), is not in RAM: {map}")]
    NotRam {
        arena: String,
        start: u64,
        end: u64,
        map: String,
    },
}

/// Why nothing can be said of an arena.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ArenaUseError {
    #[error(
        "the run ended after {given} operators, and the model has {operators}: an inference is not complete\n  hint: --stop-after {operators}, or a multiple of it"
    )]
    Incomplete {
        given: usize,
        operators: usize,
    },
    #[error(
        "the firmware does something that its own plan does not explain: {contradiction}\n  hint: nothing is said of it; does its code change tensors, or use the arena for something else? If it makes interpreters anew over one arena, `--stop-after` with the first model's number of operators follows that one (docs/firmware.md)"
    )]
    Unexplained {
        contradiction: String,
    },
    #[error(
        "the firmware's plan is not the one simulated: {contradiction}\n  hint: is it the model that the firmware runs, its arena ({start:#010x} to {end:#010x}), and are its kernels those whose scratch memory is known? (docs/firmware.md)"
    )]
    Contradiction {
        contradiction: String,
        start: u64,
        end: u64,
    },
    Plan(#[from] ArenaError),
}
