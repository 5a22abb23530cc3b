//! The engines give the same: every example on Unicorn and on our own, from mark to mark.

#![cfg(feature = "unicorn")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the difference"
)]

mod support;

use dmo_trace::mcu::machine::{EngineKind, Observation};
use support::guest::{Guest, Stop};
use support::{recorded, small_programs};

/// Loads and stores of everything but the core's private peripherals.
const EVERYTHING: std::ops::Range<u64> = 0..0xe000_0000;

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
        for step in 0.. {
            let place = format!("{program} on {cpu}, {engine:?}, stop {step}");
            let stops = [judge.advance(), judged.advance()];
            assert_eq!(stops[0], stops[1], "{place}");
            let times = [judge.machine.now(), judged.machine.now()];
            let (expected, actual) = (judge.take_accesses(), judged.take_accesses());
            let differs = expected.iter().zip(&actual).find(|(a, b)| a != b);
            assert_eq!(differs, None, "{place}: an access");
            assert_eq!(expected.len(), actual.len(), "{place}: number of accesses");
            assert_eq!(times[0], times[1], "{place}: time");
            let [mut expected, mut actual] = [judge.state(), judged.state()];
            if cpu == "cortex-m3" {
                assert!(!actual.has_fpu(), "{place}");
                [expected, actual] = [expected.without_floats(), actual.without_floats()];
            }
            let difference = expected.difference(&actual);
            assert_eq!(difference, None, "{place}");
            if let Stop::Exit(_) = stops[0] {
                assert!(step > 0, "{place}: no mark");
                break;
            }
        }
    }
    programs.len()
}

/// Both of our own on this CPU.
fn compare_ours(cpu: &str) {
    for engine in [EngineKind::Interpreter, EngineKind::Translator] {
        let programs = compare(cpu, engine, Observation::Watch);
        assert_eq!(programs, PROGRAMS, "{engine:?}");
    }
}

#[test]
fn ours_are_as_unicorn_on_cortex_m3() {
    compare_ours("cortex-m3");
}

#[test]
fn ours_are_as_unicorn_on_cortex_m4() {
    compare_ours("cortex-m4");
}

#[test]
fn ours_are_as_unicorn_on_cortex_m7() {
    compare_ours("cortex-m7");
}

/// How many examples there are for each CPU.
const PROGRAMS: usize = 18;
