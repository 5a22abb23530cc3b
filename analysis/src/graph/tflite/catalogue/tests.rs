//! What holds of all rows.

use super::super::registered::registered;
use super::*;

/// Of what the runtime registers, either the loops are known or why not.
#[test]
fn every_operator_of_the_runtime_has_its_loops_or_a_reason() {
    let why = |kind: &Kind| kind.why_apart();
    let missing: Vec<Kind> = registered()
        .filter(|kind| why(kind) == WhyApart::NotInRuntime || why(kind) == WhyApart::TooNew)
        .collect();
    assert_eq!(missing, []);
    let known = registered().filter(Kind::has_known_loops).count();
    let apart = registered()
        .filter(|kind| row(kind).apart.is_some())
        .count();
    // Of those apart the loops are known and grant nothing. The others keep variables, run
    // subgraphs, or are known to their authors alone.
    assert_eq!([known, apart, registered().count()], [111, 32, 118]);
}

/// A kind has one row.
#[test]
fn rows_are_unique() {
    for (index, row) in ROWS.iter().enumerate() {
        for other in &ROWS[..index] {
            assert_ne!(row.kind, other.kind);
        }
        assert!(!matches!(row.kind, Kind::Other(_)));
    }
}
