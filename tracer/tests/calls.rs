//! Calls of functions one after the other on one machine.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_trace::call::{Argument, Caller};
use dmo_trace::mcu::machine::{EngineKind, Observation};
use libtest_mimic::Failed;
use support::LIMITS;
use support::tools::{self, Availability};
use support::workshop::{HARD, Workshop, linked, run};

fn main() {
    let compiler: Availability = tools::version("arm-none-eabi-gcc").map(|_| ());
    let name = "a fault in an IT block leaves nothing to the next call";
    tools::main(
        &compiler,
        vec![tools::trial(name, &compiler, after_a_fault)],
    );
}

const ENGINES: &[EngineKind] = &[
    EngineKind::Interpreter,
    EngineKind::Translator,
    #[cfg(feature = "unicorn")]
    EngineKind::Unicorn,
];

/// An address without memory.
const NOWHERE: u32 = 0xa000_0000;

/// A load of two words, in the second of four conditional instructions, from where r2 points to; and a sum whose instructions an IT block would make conditional.
const FUNCTIONS: &str = "
    .syntax unified
    .thumb
    .text
    .global loads
    .type loads, %function
    .thumb_func
loads:
    cmp r0, #0
    ittte ne
    movne r3, r2
    ldrdne r0, r1, [r3]
    movne r3, #1
    moveq r0, #1
    bx lr
    .global plus_four
    .type plus_four, %function
    .thumb_func
plus_four:
    add.w r0, r0, #1
    add.w r0, r0, #1
    add.w r0, r0, #1
    add.w r0, r0, #1
    bx lr
    .global asks
    .type asks, %function
    .thumb_func
asks:
    bkpt 0xab
    bx lr
";

fn after_a_fault() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let [source, object] = ["functions.s", "functions.o"].map(|name| workshop.path(name));
    std::fs::write(&source, FUNCTIONS)?;
    run(std::process::Command::new("arm-none-eabi-gcc")
        .args(HARD)
        .arg("-c")
        .arg(&source)
        .arg("-o")
        .arg(&object));
    let archive = workshop.archive("libfunctions.a", &[object]);
    for &engine in ENGINES {
        let library = linked(&archive).with_engine(engine);
        let mut frame = library.frame();
        let buffer = frame.reserve("buffer", 32)?;
        let mut caller = Caller::new(&library, Observation::Watch, LIMITS)?;
        caller.fill(&frame)?;
        let mut call = |function: &str, arguments: [u32; 3]| {
            caller.call_on(function, &frame, &arguments.map(Argument::Word))
        };
        for _ in 0..3 {
            let error = call("loads", [1, 0, NOWHERE]).expect_err("a fault");
            assert!(error.to_string().contains("ldrd"), "{engine:?}: {error}");
            // There is no program whose memory an option could change.
            assert!(!error.to_string().contains("--"), "{engine:?}: {error}");
            assert_eq!(call("plus_four", [10, 0, 0])?, 14, "{engine:?}");
            assert_eq!(call("loads", [1, 0, buffer.0])?, 0, "{engine:?}");
        }
        let error = call("asks", [0; 3]).expect_err("a call of the host");
        let is_named = error.to_string().contains("has no host");
        assert!(is_named, "{engine:?}: {error}");
    }
    Ok(())
}
