//! Loops take as many cycles as is published of their instructions, interpreted and translated.
//!
//! The expectations are those of the sources that each line names (docs/cycles.md), never output of
//! the model. A cycle count is that of one pass through the body.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine::cycles::Cycles;
use dmo_engine::engine::{Engine, Execution, Stop};
use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use dmo_engine::memory::{Kind, Memory};
use dmo_engine::timing::{FlashTiming, Held, Pipeline, Timing};

const CODE: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
const TIMES: u64 = 2000;
/// Subtraction and branch at the end of each pass, as measured: 1 and 2.
const LOOP_END: u64 = 3;

/// Source, body, its code, and the cycles of the M3 and of the M4. The registers: r1, r3 and r6 are
/// aligned addresses, r4 and r5 are 4, r8 is the largest word, r9 is 1.
const M3_AND_M4: &[(&str, &str, &str, [u64; 2])] = &[
    (
        "template",
        "17 nop.w",
        "f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000 f3af8000",
        [17, 17],
    ),
    (
        "TRM",
        "ldr.w r0,[r1]; ldr.w r2,[r3]; mov.w r0,r0",
        "f8d10000 f8d32000 ea4f0000",
        [4, 4],
    ),
    (
        "TRM",
        "ldr.w r0,[r1]; ldr.w r2,[r3]; ldr.w r4,[r1,#4]; mov.w r0,r0",
        "f8d10000 f8d32000 f8d14004 ea4f0000",
        [5, 5],
    ),
    (
        "TRM",
        "ldr.w r1,[r1]; ldr.w r1,[r1]; mov.w r0,r0",
        "f8d11000 f8d11000 ea4f0000",
        [5, 5],
    ),
    (
        "TRM",
        "ldr.w r0,[r1]; str.w r2,[r3,r5]; mov.w r0,r0",
        "f8d10000 f8432005 ea4f0000",
        [4, 4],
    ),
    (
        "TRM",
        "str.w r0,[r1]; str.w r0,[r1,#4]; mov.w r0,r0",
        "f8c10000 f8c10004 ea4f0000",
        [3, 3],
    ),
    (
        "TRM",
        "add.w r1,r1,#0; ldr.w r0,[r1]; mov.w r0,r0",
        "f1010100 f8d10000 ea4f0000",
        [5, 5],
    ),
    (
        "TRM",
        "mov.w r5,#4; str.w r0,[r1,r5]; mov.w r0,r0",
        "f04f0504 f8410005 ea4f0000",
        [5, 5],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1]; nop.w",
        "f8d10000 f3af8000",
        [2, 2],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1]; str.w r0,[r3]; mov.w r0,r0",
        "f8d10000 f8c30000 ea4f0000",
        [3, 3],
    ),
    (
        "jnk0le",
        "str.w r0,[r1,r5]; nop.w",
        "f8410005 f3af8000",
        [2, 2],
    ),
    (
        "jnk0le",
        "str.w r0,[r1]; ldr.w r2,[r3]; mov.w r0,r0",
        "f8c10000 f8d32000 ea4f0000",
        [5, 5],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1],#0; ldr.w r2,[r1],#0; mov.w r0,r0",
        "f8510b00 f8512b00 ea4f0000",
        [5, 5],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1],#0; ldr.w r2,[r3],#0; mov.w r0,r0",
        "f8510b00 f8532b00 ea4f0000",
        [5, 4],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1],#0; ldr.w r2,[r3]; mov.w r0,r0",
        "f8510b00 f8d32000 ea4f0000",
        [4, 4],
    ),
    (
        "jnk0le",
        "ldr.w r0,[r1]; str.w r0,[r3],#0; mov.w r0,r0",
        "f8d10000 f8430b00 ea4f0000",
        [4, 3],
    ),
    ("TRM", "ldmia.w r1,{r0,r2,r4,r6}", "e8910055", [5, 5]),
    ("TRM", "stmia.w r1,{r0,r2,r4,r6}", "e8810055", [5, 5]),
    ("TRM", "ldrd r0,r2,[r1]", "e9d10200", [3, 3]),
    ("TRM", "push {r0,r2}; pop {r0,r2}", "b405 bc05", [6, 6]),
    (
        "TRM",
        "mul r0,r2,r4; mul r0,r2,r4",
        "fb02f004 fb02f004",
        [2, 2],
    ),
    ("TRM", "mla r0,r2,r4,r0", "fb020004", [2, 1]),
    ("TRM, BearSSL", "umull r0,r2,r4,r4", "fba40204", [3, 1]),
    ("TRM, BearSSL", "umull r0,r2,r3,r4", "fba30204", [5, 1]),
    (
        "TRM",
        "ldr.w r0,[r1,#1]; mov.w r0,r0; ldr.w r0,[r1,#2]; mov.w r0,r0; ldrh.w r0,[r1,#1]; mov.w r0,r0; ldrh.w r0,[r1,#2]; mov.w r0,r0",
        "f8d10001 ea4f0000 f8d10002 ea4f0000 f8b10001 ea4f0000 f8b10002 ea4f0000",
        [16, 16],
    ),
    ("TRM", "udiv r0,r4,r3", "fbb4f0f3", [2, 2]),
    ("TRM", "udiv r0,r8,r9", "fbb8f0f9", [12, 12]),
    (
        "TRM",
        "mov.w r0,#0; sdiv r0,r8,r0",
        "f04f0000 fb98f0f0",
        [3, 3],
    ),
    (
        "compendium",
        "nop; b.n 1f; nop.n; 1: nop.w; nop.n",
        "bf00 e000 bf00 f3af8000 bf00",
        [6, 6],
    ),
    (
        "TRM",
        "bl 1f; b.w 2f; 1: bx lr; 2:",
        "f000f802 f000b802 4770 bf00",
        [7, 7],
    ),
    (
        "TRM",
        "cmp.w r0,r0; bne.w 1f; 1:",
        "ebb00f00 f0408000",
        [2, 2],
    ),
    (
        "TRM",
        "mov.w r0,#0; mov.w r2,r2; tbb [pc,r0] over nothing; nop",
        "f04f0000 ea4f0202 e8dff000 0101 bf00",
        [9, 9],
    ),
];

