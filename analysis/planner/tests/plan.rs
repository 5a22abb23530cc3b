//! Planners against brute force and against the geometric check.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "plan/table.rs"]
mod minimalloc_table;
mod support;

use dmo_planner::budget::Budget;
use dmo_planner::minimalloc::Table;
use dmo_planner::plan::exact::{self, Decision};
use dmo_planner::plan::{Plan, STRATEGIES};
use dmo_planner::problem::{Buffer, Displacement, Problem, Section};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Up to so many buffers of so many bytes and steps are planned by brute force.
const MOST_BUFFERS: usize = 5;
const MOST_BYTES: u64 = 5;
const MOST_STEPS: u32 = 4;

prop_compose! {
    fn buffer(most_bytes: u64)(
        size_bytes in 1..=most_bytes,
        start in 0..MOST_STEPS,
        length in 1..=MOST_STEPS,
    ) -> Buffer {
        Buffer {
            name: format!("{size_bytes} bytes from step {start}"),
            size_bytes,
            alive: start..start + length,
            alignment: 1,
            fixed_offset: None,
        }
    }
}

/// All buffers with the same alignment.
fn problem(most_buffers: usize, most_bytes: u64) -> impl Strategy<Value = Problem> {
    let alignment = prop::sample::select(vec![1_u64, 1, 1, 2, 4]);
    let alignments = alignment.prop_map(move |alignment| vec![alignment; most_buffers]);
    problem_with(most_buffers, most_bytes, alignments)
}

/// Each buffer with an alignment of its own.
fn mixed_problem(most_buffers: usize, most_bytes: u64) -> impl Strategy<Value = Problem> {
    let alignment = prop::sample::select(vec![1_u64, 1, 2, 3, 4, 4, 6, 8]);
    let alignments = prop::collection::vec(alignment, most_buffers);
    problem_with(most_buffers, most_bytes, alignments)
}

/// Each pair alive together may overlap with a chance of one half.
fn problem_with(
    most_buffers: usize,
    most_bytes: u64,
    alignments: impl Strategy<Value = Vec<u64>>,
) -> impl Strategy<Value = Problem> {
    let buffers = prop::collection::vec(buffer(most_bytes), 1..=most_buffers);
    let chances = prop::collection::vec((any::<bool>(), 0.0..=1.0_f64), 256);
    (buffers, chances, alignments).prop_map(|(mut buffers, chances, alignments)| {
        for (buffer, alignment) in buffers.iter_mut().zip(alignments) {
            buffer.alignment = alignment;
        }
        support::problem(buffers, |one, other| {
            chances[(one * one + other) % chances.len()]
        })
    })
}

/// The least arena of all plans, by trying all offsets.
fn brute_force(problem: &Problem) -> u64 {
    let whole = |buffer: &Buffer| {
        buffer
            .size_bytes
            .next_multiple_of(problem.common_alignment())
    };
    let naive = problem.buffers().iter().map(whole).sum();
    let mut offsets = Vec::new();
    let mut best = naive;
    try_offsets(problem, &mut offsets, 0, &mut best);
    best
}

fn try_offsets(problem: &Problem, offsets: &mut Vec<u64>, arena: u64, best: &mut u64) {
    let buffer = offsets.len();
    let Some(&Buffer {
        size_bytes: size,
        alignment,
        ..
    }) = problem.buffers().get(buffer)
    else {
        *best = arena.min(*best);
        return;
    };
    let mut offset = 0;
    while offset + size < *best {
        let holds = offsets.iter().enumerate().all(|(other, &placed)| {
            let at_least = |lower, upper, distance: i64| {
                problem
                    .min_distance(lower, upper)
                    .is_none_or(|least| distance >= least as i64)
            };
            let distance = offset as i64 - placed as i64;
            at_least(other, buffer, distance) || at_least(buffer, other, -distance)
        });
        if holds {
            offsets.push(offset);
            try_offsets(problem, offsets, arena.max(offset + size), best);
            offsets.pop();
        }
        offset += alignment;
    }
}

fn optimum(problem: &Problem) -> exact::Optimum {
    exact::plan(problem, &mut Budget::unlimited())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_exact_plan_is_that_of_brute_force(problem in problem(MOST_BUFFERS, MOST_BYTES)) {
        check_exact_plan(&problem)?;
    }

    #[test]
    fn both_searches_decide_like_brute_force(problem in problem(MOST_BUFFERS, MOST_BYTES)) {
        check_decisions(&problem)?;
    }

    #[test]
    fn mixed_alignments_are_planned_like_brute_force(
        problem in mixed_problem(MOST_BUFFERS, MOST_BYTES)
    ) {
        check_exact_plan(&problem)?;
        check_decisions(&problem)?;
    }
}

