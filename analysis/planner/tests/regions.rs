//! Plans of several regions against brute force and against their check.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod support;

use dmo_planner::budget::Budget;
use dmo_planner::plan::{Plan, exact};
use dmo_planner::problem::{Buffer, Problem};
use dmo_planner::regions::{
    ArenaRegion, NoRoom, RegionOffset, RegionProblem, RegionViolationKind, RegionsError, place,
    place_from,
};
use proptest::prelude::*;

const MOST_BUFFERS: usize = 6;
const MOST_BYTES: u64 = 5;
const MOST_STEPS: u32 = 4;

prop_compose! {
    fn buffer(most_bytes: u64, most_steps: u32)(
        size_bytes in 1..=most_bytes,
        start in 0..most_steps,
        length in 1..=most_steps,
        alignment in prop::sample::select(vec![1_u64, 1, 1, 2, 3, 4]),
    ) -> Buffer {
        Buffer {
            name: format!("{size_bytes} bytes from step {start}"),
            size_bytes,
            alive: start..start + length,
            alignment,
            fixed_offset: None,
        }
    }
}

prop_compose! {
    fn region(most_bytes: u64)(
        capacity_bytes in 0..=most_bytes,
        access_cost in 1..5_u32,
        alignment in prop::sample::select(vec![1_u64, 1, 1, 2, 4]),
    ) -> ArenaRegion {
        ArenaRegion { name: String::new(), capacity_bytes, access_cost, alignment }
    }
}

fn named(mut regions: Vec<ArenaRegion>) -> Vec<ArenaRegion> {
    for (index, region) in regions.iter_mut().enumerate() {
        region.name = format!("region {index}");
    }
    regions
}

/// Each pair alive together may overlap with a chance of one half; each buffer is pinned with a
/// chance of one quarter.
fn problem(
    buffers: std::ops::RangeInclusive<usize>,
    most_bytes: u64,
    most_steps: u32,
    regions: std::ops::RangeInclusive<usize>,
    most_capacity: u64,
) -> impl Strategy<Value = RegionProblem> {
    let most = *buffers.end();
    let regions = prop::collection::vec(region(most_capacity), regions);
    // Every second problem has two regions that are the same.
    let regions = (regions, any::<bool>()).prop_map(|(mut regions, twice)| {
        if let Some(first) = regions.first().cloned().filter(|_| twice) {
            regions.push(first);
        }
        named(regions)
    });
    let chances = prop::collection::vec((any::<bool>(), 0.0..=1.0_f64), most * most);
    let accesses = prop::collection::vec(0..20_u64, most);
    let pins = prop::collection::vec((0..4_u32, 0..4_usize), most);
    let buffers = prop::collection::vec(buffer(most_bytes, most_steps), buffers);
    (buffers, chances, regions, accesses, pins).prop_map(
        |(buffers, chances, regions, accesses, pins)| {
            let count = buffers.len();
            let problem = support::problem(buffers, |one, other| chances[one * count + other]);
            let (pins, known) = (&pins[..count], regions.len());
            let mut problem =
                RegionProblem::new(problem, regions, accesses[..count].to_vec()).unwrap();
            for (buffer, &(chance, region)) in pins.iter().enumerate() {
                if chance == 0 {
                    problem.pin(buffer, &[region % known]).unwrap();
                }
            }
            problem
        },
    )
}

/// The least cost of all plans, by trying all offsets in all regions; `None` if there is none.
fn brute_force(problem: &RegionProblem) -> Option<u64> {
    let mut best = None;
    try_places(problem, &mut Vec::new(), 0, &mut best);
    best
}

