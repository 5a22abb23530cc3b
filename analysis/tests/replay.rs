//! The replay of operators on layouts against running them on values, against the geometric
//! check, and against all safe displacements of a pair.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "schedule/graphs.rs"]
mod graphs;
#[path = "replay/machine.rs"]
mod machine;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "operator/move_shapes.rs"]
mod move_shapes;
#[path = "replay/network.rs"]
mod network;
#[path = "replay/operators.rs"]
mod operators;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "operator/shapes.rs"]
mod shapes;

use dmo_analysis::graph::{OperatorId, TensorId};
use dmo_analysis::replay::{
    BufferPlace, Finding, FindingKind, MOST_ARENA_BYTES, Needed, Replay, ReplayError, ReplayReport,
    ReplayStep, Resident, alive,
};
use dmo_analysis::trace::{AccessKind, Address, Event, Role, TraceSink};
use dmo_analysis::verify::{Occupant, Positions};
use graphs::Random;
use machine::{Buffer, Bytes, Case, Verdict, judge, needed_displacement};

fn replay(case: &Case, most: usize) -> ReplayReport {
    let layer = case.layer();
    let mut replay = case.with_step(|step| Replay::new(&layer, step, most).unwrap());
    replay.begin_layer(&layer, 0);
    let halves = case.events.split_at(case.events.len() / 2);
    replay.events(halves.0);
    replay.events(halves.1);
    replay.end_layer(1000);
    replay.finish()
}

fn index_of(finding: &Finding) -> usize {
    match (finding.subject.layer_tensor, finding.subject.occupant) {
        (Some(index), _) | (None, Some(Occupant::Tensor(TensorId(index)))) => index,
        other => unreachable!("{other:?}"),
    }
}

fn writer_of(finding: &Finding) -> Option<usize> {
    let subject = finding.writer.as_ref()?.subject;
    match (subject.layer_tensor, subject.occupant) {
        (Some(index), _) | (None, Some(Occupant::Tensor(TensorId(index)))) => Some(index),
        other => unreachable!("{other:?}"),
    }
}

/// What the report says in the judge's words. Overlaps at the begin are not the judge's.
fn told(report: &ReplayReport) -> Verdict {
    let mut verdict = Verdict::default();
    for finding in &report.findings {
        let index = index_of(finding);
        match (finding.kind, finding.access) {
            (FindingKind::SharedAtBegin, _) => {}
            (kind, None) => {
                assert_eq!(finding.count, finding.bytes.end - finding.bytes.start);
                let writer = writer_of(finding);
                let bytes = finding.bytes.clone();
                verdict
                    .ended
                    .extend(bytes.map(|byte| (kind, index, byte, writer)));
            }
            (kind, Some(access)) => {
                let writer = finding.writer.as_ref();
                let wrong = (
                    kind,
                    index,
                    Some(access.pc),
                    writer_of(finding),
                    writer.and_then(|writer| writer.pc),
                );
                let bytes = Bytes {
                    count: finding.count,
                    span: finding.bytes.clone(),
                    first: Some(access.time),
                };
                let before = verdict.running.insert(format!("{wrong:?}"), (wrong, bytes));
                assert_eq!(before, None, "two findings that are one");
            }
        }
    }
    verdict.ended.sort_unstable();
    verdict
}

fn agree(case: &Case) -> ReplayReport {
    let report = replay(case, usize::MAX);
    let verdict = judge(case);
    assert_eq!(told(&report), verdict, "{case:?}");
    let shared = |finding: &Finding| finding.kind == FindingKind::SharedAtBegin;
    let only_shared = report.findings.iter().all(shared);
    assert_eq!(only_shared, verdict.is_clean(), "{case:?}");
    for finding in report.findings.iter().filter(|finding| !shared(finding)) {
        let Some(writer) = writer_of(finding) else {
            assert_eq!(finding.needed_displacement, None);
            continue;
        };
        let victim = index_of(finding);
        let [at, below] = [victim, writer].map(|index| case.buffers[index].offset as i64);
        assert_eq!(finding.displacement, Some(at - below));
        let acts = |index: usize| case.buffers[index].role.is_some();
        let needed = needed_displacement(case, victim, writer);
        let known = (acts(victim) || acts(writer)).then_some(needed);
        assert_eq!(finding.needed_displacement, known, "{case:?} {finding:?}");
    }
    assert!(report.complete && report.further_bytes == 0 && report.foreign_events == 0);
    assert_eq!(report.loads + report.stores, case.events.len() as u64);
    report
}

