//! Functions that read what they have not stored, or leave the core in another state.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_wraps,
    reason = "a test may fail loudly; libtest-mimic wants a result"
)]

mod support;

use dmo_analysis::graph::Kind;
use dmo_analysis::operator::{Operator, Pool2d, Window};
use dmo_analysis::trace::ElementType;
use dmo_trace::call::{CallError, Caller, Leftovers};
use dmo_trace::kernels::Case;
use dmo_trace::mcu::machine::{EngineKind, Observation};
use dmo_trace::measure::{choose, measure_kernel};
use libtest_mimic::Failed;
use std::path::Path;
use std::process::Command;
use support::LIMITS;
use support::tools::{self, Availability};
use support::workshop::{HARD, Workshop, linked, run};

type Test = fn() -> Result<(), Failed>;

fn main() {
    let compiler: Availability = tools::version("arm-none-eabi-gcc").map(|_| ());
    let tests: [(&str, Test); 3] = [
        ("stack_and_registers_hold_what_is_left_there", left_there),
        ("other_settings_of_the_core_are_refused", settings),
        (
            "no_overlap_where_a_kernel_reads_what_nobody_has_stored",
            kernels,
        ),
    ];
    let trials = tests.map(|(name, test)| tools::trial(name, &compiler, test));
    tools::main(&compiler, Vec::from(trials));
}

const ENGINES: &[EngineKind] = &[
    EngineKind::Interpreter,
    EngineKind::Translator,
    #[cfg(feature = "unicorn")]
    EngineKind::Unicorn,
];

/// Functions of one instruction or two, each with its name.
const READERS: [(&str, &str); 5] = [
    ("below_the_stack", "ldr r0, [sp, #-40]"),
    ("argument", "mov r0, r3"),
    ("scratch_register", "mov r0, r12"),
    ("float_register", "vmov r0, s21"),
    ("flags", "mrs r0, apsr"),
];

const SETTERS: [(&str, &str, &str); 7] = [
    (
        "rounds_up",
        "FPSCR",
        "vmrs r0, fpscr\n orr r0, #0x400000\n vmsr fpscr, r0",
    ),
    ("masks_interrupts", "PRIMASK", "cpsid i"),
    (
        "raises_priority",
        "BASEPRI",
        "mov r0, #32\n msr basepri, r0",
    ),
    ("loses_r4", "r4", "mvn r4, r4"),
    ("loses_r11", "r11", "mvn r11, r11"),
    ("leaves_a_word_on_the_stack", "sp", "push {r0}"),
    ("loses_s31", "s31", "vneg.f32 s31, s31"),
];

fn assembled<'a>(functions: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let function = |(name, code)| {
        format!(".global {name}\n.type {name}, %function\n.thumb_func\n{name}:\n {code}\n bx lr\n")
    };
    let functions: String = functions.map(function).collect();
    format!(".syntax unified\n.thumb\n.text\n{functions}")
}

fn archive_of(workshop: &Workshop, source: &str) -> std::io::Result<std::path::PathBuf> {
    let [file, object] = ["functions.s", "functions.o"].map(|name| workshop.path(name));
    std::fs::write(&file, source)?;
    run(Command::new("arm-none-eabi-gcc")
        .args(HARD)
        .arg("-c")
        .arg(&file)
        .arg("-o")
        .arg(&object));
    Ok(workshop.archive("libfunctions.a", &[object]))
}

fn left_there() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let archive = archive_of(&workshop, &assembled(READERS.into_iter()))?;
    let mut compared = 0;
    for &engine in ENGINES {
        let library = linked(&archive).with_engine(engine);
        let frame = library.frame();
        let mut caller = Caller::new(&library, Observation::Watch, LIMITS)?;
        for (name, _) in READERS {
            let mut found = |leftovers| {
                caller.leave(leftovers);
                caller.call_on(name, &frame, &[])
            };
            let zeros = found(Leftovers::Zeros)?;
            let [one, again, other] = [1, 1, 2].map(|seed| found(Leftovers::Noise(seed)));
            let (one, again, other) = (one?, again?, other?);
            assert_eq!((zeros, one), (0, again), "{engine:?}: {name}");
            assert!(one != 0 && one != other, "{engine:?}: {name} {one:#x}");
            compared += 1;
        }
    }
    assert_eq!(compared, ENGINES.len() * READERS.len());
    Ok(())
}

