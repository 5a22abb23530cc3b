//! The engines give the same: every example on Unicorn and on our own, from mark to mark.

#![cfg(feature = "unicorn")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the difference"
)]

mod support;

use dmo_trace::mcu::machine::{EngineKind, Observation};
use support::guest::{EVERYTHING, Guest, assert_same};
use support::{recorded, small_programs};

/// Runs every example for this CPU on both engines; gives how many there were.
fn compare(cpu: &str, engine: EngineKind, observation: Observation) -> usize {
    let programs = small_programs();
    for program in &programs {
        let mut targets = [recorded(cpu, program), recorded(cpu, program)];
        targets[0].engine = EngineKind::Unicorn;
        targets[1].engine = engine;
        let [mut judge, mut judged] = targets.each_ref().map(|target| {
            let mut guest = Guest::new(target, observation, true);
            guest.watch(std::slice::from_ref(&EVERYTHING));
            guest
        });
        let place = format!("{program} on {cpu}, {engine:?}");
        let steps = assert_same(&place, [&mut judge, &mut judged]);
        assert!(steps > 0, "{place}: no mark");
    }
    programs.len()
}

/// The translator, which leaves what runs seldom to the interpreter.
const MOST: [EngineKind; 1] = [EngineKind::Translator];
/// The interpreter runs all, too, on the CPU that has all instructions of the others.
const BOTH: [EngineKind; 2] = [EngineKind::Interpreter, EngineKind::Translator];

/// Our own on this CPU.
fn compare_ours(cpu: &str, engines: &[EngineKind]) {
    for &engine in engines {
        let programs = compare(cpu, engine, Observation::Watch);
        assert_eq!(programs, PROGRAMS, "{engine:?}");
    }
}

#[test]
fn ours_are_as_unicorn_on_cortex_m3() {
    compare_ours("cortex-m3", &MOST);
}

#[test]
fn ours_are_as_unicorn_on_cortex_m4() {
    compare_ours("cortex-m4", &MOST);
}

#[test]
fn ours_are_as_unicorn_on_cortex_m7() {
    compare_ours("cortex-m7", &BOTH);
}

/// How many examples there are for each CPU.
const PROGRAMS: usize = 18;
