//! Variables, calls and lines at the accesses that bind O_s, as compilers describe them: every
//! level of optimisation, both versions of the debug information.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]

mod support;

use dmo_trace::elf::debug::Value;
use dmo_trace::explain::{Bound, CallInProgress};
use libtest_mimic::Failed;
use support::cross::{CPUS, built, compiler, firmware, kernels};
use support::explained::explanations;
use support::tools;

const LEVELS: [&[&str]; 6] = [
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O2", "-flto"],
];

fn main() {
    let compiler = compiler();
    let mut trials = Vec::new();
    for (cpu, flags) in CPUS {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let name = format!("what_binds_is_explained_on_{cpu}_with{version}");
            trials.push(tools::trial(name, &compiler, move || {
                LEVELS
                    .iter()
                    .try_for_each(|level| check(cpu, &[flags, &[version], level].concat()))
            }));
        }
    }
    for (cpu, flags) in CPUS {
        trials.push(tools::trial(
            format!("callers_of_assembly_are_found_on_{cpu}"),
            &compiler,
            move || assembly(cpu, flags),
        ));
    }
    tools::main(&compiler, trials)
}

/// The channels of the layer's tensors.
const CHANNELS: u32 = 5;

/// The last channel of a pixel is stored before the first channel of the same pixel is loaded
/// for the next one.
fn check(cpu: &str, flags: &[&str]) -> Result<(), Failed> {
    let sources = [firmware("explained.c"), kernels("marks/dmo_trace.c")];
    let target = built(cpu, flags, &sources)?;
    let case = format!("{cpu} {}", flags.join(" "));
    let all_are_kept = flags.contains(&"-O0");
    let [explanation] = &explanations(&target)[..] else {
        panic!("{case}: one pair");
    };
    assert_eq!(explanation.displacement_bytes, 2 * CHANNELS, "{case}");
    let store = explanation.store.as_ref().expect("a store");
    let load = explanation.load.as_ref().expect("a load");
    assert_eq!((store.element, load.element), (CHANNELS - 1, 0), "{case}");
    let names = |bound: &Bound| -> Vec<String> {
        let functions = bound.calls.iter().flat_map(|call| &call.functions);
        functions.filter_map(|it| it.name.clone()).collect()
    };
    assert_eq!(names(store)[..3], ["put", "blur", "main"], "{case}");
    assert_eq!(names(load)[..3], ["get", "blur", "main"], "{case}");
    let source = std::fs::read_to_string(&sources[0])?;
    let line = |text: &str| {
        let index = source.lines().position(|line| line.contains(text));
        index.map(|index| index as u32 + 1)
    };
    let lines = |bound: &Bound| -> Vec<Option<u32>> {
        let functions = bound.calls.iter().flat_map(|call| &call.functions);
        functions.map(|it| it.line).collect()
    };
    assert_eq!(
        lines(store)[..3],
        [line("to[at] ="), line("put(out"), line("blur(&extent")],
        "{case}"
    );
    assert_eq!(
        lines(load)[..3],
        [
            line("return from"),
            line("sum += get"),
            line("blur(&extent")
        ],
        "{case}"
    );
    let [blur, main] = &store.calls[..2] else {
        panic!("{case}: {:?}", store.calls);
    };
    let within = [blur.in_layer, main.in_layer, main.variables.is_empty()];
    assert_eq!(within, [true, false, true], "{case}");
    let integers = |bound, call: &CallInProgress, expected: &[(&str, i128)]| {
        for &(name, value) in expected {
            assert_holds(
                &case,
                bound,
                call,
                name,
                &Value::Integer(value),
                all_are_kept,
            );
        }
    };
    integers("store", blur, &[("y", 0), ("x", 0), ("c", 4), ("at", 4)]);
    let [get, blur] = &load.calls[..2] else {
        panic!("{case}: {:?}", load.calls);
    };
    integers("load", get, &[("at", 0)]);
    let indices = [("y", 0), ("x", 1), ("c", 0), ("k", -1), ("column", 0)];
    integers("load", blur, &indices);
    let backward = Value::Enumerator {
        number: 1,
        name: Some("BACKWARD".to_owned()),
    };
    let others = [
        ("order", backward),
        ("scale", Value::Float(0.5)),
        ("even", Value::Boolean(true)),
        ("sum", Value::Integer(-5_000_000_000)),
        ("calls", Value::Integer(1)),
    ];
    for (name, value) in others {
        assert_holds(&case, "load", blur, name, &value, all_are_kept);
    }
    let taps = value(blur, "taps");
    assert!(matches!(taps, Some(Value::Object(_))), "{case}: {taps:?}");
    if all_are_kept {
        let nest: Vec<&str> = blur
            .variables
            .iter()
            .filter(|local| local.in_loop_nest)
            .map(|local| local.variable.name.as_str())
            .collect();
        assert_eq!(
            nest,
            ["y", "x", "c", "taps", "sum", "k", "column"],
            "{case}"
        );
    }
    Ok(())
}

/// A load in a function of hand-written assembly, which has no call frame information, is within
/// the call that led there, and the loops' variables are those of its caller.
fn assembly(cpu: &str, flags: &[&str]) -> Result<(), Failed> {
    let sources = [firmware("explained.c"), kernels("marks/dmo_trace.c")];
    let flags = [flags, &["-gdwarf-5", "-O2", "-DASSEMBLY"]].concat();
    let target = built(cpu, &flags, &sources)?;
    let [explanation] = &explanations(&target)[..] else {
        panic!("{cpu}: one pair");
    };
    let load = explanation.load.as_ref().expect("a load");
    let [_, blur, main] = &load.calls[..3] else {
        panic!("{cpu}: {:?}", load.calls);
    };
    let name = |call: &CallInProgress| call.functions.last().and_then(|it| it.name.clone());
    assert_eq!(name(blur).as_deref(), Some("blur"), "{cpu}");
    assert_eq!(name(main).as_deref(), Some("main"), "{cpu}");
    let number = |name| value(blur, name).cloned();
    assert_eq!(number("y"), Some(Value::Integer(0)), "{cpu}");
    assert_eq!(number("x"), Some(Value::Integer(1)), "{cpu}");
    Ok(())
}

fn value<'a>(call: &'a CallInProgress, name: &str) -> Option<&'a Value> {
    let local = call.variables.iter().find(|it| it.variable.name == name)?;
    Some(&local.variable.value)
}

/// What the compiler has not lost is right.
fn assert_holds(
    case: &str,
    at: &str,
    call: &CallInProgress,
    name: &str,
    expected: &Value,
    needed: bool,
) {
    match value(call, name) {
        Some(Value::OptimisedOut | Value::Unknown) | None if !needed => {}
        value => assert_eq!(value, Some(expected), "{case}: {name} at the {at}"),
    }
}
