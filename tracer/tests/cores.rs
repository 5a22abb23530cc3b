//! Cores without recorded programs: the small examples, built for each of them, run on every
//! engine that has the core, and each refuses what it does not have.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the program's name"
)]

mod support;

use dmo_trace::mcu::cpu::{CPUS, choose};
use dmo_trace::mcu::machine::{EngineKind, Observation};
use libtest_mimic::Failed;
use support::cross::{CORES, CPUS as BUILT, Core, SMALL_EXAMPLES, compiler};
use support::expected::layers_of;
use support::guest::{EVERYTHING, Guest, assert_same};
use support::{LIMITS, profile, run_options, tools};

fn main() {
    let tool = compiler();
    let mut trials = Vec::new();
    for core in CORES {
        for program in SMALL_EXAMPLES {
            let name = format!("{} {program}", core.name);
            let test = move || check(core, program);
            trials.push(tools::trial(name, &tool, test));
        }
    }
    let all = || {
        assert_all_cores_are_tested();
        Ok(())
    };
    trials.push(tools::trial("all cores are tested", &tool, all));
    trials.push(tools::trial("the RAM of a run", &tool, ram));
    trials.push(tools::trial("an image chooses its core", &tool, choice));
    tools::main(&tool, trials)
}

/// The engines beside the interpreter that have the core.
fn others(core: Core) -> Vec<EngineKind> {
    let lacking = ["cortex-m23", "cortex-m55", "cortex-m85"];
    let has = |engine: &EngineKind| match engine.name() {
        "unicorn" => !lacking.contains(&core.name),
        "auto" | "interpreter" => false,
        _ => true,
    };
    EngineKind::ALL.iter().copied().filter(has).collect()
}

/// The interpreter, held against each of the others.
fn check(core: Core, program: &str) -> Result<(), Failed> {
    let elf = core.example(program)?;
    let mut judged = core.target(&elf);
    judged.engine = EngineKind::Interpreter;
    let engines = others(core);
    assert!(engines.contains(&EngineKind::Translator), "{engines:?}");
    for engine in engines {
        let mut judge = core.target(&elf);
        judge.engine = engine;
        let [mut one, mut other] = [&judge, &judged].map(|target| {
            let mut guest = Guest::new(target, Observation::Watch, true);
            guest.watch(std::slice::from_ref(&EVERYTHING));
            guest
        });
        let place = format!("{program} on {}, {engine:?}", core.name);
        let marks = assert_same(&place, [&mut one, &mut other]);
        assert_eq!(marks, 2 * layers_of(program).len(), "{place}: marks");
    }
    // The self-check ends the run where it disagrees.
    let (profile, _) = profile(&judged, run_options(true, LIMITS)).expect("a checked run");
    assert_eq!(profile.layers.len(), layers_of(program).len());
    Ok(())
}

/// Sections as the file has them, and the stack, which both of our engines measure alike.
fn ram() -> Result<(), Failed> {
    let elf = CORES[1].example("reshape")?;
    let mut found = Vec::new();
    for engine in [EngineKind::Interpreter, EngineKind::Translator] {
        let mut target = CORES[1].target(&elf);
        target.engine = engine;
        let (_, outcome) = profile(&target, run_options(false, LIMITS)).expect("a run");
        let bss = target.image.sections.iter().find(|it| it.name == ".bss");
        let bss = bss.map(|it| it.range.end - it.range.start);
        assert_eq!(Some(outcome.ram.bss_bytes), bss, "{engine:?}");
        found.push(outcome.ram);
    }
    assert_eq!(found[0], found[1]);
    let ram = &found[0];
    let stack = ram.stack_bytes.ok_or("no stack")?;
    assert!((16..1024).contains(&stack), "{stack}");
    assert_eq!(ram.heap_bytes, Some(0));
    assert_eq!(
        ram.total_bytes,
        Some(ram.data_bytes + ram.bss_bytes + stack)
    );
    assert_eq!(ram.layer_stack_bytes.len(), layers_of("reshape").len());
    for layer in &ram.layer_stack_bytes {
        let layer = layer.ok_or("no stack of a layer")?;
        assert!((8..=stack).contains(&layer), "{layer} of {stack}");
    }
    Ok(())
}

fn assert_all_cores_are_tested() {
    let recorded = support::CPUS.iter().copied();
    let tested: Vec<&str> = recorded.chain(CORES.map(|core| core.name)).collect();
    let untested = CPUS.iter().filter(|cpu| !tested.contains(&cpu.name));
    assert_eq!(
        untested.collect::<Vec<_>>(),
        [] as [&dmo_trace::mcu::cpu::Cpu; 0]
    );
}

/// As GCC names them in its attributes.
fn choice() -> Result<(), Failed> {
    let built = CORES.map(|core| (core, core.name));
    let mut seen = 0;
    for (core, name) in built {
        let expected = match name {
            // What is built for one of each pair runs on the other.
            "cortex-m0" => "cortex-m0plus",
            "cortex-m85" => "cortex-m55",
            name => name,
        };
        let target = support::target(&core.example("reshape")?);
        assert_eq!(target.cpu.name, expected);
        for (older, _) in BUILT {
            let runs = choose(Some(older), &target.image.attributes).is_ok();
            let is_small = name.starts_with("cortex-m0");
            let is_same = older == name || (older, name) == ("cortex-m33", "cortex-m23");
            assert_eq!(runs, is_small || is_same, "built for {name}, on {older}");
            seen += 1;
        }
    }
    assert_eq!(seen, CORES.len() * BUILT.len());
    Ok(())
}