fn check_exact_plan(problem: &Problem) -> Result<(), TestCaseError> {
    let optimum = optimum(problem);
    prop_assert_eq!(optimum.plan.check(problem), vec![]);
    prop_assert_eq!(optimum.plan.arena_bytes(problem), optimum.arena_bytes);
    prop_assert!(optimum.is_optimal());
    prop_assert_eq!(optimum.arena_bytes, brute_force(problem));
    prop_assert!(problem.lower_bound() <= optimum.arena_bytes);
    Ok(())
}

fn check_decisions(problem: &Problem) -> Result<(), TestCaseError> {
    let best = brute_force(problem);
    for (capacity, possible) in [(best, true), (best - 1, false)] {
        for decision in exact::decide_each(problem, capacity) {
            match decision {
                exact::Decision::Possible(offsets) => {
                    let plan = Plan { offsets };
                    prop_assert!(possible);
                    prop_assert_eq!(plan.check(problem), vec![]);
                    prop_assert!(plan.arena_bytes(problem) <= capacity);
                }
                exact::Decision::Impossible => prop_assert!(!possible),
                exact::Decision::Unknown => prop_assert!(false, "no limit was given"),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_strategy_gives_a_valid_plan(problem in problem(40, 1000)) {
        check_strategies(&problem)?;
    }

    #[test]
    fn every_strategy_keeps_mixed_alignments(problem in mixed_problem(40, 1000)) {
        check_strategies(&problem)?;
        // A part of a problem knows no more than the whole.
        let half: Vec<usize> = (0..problem.buffers().len()).step_by(2).collect();
        check_strategies(&problem.subset(&half))?;
    }

    #[test]
    fn plans_keep_given_offsets(mut buffers in prop::collection::vec(buffer(50), 2..12)) {
        buffers[0].fixed_offset = Some(37);
        let problem = Problem::new(buffers, &[]).unwrap();
        for strategy in STRATEGIES {
            if let Some(plan) = strategy.plan(&problem) {
                prop_assert_eq!(plan.check(&problem), vec![], "{}", strategy.name);
            }
        }
        let optimum = optimum(&problem);
        prop_assert_eq!(optimum.plan.check(&problem), vec![]);
    }
}

fn check_strategies(problem: &Problem) -> Result<(), TestCaseError> {
    let bound = problem.lower_bound();
    let apart = problem.without_overlaps();
    for strategy in STRATEGIES {
        let plan = strategy.plan(problem).unwrap();
        prop_assert_eq!(plan.check(problem), vec![], "{}", strategy.name);
        prop_assert!(plan.arena_bytes(problem) >= bound, "{}", strategy.name);
        if !strategy.uses_overlaps {
            prop_assert_eq!(plan.check(&apart), vec![], "{}", strategy.name);
        }
    }
    Ok(())
}

/// What a search finds depends on its work, not on the clock.
#[test]
fn the_same_work_gives_the_same_plan_on_a_slow_machine() {
    let buffer = |index: u32| Buffer {
        name: format!("{index}"),
        size_bytes: u64::from(97 + index * 7919 % 1013),
        alive: index * 31 % 60..index * 31 % 60 + 3 + index % 11,
        alignment: 1,
        fixed_offset: None,
    };
    let problem = Problem::new((0..120).map(buffer).collect(), &[]).unwrap();
    let slow = || {
        std::thread::sleep(std::time::Duration::from_millis(1));
        false
    };
    for work in [0, 1_000_000, 4_000_000] {
        let mut budgets = [Budget::of_work(work), Budget::new(work, &slow)];
        let [fast, slow] = &mut budgets;
        assert_eq!(exact::plan(&problem, fast), exact::plan(&problem, slow));
        assert!(!fast.was_stopped() && !slow.was_stopped());
    }
    let stop = || true;
    let stopped = &mut Budget::new(u64::MAX, &stop);
    let plan = exact::plan(&problem, stopped).plan;
    assert_eq!(plan.check(&problem), vec![]);
    assert!(stopped.was_stopped());
}

#[test]
fn a_plan_too_close_by_one_byte_is_found() {
    let text = "id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,4,8\nc,2,4,8,0\n";
    let table = Table::parse(text).unwrap();
    let plan = Plan {
        offsets: table.offsets.unwrap(),
    };
    assert_eq!(plan.check(&table.problem), vec![]);
    for (buffer, offset) in [(1, 7), (2, 1), (0, 1), (2, 10)] {
        let mut broken = plan.clone();
        broken.offsets[buffer] = offset;
        assert_ne!(broken.check(&table.problem), vec![], "{buffer} at {offset}");
    }
}

/// Input and output of 8 bytes with an O_s of 7 fit in 9 bytes, not only in 16.
#[test]
fn overlaps_are_found_below_what_is_placed() {
    let buffer = |name: &str, alive| Buffer {
        name: name.to_owned(),
        size_bytes: 8,
        alive,
        alignment: 1,
        fixed_offset: None,
    };
    let buffers = vec![buffer("in", 0..2), buffer("out", 1..3)];
    let overlap = Displacement {
        lower: 1,
        upper: 0,
        bytes: 1,
    };
    let problem = Problem::new(buffers, &[overlap]).unwrap();
    let stack = dmo_planner::plan::Strategy::named("stack").unwrap();
    assert_eq!(stack.plan(&problem).unwrap().arena_bytes(&problem), 9);
    assert_eq!(optimum(&problem).arena_bytes, 9);
}

/// What is in use at each step, byte by byte.
fn used_at(problem: &Problem, plan: &Plan, step: u32) -> u64 {
    let alive = problem.buffers().iter().zip(&plan.offsets);
    let alive = alive.filter(|(buffer, _)| buffer.alive.contains(&step));
    let bytes = alive.flat_map(|(buffer, &offset)| offset..offset + buffer.size_bytes);
    bytes.collect::<BTreeSet<u64>>().len() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_peak_is_that_of_the_bytes_in_use(problem in problem(12, 30)) {
        let plan = optimum(&problem).plan;
        let peak = plan.peak(&problem).unwrap();
        let used: Vec<u64> = (0..problem.steps())
            .map(|step| used_at(&problem, &plan, step))
            .collect();
        prop_assert_eq!(Some(&peak.used_bytes), used.iter().max());
        for step in peak.steps.clone() {
            prop_assert_eq!(used[step as usize], peak.used_bytes);
        }
        // Of the steps where so much is in use, none needs more by itself, and none before it as much.
        let bounds = problem.section_bounds();
        let is_equal = |section: &Section| used[section.steps.start as usize] == peak.used_bytes;
        let equal: Vec<_> = bounds.iter().filter(|(section, _)| is_equal(section)).collect();
        let own = equal.iter().find(|(section, _)| section.steps == peak.steps);
        let own = own.map(|&&(_, bytes)| bytes);
        prop_assert!(own.is_some());
        for (section, bytes) in equal {
            let is_before = section.steps.start < peak.steps.start;
            prop_assert!(Some(*bytes) < own || Some(*bytes) == own && !is_before);
        }
    }
}

/// Numbers that look random, always the same (Knuth's linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

const PACKED_BYTES: u64 = 1 << 20;

/// About 300 buffers of similar size and length, cut from layers that fill the capacity at all
/// steps; every third one is taken out. Hard to pack if one does not know the layers.
fn cut_from_layers(seed: u64) -> Problem {
    const STEPS: u64 = 1024;
    let mut numbers = Numbers(seed);
    let mut buffers = Vec::new();
    let mut bottom = 0;
    while bottom < PACKED_BYTES {
        let height = (46 + numbers.below(60)) * 1024;
        let above = PACKED_BYTES - bottom;
        let height = if above < height + 46 * 1024 {
            above
        } else {
            height
        };
        let mut start = 0;
        while start < STEPS {
            let end = (start + 21 + numbers.below(25)).min(STEPS);
            if numbers.below(3) > 0 {
                buffers.push(Buffer {
                    name: String::new(),
                    size_bytes: height,
                    alive: start as u32..end as u32,
                    alignment: 1,
                    fixed_offset: None,
                });
            }
            start = end;
        }
        bottom += height;
    }
    Problem::new(buffers, &[]).unwrap()
}

#[test]
fn packings_that_exist_are_found() {
    for seed in 0..12 {
        let problem = cut_from_layers(seed);
        assert!(problem.buffers().len() > 200);
        let decision = exact::fit(&problem, PACKED_BYTES, &mut Budget::of_work(50_000_000));
        let found = match decision {
            Decision::Possible(offsets) => Some(Plan { offsets }),
            Decision::Impossible | Decision::Unknown => None,
        };
        assert!(found.is_some(), "seed {seed}");
        let plan = found.unwrap();
        assert_eq!(plan.check(&problem), vec![]);
        assert!(plan.arena_bytes(&problem) <= PACKED_BYTES);
    }
}
