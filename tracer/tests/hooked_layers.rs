//! Layers by symbol: where they begin and end, which buffers they have, and that they are
//! what marks at the same calls would be.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the case's name"
)]

mod support;

use dmo_analysis::profile::{LayerProfile, OtherInput, Profile};
use dmo_analysis::trace::{Exit, Role};
use dmo_trace::mcu::machine::Limits;
use dmo_trace::program::hooks::{
    HookError, Hooks, LayerHook, ResolveError, parse_file, ready_made,
};
use dmo_trace::program::marks::MarkError;
use dmo_trace::program::run::{RunError, RunOutcome, try_other_inputs};
use dmo_trace::program::target::{Target, TargetOptions};
use std::num::NonZeroU64;
use std::time::Duration;
use support::firmware::{Firmware, RAM, STACK_TOP};
use support::hooked::{assert_same, hooked};
use support::{CPUS, LIMITS, profile, recorded, run_options};

/// Enough for each program here.
const SMALL: Limits = Limits {
    max_instructions: 200_000,
    timeout: Duration::from_secs(20),
};

/// Functions of the programs here.
const COPY: u32 = 0x800;
const OTHER: u32 = 0x900;
const CALLER: u32 = 0xa00;

const INPUT: u32 = RAM + 0x100;
const OUTPUT: u32 = RAM + 0x200;
const BYTES: u32 = 8;

/// COPY is `memcpy(out = r1, in = r0, r2)`, upwards by bytes: 6 instructions a byte, and one.
fn with_copy(mut main: Firmware) -> Firmware {
    main.pad_to(COPY).code(&[
        0x2300, // movs r3, #0
        0x7803, // ldrb r3, [r0]
        0x700b, // strb r3, [r1]
        0x3001, // adds r0, #1
        0x3101, // adds r1, #1
        0x3a01, // subs r2, #1
        0xd1f9, // bne to the load
        0x4770, // bx lr
    ]);
    main
}

const COPY_INSTRUCTIONS: u64 = 2 + 6 * BYTES as u64;

/// `main` calls this with an input and an output of 8 bytes.
fn call(main: &mut Firmware, function: u32) -> &mut Firmware {
    main.set(0, INPUT)
        .set(1, OUTPUT)
        .set(2, BYTES)
        .call(function)
}

fn calls_of(function: u32, count: usize) -> Firmware {
    let mut main = Firmware::new();
    for _ in 0..count {
        call(&mut main, function);
    }
    main.exit(0);
    with_copy(main)
}

/// `bl to` or `b.w to` at the next instruction.
fn branch(code: &mut Firmware, to: u32, link: bool) -> &mut Firmware {
    let offset = to.wrapping_sub(code.here() + 4) as i32;
    let bits = |low: u32, count: u32| (offset >> low) as u16 & ((1 << count) - 1);
    let sign = bits(24, 1);
    let j = |low| !(bits(low, 1) ^ sign) & 1;
    let first = 0xf000 | sign << 10 | bits(12, 10);
    let kind = if link { 0xd000 } else { 0x9000 };
    code.code(&[first, kind | j(23) << 13 | j(22) << 11 | bits(1, 11)])
}

const NAMES: [(&str, u32); 3] = [
    ("copy", COPY),
    ("_ZN2ns5otherEiPKc", OTHER),
    ("caller", CALLER),
];

fn target(firmware: &Firmware) -> Target {
    let mut file = firmware.elf_file();
    // The rest is code of main's, too.
    file.functions[1].2 = COPY - support::firmware::CODE;
    for (name, address) in NAMES {
        file.functions.push((name.to_owned(), address, 0x80));
    }
    let options = TargetOptions {
        cpu: Some("cortex-m4".to_owned()),
        ..TargetOptions::default()
    };
    Target::new(&file.bytes(), &options).expect("target")
}

/// Twice, the second time with every access checked: it changes nothing.
fn run(firmware: &Firmware, hooks: &[&str]) -> Result<(Profile, RunOutcome), RunError> {
    let target = hooked(target(firmware), hooks).expect("hooks");
    let plain = profile(&target, run_options(false, SMALL));
    let checked = profile(&target, run_options(true, SMALL));
    match (&plain, &checked) {
        (Ok(plain), Ok(checked)) => assert_eq!(plain, checked),
        (Err(plain), Err(checked)) => assert_eq!(plain.to_string(), checked.to_string()),
        _ => panic!("{plain:?}\n{checked:?}"),
    }
    plain
}