fn settings() -> Result<(), Failed> {
    let workshop = Workshop::new(&HARD);
    let functions = SETTERS.map(|(name, _, code)| (name, code));
    let archive = archive_of(&workshop, &assembled(functions.into_iter()))?;
    for &engine in ENGINES {
        let library = linked(&archive).with_engine(engine);
        let frame = library.frame();
        for (name, expected, _) in SETTERS {
            let mut caller = Caller::new(&library, Observation::Watch, LIMITS)?;
            match caller.call_on(name, &frame, &[]) {
                Err(CallError::Settings { register }) => {
                    assert_eq!(register, expected, "{engine:?}: {name}");
                }
                other => panic!("{engine:?}: {name}: {other:?}"),
            }
        }
    }
    Ok(())
}

/// An average of one pixel each, which copies forwards unless it finds something in memory that it has
/// not stored: then it copies backwards, and spoils an input that lies a little higher.
const KERNEL: &str = r#"
#include "arm_nnfunctions.h"

static __attribute__((noinline)) int found(const cmsis_nn_context *context)
{
  volatile int8_t table[400];
#ifdef READS_SCRATCH
  int8_t *scratch = context->buf;
  const int mark = scratch[0] == 42 && scratch[1] == 43;
  scratch[0] = 42;
  scratch[1] = 43;
  (void)table;
  return mark;
#elif defined READS_STACK
  (void)context;
  return table[3] != 0;
#else
  (void)context;
  (void)table;
  return 0;
#endif
}

int32_t arm_avgpool_s8_get_buffer_size(const int width, const int channels)
{
  (void)width;
  (void)channels;
  return 16;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *params,
                                   const cmsis_nn_dims *input_dims, const int8_t *input,
                                   const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims,
                                   int8_t *output)
{
  const int count = input_dims->h * input_dims->w * input_dims->c;
  (void)params;
  (void)filter_dims;
  (void)output_dims;
  if (found(context)) {
    for (int i = count - 1; i >= 0; i--) ((volatile int8_t *)output)[i] = input[i];
  } else {
    for (int i = 0; i < count; i++) ((volatile int8_t *)output)[i] = input[i];
  }
  return ARM_CMSIS_NN_SUCCESS;
}
"#;

fn pooling() -> Case {
    Case {
        operator: Operator::Pool2d(Pool2d {
            input: [1, 6, 6, 2],
            output: [1, 6, 6, 2],
            window: Window {
                kernel: [1, 1],
                ..Window::default()
            },
            element_bytes: 1,
        }),
        kind: Kind::of_kernels("average").expect("a kind"),
        input_type: ElementType::Int8,
        output_type: ElementType::Int8,
    }
}

/// What the kernel of a library may overlap.
fn overlap(archive: &Path) -> Result<u32, Failed> {
    let (library, case) = (linked(archive).of_version(7)?, pooling());
    let kernel = choose(&library, &case, Some("arm_avgpool_s8"))?;
    let measured = measure_kernel(&library, &case, kernel, 2, LIMITS)?;
    let pair = measured.layer.pairs.first().ok_or("no pair")?;
    assert!(measured.proofs.iter().all(|proof| proof.equal_at_overlap));
    Ok(pair.safe_overlap_bytes)
}

fn kernels() -> Result<(), Failed> {
    let variants = [
        ("-DREADS_NOTHING", 72),
        ("-DREADS_STACK", 0),
        ("-DREADS_SCRATCH", 0),
    ];
    for (variant, expected) in variants {
        let workshop = Workshop::new(&HARD);
        let source = workshop.path("kernel.c");
        std::fs::write(&source, KERNEL)?;
        let object = workshop.compile(&source, &[variant.to_owned()]);
        let archive = workshop.archive("libkernel.a", &[object]);
        assert_eq!(overlap(&archive)?, expected, "{variant}");
    }
    Ok(())
}
