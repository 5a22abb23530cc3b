//! A program run to its end, with what its layers do on other inputs and what its arena holds.

use super::error::{ArenaUseError, StudyError};
use super::firmware::{ArenaPlace, FirmwareRequest, arena_use, interpreted};
use super::source::Source;
use crate::mcu::machine::Limits;
use crate::program::data_decision::DataDecision;
use crate::program::followed::follow_data;
use crate::program::interpreter::Interpreted;
use crate::program::marks::Marks;
use crate::program::run::{RunError, RunOptions, RunOutcome, run as run_program, try_other_inputs};
use crate::program::runtime::Runtime;
use crate::program::semihosting::Host;
use crate::program::semihosting::folder::Folder;
use crate::program::target::Target;
use dmo_analysis::firmware::{ArenaUse, Observed, Placed, Witness};
use dmo_analysis::profile::{OtherInput, Profile, Profiler};
use dmo_analysis::replay::ReplayError;
use dmo_analysis::trace::{Ending, Time, TraceSink};

/// How a program is run.
pub struct RunRequest {
    /// How far, and whether every access is checked.
    pub options: RunOptions,
    /// On how many inputs each layer runs, the program's own first.
    pub inputs: u64,
    /// What data decide in each layer is found, which takes longer.
    pub every_input: bool,
    /// The folder of the runs on other inputs; `None` if they have no access to files.
    pub other_folder: Option<Folder>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub enum Stage {
    /// The program has executed this many instructions.
    Executed(Time),
    /// It has ended; layers still run on other inputs.
    OtherInputs,
}

/// A program that was run.
pub struct Traced {
    /// What the layers did to their buffers.
    pub profile: Profile,
    /// How it ended, and the sources of its instructions.
    pub ending: Ending,
    /// All else that the run on the program's own inputs was.
    pub outcome: RunOutcome,
    /// What each layer did on other inputs; empty if there were none.
    pub others: Vec<Vec<OtherInput>>,
    /// Where data decide what each layer accesses, or `None` for a layer where the engine cannot tell;
    /// `None` if that was not asked for.
    pub decisions: Option<Vec<Option<Vec<DataDecision>>>>,
    /// The arena of the model that the program runs.
    pub arena: Option<ArenaUse>,
}

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TraceError {
    Run(#[from] RunError),
    Replay(#[from] ReplayError),
    Arena(#[from] ArenaUseError),
    #[error("the run on other inputs panicked")]
    Panic,
}

/// Runs a program; `sink` receives its events, too, and `tick` how far it is.
///
/// # Errors
/// When it cannot be run, or what its arena holds makes no sense.
pub fn trace(
    target: &Target,
    request: RunRequest,
    host: Host<'_>,
    sink: Option<&mut dyn TraceSink>,
    tick: &mut dyn FnMut(Stage),
) -> Result<Traced, TraceError> {
    let RunRequest {
        options,
        inputs,
        every_input,
        other_folder,
    } = request;
    let mut profiler = Profiler::<()>::default();
    let (outcome, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| {
            let others = match inputs.saturating_sub(1) {
                0 => None,
                count => {
                    let limits = options.limits;
                    Some(try_other_inputs(target, limits, count, other_folder)?)
                }
            };
            let decisions = every_input.then(|| follow_data(target, options.limits));
            Ok::<_, RunError>((others, decisions.transpose()?))
        });
        let mut executed = |time| tick(Stage::Executed(time));
        let outcome = match sink {
            Some(sink) => {
                let mut both = (&mut profiler, sink);
                own_inputs(target, options, host, &mut both, &mut executed)
            }
            None => own_inputs(target, options, host, &mut profiler, &mut executed),
        };
        tick(Stage::OtherInputs);
        (outcome, others.join())
    });
    let (outcome, observed) = outcome?;
    let (others, decisions) = others.map_err(|_| TraceError::Panic)??;
    let (mut profile, ()) = profiler.finish();
    if let Some(others) = &others {
        profile.compare_inputs(others);
    }
    let arena = match (placed(target), &observed) {
        (Some(placed), Some(observed)) => Some(arena_use(placed, observed, &profile)?),
        _ => None,
    };
    let layers = profile.layers.iter();
    let ending = Ending {
        exit: outcome.exit,
        instructions: outcome.instructions,
        data_dependent: layers.map(|layer| layer.data_dependent).collect(),
        locations: outcome.locations.clone(),
    };
    Ok(Traced {
        profile,
        ending,
        outcome,
        others: others.unwrap_or_default(),
        decisions,
        arena,
    })
}

/// Inferences that show what an endless loop of them does: one is like the other.
pub const INFERENCES: usize = 2;

/// The model that a program runs by TensorFlow Lite Micro, in its arena; `None` where the program
/// has no interpreter that could be followed, and neither a model nor an arena is given. `bounded`:
/// an endless loop is to end.
///
/// # Errors
/// When the model or the arena that are given are none of the program's.
pub fn interpreter_of(
    target: &Target,
    model: Option<Source>,
    arena: Option<ArenaPlace>,
    limits: Limits,
    bounded: bool,
) -> Result<Option<Interpreted>, StudyError> {
    let asked = model.is_some() || arena.is_some();
    let runtime = Runtime::find(&target.image);
    if !asked && runtime.is_none() {
        return Ok(None);
    }
    let request = FirmwareRequest {
        model,
        arena,
        inferences: bounded.then_some(INFERENCES),
        limits: Some(limits),
    };
    match interpreted(&request, target, runtime.as_ref()) {
        Ok(interpreted) => Ok(Some(interpreted)),
        // It may run no model, or one that cannot be followed, and have layers of its own.
        Err(_) if !asked && Marks::find(&target.image).is_ok() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The model that a program runs, in its arena.
pub fn placed(target: &Target) -> Option<&Placed> {
    target.interpreted.as_ref().map(|found| &found.placed)
}

/// The run on the program's own inputs, and what a witness saw of its arena.
fn own_inputs(
    target: &Target,
    options: RunOptions,
    host: Host<'_>,
    sink: &mut dyn TraceSink,
    tick: &mut dyn FnMut(Time),
) -> Result<(RunOutcome, Option<Observed>), TraceError> {
    let Some(placed) = placed(target) else {
        return Ok((run_program(target, options, host, sink, tick)?, None));
    };
    let mut witness = Witness::new(placed, sink);
    let outcome = run_program(target, options, host, &mut witness, tick)?;
    Ok((outcome, Some(witness.finish()?)))
}
