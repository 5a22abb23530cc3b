//! All ways to an order, against all orders.

use super::graphs::{self, Random};
use super::judge::Judge;
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, TensorId};
use dmo_analysis::schedule::cost::Overlapped;
use dmo_analysis::schedule::lifetime::{lifetimes, step_costs, working_sets};
use dmo_analysis::schedule::search::{Limits, search};
use dmo_analysis::schedule::{CountedEnds, Proof, Schedule};
use dmo_planner::budget::Budget;

fn exactly(graph: &Graph, overlaps: Option<&Overlaps>, ends: CountedEnds) -> Schedule {
    within(
        graph,
        overlaps,
        ends,
        Limits::default(),
        &mut Budget::of_seconds(10.0),
    )
}

fn within(
    graph: &Graph,
    overlaps: Option<&Overlaps>,
    ends: CountedEnds,
    limits: Limits,
    budget: &mut Budget<'_>,
) -> Schedule {
    match overlaps {
        None => {
            let mut cost = Overlapped::new(graph, &overlaps::none(graph), ends).unwrap();
            search(graph, ends, &mut cost, limits, budget, &mut |_| {}).unwrap()
        }
        Some(overlaps) => {
            let mut cost = Overlapped::new(graph, overlaps, ends).unwrap();
            search(graph, ends, &mut cost, limits, budget, &mut |_| {}).unwrap()
        }
    }
}

#[test]
fn working_sets_and_lifetimes_follow_the_definitions() {
    let mut random = Random(3);
    for _ in 0..3000 {
        let graph = graphs::any(&mut random, 9);
        let ends = graphs::ends(&mut random);
        let overlaps = graphs::overlaps(&graph, &mut random);
        let mut judge = Judge::new(&graph, ends, None);
        let order = judge.shuffled(&mut random);

        let sets = working_sets(&graph, &order, ends).unwrap();
        let bytes: Vec<u64> = sets.iter().map(|set| set.bytes).collect();
        assert_eq!(bytes, judge.costs(&order), "{graph:?}");
        for set in &sets {
            let size = |id: &TensorId| graph.tensor(*id).size_bytes;
            let sum: u64 = set.tensors.iter().map(size).sum();
            assert_eq!(sum + set.scratch_bytes, set.bytes);
        }
        let mut disjoint = Overlapped::new(&graph, &overlaps::none(&graph), ends).unwrap();
        assert_eq!(
            step_costs(&graph, &order, ends, &mut disjoint).unwrap(),
            bytes
        );

        for (index, range) in lifetimes(&graph, &order).unwrap().into_iter().enumerate() {
            let expected = judge.used(TensorId(index), &order);
            assert_eq!(expected.map_or(0..0, |(begin, end)| begin..end + 1), range);
        }

        let mut judge = Judge::new(&graph, ends, Some(&overlaps));
        let mut overlapped = Overlapped::new(&graph, &overlaps, ends).unwrap();
        let costs = step_costs(&graph, &order, ends, &mut overlapped).unwrap();
        assert_eq!(costs, judge.costs(&order), "{graph:?} {overlaps:?}");
        assert!(
            costs
                .iter()
                .zip(&bytes)
                .all(|(with, without)| with <= without)
        );
    }
}

#[test]
fn the_search_finds_the_best_of_all_orders() {
    let mut random = Random(4);
    let mut improved = 0;
    for round in 0..6000 {
        let graph = graphs::any(&mut random, 8);
        let ends = graphs::ends(&mut random);
        let mut judge = Judge::new(&graph, ends, None);
        let best = judge.best();
        let found = exactly(&graph, None, ends);
        check(&mut judge, &found, best, round);
        improved += u32::from(judge.peak(&graph.file_order()) > best);
    }
    assert!(improved > 600, "only {improved} graphs gain by an order");
}

#[test]
fn the_search_finds_the_best_of_all_orders_with_overlaps() {
    let mut random = Random(5);
    let mut different = 0;
    for round in 0..4000 {
        let graph = graphs::any(&mut random, 8);
        let ends = graphs::ends(&mut random);
        let overlaps = graphs::overlaps(&graph, &mut random);
        let mut judge = Judge::new(&graph, ends, Some(&overlaps));
        let best = judge.best();
        check(
            &mut judge,
            &exactly(&graph, Some(&overlaps), ends),
            best,
            round,
        );
        let plain = exactly(&graph, None, ends);
        different += u32::from(judge.peak(&plain.order) > best);
    }
    assert!(
        different > 40,
        "overlaps change the best order of {different} graphs"
    );
}

