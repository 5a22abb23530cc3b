//! The safe overlap against its definition: two buffers in one memory, every byte
//! tagged with who owns it.

use dmo_analysis::profile::overlap::{
    Access, ComparisonBudget, DisplacementRange, SafeDisplacements, Sweep, overlap_bytes,
};
use dmo_analysis::trace::{AccessKind, Address, Time};
use proptest::prelude::*;

/// With the bounds found from the times alone, not by the sweep.
fn safe_displacements(last_load: &[Time], first_store: &[Time]) -> SafeDisplacements {
    let first_store: Vec<Time> = first_store
        .iter()
        .map(|&time| if time == 0 { Time::MAX } else { time })
        .collect();
    let set = dmo_analysis::profile::overlap::safe_displacements(
        last_load,
        &first_store,
        unsafe_bounds(last_load, &first_store),
        &mut ComparisonBudget::default(),
    );
    if last_load.len() < 64 && first_store.len() < 64 {
        for displacement in -64..64 {
            let within = |range: &DisplacementRange| {
                range.from.is_none_or(|from| from <= displacement)
                    && range.to.is_none_or(|to| displacement < to)
            };
            let alone =
                dmo_analysis::profile::overlap::is_safe(last_load, &first_store, displacement);
            assert_eq!(set.ranges.iter().any(within), alone, "at {displacement}");
        }
    }
    set
}