fn any_case(random: &mut Random) -> Case {
    let mut buffers = Vec::new();
    let reach = 1 + random.below(24);
    let mut add = |role, random: &mut Random| {
        buffers.push(Buffer {
            role,
            size: 1 + random.below(6) as u32,
            offset: random.below(reach),
            needed: matches!(role, None | Some(Role::Output)) && !random.one_in(4)
                || role == Some(Role::Input) && random.one_in(4),
        });
    };
    for (role, least, most) in [
        (Some(Role::Input), 1, 2),
        (Some(Role::Output), 1, 2),
        (Some(Role::Scratch), 0, 2),
        (None, 0, 2),
    ] {
        for _ in 0..least + random.below(most - least + 1) {
            add(role, random);
        }
    }
    let own = buffers
        .iter()
        .filter(|buffer| buffer.role.is_some())
        .count();
    let events = (1..=random.below(30)).map(|time| {
        let tensor = random.below(own as u64) as usize;
        let (size, role) = (buffers[tensor].size, buffers[tensor].role);
        let offset = random.below(u64::from(size)) as u32;
        let store = match role {
            Some(Role::Input) => random.one_in(20),
            _ => !random.one_in(4),
        };
        Event {
            time,
            pc: Address(0x800_0000 + random.below(8) as u32),
            offset,
            tensor: tensor as u16,
            size_bytes: 1 + random.below(u64::from(size - offset)) as u8,
            kind: if store {
                AccessKind::Store
            } else {
                AccessKind::Load
            },
        }
    });
    let mut events: Vec<Event> = events.collect();
    // Else nearly every case had bytes that were never stored.
    for (index, buffer) in buffers.iter().enumerate() {
        if buffer.role == Some(Role::Output) && !random.one_in(4) {
            let time = events.len() as u64 + 1;
            events.push(Event {
                time,
                pc: Address(0x800_0100),
                offset: 0,
                tensor: index as u16,
                size_bytes: buffer.size as u8,
                kind: AccessKind::Store,
            });
        }
    }
    Case { buffers, events }
}

/// A replay finds each load of another value than with all buffers apart, and each byte that
/// is another in the end; nothing else, in this many words.
#[test]
fn what_replay_finds_is_what_running_finds() {
    let mut random = Random(7);
    let mut seen = std::collections::BTreeMap::new();
    let mut clean = 0;
    for _ in 0..60_000 {
        let case = any_case(&mut random);
        let report = agree(&case);
        clean += u32::from(report.is_clean());
        for finding in &report.findings {
            *seen.entry(finding.kind).or_insert(0) += 1;
        }
    }
    // Else nothing was tried.
    assert!(clean > 500, "{clean}");
    for kind in [
        FindingKind::SharedAtBegin,
        FindingKind::Clobber,
        FindingKind::UninitialisedRead,
        FindingKind::Destroyed,
        FindingKind::NotStored,
        FindingKind::StoreToInput,
    ] {
        assert!(
            seen.get(&kind).is_some_and(|&count| count > 500),
            "{seen:?}"
        );
    }
}

/// All programs of up to four accesses of single bytes of an input and an output of two bytes
/// each, at all displacements.
#[test]
fn every_tiny_program_is_judged_right() {
    let accesses: Vec<(AccessKind, u16, u32)> = [
        (AccessKind::Load, 0),
        (AccessKind::Load, 1),
        (AccessKind::Store, 1),
    ]
    .into_iter()
    .flat_map(|(kind, tensor)| [(kind, tensor, 0), (kind, tensor, 1)])
    .collect();
    let mut unclean = 0;
    for length in 0..=4_u32 {
        for program in 0..6_usize.pow(length) {
            let chosen = (0..length).map(|at| accesses[program / 6_usize.pow(at) % 6]);
            let events: Vec<Event> = (1..)
                .zip(chosen)
                .map(|(time, (kind, tensor, offset))| Event {
                    time,
                    pc: Address(time as u32),
                    offset,
                    tensor,
                    size_bytes: 1,
                    kind,
                })
                .collect();
            for (input, keep) in (0..=4).flat_map(|at| [(at, false), (at, true)]) {
                let buffer = |role, offset, needed| Buffer {
                    role: Some(role),
                    size: 2,
                    offset,
                    needed,
                };
                let case = Case {
                    buffers: vec![
                        buffer(Role::Input, input, keep),
                        buffer(Role::Output, 2, true),
                    ],
                    events: events.clone(),
                };
                unclean += u32::from(!agree(&case).is_clean());
            }
        }
    }
    assert!(unclean > 1000);
}

