//! An explanation in sentences.

use super::{Bound, Buffer, Explanation};
use dmo_analysis::wording::grouped;

/// Why the overlap ends where it does.
pub(super) fn why(explanation: &Explanation) -> Vec<String> {
    let mut sentences = Vec::new();
    if !explanation.refusals.is_empty() {
        let reasons = explanation.refusals.iter().map(ToString::to_string);
        sentences.push(format!(
            "No overlap is granted: {}. By its accesses alone this run would allow {} bytes.",
            reasons.collect::<Vec<_>>().join("; "),
            grouped(explanation.observed_overlap_bytes.into())
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
        input.name,
        output.name,
        grouped(explanation.observed_overlap_bytes.into()),
        smaller.name
    )
}

fn binding(explanation: &Explanation, store: &Bound, load: &Bound) -> [String; 2] {
    let Explanation { input, output, .. } = explanation;
    let room = output
        .size_bytes
        .saturating_sub(explanation.displacement_bytes);
    let same = grouped(explanation.displacement_bytes.saturating_sub(1).into());
    let [least, room_bytes, input_bytes, output_bytes, stored, loaded] = [
        explanation.displacement_bytes,
        room,
        input.size_bytes,
        output.size_bytes,
        store.byte,
        load.byte,
    ]
    .map(|bytes| grouped(bytes.into()));
    let [input_name, output_name] = [&input.name, &output.name];
    let overlap = if room > input.size_bytes {
        format!("there '{input_name}' lies in '{output_name}' with all its {input_bytes} bytes")
    } else {
        format!("O_s = {output_bytes} - {least} = {room_bytes} bytes")
    };
    [
        format!(
            "At time {} the store writes byte {stored} of '{output_name}'; at time {} the load needs byte {loaded} of '{input_name}'. With '{input_name}' S bytes above '{output_name}' both are the same memory where S = {stored} - {loaded} = {same}, so S is at least {least}: {overlap}.",
            store.time, load.time,
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
    let element = grouped(bound.element.into());
    format!("element {element}{place} of '{}'", buffer.name)
}