fn try_places(
    problem: &RegionProblem,
    places: &mut Vec<RegionOffset>,
    cost: u64,
    best: &mut Option<u64>,
) {
    if best.is_some_and(|best| cost >= best) {
        return;
    }
    let index = places.len();
    let Some(buffer) = problem.problem().buffers().get(index) else {
        *best = Some(cost);
        return;
    };
    for (number, region) in problem.regions().iter().enumerate() {
        if !problem.is_allowed(index, number) {
            continue;
        }
        let cost = cost + problem.accesses()[index] * u64::from(region.access_cost);
        for offset in 0..=region.capacity_bytes {
            let aligned = offset % buffer.alignment == 0 && offset % region.alignment == 0;
            let inside = offset + buffer.size_bytes <= region.capacity_bytes;
            let keeps = places.iter().enumerate().all(|(other, place)| {
                let least = |lower, upper| problem.problem().min_distance(lower, upper);
                let (Some(above), Some(below)) = (least(other, index), least(index, other)) else {
                    return true;
                };
                let distance = offset as i64 - place.offset as i64;
                place.region != number || distance >= above as i64 || -distance >= below as i64
            });
            if aligned && inside && keeps {
                places.push(RegionOffset {
                    region: number,
                    offset,
                });
                try_places(problem, places, cost, best);
                places.pop();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_plan_costs_what_brute_force_finds(
        problem in problem(1..=MOST_BUFFERS, MOST_BYTES, MOST_STEPS, 1..=2, 10)
    ) {
        let found = place(&problem, &mut Budget::unlimited());
        match (brute_force(&problem), found) {
            (None, found) => {
                prop_assert!(matches!(found, Err(NoRoom::Proven { .. })), "{:?}", found);
            }
            (Some(least), found) => {
                let found = found.unwrap();
                prop_assert_eq!(found.plan.check(&problem), vec![]);
                prop_assert_eq!(problem.total_cost(&found.plan), found.cost);
                prop_assert!(found.is_optimal());
                prop_assert_eq!(found.cost, least);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Many more buffers: whatever is found is valid, and nothing is better than its bound.
    #[test]
    fn plans_that_are_cut_short_are_valid(
        problem in problem(1..=30, 1000, 12, 1..=3, 3000), work in 0..2_000_000_u64
    ) {
        let Ok(short) = place(&problem, &mut Budget::of_work(work)) else {
            return Ok(());
        };
        prop_assert_eq!(short.plan.check(&problem), vec![]);
        prop_assert_eq!(problem.total_cost(&short.plan), short.cost);
        prop_assert!(short.bound <= short.cost);
        let long = place(&problem, &mut Budget::of_work(10_000_000)).unwrap();
        prop_assert!(short.bound <= long.cost && long.bound <= short.cost);
    }

    /// A plan breaks exactly one rule where one thing of it is changed.
    #[test]
    fn a_changed_plan_is_found(
        problem in problem(2..=10, 100, 6, 2..=3, 500), buffer in 0..10_usize
    ) {
        let Ok(found) = place(&problem, &mut Budget::of_work(5_000_000)) else {
            return Ok(());
        };
        let buffer = buffer % found.plan.places.len();
        let regions = problem.regions();
        for (offset, region) in [(0, regions.len()), (u64::MAX, 0)] {
            let mut broken = found.plan.clone();
            broken.places[buffer] = RegionOffset { region, offset };
            prop_assert_ne!(broken.check(&problem), vec![]);
        }
        let mut short = found.plan.clone();
        short.places.pop();
        prop_assert_ne!(short.check(&problem), vec![]);
        // Onto another buffer that is alive with it and must not be at the same byte.
        for other in (0..found.plan.places.len()).filter(|&other| other != buffer) {
            let least = |lower, upper| problem.problem().min_distance(lower, upper);
            let apart = least(buffer, other).is_some_and(|bytes| bytes > 0)
                && least(other, buffer).is_some_and(|bytes| bytes > 0);
            if apart {
                let mut broken = found.plan.clone();
                broken.places[buffer] = broken.places[other];
                let broken = broken.check(&problem);
                let is_close = |kind: &RegionViolationKind| {
                    matches!(kind, RegionViolationKind::TooClose { .. })
                };
                prop_assert!(broken.iter().any(|it| is_close(&it.kind)));
            }
        }
    }
}

/// Buffers in a tight fast region, a middling one, and one that is as large as one arena has to be.
fn tight_before_large() -> impl Strategy<Value = (RegionProblem, Plan, u64)> {
    let buffers = prop::collection::vec(buffer(200, 12), 8..=30);
    let chances = prop::collection::vec((any::<bool>(), 0.0..=1.0_f64), 40 * 40);
    let accesses = prop::collection::vec(0..1000_u64, 40);
    (buffers, chances, accesses, 0.05..0.9_f64, 0.05..0.9_f64).prop_map(
        |(buffers, chances, accesses, tight, middling)| {
            let count = buffers.len();
            let problem = support::problem(buffers, |one, other| chances[one * count + other]);
            let best = exact::plan(&problem, &mut Budget::of_work(200_000));
            let share = |share: f64| (best.arena_bytes as f64 * share) as u64;
            let regions = vec![
                memory("tight", share(tight), 1, 1),
                memory("middling", share(middling), 3, 1),
                memory("large", best.arena_bytes, 12, 1),
            ];
            let accesses = accesses[..count].to_vec();
            let in_large = 12 * accesses.iter().sum::<u64>();
            let problem = RegionProblem::new(problem, regions, accesses).unwrap();
            (problem, best.plan, in_large)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// However little the search may do, where one arena is known that a region takes.
    #[test]
    fn what_is_known_to_fit_into_one_region_is_never_without_a_plan(
        (problem, known, in_large) in tight_before_large(), work in 0..1_000_000_u64
    ) {
        for work in [0, work] {
            let found = place_from(&problem, Some(&known), &mut Budget::of_work(work)).unwrap();
            prop_assert_eq!(found.plan.check(&problem), vec![]);
            prop_assert_eq!(problem.total_cost(&found.plan), found.cost);
            prop_assert!(found.bound <= found.cost && found.cost <= in_large);
        }
    }

    /// And where none is known, with the work that finds it.
    #[test]
    fn what_fits_into_one_region_is_never_without_a_plan(
        (problem, _, in_large) in tight_before_large()
    ) {
        let found = place(&problem, &mut Budget::of_work(4_000_000)).unwrap();
        prop_assert_eq!(found.plan.check(&problem), vec![]);
        prop_assert!(found.bound <= found.cost && found.cost <= in_large);
    }

    /// What is pinned elsewhere does not lie in the region that takes all others.
    #[test]
    fn pins_are_kept_where_all_others_lie_in_one_region(
        (mut problem, known, _) in tight_before_large(), pinned in 0..8_usize
    ) {
        let size = problem.problem().buffers()[pinned].size_bytes;
        let holds_it = problem.regions()[1].capacity_bytes >= size;
        problem.pin(pinned, &[1]).unwrap();
        let found = place_from(&problem, Some(&known), &mut Budget::of_work(0));
        prop_assert_eq!(found.is_ok(), holds_it);
        if let Ok(found) = found {
            prop_assert_eq!(found.plan.check(&problem), vec![]);
            prop_assert_eq!(found.plan.places[pinned].region, 1);
        }
    }
}

/// A known plan that is none of the problem's, or of other buffers, is not used.
#[test]
fn a_known_plan_that_does_not_hold_is_not_used() {
    let buffers = vec![simple("a", 100, 0..2), simple("b", 100, 0..2)];
    let problem = Problem::new(buffers, &[]).unwrap();
    let regions = vec![memory("only", 200, 1, 1)];
    let problem = RegionProblem::new(problem, regions, vec![1, 1]).unwrap();
    for offsets in [vec![0, 50], vec![0], vec![0, u64::MAX], vec![0, 101]] {
        let known = Plan { offsets };
        let found = place_from(&problem, Some(&known), &mut Budget::of_seconds(1.0)).unwrap();
        assert_eq!(found.plan.check(&problem), vec![]);
    }
}

#[test]
fn a_message_says_whether_a_lack_of_room_is_proven() {
    let buffers = vec![simple("a", 3000, 0..2), simple("b", 1000, 0..2)];
    let problem = Problem::new(buffers, &[]).unwrap();
    let regions = vec![memory("one", 3500, 1, 1), memory("other", 900, 1, 1)];
    let problem = RegionProblem::new(problem, regions, vec![1, 1]).unwrap();
    let message = |work| {
        let budget = &mut Budget::of_work(work);
        place(&problem, budget).unwrap_err().to_string()
    };
    assert_eq!(
        message(1_000_000),
        "no plan for this order fits into the regions, which is proven: \"b\", 1,000 bytes, did not fit"
    );
    assert_eq!(
        message(0),
        "no plan was found in time, which does not mean that there is none: \"b\", 1,000 bytes, did \
         not fit"
    );
}

fn simple(name: &str, size_bytes: u64, alive: std::ops::Range<u32>) -> Buffer {
    Buffer {
        name: name.to_owned(),
        size_bytes,
        alive,
        alignment: 1,
        fixed_offset: None,
    }
}

fn memory(name: &str, capacity_bytes: u64, access_cost: u32, alignment: u64) -> ArenaRegion {
    ArenaRegion {
        name: name.to_owned(),
        capacity_bytes,
        access_cost,
        alignment,
    }
}

/// A hundred bytes that are used often go before a thousand that are not.
#[test]
fn what_is_accessed_most_lies_where_it_costs_least() {
    let buffers = vec![simple("large", 1000, 0..2), simple("busy", 100, 0..2)];
    let problem = Problem::new(buffers, &[]).unwrap();
    let regions = vec![memory("fast", 1000, 1, 1), memory("slow", 4000, 10, 1)];
    let problem = RegionProblem::new(problem, regions, vec![50, 2000]).unwrap();
    let found = place(&problem, &mut Budget::of_seconds(1.0)).unwrap();
    assert_eq!(found.plan.places.map_regions(), [1, 0]);
    assert_eq!((found.cost, found.bound), (2000 + 500, 2500));
}

trait Regions {
    fn map_regions(&self) -> Vec<usize>;
}

impl Regions for Vec<RegionOffset> {
    fn map_regions(&self) -> Vec<usize> {
        self.iter().map(|place| place.region).collect()
    }
}

#[test]
fn problems_that_make_no_sense_are_refused() {
    let problem = || Problem::new(vec![simple("a", 4, 0..1), simple("b", 4, 0..1)], &[]).unwrap();
    let new = |regions, accesses| RegionProblem::new(problem(), regions, accesses).unwrap_err();
    let one = || memory("a", 8, 1, 1);
    assert_eq!(new(vec![], vec![1; 2]), RegionsError::Count { given: 0 });
    let many = (0..17).map(|index| memory(&index.to_string(), 1, 1, 1));
    let given = 17;
    assert_eq!(
        new(many.collect(), vec![1; 2]),
        RegionsError::Count { given }
    );
    let name = "a".to_owned();
    let twice = RegionsError::Twice { name: name.clone() };
    assert_eq!(new(vec![one(), one()], vec![1; 2]), twice);
    let no_cost = RegionsError::NoCost { name };
    assert_eq!(new(vec![memory("a", 8, 0, 1)], vec![1; 2]), no_cost);
    for alignment in [0, 1 << 63] {
        let refused = new(vec![memory("a", 8, 1, alignment)], vec![1; 2]);
        assert!(matches!(refused, RegionsError::Alignment { .. }));
    }
    let (given, buffers) = (1, 2);
    let accesses = RegionsError::Accesses { given, buffers };
    assert_eq!(new(vec![one()], vec![1]), accesses);
    assert_eq!(
        new(vec![one()], vec![u64::MAX; 2]),
        RegionsError::TooManyAccesses
    );
    let mut known = RegionProblem::new(problem(), vec![one(), memory("b", 8, 1, 1)], vec![1; 2]);
    let known = known.as_mut().unwrap();
    let (region, regions) = (2, 2);
    assert_eq!(
        known.pin(0, &[2]),
        Err(RegionsError::NoRegion { region, regions })
    );
    assert_eq!(known.pin(0, &[1]), Ok(()));
    let buffer = "a".to_owned();
    assert_eq!(
        known.pin(0, &[0]),
        Err(RegionsError::PinnedApart { buffer })
    );
}
