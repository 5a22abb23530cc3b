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

/// What an instruction does, and what the file shows of it.
#[derive(Clone)]
enum Call {
    /// An operator of the `out` kind.
    Out {
        reads: Vec<usize>,
        stores: Vec<usize>,
    },
    /// One that may store some of its arguments, and a delegate, which stores its last one. Which they
    /// store the file does not show.
    Unsure {
        is_delegate: bool,
        arguments: Vec<(usize, bool)>,
    },
    /// So many instructions are not run in some inferences; a tensor decides.
    Skip { condition: usize, count: usize },
    /// So many instructions, and this one, are run again some times; a tensor decides.
    Again { condition: usize, count: usize },
}

/// A program. Values without a place are lists.
#[derive(Clone)]
struct Program {
    tensors: Vec<Tensor>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    calls: Vec<Call>,
}

fn program(random: &mut SplitMix64) -> Program {
    let mut tensors: Vec<Tensor> = Vec::new();
    let spread = [8, 30, 60][random.below(3)];
    let mut tensor = |random: &mut SplitMix64, like: Option<Tensor>| {
        let mut tensor = like.unwrap_or(Tensor {
            memory: 1 + random.below(5) as u64 / 4,
            offset: random.below(spread) as u64,
            bytes: 1 + random.below(6) as u64,
        });
        // A view may be of a part.
        if like.is_some() && random.below(2) == 0 {
            let first = random.below(tensor.bytes as usize) as u64;
            tensor.offset += first;
            tensor.bytes = 1 + random.below((tensor.bytes - first) as usize) as u64;
        }
        tensors.push(tensor);
        (tensors.len() - 1, tensor)
    };
    let mut known: Vec<(usize, Tensor)> =
        (0..random.below(3)).map(|_| tensor(random, None)).collect();
    let inputs = known.iter().map(|known| known.0).collect();
    let mut calls = Vec::new();
    let with_unsure = random.below(3) == 0;
    for _ in 0..1 + random.below(5) {
        let mut reads = Vec::new();
        for _ in 0..random.below(3) {
            // Nothing may store it: a state, or a view of what is known.
            if known.is_empty() || random.below(6) == 0 {
                let like = (!known.is_empty() && random.below(3) > 0)
                    .then(|| known[random.below(known.len())].1);
                known.push(tensor(random, like));
                reads.push(known[known.len() - 1].0);
            } else {
                reads.push(known[random.below(known.len())].0);
            }
        }
        if with_unsure && random.below(4) == 0 {
            if let (Some(&condition), 0) = (reads.first(), random.below(2)) {
                let count = 1 + random.below(2);
                calls.push(if count <= calls.len() && random.below(2) == 0 {
                    Call::Again { condition, count }
                } else {
                    Call::Skip { condition, count }
                });
                continue;
            }
            known.push(tensor(random, None));
            reads.push(known[known.len() - 1].0);
            let is_delegate = random.below(2) == 0;
            let last = reads.len() - 1;
            let stores = |at: usize, random: &mut SplitMix64| {
                is_delegate && at == last || random.below(2) == 0
            };
            let arguments = reads.iter().enumerate();
            let arguments = arguments.map(|(at, &value)| (value, stores(at, random)));
            let arguments = arguments.collect();
            calls.push(Call::Unsure {
                is_delegate,
                arguments,
            });
            continue;
        }
        let stores: Vec<(usize, Tensor)> = (0..1 + random.below(5) / 4)
            .map(|_| tensor(random, None))
            .collect();
        known.extend(&stores);
        let stores = stores.iter().map(|stored| stored.0).collect();
        calls.push(Call::Out { reads, stores });
    }
    let outputs = (0..random.below(3)).filter_map(|_| {
        let at = random.below(known.len().max(1));
        known.get(at).map(|known| known.0)
    });
    Program {
        outputs: outputs.collect(),
        tensors,
        inputs,
        calls,
    }
}

/// What a byte holds: something of before the first inference, or a byte of a value that an
/// instruction stored in an inference.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Byte {
    Old,
    Stored {
        value: usize,
        byte: u64,
        at: (u64, usize),
    },
}