/// Of too many findings the first ones are told, and the bytes of the others are counted.
#[test]
fn findings_beyond_the_limit_are_counted() {
    let mut random = Random(8);
    let mut cut = 0;
    for _ in 0..5000 {
        let case = any_case(&mut random);
        let all = replay(&case, usize::MAX);
        let bytes = |report: &ReplayReport| -> u64 {
            report.findings.iter().map(|finding| finding.count).sum()
        };
        for most in 0..all.findings.len() {
            let some = replay(&case, most);
            assert_eq!(some.findings, all.findings[..most]);
            assert_eq!(bytes(&some) + some.further_bytes, bytes(&all));
            assert!(!some.is_clean());
            cut += 1;
        }
    }
    assert!(cut > 1000);
}

fn simple(input: u64, output: u64, size: u32) -> Case {
    let buffer = |role, offset, needed| Buffer {
        role: Some(role),
        size,
        offset,
        needed,
    };
    Case {
        buffers: vec![
            buffer(Role::Input, input, false),
            buffer(Role::Output, output, true),
        ],
        events: Vec::new(),
    }
}

/// A copy that the runtime leaves out makes the input the output, in the same place only.
#[test]
fn content_passes_in_the_same_place_only() {
    for output in 0..8 {
        let case = simple(3, output, 4);
        let layer = case.layer();
        let mut replay = case.with_step(|step| Replay::new(&layer, step, 10).unwrap());
        replay.begin_layer(&layer, 5);
        replay.pass_content(0, 1);
        replay.end_layer(5);
        let report = replay.finish();
        assert_eq!(report.is_clean(), output == 3, "{report:?}");
        let not_stored = |finding: &Finding| finding.kind == FindingKind::NotStored;
        assert!(report.findings.iter().all(not_stored));
    }
}

/// Memory outside every buffer, and weights, wherever they lie.
#[test]
fn what_lies_outside_is_watched_too() {
    let mut case = simple(0, 4, 4);
    let outside = |role| Buffer {
        role: Some(role),
        size: 8,
        offset: 0,
        needed: false,
    };
    case.buffers
        .extend([outside(Role::Unlisted), outside(Role::Constant)]);
    let layer = case.layer();
    let places = [(0, 0), (1, 4)].map(|(tensor, offset)| {
        Some(BufferPlace::whole(
            Occupant::Tensor(TensorId(tensor)),
            offset,
        ))
    });
    let [input, output] = places;
    let step = ReplayStep {
        places: &[input, output, None, None],
        before: &[Resident::whole(TensorId(0), 0, 4)],
        after: &[Needed::whole(TensorId(1), 4)],
    };
    let mut replay = Replay::new(&layer, &step, 10).unwrap();
    replay.begin_layer(&layer, 0);
    let event = |time, tensor, offset, kind| Event {
        time,
        pc: Address(time as u32 * 2),
        offset,
        tensor,
        size_bytes: 4,
        kind,
    };
    replay.events(&[
        event(1, 1, 0, AccessKind::Store),
        event(2, 2, 4, AccessKind::Store),
        event(3, 2, 0, AccessKind::Load),
        event(4, 3, 0, AccessKind::Load),
        event(5, 3, 2, AccessKind::Store),
    ]);
    replay.end_layer(6);
    let report = replay.finish();
    let found = report.findings.iter().map(|finding| {
        let access = finding.access.unwrap();
        (
            finding.kind,
            finding.subject.layer_tensor,
            finding.bytes.clone(),
            access.time,
        )
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            (FindingKind::StrayStore, Some(2), 4..8, 2),
            (FindingKind::StrayLoad, Some(2), 0..4, 3),
            (FindingKind::StoreToConstant, Some(3), 2..6, 5),
        ]
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["findings"][0]["kind"], "stray_store");
    assert_eq!(json["findings"][0]["bytes"]["start"], 4);
}

