//! What execution finds, in words.

use crate::model::Deployment;
use crate::model::verify::{Difference, Mismatch, OtherBytes};
use crate::words::names;
use dmo_analysis::wording::{counted, grouped};

/// The first difference of each input, those of further inputs in the same operator counted: what
/// comes after it may follow from it.
pub fn first_differences(deployment: &Deployment, differences: &[Difference]) -> Vec<String> {
    first_of_each_input(differences, |first| describe(deployment, first))
}

/// The same, with each difference in the words of `describe`.
pub fn first_of_each_input(
    differences: &[Difference],
    describe: impl Fn(&Difference) -> String,
) -> Vec<String> {
    let of_input = differences.chunk_by(|one, other| one.input == other.input);
    let mut firsts: Vec<(&Difference, usize, u64)> = Vec::new();
    for differences in of_input {
        let [first, others @ ..] = differences else {
            continue;
        };
        let known = firsts
            .iter_mut()
            .find(|(known, _, _)| known.operator == first.operator);
        match known {
            Some((_, _, further_inputs)) => *further_inputs += 1,
            None => firsts.push((first, others.len(), 0)),
        }
    }
    let in_words = |(first, others, further_inputs): (&Difference, usize, u64)| {
        let after = match others {
            0 => String::new(),
            count => format!(
                "; {} after it, which may follow from it",
                counted(count as u64, "more difference", "more differences")
            ),
        };
        describe(first) + &after + &names::likewise(further_inputs)
    };
    firsts.into_iter().map(in_words).collect()
}

fn describe(deployment: &Deployment, difference: &Difference) -> String {
    let graph = &deployment.graph;
    let step = deployment.step(difference.operator);
    let place = format!(
        "operator {} {} ({}), input {}",
        difference.operator.0,
        graph.operators[difference.operator.0].kind.escape_debug(),
        step.function().unwrap_or("not executed"),
        difference.input
    );
    let share = |other: &OtherBytes| {
        let bytes = counted(other.bytes as u64, "byte", "bytes");
        format!("{bytes} of {}", names::tensor(graph, other.tensor))
    };
    let input = difference.input;
    match &difference.mismatch {
        Mismatch::Tensor(other) => format!(
            "{place}: {} differ from what is stored without overlaps, from byte {} on",
            share(other),
            grouped(other.first_byte as u64)
        ),
        Mismatch::Stray { arena } => format!(
            "{place}: changes bytes of the arena between {} and {} that are neither its output nor \
             its scratch memory",
            grouped(arena.start as u64),
            grouped(arena.end as u64)
        ),
        Mismatch::Failed { reason } => format!("{place}: {reason}"),
        Mismatch::Original(other) => format!(
            "the changed model, input {input}: {} are others than the model's, from byte {} on",
            share(other),
            grouped(other.first_byte as u64)
        ),
        Mismatch::Lost(other) => format!(
            "at the end, input {input}: {} are no longer there, from byte {} on",
            share(other),
            grouped(other.first_byte as u64)
        ),
    }
}
