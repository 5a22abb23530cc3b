//! An explanation in sentences.

use super::{Bound, Buffer, Explanation};

/// Why the overlap ends where it does.
pub(super) fn why(explanation: &Explanation) -> Vec<String> {
    let mut sentences = Vec::new();
    if !explanation.refusals.is_empty() {
        let reasons = explanation.refusals.iter().map(ToString::to_string);
        sentences.push(format!(
            "No overlap is granted: {}. By its accesses alone this run would allow {} bytes.",
            reasons.collect::<Vec<_>>().join("; "),
            explanation.observed_overlap_bytes
        ));
    }
    match (&explanation.store, &explanation.load) {
        (Some(store), Some(load)) => sentences.extend(binding(explanation, store, load)),
        _ if explanation.refusals.is_empty() => sentences.push(nothing_binds(explanation)),
        _ => {}
    }
    sentences
}

fn nothing_binds(explanation: &Explanation) -> String {
    let Explanation { input, output, .. } = explanation;
    let smaller = if input.size_bytes < output.size_bytes {
        input
    } else {
        output
    };
    format!(
        "Nothing binds: even where '{}' starts with '{}', no store reaches a byte that is loaded later. O_s = {} bytes is the whole of '{}'.",
        input.name, output.name, explanation.observed_overlap_bytes, smaller.name
    )
}

fn binding(explanation: &Explanation, store: &Bound, load: &Bound) -> [String; 2] {
    let Explanation { input, output, .. } = explanation;
    let least = explanation.displacement_bytes;
    let same = least.saturating_sub(1);
    let room = output.size_bytes.saturating_sub(least);
    let overlap = if room > input.size_bytes {
        format!(
            "there '{}' lies in '{}' with all its {} bytes",
            input.name, output.name, input.size_bytes
        )
    } else {
        format!("O_s = {} - {least} = {room} bytes", output.size_bytes)
    };
    [
        format!(
            "At time {} the store writes byte {} of '{}'; at time {} the load needs byte {} of '{}'. With '{}' S bytes above '{}' both are the same memory where S = {} - {} = {same}, so S is at least {least}: {overlap}.",
            store.time,
            store.byte,
            output.name,
            load.time,
            load.byte,
            input.name,
            input.name,
            output.name,
            store.byte,
            load.byte,
        ),
        format!(
            "S = {same} would make the load find {} where it needs {}.",
            element(store, output),
            element(load, input)
        ),
    ]
}

/// `element 12 (0, 1, 0, 4) of 'input'`.
fn element(bound: &Bound, buffer: &Buffer) -> String {
    let place = bound.coordinates.map_or(String::new(), |indices| {
        format!(" ({})", indices.map(|index| index.to_string()).join(", "))
    });
    format!("element {}{place} of '{}'", bound.element, buffer.name)
}