/// The lowest and the highest unsafe displacement, or none when all are safe.
fn unsafe_bounds(last_load: &[Time], first_store: &[Time]) -> Option<(i64, i64)> {
    let mut stores: Vec<(Time, usize)> = first_store.iter().copied().zip(0..).collect();
    stores.sort_unstable();
    // Lowest and highest output byte among the first k stores.
    let mut reach = Vec::with_capacity(stores.len());
    let (mut lowest, mut highest) = (usize::MAX, 0);
    for &(_, output) in &stores {
        lowest = lowest.min(output);
        highest = highest.max(output);
        reach.push((lowest as i64, highest as i64));
    }
    last_load
        .iter()
        .enumerate()
        .filter_map(|(input, &load)| {
            let earlier = stores.partition_point(|&(store, _)| store < load);
            let (lowest, highest) = *reach.get(earlier.checked_sub(1)?)?;
            Some((lowest - input as i64, highest - input as i64))
        })
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// A load of the input or a store to the output.
#[derive(Debug, Clone, Copy)]
struct Step {
    kind: AccessKind,
    offset: u32,
    size_bytes: u32,
}

impl Step {
    fn bytes(self) -> std::ops::Range<usize> {
        self.offset as usize..(self.offset + self.size_bytes) as usize
    }
}

/// Sizes of the buffers in bytes.
#[derive(Debug, Clone, Copy)]
struct Buffers {
    input: u32,
    output: u32,
}

impl Buffers {
    /// All displacements at which the buffers touch, and one more on either side.
    fn displacements(self) -> std::ops::RangeInclusive<i64> {
        -i64::from(self.input) - 1..=i64::from(self.output) + 1
    }
}

/// The definition: whether each load finds the input's own byte, not one of the output.
fn is_safe(steps: &[Step], buffers: Buffers, displacement: i64, memory: &mut Vec<u8>) -> bool {
    const OUTPUT: u8 = u8::MAX;
    // The output starts at `base`, so that the input can lie before it.
    let base = buffers.input as usize + 1;
    let input = (base as i64 + displacement) as usize;
    memory.clear();
    memory.resize(
        base + buffers.output as usize + buffers.input as usize + 2,
        0,
    );
    for byte in 0..buffers.input as usize {
        memory[input + byte] = byte as u8;
    }
    steps.iter().all(|step| match step.kind {
        AccessKind::Store => {
            memory[base..][step.bytes()].fill(OUTPUT);
            true
        }
        AccessKind::Load => step.bytes().all(|byte| memory[input + byte] == byte as u8),
    })
}

fn contains(set: &SafeDisplacements, displacement: i64) -> bool {
    set.ranges.iter().any(|range| {
        range.from.is_none_or(|from| from <= displacement)
            && range.to.is_none_or(|to| displacement < to)
    })
}

fn safe_set(steps: &[Step], buffers: Buffers) -> SafeDisplacements {
    let mut last_load = vec![0; buffers.input as usize];
    let mut first_store = vec![0; buffers.output as usize];
    for (time, step) in (1..).zip(steps) {
        match step.kind {
            AccessKind::Load => last_load[step.bytes()].fill(time),
            AccessKind::Store => {
                for byte in first_store[step.bytes()]
                    .iter_mut()
                    .filter(|byte| **byte == 0)
                {
                    *byte = time;
                }
            }
        }
    }
    safe_displacements(&last_load, &first_store)
}

fn sweep(steps: &[Step]) -> Sweep {
    let mut sweep = Sweep::default();
    for (time, step) in (1..).zip(steps) {
        let access = Access {
            pc: Address(0),
            time,
            offset: step.offset,
            size_bytes: step.size_bytes,
        };
        match step.kind {
            AccessKind::Load => sweep.load(access),
            AccessKind::Store => sweep.store(access),
        }
    }
    sweep
}

/// Compares everything with the definition, at every displacement.
#[track_caller]
fn check(steps: &[Step], buffers: Buffers, memory: &mut Vec<u8>) {
    let set = safe_set(steps, buffers);
    assert!(set.complete);
    let mut least = 0;
    for displacement in buffers.displacements() {
        let safe = is_safe(steps, buffers, displacement, memory);
        if !safe {
            least = least.max(displacement + 1);
        }
        assert_eq!(
            contains(&set, displacement),
            safe,
            "{displacement} of {steps:?}"
        );
    }
    let sweep = sweep(steps);
    assert_eq!(i64::from(sweep.displacement()), least, "{steps:?}");
    check_form(&set, &sweep);
}

/// What the types promise about their form.
#[track_caller]
fn check_form(set: &SafeDisplacements, sweep: &Sweep) {
    let first = set.ranges.first().and_then(|range| range.from);
    let last = set.ranges.last();
    assert_eq!((first, last.and_then(|range| range.to)), (None, None));
    let from = last.and_then(|range| range.from).unwrap_or(0);
    assert_eq!(i64::from(sweep.displacement()), from.max(0));
    for pair in set.ranges.windows(2) {
        assert!(pair[0].to < pair[1].from, "{set:?}");
    }
    match sweep.binding() {
        None => assert_eq!(sweep.displacement(), 0),
        Some(binding) => {
            let store_end = binding.store.offset + binding.store.size_bytes;
            assert_eq!(store_end - binding.load.offset, sweep.displacement());
            assert!(binding.store.time < binding.load.time);
        }
    }
}

/// Every access of 1 or 2 bytes.
fn alphabet(buffers: Buffers) -> Vec<Step> {
    let of = |kind, size: u32| {
        (1..=size.min(2)).flat_map(move |size_bytes| {
            (0..=size - size_bytes).map(move |offset| Step {
                kind,
                offset,
                size_bytes,
            })
        })
    };
    of(AccessKind::Load, buffers.input)
        .chain(of(AccessKind::Store, buffers.output))
        .collect()
}

/// Checks all continuations of `steps` by up to `more` accesses; gives their number.
fn check_all(
    steps: &mut Vec<Step>,
    more: u32,
    alphabet: &[Step],
    buffers: Buffers,
    memory: &mut Vec<u8>,
) -> u64 {
    check(steps, buffers, memory);
    let mut checked = 1;
    if more > 0 {
        for &step in alphabet {
            steps.push(step);
            checked += check_all(steps, more - 1, alphabet, buffers, memory);
            steps.pop();
        }
    }
    checked
}

#[test]
fn all_short_traces() {
    for (input, output, length) in [
        (1, 1, 9),
        (2, 2, 6),
        (3, 3, 6),
        (1, 4, 5),
        (4, 1, 5),
        (2, 4, 5),
        (4, 2, 5),
        (4, 4, 5),
    ] {
        let buffers = Buffers { input, output };
        let alphabet = alphabet(buffers);
        let checked = check_all(&mut Vec::new(), length, &alphabet, buffers, &mut Vec::new());
        let letters = alphabet.len() as u64;
        let expected: u64 = (0..=length).map(|length| letters.pow(length)).sum();
        assert_eq!(checked, expected);
    }
}

fn buffers_and_steps() -> impl Strategy<Value = (Buffers, Vec<Step>)> {
    let step = (any::<bool>(), any::<prop::sample::Index>(), 1_u32..=8);
    (1_u32..=64, 1_u32..=64, prop::collection::vec(step, 0..80)).prop_map(
        |(input, output, steps)| {
            let steps = steps
                .into_iter()
                .map(|(is_load, offset, size_bytes)| {
                    let (kind, size) = if is_load {
                        (AccessKind::Load, input)
                    } else {
                        (AccessKind::Store, output)
                    };
                    let size_bytes = size_bytes.min(size);
                    Step {
                        kind,
                        offset: offset.index((size - size_bytes + 1) as usize) as u32,
                        size_bytes,
                    }
                })
                .collect();
            (Buffers { input, output }, steps)
        },
    )
}

/// Like a kernel: loads and stores go upwards, each at its own pace, with jitter.
fn diagonal() -> impl Strategy<Value = (Buffers, Vec<Step>)> {
    let step = (any::<bool>(), 0_u32..6, 1_u32..=4);
    (8_u32..=64, 8_u32..=64, prop::collection::vec(step, 1..100)).prop_map(
        |(input, output, steps)| {
            let count = steps.len() as u32;
            let steps = (0..)
                .zip(steps)
                .map(|(index, (is_load, jitter, size_bytes))| {
                    let (kind, size) = if is_load {
                        (AccessKind::Load, input)
                    } else {
                        (AccessKind::Store, output)
                    };
                    Step {
                        kind,
                        offset: (index * size / count + jitter).min(size - size_bytes),
                        size_bytes,
                    }
                })
                .collect();
            (Buffers { input, output }, steps)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_traces((buffers, steps) in buffers_and_steps()) {
        check(&steps, buffers, &mut Vec::new());
    }

    #[test]
    fn diagonal_traces((buffers, steps) in diagonal()) {
        check(&steps, buffers, &mut Vec::new());
    }
}

/// A grouped convolution 1x1 whose outer loop is over its two groups, on four pixels
/// of two channels: each group walks upwards in every other byte, so that even
/// displacements are safe and odd ones put one group's outputs on the other's inputs.
#[test]
fn grouped_convolution_has_holes() {
    let mut steps = Vec::new();
    for offset in (0..8).step_by(2).chain((1..8).step_by(2)) {
        for kind in [AccessKind::Load, AccessKind::Store] {
            steps.push(Step {
                kind,
                offset,
                size_bytes: 1,
            });
        }
    }
    let buffers = Buffers {
        input: 8,
        output: 8,
    };
    check(&steps, buffers, &mut Vec::new());
    let ranges: Vec<_> = safe_set(&steps, buffers)
        .ranges
        .iter()
        .map(|range| (range.from, range.to))
        .collect();
    assert_eq!(
        ranges,
        [
            (None, Some(-7)),
            (Some(0), Some(1)),
            (Some(2), Some(3)),
            (Some(4), Some(5)),
            (Some(6), None),
        ]
    );
    assert_eq!(sweep(&steps).displacement(), 6);
}

#[test]
fn overlap_is_clamped_to_the_buffers() {
    for (displacement, input, output, expected) in [
        (0, 8, 8, 8),
        (3, 8, 8, 5),
        (8, 8, 8, 0),
        (9, 8, 8, 0),
        (0, 4, 8, 4),
        (5, 4, 8, 3),
        (0, 8, 4, 4),
        (u32::MAX, 1, u32::MAX, 0),
        (0, u32::MAX, u32::MAX, u32::MAX),
    ] {
        assert_eq!(overlap_bytes(displacement, input, output), expected);
    }
}

/// Nothing loaded or nothing stored forbids nothing.
#[test]
fn one_sided_traces_are_safe_everywhere() {
    for times in [[0, 0], [1, 2]] {
        let never: &[Time] = &[0, 0];
        for set in [
            safe_displacements(&times, never),
            safe_displacements(never, &times),
        ] {
            assert_eq!(set.ranges.len(), 1);
            assert_eq!((set.ranges[0].from, set.ranges[0].to), (None, None));
        }
    }
    assert_eq!(safe_displacements(&[], &[]).ranges.len(), 1);
}