/// Where there are long stretches that are not to be interrupted.
#[test]
fn the_search_finds_the_best_of_all_orders_of_chains() {
    let mut random = Random(7);
    for round in 0..2000 {
        let operators = 4 + random.below(4) as usize;
        let graph = graphs::chains(&mut random, operators);
        let overlaps = graphs::overlaps(&graph, &mut random);
        let given = Some(&overlaps).filter(|_| round % 16 == 0);
        let mut judge = Judge::new(&graph, CountedEnds::default(), given);
        let best = judge.best();
        let found = exactly(&graph, given, CountedEnds::default());
        check(&mut judge, &found, best, round);
    }
}

/// Where weights are tensors of the arena, made by operators without inputs.
#[test]
fn the_search_finds_the_best_of_all_orders_with_weights() {
    let mut random = Random(8);
    let mut weights = 0;
    for round in 0..3000 {
        let plain = graphs::any(&mut random, 4);
        let graph = graphs::with_weights(&plain, &mut random);
        if graph.operators.len() > 8 {
            continue;
        }
        weights += graph.operators.len() - plain.operators.len();
        let ends = graphs::ends(&mut random);
        let overlaps = graphs::overlaps(&graph, &mut random);
        let given = Some(&overlaps).filter(|_| round % 2 == 0);
        let mut judge = Judge::new(&graph, ends, given);
        let best = judge.best();
        check(&mut judge, &exactly(&graph, given, ends), best, round);
    }
    assert!(weights > 3000, "only {weights} weights");
}

fn check(judge: &mut Judge<'_>, found: &Schedule, best: u64, round: u32) {
    let graph = judge.graph;
    assert!(judge.is_order(&found.order), "round {round}: {graph:?}");
    assert_eq!(
        judge.peak(&found.order),
        found.peak_bytes,
        "round {round}: {graph:?}"
    );
    assert_eq!(found.peak_bytes, best, "round {round}: {graph:?}");
    assert_eq!(found.bound_bytes, best, "round {round}");
    assert_eq!(found.proof, Proof::Optimal);
}

/// Whatever the limit: a valid order, its true peak, and a bound that is one.
#[test]
fn limits_leave_valid_orders_and_sound_bounds() {
    let mut random = Random(6);
    let mut open = 0;
    for round in 0..3000 {
        let graph = graphs::any(&mut random, 8);
        let overlaps = graphs::overlaps(&graph, &mut random);
        let given = Some(&overlaps).filter(|_| random.one_in(2));
        let ends = graphs::ends(&mut random);
        let (mut limits, mut work) = (Limits::default(), u64::MAX);
        match random.below(3) {
            0 => work = random.below(2) * random.below(200),
            1 => limits.states = random.below(9),
            _ => limits.memory_bytes = random.below(2000),
        }
        let found = within(&graph, given, ends, limits, &mut Budget::of_work(work));
        let mut judge = Judge::new(&graph, ends, given);
        let best = judge.best();
        assert!(judge.is_order(&found.order), "round {round}");
        assert_eq!(judge.peak(&found.order), found.peak_bytes, "round {round}");
        assert!(found.bound_bytes <= best, "round {round}: {graph:?}");
        assert!(found.peak_bytes >= best);
        let proved = found.proof == Proof::Optimal;
        assert_eq!(proved, found.bound_bytes == found.peak_bytes);
        open += u32::from(!proved);
    }
    assert!(open > 100, "only {open} searches were cut short");
}

#[test]
fn a_closure_can_be_the_cost() {
    let graph = graphs::liberis_lane();
    let mut cost =
        Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
    let mut plain =
        Overlapped::new(&graph, &overlaps::none(&graph), CountedEnds::default()).unwrap();
    let mut closure = |operator, dying: &[bool]| {
        use dmo_analysis::schedule::cost::StepCost;
        let bytes = cost.touched_bytes(operator, dying);
        assert_eq!(bytes, plain.touched_bytes(operator, dying));
        bytes
    };
    let limits = Limits::default();
    let found = search(
        &graph,
        CountedEnds::default(),
        &mut closure,
        limits,
        &mut Budget::of_seconds(10.0),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(found.peak_bytes, 4960);
}
