//! Models that one program runs, above all those that share an arena: each is held against its own
//! plan, and against what the others keep.

use super::error::StudyError;
use super::firmware::{FirmwareRequest, ensure_explained, read_interpreted};
use super::run::{INFERENCES, Traced};
use crate::mcu::machine::Limits;
use crate::program::allocation::{Allocated, AllocationError, first_inference};
use crate::program::interpreter::Interpreted;
use crate::program::run::{RunOptions, run};
use crate::program::runtime::Runtime;
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::firmware::{ForeignStore, Observed, Witness};
use dmo_analysis::profile::Profiler;
use dmo_analysis::trace::Address;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// A model that a program runs.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Tenant {
    /// Where its file lies.
    pub address: Address,
    /// How many operators it has.
    pub operators: usize,
    /// Whole inferences.
    pub inferences: usize,
    /// Its arena.
    pub arena: Range<u64>,
    /// Tensors and scratch memory.
    pub head: Range<u64>,
    /// What it keeps from one inference to the next; empty where that is not found.
    pub kept: Vec<Range<u64>>,
    /// Nothing of its own is lost within an inference, it stores to nothing that another one
    /// keeps, and another one keeps nothing where it does.
    pub safe: bool,
    /// Something of its own is lost within an inference.
    pub clobbered: bool,
    /// Its stores to what others keep.
    pub foreign_stores: Vec<ForeignStore>,
    /// Addresses that another model keeps, too: which one, and what.
    pub claimed_twice: Vec<(Address, Range<u64>)>,
}

/// More interpreters than this are not looked for.
const MOST_MODELS: usize = 16;

/// All models of a program that was run, if it has run several.
///
/// # Errors
/// As [`tenants`].
pub fn of_run(
    target: &mut Target,
    traced: &Traced,
    limits: Limits,
) -> Result<Vec<Tenant>, StudyError> {
    if traced.outcome.other_models == 0 {
        return Ok(Vec::new());
    }
    tenants(target, INFERENCES, limits)
}

/// Follows each model of a program whose first is followed by the runtime's functions; none where
/// it is not. An endless program is followed for some `inferences` of each.
///
/// # Errors
/// When the program cannot go on, or does something that one of the plans does not explain.
pub fn tenants(
    target: &mut Target,
    inferences: usize,
    limits: Limits,
) -> Result<Vec<Tenant>, StudyError> {
    let Some(runtime) = Runtime::find(&target.image) else {
        return Ok(Vec::new());
    };
    let request = FirmwareRequest {
        inferences: Some(inferences),
        limits: Some(limits),
        ..FirmwareRequest::default()
    };
    let followed = target.interpreted.take();
    // It counts the operators of the model that it was meant for.
    let stop_after = target.stop_after.take();
    let models = all_models(&request, target, &runtime, limits);
    let tenants = models.and_then(|models| {
        let each = (0..models.len()).map(|index| tenant(target, &models, index, limits));
        each.collect()
    });
    (target.interpreted, target.stop_after) = (followed, stop_after);
    tenants
}

fn all_models(
    request: &FirmwareRequest,
    target: &Target,
    runtime: &Runtime,
    limits: Limits,
) -> Result<Vec<(Allocated, Interpreted)>, StudyError> {
    let mut models: Vec<(Allocated, Interpreted)> = Vec::new();
    while models.len() < MOST_MODELS {
        let mut is_new = |found: &Allocated| {
            let mut known = models.iter();
            known.all(|(model, _)| model.graph != found.graph)
        };
        let found = match first_inference(target, runtime, limits, None, &mut is_new) {
            Ok(found) => found,
            Err(AllocationError::OtherModels(_)) => break,
            Err(error) => return Err(Box::new(error).into()),
        };
        let interpreted = read_interpreted(request, target, runtime, &found)?;
        models.push((found.model, interpreted));
    }
    Ok(models)
}

fn tenant(
    target: &mut Target,
    models: &[(Allocated, Interpreted)],
    index: usize,
    limits: Limits,
) -> Result<Tenant, StudyError> {
    let (model, interpreted) = &models[index];
    let others = models
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != index);
    let others: Vec<&Allocated> = others.map(|(_, (other, _))| other).collect();
    let mut interpreted = interpreted.clone();
    let foreign = others.iter().flat_map(|other| other.kept.iter().cloned());
    interpreted.placed.foreign = foreign.collect();
    let placed = interpreted.placed.clone();
    target.interpreted = Some(interpreted);
    let options = RunOptions {
        limits,
        self_check: false,
    };
    let mut unused = Profiler::<()>::default();
    let mut witness = Witness::new(&placed, &mut unused);
    let silent = Host::console(Box::new(|_| ()));
    run(target, options, silent, &mut witness, &mut |_| ()).map_err(Box::new)?;
    let observed = witness.finish()?;
    ensure_explained(&placed, &observed).map_err(Box::new)?;
    let claimed_twice = others.iter().flat_map(|other| {
        let shared = other.kept.iter().filter_map(|kept| {
            let mut own = model.kept.iter().chain([&placed.head]);
            own.find_map(|own| common(own, kept))
        });
        shared.map(|shared| (other.address, shared))
    });
    let claimed_twice: Vec<(Address, Range<u64>)> = claimed_twice.collect();
    let alone = Observed {
        foreign: Vec::new(),
        ..observed.clone()
    };
    Ok(Tenant {
        address: model.address,
        operators: placed.layers.len(),
        inferences: observed.inferences,
        arena: placed.arena.clone(),
        head: placed.head.clone(),
        kept: model.kept.clone(),
        safe: observed.is_safe() && claimed_twice.is_empty(),
        clobbered: !alone.is_safe(),
        foreign_stores: observed.foreign,
        claimed_twice,
    })
}

/// The addresses that both have.
fn common(one: &Range<u64>, other: &Range<u64>) -> Option<Range<u64>> {
    let shared = one.start.max(other.start)..one.end.min(other.end);
    (!shared.is_empty()).then_some(shared)
}
