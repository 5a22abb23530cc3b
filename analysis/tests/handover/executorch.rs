//! Programs of ExecuTorch against a machine that follows them byte by byte: whatever an instruction
//! stores overwrites what was there before it reads, and what it reads has to be what was stored.

use dmo_analysis::foreign::{ForeignPlan, Memory, executorch};
use dmo_analysis::random::SplitMix64;
use dmo_planner::budget::Budget;
use dmo_planner::plan::exact;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq)]
struct Tensor {
    memory: u64,
    offset: u64,
    bytes: u64,
}

/// A straight program. Values without a place are lists.
struct Program {
    tensors: Vec<Tensor>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// What each instruction reads, and what it stores.
    calls: Vec<(Vec<usize>, Vec<usize>)>,
}

fn program(random: &mut SplitMix64) -> Program {
    let mut tensors: Vec<Tensor> = Vec::new();
    let spread = [8, 30, 60][random.below(3)];
    let mut tensor = |random: &mut SplitMix64| {
        tensors.push(Tensor {
            memory: 1 + random.below(5) as u64 / 4,
            offset: random.below(spread) as u64,
            bytes: 1 + random.below(6) as u64,
        });
        tensors.len() - 1
    };
    let inputs: Vec<usize> = (0..random.below(3)).map(|_| tensor(random)).collect();
    let mut known = inputs.clone();
    let mut calls = Vec::new();
    let mut like = Vec::new();
    for _ in 0..1 + random.below(5) {
        let mut reads = Vec::new();
        for _ in 0..random.below(3) {
            let unknown = known.is_empty() || random.below(6) == 0;
            let read = if unknown {
                // Nothing stores it: a state, or a view of what is known, at the same place.
                let read = tensor(random);
                if !known.is_empty() && random.below(2) == 0 {
                    like.push((read, known[random.below(known.len())]));
                }
                read
            } else {
                known[random.below(known.len())]
            };
            reads.push(read);
            known.push(read);
        }
        let stores: Vec<usize> = (0..1 + random.below(5) / 4)
            .map(|_| tensor(random))
            .collect();
        known.extend(&stores);
        calls.push((reads, stores));
    }
    let outputs = (0..random.below(3)).map(|_| known[random.below(known.len())]);
    let outputs = outputs.collect();
    for (view, viewed) in like {
        tensors[view] = tensors[viewed];
    }
    Program {
        tensors,
        inputs,
        outputs,
        calls,
    }
}

impl Program {
    /// As `flatc` writes it, which leaves out what is 0.
    fn json(&self) -> Value {
        let mut values: Vec<Value> = self.tensors.iter().map(Tensor::json).collect();
        let mut instructions = Vec::new();
        for (reads, stores) in &self.calls {
            let mut arguments = Vec::new();
            if reads.len() == 2 {
                values.push(json!({"val_type": "TensorList", "val": {"items": reads}}));
                arguments.push(values.len() - 1);
            } else {
                arguments.extend(reads);
            }
            arguments.extend(stores);
            if let [only] = stores[..] {
                arguments.push(only);
            } else {
                values.push(json!({"val_type": "TensorList", "val": {"items": stores}}));
                arguments.push(values.len() - 1);
            }
            instructions.push(json!({
                "instr_args_type": "KernelCall",
                "instr_args": {"args": arguments},
            }));
        }
        json!({"execution_plan": [{
            "name": "forward",
            "values": values,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "chains": [{"instructions": instructions}],
            "operators": [{"name": "own::operator", "overload": "out"}],
            "non_const_buffer_sizes": [0, 1000, 1000],
        }]})
    }

    /// For each value that nothing stores: what was stored last at its place before it is used.
    fn views(&self) -> BTreeMap<usize, usize> {
        let stored_at = |value: usize| {
            let by_call = self
                .calls
                .iter()
                .position(|(_, stores)| stores.contains(&value));
            let input = self.inputs.contains(&value).then_some(0);
            input.or(by_call.map(|call| call + 1))
        };
        let mut views = BTreeMap::new();
        for (step, (reads, _)) in self.calls.iter().enumerate() {
            for &read in reads.iter().filter(|&&read| stored_at(read).is_none()) {
                let others = 0..self.tensors.len();
                let same = others.filter(|&other| self.tensors[other] == self.tensors[read]);
                let stored = same.filter_map(|other| Some((stored_at(other)?, other)));
                let before = stored.filter(|(stored, _)| *stored < step + 1).max();
                if let (false, Some((_, viewed))) = (views.contains_key(&read), before) {
                    views.insert(read, viewed);
                }
            }
        }
        views
    }

