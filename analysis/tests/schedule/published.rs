//! Figures of Liberis and Lane.

use super::graphs;
use dmo_analysis::graph::{OperatorId, overlaps};
use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::lifetime::working_sets;
use dmo_analysis::schedule::search::{Limits, search};
use dmo_planner::budget::Budget;

/// Appendix A: both tables.
#[test]
fn the_example_of_appendix_a() {
    let graph = graphs::liberis_lane();
    let usage = |order: &[OperatorId]| -> Vec<u64> {
        let sets = working_sets(&graph, order, CountedEnds::default()).unwrap();
        sets.iter().map(|set| set.bytes).collect()
    };
    let file_order = [4704, 4704, 5216, 4160, 1280, 1024, 1024];
    assert_eq!(usage(&graph.file_order()), file_order);
    let theirs = [0, 3, 5, 1, 2, 4, 6].map(OperatorId);
    assert_eq!(usage(&theirs), [4704, 3648, 3904, 4960, 2336, 1024, 1024]);

    let mut cost =
        Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
    let mut last = None;
    let found = search(
        &graph,
        CountedEnds::default(),
        &mut cost,
        Limits::default(),
        &mut Budget::of_seconds(10.0),
        &mut |progress| last = Some(progress),
    )
    .unwrap();
    assert_eq!((found.peak_bytes, found.bound_bytes), (4960, 4960));
    assert_eq!(usage(&found.order).into_iter().max(), Some(4960));
    assert_eq!(
        last.map(|last| (last.peak_bytes, last.bound_bytes)),
        Some((4960, 4960))
    );
}