/// The same for the M0+.
const M0_PLUS: &[(&str, &str, &str, u64)] = &[
    ("DDI0484C", "ldr r0,[r1]; ldr r2,[r3]", "6808 681a", 4),
    ("DDI0484C", "str r0,[r1]; ldr r2,[r3]", "6008 681a", 4),
    ("DDI0484C", "muls r0,r4; muls r0,r4", "4360 4360", 2),
    ("DDI0484C", "adds r0,#1; nop", "3001 46c0", 2),
    ("DDI0484C", "ldmia r6!,{r0,r2}; subs r6,#8", "ce05 3e08", 4),
    ("DDI0484C", "push {r0,r2}; pop {r0,r2}", "b405 bc05", 6),
    ("DDI0484C", "cmp r0,r0; bne 1f; 1: nop", "4280 d1ff 46c0", 3),
    ("DDI0484C", "b 1f; nop; 1: nop", "e000 46c0 46c0", 3),
    (
        "DDI0484C",
        "bl 1f; b 2f; 1: bx lr; 2: nop",
        "f000f801 e000 4770 46c0",
        8,
    ),
    (
        "DDI0484C",
        "bl 1f; b 2f; 1: push {r0,lr}; pop {r0,pc}; 2: nop",
        "f000f801 e001 b501 bd01 46c0",
        14,
    ),
    ("DDI0484C", "dmb", "f3bf8f5f", 3),
    ("DDI0484C", "mrs r0,primask", "f3ef8010", 3),
];