    /// Whether two inferences read what was stored.
    fn runs_right(&self) -> bool {
        let views = self.views();
        let root = |value: usize| views.get(&value).copied().unwrap_or(value);
        let mut owner: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        let bytes = |value: usize| {
            let Tensor {
                memory,
                offset,
                bytes,
            } = self.tensors[value];
            (offset..offset + bytes).map(move |byte| (memory, byte))
        };
        let mut right = true;
        let stored: Vec<usize> = self.calls.iter().flat_map(|call| call.1.clone()).collect();
        let is_state = |&value: &usize| {
            !stored.contains(&value) && !self.inputs.contains(&value) && !views.contains_key(&value)
        };
        let states: Vec<usize> = (0..self.tensors.len()).filter(is_state).collect();
        let store = |owner: &mut BTreeMap<(u64, u64), usize>, value: usize| {
            owner.extend(bytes(value).map(|byte| (byte, root(value))));
        };
        for &state in &states {
            store(&mut owner, state);
        }
        for _ in 0..2 {
            let mut holds = |owner: &BTreeMap<(u64, u64), usize>, values: &[usize]| {
                let mut bytes = values
                    .iter()
                    .flat_map(|&value| bytes(value).map(move |b| (b, value)));
                right &= bytes.all(|(byte, value)| owner.get(&byte) == Some(&root(value)));
            };
            self.inputs
                .iter()
                .for_each(|&input| store(&mut owner, input));
            holds(&owner, &self.inputs);
            holds(&owner, &states);
            for (reads, stores) in &self.calls {
                stores.iter().for_each(|&stored| store(&mut owner, stored));
                holds(&owner, reads);
                holds(&owner, stores);
            }
            holds(&owner, &self.outputs);
        }
        right
    }
}

impl Tensor {
    fn json(&self) -> Value {
        let mut place = json!({"memory_id": self.memory});
        if self.offset > 0 {
            place["memory_offset_low"] = self.offset.into();
        }
        let val = json!({"scalar_type": "CHAR", "sizes": [self.bytes], "allocation_info": place});
        json!({"val_type": "Tensor", "val": val})
    }
}

fn is_safe(plan: &ForeignPlan) -> bool {
    plan.memories
        .iter()
        .all(|memory| memory.faults().is_empty())
}

#[test]
fn plans_of_programs_are_judged_as_a_machine_does() {
    let mut random = SplitMix64::new(19);
    let mut seen = [0; 2];
    let mut shrunk = 0;
    for number in 0..4000 {
        let mut program = program(&mut random);
        let text = program.json().to_string();
        let plan = ForeignPlan::parse(&text).unwrap();
        let right = program.runs_right();
        assert_eq!(is_safe(&plan), right, "{number}: {text}");
        seen[usize::from(right)] += 1;
        let offset_of = |memory: &Memory| {
            let renewal = memory.renewal().unwrap();
            let best = exact::plan(&renewal.problem, &mut Budget::of_work(10_000));
            assert!(best.arena_bytes >= best.bound_bytes);
            renewal.offsets(&best.plan)
        };
        let offsets: Vec<Vec<u64>> = plan.memories.iter().map(offset_of).collect();
        let text = executorch::with_offsets(&text, &offsets).unwrap();
        let again = executorch::parse(&text).unwrap();
        for (memory, offsets) in again.memories.iter().zip(&offsets) {
            assert_eq!(&memory.plan.offsets, offsets);
            assert_eq!(memory.faults(), vec![], "{number}: {text}");
            assert!(memory.size_bytes >= Some(memory.used_bytes()));
            shrunk += u32::from(memory.size_bytes < Some(1000));
        }
        let json: Value = serde_json::from_str(&text).unwrap();
        for (value, tensor) in program.tensors.iter_mut().enumerate() {
            let place = &json["execution_plan"][0]["values"][value]["val"]["allocation_info"];
            tensor.offset = place["memory_offset_low"].as_u64().unwrap();
        }
        assert!(program.runs_right(), "{number}: {text}");
    }
    assert!(
        seen.iter().all(|&count| count > 300) && shrunk > 4000,
        "{seen:?} {shrunk}"
    );
}