fn layers(firmware: &Firmware, hooks: &[&str]) -> Vec<LayerProfile> {
    match run(firmware, hooks) {
        Ok((profile, outcome)) => {
            assert_eq!(outcome.exit, Exit::Status(0));
            profile.layers
        }
        Err(error) => panic!("{error}"),
    }
}

fn hook_error(firmware: &Firmware, hooks: &[&str]) -> HookError {
    match run(firmware, hooks) {
        Err(RunError::Hooks(error)) => error,
        Err(error) => panic!("{error}"),
        Ok((profile, _)) => panic!("{profile:#?}"),
    }
}

const HOOK: &str = "copy=copy(in: r0 size r2, out: r1 size r2)";

/// The layer of one copy of 8 bytes.
fn assert_is_copy(layer: &LayerProfile) {
    assert_eq!((layer.loads(), layer.stores()), (8, 8));
    let tensors: Vec<(Role, u32, u32)> = layer
        .tensors
        .iter()
        .map(|tensor| &tensor.tensor)
        .map(|tensor| (tensor.role, tensor.address.0, tensor.size_bytes))
        .collect();
    assert_eq!(
        tensors,
        [(Role::Input, INPUT, 8), (Role::Output, OUTPUT, 8)]
    );
    // Each byte is loaded before its place is stored to.
    assert_eq!(layer.pairs.len(), 1);
    assert_eq!(layer.pairs[0].safe_overlap_bytes, 8);
}

// ---- Begin and end ----------------------------------------------------------------------

#[test]
fn every_call_is_a_layer() {
    let program = calls_of(COPY, 3);
    for hook in [
        HOOK,
        "copy=0x800(in: arg0 size arg2, out: arg1 size arg2)",
        "copy=0x801(in: arg0 size arg2, out: arg1 size arg2)",
    ] {
        let layers = layers(&program, &[hook]);
        assert_eq!(layers.len(), 3, "{hook}");
        for layer in &layers[2..] {
            assert_is_copy(layer);
        }
        for layer in &layers {
            assert_eq!(
                (layer.name.as_str(), layer.operator.as_str()),
                ("copy", "copy")
            );
            // From the function's first instruction to its return, the two included.
            assert_eq!(layer.instructions(), COPY_INSTRUCTIONS);
        }
        // A later layer loads the input again.
        assert_eq!(layers[0].pairs[0].safe_overlap_bytes, 0);
    }
}

#[test]
fn the_clock_counts_each_instruction_once() {
    let (_, outcome) = run(&calls_of(COPY, 2), &[HOOK]).expect("run");
    // Four registers set, in two instructions each, and the call; the exit.
    let main = 2 * (4 * 2 + 1) + 2 * 2 + 1;
    assert_eq!(outcome.instructions, main + 2 * COPY_INSTRUCTIONS);
}

#[test]
fn a_recursive_call_is_one_layer() {
    let mut program = calls_of(OTHER, 2);
    program.pad_to(OTHER).code(&[
        0xb500, // push {lr}
        0x7803, // ldrb r3, [r0]
        0x700b, // strb r3, [r1]
        0x3001, // adds r0, #1
        0x3101, // adds r1, #1
        0x3a01, // subs r2, #1
        0xd001, // beq behind the call
    ]);
    branch(&mut program, OTHER, true).code(&[0xbd00]); // pop {pc}
    let layers = layers(
        &program,
        &["other=ns::other(in: r0 size r2, out: r1 size r2)"],
    );
    assert_eq!(layers.len(), 2);
    assert_is_copy(&layers[1]);
    assert_eq!(layers[1].instructions(), 9 * 8 - 1);
}