/// The same for the M33.
const M33: &[(&str, &str, &str, u64)] = &[
    (
        "jnk0le",
        "add.w r0,r0,r2; ldr.w r4,[r1]; add.w r4,r4,r0",
        "eb000002 f8d14000 eb040400",
        4,
    ),
    (
        "jnk0le",
        "ldr.w r4,[r1]; mov.w r0,r0; add.w r4,r4,r0",
        "f8d14000 ea4f0000 eb040400",
        3,
    ),
    (
        "jnk0le",
        "ldr.w r4,[r1]; str.w r4,[r3]",
        "f8d14000 f8c34000",
        2,
    ),
    (
        "jnk0le",
        "add.w r0,r2,r4,ror #23; add.w r0,r0,r2",
        "eb0250f4 eb000002",
        3,
    ),
    (
        "jnk0le",
        "mla r0,r2,r4,r0; mla r0,r2,r4,r0",
        "fb020004 fb020004",
        2,
    ),
    ("jnk0le", "muls r0,r4,r0; mov.w r2,r2", "4360 ea4f0202", 3),
    ("jnk0le", "ldmia.w r1,{r0,r2,r4,r6}", "e8910055", 4),
    ("jnk0le", "ldrd r0,r2,[r1]", "e9d10200", 2),
    (
        "jnk0le",
        "add r0,r2; nop; mov.w r0,r0",
        "4410 bf00 ea4f0000",
        2,
    ),
    (
        "jnk0le",
        "adds r0,r2; it eq; moveq r0,r0",
        "1880 bf08 4600",
        2,
    ),
];

fn halfwords(code: &str) -> Vec<u16> {
    let mut halfwords = Vec::new();
    for word in code.split(' ') {
        let bits = u32::from_str_radix(word, 16).unwrap();
        if word.len() == 8 {
            halfwords.push((bits >> 16) as u16);
        }
        halfwords.push(bits as u16);
    }
    halfwords
}

/// Cycles of one pass through a body.
fn cycles(pipeline: Pipeline, code: &str, execution: Execution) -> u64 {
    let timing = Timing {
        pipeline,
        flash: None,
    };
    let all = counted(timing, code, execution).total();
    // The last branch is not taken: one cycle, or two, less.
    let passes = all.div_ceil(TIMES);
    assert!(passes * TIMES - all <= 2, "{all} cycles of {TIMES} passes");
    passes - LOOP_END
}

/// Cycles of all passes through a body.
fn counted(timing: Timing, code: &str, execution: Execution) -> Cycles {
    let pipeline = timing.pipeline;
    let is_m0 = pipeline == Pipeline::CortexM0Plus;
    let features = Features {
        architecture: match pipeline {
            Pipeline::CortexM0Plus => Architecture::Armv6M,
            Pipeline::CortexM33 => Architecture::Armv8MMainline,
            _ => Architecture::Armv7EM,
        },
        dsp: !is_m0,
        floating_point: FloatingPoint::None,
        traps: Traps::NONE,
    };
    let mut code = halfwords(code);
    let length = code.len() as i32;
    if is_m0 {
        // subs r7, #1; bne to the first instruction; bkpt.
        let offset = -(length + 3);
        code.extend([0x3f01, 0xd100 | offset as u16 & 0xff, 0xbe00]);
    } else {
        // The same, wide.
        let offset = -(length + 4);
        code.extend([
            0xf1b7,
            0x0701,
            0xf47f,
            0xa800 | offset as u16 & 0x7ff,
            0xbe00,
        ]);
    }
    let range = |start: u32| u64::from(start)..u64::from(start + 0x1000);
    let regions = [(range(CODE), Kind::Flash), (range(RAM), Kind::Ram)];
    let mut memory = Memory::new(regions).unwrap();
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert!(memory.write(CODE, &bytes));
    // A word that is loaded as an address is one.
    let address = (RAM + 0x100).to_le_bytes();
    for word in 0..0x400 {
        assert!(memory.write(RAM + 4 * word, &address));
    }
    let mut engine = Engine::new(features, memory, execution);
    engine.count_cycles(timing);
    let core = &mut engine.core;
    (core.r[1], core.r[3], core.r[6]) = (RAM + 0x100, RAM + 0x200, RAM + 0x300);
    (core.r[4], core.r[5], core.r[8], core.r[9]) = (4, 4, !0, 1);
    (core.r[7], core.r[13], core.r[15]) = (TIMES as u32, RAM + 0x800, CODE);
    assert_eq!(engine.run(1_000_000), Stop::Breakpoint(0));
    engine.core.cycles
}