/// Step by step through a loop, as `flatc` shows that of a map.
#[test]
fn what_a_loop_uses_is_in_use_as_long_as_it_runs() {
    let tensor = |offset| Tensor {
        memory: 1,
        offset,
        bytes: 4,
    };
    let call = |arguments: &[usize], operator| json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": operator, "args": arguments}});
    let jump = |to| json!({"instr_args_type": "JumpFalseCall", "instr_args": {"destination_instruction": to}});
    let text = |instructions: &[Value]| {
        let values: Vec<Value> = (0..4).map(|value| tensor(4 * value).json()).collect();
        let operators = json!([
            {"name": "own::operator", "overload": "out"},
            {"name": "own::in_place", "overload": "tensor"},
        ]);
        json!({"execution_plan": [{
            "name": "f", "values": values, "inputs": [0], "outputs": [3],
            "chains": [{"instructions": instructions}], "operators": operators,
        }]})
        .to_string()
    };
    let lives = |instructions: &[Value]| {
        let plan = executorch::parse(&text(instructions)).unwrap();
        let buffers = plan.memories[0].problem.buffers().iter();
        let lives = buffers.map(|buffer| (buffer.alive.start, buffer.alive.end - 1));
        lives.collect::<Vec<_>>()
    };
    // Value 1 is stored anew each time and read at once; value 0 is read each time.
    let body = [
        call(&[0, 1, 1], 0),
        call(&[1, 2, 2], 0),
        call(&[2, 3, 3], 0),
    ];
    let straight = [&body[..], &[jump(0)]].concat();
    assert_eq!(lives(&straight), [(0, 4), (1, 2), (2, 3), (1, 5)]);
    // Where an instruction may be passed over nothing is known to be stored anew.
    let branched = [&[jump(2)], &body[..], &[jump(0)]].concat();
    assert_eq!(lives(&branched), [(0, 5), (1, 5), (1, 5), (1, 6)]);
    // What an operator changes in place was there before, and stays for the next inference.
    let changed = [call(&[1, 0, 1], 1), call(&[1, 3, 3], 0)];
    assert_eq!(lives(&changed)[1], (0, 3));
    let beyond = [jump(7)];
    let error = executorch::parse(&text(&beyond)).unwrap_err().to_string();
    assert_eq!(
        error,
        "f instruction 0: instruction 7 is not among the 1 there are"
    );
}

#[test]
fn what_is_wrong_with_a_program_is_said() {
    let with = |change: &dyn Fn(&mut Value)| {
        let tensor = Tensor {
            memory: 1,
            offset: 0,
            bytes: 4,
        };
        let mut json = json!({"execution_plan": [{
            "name": "f", "values": [tensor.json()], "inputs": [0], "outputs": [0],
            "chains": [], "operators": [], "non_const_buffer_sizes": [0, 4],
        }]});
        change(&mut json["execution_plan"][0]);
        json.to_string()
    };
    let error =
        |change: &dyn Fn(&mut Value)| ForeignPlan::parse(&with(change)).unwrap_err().to_string();
    let val = |field: &'static str, given: Value| {
        move |method: &mut Value| method["values"][0]["val"][field] = given.clone()
    };
    let place = |field: &'static str, given: Value| {
        move |method: &mut Value| {
            method["values"][0]["val"]["allocation_info"][field] = given.clone();
        }
    };
    assert!(is_safe(&ForeignPlan::parse(&with(&|_| ())).unwrap()));
    let cases: [(String, &str); 9] = [
        (
            error(&val("sizes", json!([-1]))),
            "f value 0: a dimension is -1",
        ),
        (
            error(&val("sizes", json!([1_u64 << 40, 1_u64 << 40]))),
            "f value 0: its size in bytes is 1208925819614629174706176",
        ),
        (
            error(&val("scalar_type", json!("INT24"))),
            "element type \"INT24\" is not known",
        ),
        (error(&val("scalar_type", json!(99))), "element type 99"),
        (
            error(&place("memory_offset_low", json!(1_u64 << 32))),
            "memory_offset_low is 4294967296, a number from 0 to 4294967295",
        ),
        (
            error(&place("memory_offset_high", json!(u32::MAX))),
            "its offset is 18446744069414584320",
        ),
        (error(&place("memory_id", json!(-1))), "memory_id is -1"),
        (
            error(&|method| method["outputs"] = json!([3])),
            "f outputs: value 3 is not among the 1 there are",
        ),
        (
            error(&|method| {
                let call = json!({"instr_args_type": "KernelCall", "instr_args": {"op_index": 2}});
                method["chains"] = json!([{"instructions": [call]}]);
            }),
            "f instruction 0: operator 2 is not among the 0 there are",
        ),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}");
    }
    let beyond = ForeignPlan::parse(&with(&place("memory_offset_low", json!(1)))).unwrap();
    assert!(!is_safe(&beyond));
    for text in [
        "",
        "{}",
        "[]",
        "{\"execution_plan\": []}",
        "{\"execution_plan\": 3}",
    ] {
        assert!(ForeignPlan::parse(text).is_err(), "{text}");
    }
}
