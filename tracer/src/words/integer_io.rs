//! Which ends of a model are integers and were floats.

use dmo_analysis::transform::integer_io::{IntegerEnd, IntegerIoReport};
use dmo_analysis::wording::counted;
use std::collections::BTreeSet;

/// In a sentence.
pub fn sentence(report: &IntegerIoReport) -> String {
    let of = |ends: &[IntegerEnd], one, several| {
        let types: BTreeSet<String> = ends
            .iter()
            .map(|end| end.element_type.to_string())
            .collect();
        let types: Vec<String> = types.into_iter().collect();
        let count = counted(ends.len() as u64, one, several);
        (!ends.is_empty()).then(|| format!("{count} of {}", types.join(", ")))
    };
    let inputs = of(&report.inputs, "input", "inputs");
    let outputs = of(&report.outputs, "output", "outputs");
    let ends: Vec<String> = inputs.into_iter().chain(outputs).collect();
    format!(
        "Integer ends: {}, without the conversions from and to FLOAT32",
        ends.join(" and ")
    )
}
