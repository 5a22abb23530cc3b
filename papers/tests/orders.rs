//! Published orders, against all orders, and their allocator against the working sets.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "the tests of the search use the rest")]
#[path = "../../analysis/tests/schedule/graphs.rs"]
mod graphs;
#[allow(dead_code, reason = "the tests of the search use the rest")]
#[path = "../../analysis/tests/schedule/judge.rs"]
mod judge;

use dmo_analysis::schedule::CountedEnds;
use dmo_analysis::schedule::lifetime::working_sets;
use dmo_papers::orders::dynamic::{Compaction, compact};
use dmo_papers::orders::liberis_lane::liberis_lane;
use graphs::Random;
use judge::Judge;

#[test]
fn algorithm_1_finds_the_best_of_all_orders() {
    let mut random = Random(4);
    let mut improved = 0;
    for round in 0..6000 {
        let graph = graphs::any(&mut random, 8);
        let ends = graphs::ends(&mut random);
        let mut judge = Judge::new(&graph, ends, None);
        let best = judge.best();
        let theirs = liberis_lane(&graph, ends, 1 << 20).unwrap().unwrap();
        assert!(judge.is_order(&theirs.order), "round {round}");
        assert_eq!(judge.peak(&theirs.order), best, "round {round}: {graph:?}");
        assert_eq!(theirs.peak_bytes, best, "round {round}: {graph:?}");
        let again = liberis_lane(&graph, ends, 1 << 20).unwrap().unwrap();
        assert_eq!(
            again, theirs,
            "round {round}: another order the second time"
        );
        improved += u32::from(judge.peak(&graph.file_order()) > best);
    }
    assert!(improved > 600, "only {improved} graphs gain by an order");
}

/// Appendix A of Liberis and Lane.
#[test]
fn algorithm_1_on_its_own_example() {
    let graph = graphs::liberis_lane();
    let theirs = liberis_lane(&graph, CountedEnds::default(), 1000)
        .unwrap()
        .unwrap();
    assert_eq!(theirs.peak_bytes, 4960);
    assert!(
        liberis_lane(&graph, CountedEnds::default(), 5)
            .unwrap()
            .is_none()
    );
}

#[test]
fn the_compacting_allocator_needs_the_largest_working_set() {
    let mut random = Random(3);
    for _ in 0..3000 {
        let graph = graphs::any(&mut random, 9);
        let ends = graphs::ends(&mut random);
        let judge = Judge::new(&graph, ends, None);
        let order = judge.shuffled(&mut random);
        let sets = working_sets(&graph, &order, ends).unwrap();
        let largest = sets.iter().map(|set| set.bytes).max().unwrap();
        let peak = compact(&graph, &order, ends).unwrap().peak_bytes;
        assert_eq!(peak, largest, "{graph:?}");
    }
}

/// After each step what lies above a freed buffer moves down.
#[test]
fn the_compacting_allocator_moves_what_lies_above_a_freed_buffer() {
    let graph = graphs::liberis_lane();
    let expected = Compaction {
        peak_bytes: 5216,
        // After steps 1, 3, 4, 5, 6 and 7: tensors 1; 3; 3, 4; 4, 5; 5, 6; 7.
        moved_bytes: 3136 + 512 + 1024 + 768 + 512 + 512,
        moves: 9,
    };
    let done = compact(&graph, &graph.file_order(), CountedEnds::default()).unwrap();
    assert_eq!(done, expected);
}
