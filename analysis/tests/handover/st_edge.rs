//! `c_info.json` of ST Edge AI against the bytes that are in use in each epoch.

use dmo_analysis::foreign::{Fault, ForeignPlan, Memory, SharedReason};
use dmo_analysis::random::SplitMix64;
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact;
use serde_json::{Value, json};

struct Buffer {
    pool: usize,
    offset: u64,
    bytes: u64,
    epochs: (u64, u64),
}

fn file(buffers: &[Buffer], nodes: &[Value]) -> Value {
    let entry = |(id, buffer): (usize, &Buffer)| {
        json!({
            "id": id, "name": format!("b{id}"), "mpool_id": buffer.pool, "is_param": false,
            "offset_start": buffer.offset, "size_bytes": buffer.bytes, "alignment": 1,
            "epochs": {"start": buffer.epochs.0, "end": buffer.epochs.1},
        })
    };
    let buffers: Vec<Value> = buffers.iter().enumerate().map(entry).collect();
    let pool = |id: usize| json!({"id": id, "name": format!("p{id}"), "size_bytes": -1});
    json!({
        "buffers": buffers,
        "memory_pools": [pool(0), pool(1)],
        "graphs": [{"nodes": nodes, "outputs": []}],
    })
}

fn random_buffers(random: &mut SplitMix64) -> Vec<Buffer> {
    let spread = [6, 20, 40][random.below(3)];
    let count = 1 + random.below(6);
    let buffer = |_| {
        let start = random.below(6) as u64;
        Buffer {
            pool: random.below(4) / 3,
            offset: random.below(spread) as u64,
            bytes: 1 + random.below(6) as u64,
            epochs: (start, start + random.below(3) as u64),
        }
    };
    (0..count).map(buffer).collect()
}

/// Whether some byte is in two buffers in an epoch, the last one of each included.
fn clashes(buffers: &[Buffer]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let bytes = buffers.iter().flat_map(|buffer| {
        let epochs = buffer.epochs.0..=buffer.epochs.1;
        epochs.flat_map(move |epoch| {
            let bytes = buffer.offset..buffer.offset + buffer.bytes;
            bytes.map(move |byte| (buffer.pool, epoch, byte))
        })
    });
    !bytes.into_iter().all(|byte| seen.insert(byte))
}

fn faults(plan: &ForeignPlan) -> Vec<Fault> {
    plan.memories.iter().flat_map(Memory::faults).collect()
}