impl Program {
    /// As `flatc` writes it, which leaves out what is 0.
    fn json(&self) -> Value {
        let mut values: Vec<Value> = self.tensors.iter().map(Tensor::json).collect();
        let mut instructions = Vec::new();
        for (at, call) in self.calls.iter().enumerate() {
            let mut list = |items: &[usize]| {
                values.push(json!({"val_type": "TensorList", "val": {"items": items}}));
                values.len() - 1
            };
            instructions.push(match call {
                Call::Out { reads, stores } => {
                    let mut arguments = Vec::new();
                    if reads.len() == 2 {
                        arguments.push(list(reads));
                    } else {
                        arguments.extend(reads);
                    }
                    arguments.extend(stores);
                    arguments.push(match stores[..] {
                        [only] => only,
                        _ => list(stores),
                    });
                    json!({"instr_args_type": "KernelCall", "instr_args": {"args": arguments}})
                }
                Call::Unsure {
                    is_delegate,
                    arguments,
                } => {
                    let arguments: Vec<usize> = arguments.iter().map(|it| it.0).collect();
                    if *is_delegate {
                        json!({"instr_args_type": "DelegateCall", "instr_args": {"args": arguments}})
                    } else {
                        let arguments = json!({"op_index": 1, "args": arguments});
                        json!({"instr_args_type": "KernelCall", "instr_args": arguments})
                    }
                }
                Call::Skip { condition, count } => {
                    let to = (at + 1 + count).min(self.calls.len());
                    let arguments = json!({"cond_value_index": condition, "destination_instruction": to});
                    json!({"instr_args_type": "JumpFalseCall", "instr_args": arguments})
                }
                Call::Again { condition, count } => {
                    let to = at - count;
                    let arguments =
                        json!({"cond_value_index": condition, "destination_instruction": to});
                    json!({"instr_args_type": "JumpFalseCall", "instr_args": arguments})
                }
            });
        }
        json!({"execution_plan": [{
            "name": "forward",
            "values": values,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "chains": [{"instructions": instructions}],
            "operators": [
                {"name": "own::operator", "overload": "out"},
                {"name": "own::operator", "overload": "Tensor"},
            ],
            "non_const_buffer_sizes": [0, 1000, 1000],
        }]})
    }

    /// What three inferences read, and whether each value that is stored is read as it was stored.
    fn run(&self) -> (Vec<Byte>, bool) {
        let mut memory: BTreeMap<(u64, u64), Byte> = BTreeMap::new();
        let (mut seen, mut is_right) = (Vec::new(), true);
        for inference in 0..3 {
            let mut stored_at = vec![None; self.tensors.len()];
            let mut read = |memory: &BTreeMap<(u64, u64), Byte>,
                            value: usize,
                            stored: Option<(u64, usize)>| {
                let tensor = self.tensors[value];
                for byte in 0..tensor.bytes {
                    let place = (tensor.memory, tensor.offset + byte);
                    let found = memory.get(&place).copied().unwrap_or(Byte::Old);
                    seen.push(found);
                    if let Some(at) = stored {
                        is_right &= found == Byte::Stored { value, byte, at };
                    }
                }
            };
            let mut store = |memory: &mut BTreeMap<(u64, u64), Byte>, value: usize, step: usize| {
                let tensor = self.tensors[value];
                let at = (inference, step);
                for byte in 0..tensor.bytes {
                    let place = (tensor.memory, tensor.offset + byte);
                    memory.insert(place, Byte::Stored { value, byte, at });
                }
                stored_at[value] = Some(at);
                at
            };
            let mut stored = vec![None; self.tensors.len()];
            for &input in &self.inputs {
                stored[input] = Some(store(&mut memory, input, 0));
            }
            let mut rounds = BTreeMap::new();
            let mut step = 0;
            while let Some(call) = self.calls.get(step) {
                step += 1;
                match call {
                    Call::Out { reads, stores } => {
                        // What is stored may be stored before all is read.
                        let before = memory.clone();
                        for &value in stores {
                            let at = store(&mut memory, value, step);
                            if !reads.contains(&value) {
                                stored[value] = Some(at);
                            }
                        }
                        for &value in reads {
                            let shown = if stores.contains(&value) {
                                &before
                            } else {
                                &memory
                            };
                            read(shown, value, stored[value]);
                        }
                        for &value in stores {
                            stored[value] = Some((inference, step));
                            read(&memory, value, stored[value]);
                        }
                    }
                    Call::Unsure { arguments, .. } => {
                        for &(value, is_stored) in arguments {
                            if !is_stored {
                                read(&memory, value, stored[value]);
                            }
                        }
                        for &(value, is_stored) in arguments {
                            if is_stored {
                                stored[value] = Some(store(&mut memory, value, step));
                            }
                        }
                    }
                    Call::Skip { condition, count } => {
                        read(&memory, *condition, stored[*condition]);
                        if (inference + *count as u64 + step as u64).is_multiple_of(2) {
                            step += count;
                        }
                    }
                    Call::Again { condition, count } => {
                        read(&memory, *condition, stored[*condition]);
                        let left: &mut usize = rounds
                            .entry(step)
                            .or_insert((inference as usize + step) % 3);
                        if *left > 0 {
                            *left -= 1;
                            step -= 1 + count;
                        }
                    }
                }
            }
            for &output in &self.outputs {
                read(&memory, output, stored[output]);
            }
        }
        (seen, is_right)
    }