fn check<'a>(cases: impl Iterator<Item = (Pipeline, &'a str, &'a str, &'a str, u64)>) -> usize {
    let mut checked = 0;
    for (pipeline, source, body, code, expected) in cases {
        for execution in [Execution::Interpreter, Execution::Translator] {
            let found = cycles(pipeline, code, execution);
            assert_eq!(
                found, expected,
                "{pipeline:?}, {execution:?}, {source}: {body}"
            );
            checked += 1;
        }
    }
    checked
}

#[test]
fn loops_take_what_is_published_of_the_m3_and_m4() {
    let cases = M3_AND_M4
        .iter()
        .flat_map(|&(source, body, code, [m3, m4])| {
            [
                (Pipeline::CortexM3, source, body, code, m3),
                (Pipeline::CortexM4, source, body, code, m4),
            ]
        });
    assert_eq!(check(cases), 4 * 32);
}

#[test]
fn loops_take_what_is_published_of_the_m0_plus() {
    let cases = M0_PLUS.iter();
    let cases = cases.map(|&(source, body, code, expected)| {
        (Pipeline::CortexM0Plus, source, body, code, expected)
    });
    assert_eq!(check(cases), 2 * 12);
}

#[test]
fn loops_take_what_is_measured_of_the_m33() {
    let cases = M33.iter();
    let cases = cases
        .map(|&(source, body, code, expected)| (Pipeline::CortexM33, source, body, code, expected));
    assert_eq!(check(cases), 2 * 10);
}

/// Stalls of one pass for code and for data, of a loop in flash memory of 5 wait states and 16 bytes
/// a read.
fn stalls(code: &str, prefetch: bool, held: [Held; 2], execution: Execution) -> [u64; 2] {
    let timing = Timing {
        pipeline: Pipeline::CortexM4,
        flash: Some(FlashTiming {
            wait_states: 5,
            line_bytes: 16,
            prefetch,
            code: held[0],
            data: Some(held[1]),
        }),
    };
    let cycles = counted(timing, code, execution);
    // Less what is read for the first time.
    [cycles.code_stalls, cycles.data_stalls].map(|stalls| stalls / TIMES)
}

/// Seventeen instructions and the end of the loop are 76 bytes: five reads, four of them in order.
#[test]
fn a_loop_waits_for_the_reads_that_are_not_held() {
    let (_, _, code, _) = M3_AND_M4[0];
    let [none, one, many] = [0, 1, 64].map(|ways| Held { ways, sets: 1 });
    for execution in [Execution::Interpreter, Execution::Translator] {
        let of = |prefetch, held| stalls(code, prefetch, [held, none], execution);
        assert_eq!(of(false, one), [25, 0]);
        assert_eq!(of(false, many), [0, 0]);
        // Four instructions are executed of each read of six cycles: two are left to wait, four
        // times, and the branch goes to a read that nothing has asked for.
        assert_eq!(of(true, one), [13, 0]);
    }
}

/// LDR from the code itself.
#[test]
fn a_load_waits_for_data_that_are_not_held() {
    // mov r0,pc; nop; ldr.w r2,[r0]
    let code = "4678 bf00 f8d02000";
    let [none, one] = [0, 1].map(|ways| Held { ways, sets: 1 });
    for execution in [Execution::Interpreter, Execution::Translator] {
        let of = |held| stalls(code, false, [one, held], execution)[1];
        assert_eq!([of(none), of(one)], [5, 0]);
    }
}