/// The function comes back to the same place of its caller eight times, and seven of them
/// are calls inside the first.
#[test]
fn a_recursive_caller_is_inside_the_layer() {
    let mut program = calls_of(CALLER, 1);
    program.pad_to(OTHER).code(&[
        0xb500, // push {lr}
        0x7803, // ldrb r3, [r0]
        0x700b, // strb r3, [r1]
        0x3001, // adds r0, #1
        0x3101, // adds r1, #1
        0x3a01, // subs r2, #1
        0xd001, // beq behind the call
    ]);
    branch(&mut program, CALLER, true).code(&[0xbd00]); // pop {pc}
    program.pad_to(CALLER).code(&[0xb500]); // push {lr}
    branch(&mut program, OTHER, true).code(&[0xbd00]); // pop {pc}
    let hook = "other=ns::other(in: r0 size r2, out: r1 size r2)";
    let inner = layers(&program, &[hook]);
    assert_eq!(inner.len(), 1);
    assert_is_copy(&inner[0]);
    // Both are hooked: the outer call is the layer.
    let outer = layers(
        &program,
        &[hook, "caller=caller(in: r0 size r2, out: r1 size r2)"],
    );
    assert_eq!(outer.len(), 1);
    assert_eq!(outer[0].name, "caller");
    assert_is_copy(&outer[0]);
    assert_eq!(outer[0].instructions(), inner[0].instructions() + 3);
}

#[test]
fn a_tail_call_belongs_to_the_layer() {
    let mut program = calls_of(OTHER, 2);
    program.pad_to(OTHER).code(&[0xb510, 0xe8bd, 0x4010]); // push {r4, lr}; pop.w {r4, lr}
    branch(&mut program, COPY, false);
    let layers = layers(
        &program,
        &["other=ns::other(in: r0 size r2, out: r1 size r2)", HOOK],
    );
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["other", "other"]);
    assert_is_copy(&layers[1]);
    assert_eq!(layers[1].instructions(), 3 + COPY_INSTRUCTIONS);
}

/// A function whose caller has called another tail call of its own returns to the caller's
/// caller.
#[test]
fn a_hooked_tail_call_ends_at_the_callers_caller() {
    let mut program = calls_of(OTHER, 2);
    program.pad_to(OTHER).code(&[0xbf00]);
    branch(&mut program, COPY, false);
    let layers = layers(&program, &[HOOK]);
    assert_eq!(layers.len(), 2);
    assert_is_copy(&layers[1]);
    assert_eq!(layers[1].instructions(), COPY_INSTRUCTIONS);
}

/// The function returns to the entry of another one that is hooked.
#[test]
fn a_layer_may_begin_where_another_ends() {
    let mut program = Firmware::new();
    program
        .set(14, COPY | 1)
        .set(0, INPUT)
        .set(1, OUTPUT)
        .set(2, BYTES)
        .set(12, OTHER | 1)
        .code(&[0x4760]); // bx r12
    let mut program = with_copy(program);
    program.pad_to(OTHER).code(&[0xb500]); // push {lr}
    program.set(14, CALLER | 1).code(&[0xbd00]); // pop {pc}
    program.pad_to(CALLER).exit(0);
    let layers = layers(&program, &[HOOK, "other=ns::other(const: 0x2000 size 4)"]);
    let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names, ["other", "copy"]);
    assert_eq!(layers[0].instructions(), 4);
    assert_eq!(layers[1].instructions(), COPY_INSTRUCTIONS);
    assert_eq!(layers[0].end, layers[1].begin);
}

