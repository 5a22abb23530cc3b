//! What data decide in the layers of a program.

use crate::mcu::machine::{DataMarks, Limits, Observation};
use crate::program::data_decision::{DataDecision, decisions};
use crate::program::execution::{LayerSource, Program, ProgramEvent, RunError};
use crate::program::semihosting::Host;
use crate::program::target::Target;
use dmo_analysis::trace::{Layer, Role, Tensor};
use std::ops::Range;

/// Runs a program to its end, and each layer a second time on the way, in which what its inputs and
/// states hold is followed; the program's other variables are what they are in this run. One entry a
/// layer: where data decide what it accesses, or `None` where the engine cannot tell, such as of a layer
/// that asks the host for something (semihosting). What it prints is
/// dropped, and it has no files.
///
/// # Errors
/// When the program fails.
pub fn follow_data(
    target: &Target,
    limits: Limits,
) -> Result<Vec<Option<Vec<DataDecision>>>, RunError> {
    let layers = LayerSource::find(target, limits)?;
    let silent = Host::console(Box::new(|_| ()));
    let mut program = Program::load(target, &layers, Observation::Watch, limits, silent)?;
    let mut found = Vec::new();
    loop {
        match program.advance()? {
            ProgramEvent::Begin(layer) => found.push(follow(&mut program, &layer)?),
            ProgramEvent::End => {}
            ProgramEvent::Exited(_) => return Ok(found),
        }
    }
}

/// Runs the layer that has just begun, and again with its data followed.
fn follow(program: &mut Program, layer: &Layer) -> Result<Option<Vec<DataDecision>>, RunError> {
    let machine = &mut program.process.machine;
    let begin = machine.snapshot()?;
    let stack_pointer = machine.register(13);
    machine.take_lowest_stack_pointer();
    run_to_end(program, layer)?;
    let machine = &mut program.process.machine;
    let lowest = machine.take_lowest_stack_pointer();
    machine.restore(&begin)?;
    program.is_back_in(layer)?;
    let stack = lowest.unwrap_or(stack_pointer).into()..stack_pointer.into();
    let machine = &mut program.process.machine;
    if !machine.follow_data(true) {
        run_to_end(program, layer)?;
        return Ok(None);
    }
    machine.mark_data(&marks(layer, stack));
    let host_calls = program.process.host_calls;
    let ended = run_to_end(program, layer);
    // What the host loads, stores and answers is not followed.
    let asks_host = program.process.host_calls != host_calls;
    let machine = &mut program.process.machine;
    let found = decisions(machine, program.process.target);
    machine.follow_data(false);
    ended.map(|()| (!asks_host).then_some(found))
}

fn run_to_end(program: &mut Program, layer: &Layer) -> Result<(), RunError> {
    match program.advance()? {
        ProgramEvent::End => Ok(()),
        _ => Err(program.does_not_end(layer).into()),
    }
}

/// The layer's inputs and states; its stack, as far as no buffer lies there.
fn marks(layer: &Layer, stack: Range<u64>) -> DataMarks {
    let bytes = |tensor: &Tensor| u64::from(tensor.address.0)..tensor.end();
    let given = |tensor: &&Tensor| matches!(tensor.role, Role::Input | Role::State);
    let on_stack = |tensor: &Tensor| {
        let range = bytes(tensor);
        range.start < stack.end && stack.start < range.end
    };
    let has_buffers = layer.tensors.iter().any(on_stack);
    DataMarks {
        dependent: layer.tensors.iter().filter(given).map(bytes).collect(),
        own: if has_buffers { 0..0 } else { stack },
        ..DataMarks::default()
    }
}
