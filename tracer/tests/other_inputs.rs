//! Layers are run on other inputs to find accesses that depend on the data.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panic")]

mod support;

use dmo_analysis::profile::{OtherInput, Refusal};
use dmo_trace::program::data_decision::{DataDecision, Decides};
use dmo_trace::program::followed::follow_data;
use dmo_trace::program::run::try_other_inputs;
use support::firmware::{Buffer, Firmware, INPUT, OUTPUT, RAM};
use support::{LIMITS, profile, run_options};

const FLOAT32: u8 = 5;
const ELEMENTS: u16 = 4;

/// Copies floats; if it treats NaN apart, it loads the first one again for each.
fn program(treats_nan_apart: bool) -> Firmware {
    let (input, output) = (RAM + 0x100, RAM + 0x200);
    let buffer = |name, role, address| Buffer {
        element_type: FLOAT32,
        ..Buffer::new(name, role, address, 4 * u32::from(ELEMENTS))
    };
    let buffers = [buffer("in", INPUT, input), buffer("out", OUTPUT, output)];
    let mut program = Firmware::new();
    program.begin("copy", &buffers);
    program.set(0, input).set(1, output).set(4, 0xff00_0000);
    for element in 0..ELEMENTS {
        program.code(&[0x6802 | element << 6]); // ldr r2, [r0, #4 * element]
        if treats_nan_apart {
            // lsls r3, r2, #1; cmp r3, r4; bls over the next; ldr r5, [r0]
            program.code(&[0x0053, 0x42a3, 0xd900, 0x6805]);
        }
        program.code(&[0x600a | element << 6]); // str r2, [r1, #4 * element]
    }
    program.end().exit(0);
    program
}

#[test]
fn accesses_that_depend_on_nan_are_found() {
    for (treats_nan_apart, refusals) in [(false, &[][..]), (true, &[Refusal::DataDependent])] {
        let target = program(treats_nan_apart).target();
        let (mut profile, _) = profile(&target, run_options(true, LIMITS)).expect("run");
        assert_eq!(profile.layers[0].pairs[0].safe_overlap_bytes, 16);
        // The default of the commands; short layers are executed on sixteen inputs.
        let others = try_other_inputs(&target, LIMITS, 4, None).expect("other inputs");
        assert_eq!(others.len(), 1);
        let ran = |other: &OtherInput| matches!(other, OtherInput::Accesses(_));
        assert_eq!(others[0].iter().filter(|other| ran(other)).count(), 15);
        profile.compare_inputs(&others);
        assert_eq!(profile.layers[0].data_dependent, Some(treats_nan_apart));
        assert_eq!(profile.layers[0].pairs[0].refusals, refusals);
    }
}

/// Without any NaN in the program's own input, or trying one.
#[test]
fn what_data_decide_is_found_without_trying() {
    for treats_nan_apart in [false, true] {
        let target = program(treats_nan_apart).target();
        let found = follow_data(&target, LIMITS).expect("a run");
        let [Some(decisions)] = &found[..] else {
            panic!("one layer, followed: {found:?}");
        };
        let count = if treats_nan_apart {
            usize::from(ELEMENTS)
        } else {
            0
        };
        assert_eq!(decisions.len(), count, "{decisions:?}");
        let branches = |it: &DataDecision| it.decides == Decides::Branch;
        assert!(decisions.iter().all(branches), "{decisions:?}");
    }
}

/// A layer that asks the host for the time: nothing is said of it, while of the next one is.
#[test]
fn nothing_is_said_of_what_the_host_answers() {
    const CLOCK: u32 = 0x10;
    for asks in [true, false] {
        let (input, output) = (RAM + 0x100, RAM + 0x200);
        let buffers = [
            Buffer::new("in", INPUT, input, 4),
            Buffer::new("out", OUTPUT, output, 4),
        ];
        let mut program = Firmware::new();
        program.begin("first", &buffers);
        if asks {
            program.set(0, CLOCK).set(1, 0).code(&[0xbeab]);
        }
        // ldr r2, [r4]; str r2, [r5]
        let copies = [0x6822, 0x602a];
        program.set(4, input).set(5, output).code(&copies).end();
        program.begin("second", &buffers);
        program.set(4, input).set(5, output).code(&copies).end();
        program.exit(0);
        let found = follow_data(&program.target(), LIMITS).expect("a run");
        let first = if asks { None } else { Some(Vec::new()) };
        assert_eq!(found, [first, Some(Vec::new())]);
    }
}