fn never_returns(program: &Firmware, hooks: &[&str], part: &str) {
    match hook_error(program, hooks) {
        HookError::NeverReturns {
            layer,
            function,
            how,
        } => {
            assert_eq!(
                (layer.as_str(), function.as_str()),
                ("o", "ns::other(int, char const*)")
            );
            assert!(how.contains(part), "{how}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn functions_that_do_not_return() {
    let hook = ["o=ns::other(in: r0 size r2, out: r1 size r2)"];
    let mut exits = calls_of(OTHER, 1);
    exits.pad_to(OTHER).exit(3);
    never_returns(&exits, &hook, "exit status 3");

    let mut loops = calls_of(OTHER, 1);
    loops.pad_to(OTHER).code(&[0xb500, 0xe7fe]); // push {lr}; b .
    never_returns(&loops, &hook, "endless loop at 0x00000902, ns::other");

    // Comes back to its caller, but with a stack that its caller's caller had.
    let mut program = Firmware::new();
    program.code(&[0xb085]); // sub sp, #20
    call(&mut program, OTHER).exit(0);
    let mut program = with_copy(program);
    program.pad_to(OTHER).code(&[0xb005, 0x4770]); // add sp, #20; bx lr
    never_returns(&program, &hook, &format!("stack pointer {STACK_TOP:#010x}"));
}

/// The first call jumps out, the second returns, both from one place of a loop: these are
/// not one layer.
#[test]
fn a_call_that_is_left_is_not_ended_by_the_next() {
    for linked in [true, false] {
        let mut program = Firmware::new();
        program
            .set(0, INPUT)
            .set(1, OUTPUT)
            .set(2, BYTES)
            .set(4, 0)
            .set(12, OTHER | 1);
        let again = program.here();
        program.set(7, again + 9); // behind this instruction, the Thumb bit
        if linked {
            branch(&mut program, OTHER, true);
        } else {
            program.code(&[0x47e0]); // blx r12
        }
        program.exit(0);
        let program = &mut with_copy(program);
        program.pad_to(OTHER).code(&[
            0x3401, // adds r4, #1
            0x2c02, // cmp r4, #2
            0xd000, // beq to the return
            0x4738, // bx r7
            0x4770, // bx lr
        ]);
        let hook = ["o=ns::other(in: r0 size r2, out: r1 size r2)"];
        never_returns(program, &hook, "control is back in its caller");
    }
}

#[test]
fn a_fault_names_the_layer() {
    let mut program = calls_of(OTHER, 1);
    program.pad_to(OTHER).code(&[0xde00]); // udf
    let hook = ["o=ns::other(in: r0 size r2, out: r1 size r2)"];
    match run(&program, &hook) {
        Err(RunError::Fault(fault)) => assert_eq!(fault.layer.as_deref(), Some("o")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn functions_that_are_not_called() {
    let error = hook_error(&calls_of(COPY, 1), &["o=caller(in: r0 size 4)"]);
    let expected = HookError::NoCalls {
        how: "exit status 0".to_owned(),
        functions: vec!["caller".to_owned()],
    };
    assert_eq!(error, expected);
}

// ---- Buffers ----------------------------------------------------------------------------

#[test]
fn arguments_on_the_stack_and_fields_of_structures() {
    let mut main = Firmware::new();
    let shape = main.data(&[1_u32, 2, 2, 2].map(u32::to_le_bytes).concat());
    main.code(&[0xb082]) // sub sp, #8
        .set(3, shape)
        .code(&[0x9300]) // str r3, [sp]
        .set(3, OUTPUT)
        .code(&[0x9301]); // str r3, [sp, #4]
    call(&mut main, COPY).exit(0);
    let program = with_copy(main);
    for hook in [
        "copy=copy(in: r0 size [arg4]*[arg4+4]*[arg4+8]*[arg4+12], out: arg5 size 8)",
        "copy=copy(in: r0 size [[sp]+4]:u8*4, out: [sp+4] size ceil_div(15, [arg4+4]:u16))",
    ] {
        assert_is_copy(&layers(&program, &[hook])[0]);
    }
}

#[test]
fn optional_buffers() {
    let program = calls_of(COPY, 1);
    let buffers = "in: r0 size r2, out: r1 size r2";
    for absent in [
        "scratch?: 0 size 8",
        "scratch x?: [0x800]-[0x800] size 8",
        "scratch?: 0x20000400 size r2-8",
        "in?: 0 size 0",
    ] {
        let layers = layers(&program, &[&format!("copy=copy({buffers}, {absent})")]);
        assert_is_copy(&layers[0]);
    }
    let present = format!("copy=copy({buffers}, scratch?: 0x20000400 size 4)");
    assert_eq!(layers(&program, &[&present])[0].tensors.len(), 3);

    let null = hook_error(
        &program,
        &[&format!("copy=copy({buffers}, scratch: r2-8 size 8)")],
    );
    assert!(
        matches!(&null, HookError::Null { expression, .. } if expression == "r2-8"),
        "{null}"
    );
    let empty = hook_error(
        &program,
        &[&format!("copy=copy({buffers}, scratch: 0x20000400 size 0)")],
    );
    assert!(
        matches!(empty, HookError::Buffer(MarkError::EmptyBuffer { .. })),
        "{empty}"
    );
}

/// `add(x, x)`: one buffer, and it is only read.
#[test]
fn one_buffer_as_two_inputs() {
    let program = calls_of(COPY, 1);
    let hook = "copy=copy(in: r0 size r2, in: r0 size r2, out: r1 size r2)";
    assert_is_copy(&layers(&program, &[hook])[0]);
}

#[test]
fn buffers_that_cannot_be() {
    let program = calls_of(COPY, 1);
    let error = |buffers: &str| {
        let error = hook_error(&program, &[&format!("copy=copy({buffers})")]);
        error.to_string()
    };
    for (buffers, message) in [
        (
            "in: r0 size r1*r2",
            "layer 0 'copy': size of buffer 'input': 'r1*r2' is 0x20000200 * 0x8, which is not a 32-bit number",
        ),
        (
            "in: [0x90000000] size 1",
            "layer 0 'copy': address of buffer 'input': '[0x90000000]' reads 4 bytes at 0x90000000, where no memory is",
        ),
        (
            "out x: 0x30000000 size 8",
            "layer 0 'copy': buffer 'x' [0x30000000, 0x30000008) is outside memory",
        ),
        (
            "in: r0 size 0x10000000",
            "layer 0 'copy': buffer 'input' [0x20000100, 0x30000100) is outside memory",
        ),
        (
            "in: 0xffffffff size 0xffffffff",
            "layer 0 'copy': buffer 'input' [0xffffffff, 0x1fffffffe) is outside memory",
        ),
        (
            "out: 0x800 size 8",
            "layer 0 'copy': buffer 'output', written by the layer, lies in read-only memory",
        ),
        (
            "in: r0 size 8, out: r0+4 size 8",
            "layer 0 'copy': buffers 'input' [0x20000100, 0x20000108) and 'output' [0x20000104, 0x2000010c) overlap",
        ),
        (
            "out: r0 size 8, out: r0 size 8",
            "layer 0 'copy': buffers 'output' [0x20000100, 0x20000108) and 'output' [0x20000100, 0x20000108) overlap",
        ),
    ] {
        let error = error(buffers);
        assert!(error.starts_with(message), "{buffers}: {error}");
    }
}

// ---- Known at the return ------------------------------------------------------------------

/// Copies, and returns where it has copied to.
fn returns_its_output() -> Firmware {
    let mut program = calls_of(OTHER, 1);
    program.pad_to(OTHER).code(&[0xb502]); // push {r1, lr}
    branch(&mut program, COPY, true).code(&[0xbd01]); // pop {r0, pc}
    program
}

#[test]
fn a_buffer_that_is_returned() {
    let program = returns_its_output();
    for hook in [
        "o=ns::other(in: r0 size r2, out: r0@ret size r2)",
        "o=ns::other(in: r0 size r2, out: r0@ret size r1+8-r0@ret)",
        // What r1 was is below the stack pointer now.
        "o=ns::other(in: r0 size r2, out: [sp-8]@ret size r2)",
    ] {
        let layers = layers(&program, &[hook]);
        assert_eq!(layers.len(), 1);
        assert_is_copy(&layers[0]);
    }
    let null = "o=ns::other(in: r0 size r2, out: r0@ret-r0@ret size r2)";
    assert!(matches!(
        hook_error(&program, &[null]),
        HookError::Null { .. }
    ));
}

/// The function returns another buffer on another input: no overlap holds then.
#[test]
fn a_returned_buffer_that_depends_on_the_input() {
    let mut program = calls_of(OTHER, 1);
    program.pad_to(OTHER).code(&[0xb502, 0x7804]); // push {r1, lr}; ldrb r4, [r0]
    branch(&mut program, COPY, true);
    program.code(&[0xbc01, 0x4420, 0xbd00]); // pop {r0}; add r0, r4; pop {pc}
    let hook = ["o=ns::other(in: r0 size r2, out: r0@ret size r2)"];
    let own = layers(&program, &hook);
    assert_eq!(own.len(), 1);
    let target = hooked(target(&program), &hook).expect("hooks");
    let others = try_other_inputs(&target, SMALL, 4, None).expect("run");
    let failed = others[0].iter().any(
        |other| matches!(other, OtherInput::Failed(reason) if reason.contains("in an earlier run")),
    );
    assert!(failed, "{others:?}");
}

// ---- Names ------------------------------------------------------------------------------

#[test]
fn names_of_functions() {
    let resolve = |name: &str| {
        hooked(
            target(&calls_of(COPY, 1)),
            &[&format!("x={name}(in: r0 size 1)")],
        )
        .map(|target| target.hooks.expect("hooks").addresses())
    };
    for name in [
        "ns::other",
        "\"ns::other(int, char const*)\"",
        "_ZN2ns5otherEiPKc",
        "0x900",
        "0x901",
    ] {
        assert_eq!(resolve(name), Ok(vec![OTHER]), "{name}");
    }
    let message = |name: &str| resolve(name).expect_err(name).to_string();
    let other = "layer 'x': the program has no function 'ns::othre'\n  hint: it has ns::other(int, char const*)\n";
    assert!(message("ns::othre").starts_with(other));
    let nothing =
        "layer 'x': the program has no function 'zz'\n  hint: the compiler may have inlined it";
    assert!(message("zz").starts_with(nothing));
    let outside = message("0x30000000");
    assert!(
        outside.contains("at 0x30000000 is outside code"),
        "{outside}"
    );
}

#[test]
fn several_functions_of_a_name() {
    let mut file = calls_of(COPY, 1).elf_file();
    for (name, address) in [
        ("work", COPY),
        ("work", OTHER),
        ("alias", OTHER),
        ("_Z3funi", COPY),
        ("_Z3funf", OTHER),
    ] {
        file.functions.push((name.to_owned(), address, 0x10));
    }
    // The same twice, as of an alias in two files.
    file.functions.push(("alias".to_owned(), OTHER, 0));
    let resolve = |name: &str| {
        let options = TargetOptions {
            cpu: Some("cortex-m4".to_owned()),
            ..TargetOptions::default()
        };
        let target = Target::new(&file.bytes(), &options).expect("target");
        hooked(target, &[&format!("x={name}(in: r0 size 1)")])
            .map(|target| target.hooks.expect("hooks").addresses())
    };
    for name in ["work", "fun"] {
        let error = resolve(name).expect_err(name).to_string();
        for part in ["0x00000800", "0x00000900", name] {
            assert!(error.contains(part), "{error}");
        }
    }
    assert_eq!(resolve("alias"), Ok(vec![OTHER]));
    assert_eq!(resolve("\"fun(float)\""), Ok(vec![OTHER]));
    assert_eq!(resolve("_Z3funi"), Ok(vec![COPY]));
}

/// What the compiler has made of a function takes other arguments: it is not hooked by the name
/// of that function.
#[test]
fn clones_and_templates() {
    const CLONE: &str = "_ZN2ns4addsIaEEvPKT_i.constprop.0";
    let resolve = |functions: &[(&str, u32)], name: &str| {
        let mut file = calls_of(COPY, 1).elf_file();
        for (name, address) in functions {
            file.functions.push(((*name).to_owned(), *address, 0x10));
        }
        let target = Target::new(&file.bytes(), &TargetOptions::default()).expect("target");
        hooked(target, &[&format!("x={name}(in: r0 size 1)")])
            .map(|target| target.hooks.expect("hooks").addresses())
    };
    let both = [("_ZN2ns4addsIaEEvPKT_i", COPY), (CLONE, OTHER)];
    for name in [
        "\"ns::adds<signed char>\"",
        "\"void ns::adds<signed char>\"",
        "\"void ns::adds<signed char>(signed char const*, int)\"",
        "_ZN2ns4addsIaEEvPKT_i",
    ] {
        assert_eq!(resolve(&both, name), Ok(vec![COPY]), "{name}");
        let error = resolve(&both[1..], name).expect_err(name).to_string();
        assert!(error.contains("[clone .constprop.0]"), "{error}");
    }
    assert_eq!(resolve(&both, CLONE), Ok(vec![OTHER]));
}

#[test]
fn a_stripped_program_has_no_names() {
    let mut file = calls_of(COPY, 1).elf_file();
    file.functions.clear();
    let target = || Target::new(&file.bytes(), &TargetOptions::default()).expect("target");
    let error = hooked(target(), &[HOOK]).expect_err("no names").to_string();
    assert!(error.contains("no symbols"), "{error}");
    assert!(hooked(target(), &["copy=0x800(in: r0 size r2, out: r1 size r2)"]).is_ok());
}

/// As with an argument that the other floating-point ABI moves.
#[test]
fn an_address_that_is_none_is_shown_with_its_expression() {
    let hook = "copy=copy(in: r0 size r2, out: r0*2 size r2+1)";
    let error = hook_error(&calls_of(COPY, 1), &[hook]).to_string();
    for part in [
        "[0x40000200, 0x40000209) is outside memory",
        "'r0*2'",
        "'r2+1'",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn one_function_twice() {
    let hooks = ["a=copy(in: r0 size 1)", "b=0x800(in: r0 size 1)"];
    let error = hooked(target(&calls_of(COPY, 1)), &hooks).expect_err("twice");
    assert!(matches!(error, ResolveError::Twice { .. }), "{error}");
}

#[test]
fn names_of_objects() {
    let resolve = |expression: &str| {
        let hook = format!("x=dmo_conv2d_s8(in: r3 size {expression})");
        hooked(recorded("cortex-m4", "conv2d"), &[&hook])
    };
    assert!(resolve("sizeof(input)").is_ok());
    let unknown = resolve("sizeof(inputs)").expect_err("name").to_string();
    assert!(
        unknown.starts_with("layer 'x', buffer 'input', 'sizeof(inputs)': the program has no object 'inputs'\n  hint: it has input"),
        "{unknown}"
    );
    // Labels of the linker script, and functions.
    assert!(resolve("&bss_end-&bss_start").is_ok());
    let size = resolve("sizeof(bss_start)").expect_err("size");
    assert!(matches!(size, ResolveError::NoSize { .. }), "{size}");
    assert!(resolve("sizeof(main)").is_err());
}

#[test]
fn a_set_takes_what_there_is() {
    let text = ready_made("cmsis-nn").expect("set");
    let set = parse_file(text).expect("set");
    let mut file = calls_of(COPY, 1).elf_file();
    let target = |file: &support::firmware::ElfFile| {
        let options = TargetOptions {
            cpu: Some("cortex-m4".to_owned()),
            ..TargetOptions::default()
        };
        Target::new(&file.bytes(), &options).expect("target")
    };
    let unhooked = target(&file);
    let none = Hooks::default().add_set("cmsis-nn", set.clone(), &unhooked.image, &unhooked.map);
    assert!(matches!(none, Err(ResolveError::NothingOfSet { .. })));
    for (name, address) in [("arm_softmax_s8", COPY), ("arm_pad_s8", OTHER)] {
        file.functions.push((name.to_owned(), address, 0x10));
    }
    let target = target(&file);
    let mut hooks = Hooks::default();
    let own: LayerHook = "mine=arm_pad_s8(in: r0 size 1)".parse().expect("hook");
    hooks.add(own, &target.image, &target.map).expect("own");
    hooks
        .add_set("cmsis-nn", set, &target.image, &target.map)
        .expect("set");
    // The user's own stays.
    assert_eq!(hooks.functions(), ["arm_softmax_s8", "arm_pad_s8"]);
    let mut twice = hooks.clone();
    let again: LayerHook = "x=arm_softmax_s8(in: r0 size 1)".parse().expect("hook");
    assert!(twice.add(again, &target.image, &target.map).is_err());
}

// ---- Marks at the same calls ----------------------------------------------------------------

const SHAPED: &str = "[arg2]*[arg2+4]*[arg2+8]*[arg2+12]";
const SHAPED_OUTPUT: &str = "[arg7]*[arg7+4]*[arg7+8]*[arg7+12]";

/// Programs with the functions that their marks surround.
fn examples() -> Vec<(&'static str, Vec<String>)> {
    let conv = |function: &str| {
        format!("{function}=dmo_{function}(in: arg3 size {SHAPED}, out: arg8 size {SHAPED_OUTPUT})")
    };
    let pool = |function: &str, element: &str| {
        let kind = if element == "4" { "type float32" } else { "" };
        format!(
            "{function}=dmo_{function}(in: r2 size [r1]*[r1+4]*[r1+8]*[r1+12]*{element} {kind}, \
             out: [sp] size [r3]*[r3+4]*[r3+8]*[r3+12]*{element} {kind})"
        )
    };
    vec![
        ("conv2d", vec![conv("conv2d_s8")]),
        ("conv2d_variants", vec![conv("conv2d_s8")]),
        (
            "max_pool",
            vec![pool("max_pool_s8", "1"), pool("max_pool_f32", "4")],
        ),
        (
            "avg_pool",
            vec![pool("avg_pool_s8", "1"), pool("avg_pool_f32", "4")],
        ),
        (
            "add",
            vec![
                "add_s8=dmo_add_s8(in input1: r2 size r1, in input2: r3 size r1, out: arg4 size r1)"
                    .to_owned(),
            ],
        ),
    ]
}

#[test]
fn hooks_find_what_marks_find() {
    for cpu in CPUS {
        for (program, hooks) in examples() {
            let case = format!("{cpu} {program}");
            let marked = recorded(cpu, program);
            let hooks: Vec<&str> = hooks.iter().map(String::as_str).collect();
            let hooked = hooked(recorded(cpu, program), &hooks).expect("hooks");
            let (by_marks, marked_outcome) =
                profile(&marked, run_options(false, LIMITS)).expect("marks");
            let (by_hooks, hooked_outcome) =
                profile(&hooked, run_options(false, LIMITS)).expect("hooks");
            assert_eq!(hooked_outcome.exit, marked_outcome.exit, "{case}");
            assert_eq!(
                hooked_outcome.instructions, marked_outcome.instructions,
                "{case}"
            );
            assert_same(&case, &by_marks, &by_hooks);
            let of = |target: &Target| try_other_inputs(target, LIMITS, 2, None).expect("inputs");
            let marked_inputs = of(&marked);
            let hooked_inputs = of(&hooked);
            for (layer, inputs) in by_hooks.layers.iter().zip(&hooked_inputs) {
                assert!(inputs.len() >= 2, "{case} {}", layer.name);
            }
            if marked_inputs.len() == hooked_inputs.len() {
                assert_eq!(marked_inputs, hooked_inputs, "{case}");
            }
        }
    }
}

/// The marks themselves do not count where there are hooks.
#[test]
fn hooks_replace_marks() {
    let hook = "fill=fill_s8(out: r0 size r1)";
    let target = hooked(recorded("cortex-m4", "conv2d"), &[hook]).expect("hooks");
    let (profile, _) = profile(&target, run_options(false, LIMITS)).expect("run");
    let names: Vec<&str> = profile
        .layers
        .iter()
        .map(|layer| layer.name.as_str())
        .collect();
    assert_eq!(names, ["fill", "fill"]);
}

/// `firmware`, stopped behind so many layers.
fn stopped(firmware: &Firmware, layers: u64) -> Result<(Profile, RunOutcome), RunError> {
    let mut target = hooked(target(firmware), &[HOOK]).expect("hooks");
    target.stop_after = NonZeroU64::new(layers);
    profile(&target, run_options(true, SMALL))
}

#[test]
fn a_run_that_is_stopped_is_the_first_layers_of_the_whole() {
    let calls = calls_of(COPY, 5);
    for layers in 1..=5 {
        let (profile, outcome) = stopped(&calls, layers).expect("run");
        let (shorter, _) = run(&calls_of(COPY, layers as usize), &[HOOK]).expect("run");
        assert_eq!(outcome.exit, Exit::Stopped(layers));
        assert_eq!(profile.layers, shorter.layers);
    }
    // Never more than there are.
    let (profile, outcome) = stopped(&calls, 6).expect("run");
    assert_eq!((outcome.exit, profile.layers.len()), (Exit::Status(0), 5));
}

#[test]
fn a_program_that_never_ends_is_stopped_behind_any_layer() {
    let mut main = Firmware::new();
    let start = main.here();
    call(&mut main, COPY);
    branch(&mut main, start, false);
    let main = with_copy(main);
    let Err(RunError::Fault(fault)) = run(&main, &[HOOK]) else {
        panic!("it ends");
    };
    assert!(fault.to_string().contains("--stop-after"), "{fault}");
    for layers in [1, 2, 7] {
        let (profile, outcome) = stopped(&main, layers).expect("run");
        assert_eq!(outcome.exit, Exit::Stopped(layers));
        assert_eq!(profile.layers.len() as u64, layers);
        let mut target = hooked(target(&main), &[HOOK]).expect("hooks");
        target.stop_after = NonZeroU64::new(layers);
        let others = try_other_inputs(&target, SMALL, 2, None).expect("other inputs");
        assert_eq!(others.len() as u64, layers);
        for other in others.iter().flatten() {
            assert!(matches!(other, OtherInput::Accesses(_)), "{other:?}");
        }
    }
}