/// A scratch buffer says how much of it was used.
#[test]
fn scratch_beyond_the_last_touched_byte_is_told() {
    let mut random = Random(9);
    for _ in 0..2000 {
        let case = any_case(&mut random);
        let report = replay(&case, 0);
        let expected = case.buffers.iter().enumerate();
        let expected = expected.filter(|(_, buffer)| buffer.role == Some(Role::Scratch));
        let expected = expected.map(|(index, buffer)| {
            let own = case
                .events
                .iter()
                .filter(|event| usize::from(event.tensor) == index);
            (index, buffer.size, own.map(Event::end).max().unwrap_or(0))
        });
        let told = report.scratch.iter();
        let told = told.map(|used| (used.layer_tensor, used.size_bytes, used.touched_bytes));
        assert!(told.eq(expected));
    }
}

/// What did not run from begin to end, or was another layer, is not clean.
#[test]
fn an_incomplete_replay_is_not_clean() {
    let case = simple(0, 8, 4);
    let layer = case.layer();
    let new = || case.with_step(|step| Replay::new(&layer, step, 10).unwrap());
    let store = [Event {
        time: 2,
        pc: Address(4),
        offset: 0,
        tensor: 1,
        size_bytes: 4,
        kind: AccessKind::Store,
    }];
    let run = |replay: &mut Replay| {
        replay.begin_layer(&layer, 1);
        replay.events(&store);
        replay.end_layer(3);
    };
    let mut whole = new();
    run(&mut whole);
    assert!(whole.finish().is_clean());
    assert!(!new().finish().is_clean());
    let mut open = new();
    open.begin_layer(&layer, 1);
    open.events(&store);
    assert!(!open.finish().is_clean());
    let other = simple(0, 8, 5).layer();
    let mut elsewhere = new();
    elsewhere.begin_layer(&other, 1);
    elsewhere.end_layer(1);
    run(&mut elsewhere);
    assert!(elsewhere.finish().is_clean(), "nothing happened there");
    let mut elsewhere = new();
    run(&mut elsewhere);
    elsewhere.begin_layer(&other, 4);
    elsewhere.events(&store);
    elsewhere.end_layer(5);
    let report = elsewhere.finish();
    assert!(!report.is_clean());
    assert_eq!(report.foreign_events, 1);
}

/// One tensor of the graph that the layer has twice is one buffer; two scratch buffers of one
/// operator never are.
#[test]
fn a_tensor_that_is_read_twice_is_no_conflict() {
    let mut case = simple(4, 0, 4);
    case.buffers.push(case.buffers[0]);
    let layer = case.layer();
    let place = |occupant, offset| Some(BufferPlace::whole(occupant, offset));
    let input = place(Occupant::Tensor(TensorId(0)), 4);
    let output = place(Occupant::Tensor(TensorId(1)), 0);
    let before = [Resident::whole(TensorId(0), 4, 4)];
    let step = ReplayStep {
        places: &[input.clone(), output.clone(), input.clone()],
        before: &before,
        after: &[Needed::whole(TensorId(1), 4)],
    };
    let mut replay = Replay::new(&layer, &step, 10).unwrap();
    let event = |time, tensor, kind| Event {
        time,
        pc: Address(4),
        offset: 0,
        tensor,
        size_bytes: 4,
        kind,
    };
    replay.begin_layer(&layer, 0);
    replay.events(&[
        event(1, 0, AccessKind::Load),
        event(2, 2, AccessKind::Load),
        event(3, 1, AccessKind::Store),
    ]);
    replay.end_layer(4);
    assert!(replay.finish().is_clean());
    let moved = place(Occupant::Tensor(TensorId(0)), 5);
    let contradictory = ReplayStep {
        places: &[input.clone(), output, moved],
        ..step
    };
    assert!(matches!(
        Replay::new(&layer, &contradictory, 10),
        Err(ReplayError::TwoPlaces { .. })
    ));
    for buffer in &mut case.buffers[1..] {
        buffer.role = Some(Role::Scratch);
    }
    let layer = case.layer();
    let scratch = place(Occupant::Scratch(OperatorId(0)), 0);
    let step = ReplayStep {
        places: &[input, scratch.clone(), scratch],
        before: &before,
        after: &[],
    };
    let mut replay = Replay::new(&layer, &step, 10).unwrap();
    replay.begin_layer(&layer, 0);
    replay.events(&[
        event(1, 1, AccessKind::Store),
        event(2, 2, AccessKind::Store),
        event(3, 1, AccessKind::Load),
    ]);
    replay.end_layer(4);
    let report = replay.finish();
    assert_eq!(report.findings[0].kind, FindingKind::Clobber);
}