    fn has_certain_calls_only(&self) -> bool {
        let is_certain = |call: &Call| matches!(call, Call::Out { .. });
        self.calls.iter().all(is_certain)
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

/// Whatever a value is that nothing is seen to store, and whatever the file does not show of what
/// instructions store: after a new plan everything is read as before.
#[test]
fn new_plans_of_programs_read_what_their_own_plans_read() {
    let mut random = SplitMix64::new(19);
    let mut planned = [0; 2];
    let (mut refused, mut missed, mut shrunk) = ([0; 2], 0, 0);
    let mut with_loops = 0;
    for number in 0..30_000 {
        let mut program = program(&mut random);
        let text = program.json().to_string();
        let Ok(plan) = ForeignPlan::parse(&text) else {
            assert!(program.tensors.is_empty(), "{number}: {text}");
            continue;
        };
        let (before, is_right) = program.run();
        if !is_safe(&plan) {
            refused[usize::from(is_right)] += 1;
            continue;
        }
        // Where a value was stored over another through a view, both are one.
        missed += u32::from(!is_right && program.has_certain_calls_only());
        planned[usize::from(program.has_certain_calls_only())] += 1;
        let is_loop = |call: &Call| matches!(call, Call::Again { .. });
        with_loops += u32::from(program.calls.iter().any(is_loop));
        let offset_of = |memory: &Memory| {
            let renewal = memory.renewal().unwrap();
            let best = exact::plan(&renewal.problem, &mut Budget::of_work(10_000));
            assert!(best.arena_bytes >= best.bound_bytes);
            renewal.offsets(&best.plan)
        };
        let offsets: Vec<Vec<u64>> = plan.memories.iter().map(offset_of).collect();
        let written = executorch::with_offsets(&text, &offsets).unwrap();
        assert!(executorch::has_offsets(&written, &text, &offsets).unwrap());
        assert!(!executorch::has_offsets(&text, &text, &vec![vec![7; 9]; offsets.len()]).unwrap());
        let json: Value = serde_json::from_str(&written).unwrap();
        for (value, tensor) in program.tensors.iter_mut().enumerate() {
            let place = &json["execution_plan"][0]["values"][value]["val"]["allocation_info"];
            tensor.offset = place["memory_offset_low"].as_u64().unwrap();
        }
        for tensor in &program.tensors {
            let size = &json["execution_plan"][0]["non_const_buffer_sizes"][tensor.memory as usize];
            assert!(tensor.offset + tensor.bytes <= size.as_u64().unwrap());
            shrunk += u32::from(size.as_u64() < Some(1000));
        }
        assert_eq!(program.run().0, before, "{number}: {text}\n{written}");
    }
    assert!(
        planned.iter().all(|&count| count > 500) && refused[0] > 20 * missed,
        "{planned:?} {refused:?} {missed} {shrunk}"
    );
    assert!(shrunk > 4000 && with_loops > 100, "{shrunk} {with_loops}");
}

/// Infinities as `flatc` writes them, tensors without bytes, what is left above the last tensor, and
/// an alignment that was asked for.
#[test]
fn what_a_program_has_beside_its_tensors_stays() {
    let tensor = |offset, bytes| {
        Tensor {
            memory: 1,
            offset,
            bytes,
        }
        .json()
    };
    let call = |arguments: [usize; 3]| json!({"instr_args_type": "KernelCall", "instr_args": {"args": arguments}});
    let text = json!({"execution_plan": [{
        "name": "inf -nan \\\" inf", "inputs": [0], "outputs": [2],
        "values": [
            tensor(0, 20), tensor(64, 20), tensor(128, 20), tensor(192, 0),
            {"val_type": "Double", "val": {"double_val": "INFINITY"}},
        ],
        "chains": [{"instructions": [call([0, 1, 1]), call([1, 2, 2])]}],
        "operators": [{"name": "own::operator", "overload": "out"}],
        "non_const_buffer_sizes": [0, 148 + 76],
    }]})
    .to_string();
    let text = text.replace("\"INFINITY\"", "-inf");
    assert!(serde_json::from_str::<Value>(&text).is_err());
    let plan = executorch::parse(&text).unwrap();
    let renewal = plan.memories[0].renewal().unwrap();
    assert!(is_safe(&plan));
    let best = exact::plan(&renewal.problem, &mut Budget::unlimited());
    // Two of the three at a time, at multiples of 64.
    assert_eq!(best.arena_bytes, 64 + 20);
    let offsets = vec![renewal.offsets(&best.plan)];
    let written = executorch::with_offsets(&text, &offsets).unwrap();
    assert!(executorch::has_offsets(&written, &text, &offsets).unwrap());
    let json: Value = serde_json::from_str(&written).unwrap();
    let method = &json["execution_plan"][0];
    assert_eq!(method["name"], "inf -nan \\\" inf");
    assert_eq!(method["values"][4]["val"]["double_val"], "-inf");
    assert_eq!(method["non_const_buffer_sizes"], json!([0, 64 + 20 + 76]));
    let empty = &method["values"][3]["val"]["allocation_info"];
    assert_eq!(empty["memory_offset_low"], 0);
}

/// Two methods may share a state.
#[test]
fn what_methods_may_share_stays() {
    let method = |name: &str, is_kept: bool| {
        let tensors = [0, 32, 64].map(|offset| {
            Tensor {
                memory: 1,
                offset,
                bytes: 4,
            }
            .json()
        });
        // The second value is read before it is stored.
        let first = if is_kept { 1 } else { 0 };
        let call = json!({"instr_args_type": "KernelCall", "instr_args": {"args": [first, 2, 2]}});
        json!({
            "name": name, "values": tensors, "inputs": [0], "outputs": [2],
            "chains": [{"instructions": [call]}],
            "operators": [{"name": "own::operator", "overload": "out"}],
            "non_const_buffer_sizes": [0, 68],
        })
    };
    let most = |methods: &[Value]| {
        let text = json!({"execution_plan": methods}).to_string();
        let plan = executorch::parse(&text).unwrap();
        let arena = |memory: &Memory| {
            let problem = memory.renewal().unwrap().problem;
            exact::plan(&problem, &mut Budget::unlimited()).arena_bytes
        };
        plan.memories.iter().map(arena).collect::<Vec<_>>()
    };
    let (plain, keeping) = (method("plain", false), method("keeping", true));
    // A value that is never used may be anything, too.
    assert_eq!(most(std::slice::from_ref(&keeping)), [36]);
    assert_eq!(most(&[plain.clone(), keeping.clone()]), [68, 68]);
    assert_eq!(most(&[keeping.clone(), keeping]), [68, 68]);
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
            "non_const_buffer_sizes": [0, 16],
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
    // Where an instruction may be passed over, what it stores may be of an earlier inference.
    let branched = [&[jump(2)], &body[..], &[jump(0)]].concat();
    assert_eq!(lives(&branched), [(0, 5), (0, 6), (0, 6), (0, 6)]);
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
    let cases: [(String, &str); 13] = [
        (
            error(&place("memory_id", json!(0))),
            "f memory 0: the method has memories 1 to 1 only",
        ),
        (
            error(&place("memory_id", json!(7))),
            "f memory 7: the method has memories 1 to 1 only",
        ),
        (
            error(&|method| {
                let call = json!({"instr_args_type": "Leap", "instr_args": {}});
                method["chains"] = json!([{"instructions": [call]}]);
            }),
            "f instruction 0: instructions of type \"Leap\" are not known",
        ),
        (
            error(&|method| {
                let jump = json!({"cond_value_index": 5});
                let jump = json!({"instr_args_type": "JumpFalseCall", "instr_args": jump});
                method["chains"] = json!([{"instructions": [jump]}]);
            }),
            "f instruction 0: value 5 is not among the 1 there are",
        ),
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