#[test]
fn plans_are_judged_by_the_bytes_of_each_epoch() {
    let mut random = SplitMix64::new(6);
    let mut seen = [0; 2];
    for number in 0..4000 {
        let mut buffers = random_buffers(&mut random);
        let text = file(&buffers, &[]).to_string();
        let plan = ForeignPlan::parse(&text).unwrap();
        let clashing = clashes(&buffers);
        assert_eq!(!faults(&plan).is_empty(), clashing, "{number}: {text}");
        seen[usize::from(clashing)] += 1;
        // Made anew nothing clashes but what the tool has as one buffer.
        let is_one =
            |pair: &dmo_analysis::foreign::SharedPair| pair.reason == SharedReason::OneBuffer;
        for memory in &plan.memories {
            assert!(memory.shared.iter().all(is_one), "{number}: {text}");
            let renewal = memory.renewal().unwrap();
            let best = exact::plan(&renewal.problem, &mut Budget::of_work(10_000)).plan;
            for (index, offset) in renewal.offsets(&best).into_iter().enumerate() {
                let name = memory.buffer_name(index)[1..].parse::<usize>().unwrap();
                buffers[name].offset = offset;
            }
        }
        let mut places = std::collections::BTreeSet::new();
        let mut without_twins = Vec::new();
        for buffer in buffers {
            let twin = (buffer.pool, buffer.offset, buffer.bytes, buffer.epochs);
            if places.insert(twin) {
                without_twins.push(buffer);
            }
        }
        assert!(!clashes(&without_twins), "{number}: {text}");
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

/// b0 -> first -> b1 -> second -> b2, b1 in the place of b0.
fn in_place(outputs: &[usize]) -> Value {
    let buffer = |offset, epochs| Buffer {
        pool: 0,
        offset,
        bytes: 8,
        epochs,
    };
    let buffers = [buffer(0, (0, 1)), buffer(0, (1, 3)), buffer(4, (3, 4))];
    let node = |name, input: usize, output: usize| json!({"name": name, "inputs": [input], "outputs": [output]});
    let mut json = file(&buffers, &[node("first", 0, 1), node("second", 1, 2)]);
    json["graphs"][0]["outputs"] = json!(outputs);
    json
}

#[test]
fn what_an_operator_hands_over_has_its_name() {
    let reasons = |json: &Value| {
        let plan = ForeignPlan::parse(&json.to_string()).unwrap();
        let faults = faults(&plan).into_iter().map(|fault| match fault {
            Fault::Shared { reason, .. } => reason,
            other => unreachable!("{other:?}"),
        });
        faults.collect::<Vec<_>>()
    };
    let named = |name: &str| Some(SharedReason::InputDies(name.to_owned()));
    assert_eq!(reasons(&in_place(&[2])), [named("first"), named("second")]);
    // The application still reads b1, and then b0, when it is overwritten.
    assert_eq!(reasons(&in_place(&[1, 2])), [named("first"), None]);
    assert_eq!(reasons(&in_place(&[0, 2])), [None, named("second")]);
    // Another operator reads b0 later.
    let mut later = in_place(&[2]);
    later["graphs"][0]["nodes"][1]["inputs"] = json!([1, 0]);
    assert_eq!(reasons(&later), [None, named("second")]);
    // Of the two only the first is at the very same bytes: it stays one buffer, the other is apart.
    let plan = ForeignPlan::parse(&in_place(&[2]).to_string()).unwrap();
    let renewal = plan.memories[0].renewal().unwrap();
    assert_eq!(renewal.buffer_of, [0, 0, 1]);
    assert_eq!(renewal.kept_apart, 1);
    assert_eq!(renewal.problem.buffers()[0].alive, 0..4);
}

/// A pool that lies over others is one memory with them, by their addresses.
#[test]
fn pools_over_pools_are_one_memory() {
    let buffer = |pool, offset| Buffer {
        pool,
        offset,
        bytes: 8,
        epochs: (0, 0),
    };
    let mut json = file(&[buffer(0, 4), buffer(1, 0)], &[]);
    let pools = json["memory_pools"].as_array_mut().unwrap();
    pools[0]["address"] = json!("1000");
    pools[1]["address"] = json!("1008");
    let separate = ForeignPlan::parse(&json.to_string()).unwrap();
    assert_eq!((separate.memories.len(), faults(&separate).len()), (2, 0));
    json["memory_pools"][0]["subpools"] = json!([1]);
    let together = ForeignPlan::parse(&json.to_string()).unwrap();
    assert_eq!((together.memories.len(), faults(&together).len()), (1, 1));
    assert_eq!(together.memories[0].plan.offsets, [4, 8]);
    json["memory_pools"][1]["address"] = json!("a_symbol");
    let error = ForeignPlan::parse(&json.to_string())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("memory pool \"p1\" lies over other pools"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let error = |field: &str, given: Value| {
        let mut json = in_place(&[2]);
        json["buffers"][1][field] = given;
        ForeignPlan::parse(&json.to_string())
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (error("id", json!(0)), "buffer 0 is there twice"),
        (
            error("mpool_id", json!(9)),
            "memory pool 9 is not among the 2 there are",
        ),
        (
            error("size_bytes", json!(-3)),
            "buffer 1 \"b1\": size_bytes is -3",
        ),
        (
            error("offset_start", json!(i64::MAX)),
            "offset_start is 9223372036854775807",
        ),
        (
            error("alignment", json!(i64::MAX)),
            "alignment is 9223372036854775807",
        ),
        (
            error("epochs", json!({"start": 2, "end": 1})),
            "its epochs end at 1",
        ),
        (
            error("epochs", json!({"start": 0, "end": u32::MAX})),
            "epochs.end is 4294967295",
        ),
        (error("epochs", json!({"start": 0})), "missing field `end`"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}");
    }
    // Parameters among activations are in use at all times; by themselves they are no plan.
    let mut json = in_place(&[2]);
    json["buffers"][0]["is_param"] = json!(true);
    let plan = ForeignPlan::parse(&json.to_string()).unwrap();
    assert_eq!(plan.memories[0].problem.buffers()[0].alive, 0..5);
    for buffer in json["buffers"].as_array_mut().unwrap() {
        buffer["is_param"] = json!(true);
    }
    let error = ForeignPlan::parse(&json.to_string())
        .unwrap_err()
        .to_string();
    assert!(error.contains("no memory plan"), "{error}");
}
