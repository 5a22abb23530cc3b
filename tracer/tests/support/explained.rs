//! What an explanation says of variables.

use dmo_trace::elf::debug::Value;
use dmo_trace::explain::{Bound, Explanation, Question, snapshot_program};
use dmo_trace::program::target::Target;

/// All pairs of all layers of a program.
pub fn explanations(target: &Target) -> Vec<Explanation> {
    let options = super::run_options(false, super::LIMITS);
    let (profile, _) = super::profile(target, options).expect("profile");
    let mut questions = Vec::new();
    for (index, layer) in profile.layers.iter().enumerate() {
        questions.extend((1..=layer.pairs.len()).map(|pair| Question {
            number: index + 1,
            layer,
            pair,
            shapes: None,
        }));
    }
    let points: Vec<_> = questions
        .iter()
        .flat_map(|question| question.points().expect("points"))
        .collect();
    let seen = snapshot_program(target, super::LIMITS, &points).expect("run");
    questions
        .iter()
        .map(|question| question.answer(&seen, &target.image).expect("answer"))
        .collect()
}

/// The integer that a variable of the innermost frame holds there; none where it has no value.
pub fn integer(bound: &Bound, name: &str) -> Option<i128> {
    let variables = &bound.calls.first()?.variables;
    let local = variables.iter().find(|local| local.variable.name == name)?;
    match local.variable.value {
        Value::Integer(value) => Some(value),
        _ => None,
    }
}