/// What cannot be replayed is refused, with the reason.
#[test]
fn absurd_steps_are_refused() {
    let case = simple(0, 8, 4);
    let layer = case.layer();
    let place = |tensor, offset| {
        Some(BufferPlace::whole(
            Occupant::Tensor(TensorId(tensor)),
            offset,
        ))
    };
    let refused = |places: &[Option<BufferPlace>], after: &[Needed]| {
        let step = ReplayStep {
            places,
            before: &[],
            after,
        };
        Replay::new(&layer, &step, 10).map(|_| ()).unwrap_err()
    };
    assert!(matches!(
        refused(&[None], &[]),
        ReplayError::Places {
            given: 1,
            expected: 2
        }
    ));
    assert_eq!(
        refused(&[None, None], &[Needed::whole(TensorId(3), 1)]),
        ReplayError::Unknown(TensorId(3))
    );
    for far in [MOST_ARENA_BYTES, u64::MAX - 2, u64::MAX] {
        let refused = refused(&[place(0, 0), place(1, far)], &[]);
        assert!(matches!(refused, ReplayError::Arena { .. }), "{refused}");
    }
    assert!(matches!(
        refused(&[place(0, 0), place(0, 4)], &[]),
        ReplayError::TwoPlaces { .. }
    ));
}

/// What a step leaves is what the next one finds, from the application's inputs to its outputs.
#[test]
fn steps_hand_over_all_that_is_alive() {
    let mut random = Random(10);
    for _ in 0..2000 {
        let graph = graphs::any(&mut random, 8);
        let order = graph.file_order();
        let offsets: Vec<Option<u64>> = (0..graph.tensors.len())
            .map(|index| graph.in_arena(TensorId(index)).then_some(index as u64))
            .collect();
        for keep_inputs in [false, true] {
            let positions = Positions {
                tensors: &offsets,
                scratch: &[],
                keep_inputs,
            };
            let steps = alive(&graph, &order, positions).unwrap();
            assert_eq!(steps.len(), order.len());
            let found = |step: usize| -> Vec<TensorId> {
                steps[step]
                    .before
                    .iter()
                    .map(|resident| resident.tensor)
                    .collect()
            };
            let left = |step: usize| -> Vec<TensorId> {
                let left = steps[step].after.iter();
                left.map(|needed| needed.tensor).collect()
            };
            for (step, operator) in order.iter().enumerate() {
                if step + 1 < steps.len() {
                    assert_eq!(left(step), found(step + 1), "{graph:?}");
                }
                let node = &graph.operators[operator.0];
                for input in graph.arena_inputs(node) {
                    let empty = graph.tensor(input).size_bytes == 0;
                    assert!(empty || found(step).contains(&input), "{graph:?}");
                }
                for output in &node.outputs {
                    assert!(!found(step).contains(output));
                }
            }
            if let Some(last) = steps.len().checked_sub(1) {
                let mut kept = graph.outputs.clone();
                kept.extend(graph.inputs.iter().filter(|_| keep_inputs));
                kept.retain(|&id| graph.in_arena(id) && graph.tensor(id).size_bytes > 0);
                kept.sort_unstable();
                kept.dedup();
                assert_eq!(left(last), kept);
            }
        }
    }
}
