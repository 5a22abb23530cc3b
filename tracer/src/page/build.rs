//! The page of a C library.

use super::front::{FrontAxes, FrontChart, FrontPoint};
use super::plan::{Sayings, page as page_of_plan};
use super::{Fact, Page, Verdict, text};
use crate::study::build::Built;
use crate::study::form::{Form, INVOKE_STACK_BYTES};
use crate::study::remedies::Remedies;
use crate::study::source::Source;
use crate::words::recipe::described;
use crate::words::{cycles, regions};
use dmo_analysis::arena::ArenaError;
use dmo_analysis::wording::{bytes, counted, grouped};

/// The page of a library and of the plan that it follows.
///
/// # Errors
/// When the model's sizes make no planning problem.
pub fn page(source: &Source, built: &Built, tried: &Remedies) -> Result<Page, ArenaError> {
    let sayings = Sayings {
        command: "build",
        verdict: Some(verdict(built)),
        facts: facts(built),
        notes: vec![
            "What a kernel is measured to do is in the table of layers; the library's README says \
             how it is used."
                .to_owned(),
        ],
    };
    let page = page_of_plan(source, &built.planned, sayings, tried)?;
    Ok(Page {
        front: of_forms(built).or(page.front),
        ..page
    })
}

fn verdict(built: &Built) -> Verdict {
    let inputs = counted(built.inputs, "input", "inputs");
    let text = match (built.holds(), built.proof.is_some()) {
        (false, _) => "UNSAFE".to_owned(),
        (true, true) => format!(
            "SAFE: as compiled, every load and store keeps to the plan, and all outputs are the \
             model's, on {inputs}"
        ),
        (true, false) => format!(
            "SAFE: the plan holds on the kernels' machine code, and all outputs are the model's, on \
             {inputs}"
        ),
    };
    Verdict {
        holds: built.holds(),
        text,
    }
}

fn facts(built: &Built) -> Vec<Fact> {
    let description = &built.description;
    let proof = built.proof.as_ref();
    let compiler = proof.map(|proof| format!("{} {}", proof.compiler, proof.flags.join(" ")));
    let stack = description.stack_bytes;
    let time = (built.cycles.as_ref()).map_or(cycles::UNKNOWN.to_owned(), cycles::about);
    let arena_and_stack =
        stack.map(|stack| u64::from(built.arena_bytes) + u64::from(stack) + INVOKE_STACK_BYTES);
    let facts = [
        ("Arena and stack", arena_and_stack.map(bytes)),
        ("Form", built.planned.file.recipe.as_ref().map(described)),
        (
            "RAM as compiled",
            proof.and_then(|proof| proof.ram_bytes).map(bytes),
        ),
        (
            "Flash as compiled, weights included",
            proof.map(|proof| bytes(proof.flash_bytes)),
        ),
        ("Compiler", compiler),
        (
            "Accesses to each memory",
            (!built.regions.is_empty()).then(|| regions::accesses(&built.regions)),
        ),
        (
            "Kernels",
            Some(format!("{} on {}", description.kernels, description.cpu)),
        ),
        (
            "State in the arena",
            (built.state_bytes > 0).then(|| bytes(built.state_bytes.into())),
        ),
        (
            "Deepest kernel's stack",
            stack.map(|stack| bytes(stack.into())),
        ),
        (
            "Weights and tables, as packed",
            Some(bytes(built.weights_bytes)),
        ),
        (
            "Inference",
            Some(format!(
                "{}, {} instructions, {time} cycles",
                counted(built.calls as u64, "call", "calls"),
                grouped(built.instructions)
            )),
        ),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(name, value)| Some((name, value?)));
    facts
        .map(|(name, value)| Fact {
            name,
            value: text::message(&value),
        })
        .collect()
}

/// The forms among which the fastest was chosen; `None` where there was no choice.
fn of_forms(built: &Built) -> Option<FrontChart> {
    let forms = &built.forms.best;
    let fastest = forms.iter().map(Form::time).min()?;
    let has_cycles = forms.iter().all(|form| form.cycles.is_some());
    let points = forms.iter().map(|form| FrontPoint {
        memory_bytes: form.ram_bytes(),
        extra_work: form.time() - fastest,
        change: format!(
            "{}; {} of flash, {} instructions",
            described(&form.recipe),
            bytes(form.flash_bytes),
            grouped(form.instructions),
        ),
        is_chosen: built.is_of(form),
    });
    Some(FrontChart {
        axes: FrontAxes {
            title: "Memory against time",
            memory: "Arena and stack",
            extra: if has_cycles {
                "cycles more than the fastest"
            } else {
                "instructions more than the fastest"
            },
        },
        work: fastest,
        about: format!(
            "Forms that none of the others beats in RAM, flash and time, measured on the kernels; {} others \
             were beaten. The line joins those that are not beaten in RAM and time alone. Flash is estimated. The fastest that keeps to {} was taken.",
            built.forms.beaten.len(),
            built.limits
        ),
        points: points.collect(),
        limit_bytes: built.limits.ram_bytes,
    })
}
