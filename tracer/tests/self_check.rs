//! The self-check itself: it finds each kind of wrong report, and its decode of memory
//! accesses agrees with a disassembler and with the emulator.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panic, with the instruction"
)]

mod support;

use capstone::arch::arm::{ArchExtraMode, ArchMode, ArmOperandType, ArmShift};
use capstone::prelude::*;
use dmo_analysis::trace::AccessKind::{self, Load, Store};
use dmo_analysis::trace::Address;
use dmo_trace::mcu::decode::{Memory, decode, is_wide};
use dmo_trace::mcu::machine::{EngineKind, FaultCause, Observation, Pause};
use dmo_trace::mcu::self_check::{CheckError, Checker, Companion, CoreState, Executed, Reported};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use support::firmware::{Firmware, RAM};

// ---- The checker, fed by hand -----------------------------------------------------------

/// Where the code of a [`Script`] starts.
const START: u32 = 0x100;

/// The engine that the decoder has to agree with.
#[cfg(feature = "unicorn")]
const LEADER: EngineKind = EngineKind::Unicorn;
#[cfg(not(feature = "unicorn"))]
const LEADER: EngineKind = EngineKind::Interpreter;
/// Where its memory is: 32 bytes, at first zeros.
const MEMORY: u32 = 0x2000_0000;

/// A run as the emulator would report it: executed instructions and their accesses.
struct Script {
    code: Vec<u16>,
    checker: Checker,
    status: u32,
    executed: u64,
    memory: Vec<u8>,
}

impl Script {
    fn new(code: &[u16]) -> Self {
        Self {
            code: code.to_vec(),
            checker: Checker::new(vec![(MEMORY, vec![0; 32])]),
            status: 0,
            executed: 0,
            memory: vec![0; 32],
        }
    }

    /// The instruction at this halfword of the code executes; all registers hold
    /// [`MEMORY`], but r2, which holds 4.
    fn execute(&mut self, halfword: usize) -> &mut Self {
        let mut registers = [MEMORY; 15];
        registers[2] = 4;
        let state = CoreState {
            pc: START + 2 * halfword as u32,
            registers,
            status: self.status,
        };
        let code = &self.code;
        self.checker.execute(&state, |address| {
            let at = ((address - START) / 2) as usize;
            let halfword = |at: usize| code.get(at).copied().unwrap_or(0);
            [halfword(at), halfword(at + 1)]
        });
        self.executed += 1;
        self
    }

    fn report(&mut self, kind: AccessKind, offset: u32, size_bytes: u32) -> &mut Self {
        self.report_value(kind, offset, size_bytes, 0)
    }

    fn report_value(
        &mut self,
        kind: AccessKind,
        offset: u32,
        size_bytes: u32,
        value: u64,
    ) -> &mut Self {
        self.checker.report(Reported {
            kind,
            address: MEMORY + offset,
            size_bytes,
            value,
        });
        self
    }

    /// Ends with as many executed instructions as there were, by this clock.
    fn finish_at(&mut self, clock: u64) -> Result<(), CheckError> {
        let memory = self.memory.clone();
        self.checker.finish(clock, |address, length| {
            assert_eq!((address, length), (MEMORY, memory.len()));
            memory.clone()
        })
    }

    fn finish(&mut self) -> Result<(), CheckError> {
        self.finish_at(self.executed)
    }
}

const NOP: u16 = 0xbf00;
/// `ldr r0, [r1]`
const LDR: u16 = 0x6808;
/// `str r0, [r1, #4]`
const STR: u16 = 0x6048;

fn mismatch(halfword: u32, expected: &str, reported: &str) -> Result<(), CheckError> {
    Err(CheckError::Mismatch {
        pc: Address(START + 2 * halfword),
        expected: expected.to_owned(),
        reported: reported.to_owned(),
    })
}

#[test]
fn right_reports_pass() {
    let mut script = Script::new(&[LDR, STR, NOP]);
    script.execute(0).report(Load, 0, 4);
    script.execute(1).report_value(Store, 4, 4, 0x0403_0201);
    script.execute(2);
    script.memory[4..8].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(script.finish(), Ok(()));
    assert_eq!(script.checker.error(), None);
}

#[test]
fn missing_access() {
    let mut script = Script::new(&[LDR, NOP]);
    script.execute(0).execute(1);
    let expected = mismatch(0, "load of 4 bytes at 0x20000000", "nothing");
    // It is known as soon as the next instruction executes,
    assert_eq!(script.checker.error(), expected.as_ref().err());
    assert_eq!(script.finish(), expected);
    // or when there is none.
    let mut script = Script::new(&[STR]);
    let expected = mismatch(0, "store of 4 bytes at 0x20000004", "nothing");
    assert_eq!(script.execute(0).finish(), expected);
}

#[test]
fn additional_access() {
    let mut script = Script::new(&[LDR]);
    script.execute(0).report(Load, 0, 4).report(Load, 8, 1);
    let load = "load of 4 bytes at 0x20000000";
    let both = "load of 4 bytes at 0x20000000, load of 1 bytes at 0x20000008";
    assert_eq!(script.finish(), mismatch(0, load, both));
    // The same one twice, as for unaligned accesses.
    let mut script = Script::new(&[LDR]);
    script.execute(0).report(Load, 0, 4).report(Load, 0, 4);
    let twice = format!("{load}, {load}");
    assert_eq!(script.finish(), mismatch(0, load, &twice));
    // Of an instruction that accesses nothing.
    let mut script = Script::new(&[NOP]);
    script.execute(0).report(Load, 0, 4);
    assert_eq!(script.finish(), mismatch(0, "nothing", load));
}

#[test]
fn wrong_access() {
    let expected = "load of 4 bytes at 0x20000000";
    for (kind, offset, size_bytes, reported) in [
        (Load, 1, 4, "load of 4 bytes at 0x20000001"),
        (Load, 0, 2, "load of 2 bytes at 0x20000000"),
        (Load, 0, 8, "load of 8 bytes at 0x20000000"),
        (Store, 0, 4, "store of 4 bytes at 0x20000000"),
    ] {
        let mut script = Script::new(&[LDR]);
        script.execute(0).report(kind, offset, size_bytes);
        assert_eq!(script.finish(), mismatch(0, expected, reported));
    }
}

/// In how many pieces an access is reported does not matter, only which bytes.
#[test]
fn pieces() {
    // ldm r1!, {r3, r4}; an unaligned word in two aligned pieces
    let mut script = Script::new(&[0xc918, LDR]);
    script.execute(0).report(Load, 4, 4).report(Load, 0, 4);
    script.execute(1).report(Load, 0, 1).report(Load, 1, 3);
    assert_eq!(script.finish(), Ok(()));
    let mut script = Script::new(&[0xc918]);
    script.execute(0).report(Load, 0, 4);
    let expected = mismatch(
        0,
        "load of 8 bytes at 0x20000000",
        "load of 4 bytes at 0x20000000",
    );
    assert_eq!(script.finish(), expected);
}

#[test]
fn store_that_is_not_reported() {
    // Memory changes and no instruction stores.
    let mut script = Script::new(&[NOP]);
    script.execute(0);
    script.memory[5] = 0x77;
    let replay = |address, replayed, actual| {
        Err(CheckError::Replay {
            address: Address(address),
            replayed,
            actual,
        })
    };
    assert_eq!(script.finish(), replay(MEMORY + 5, 0, 0x77));
    // Another value than is reported.
    let mut script = Script::new(&[STR]);
    script.execute(0).report_value(Store, 4, 4, 0x0403_0201);
    script.memory[4..8].copy_from_slice(&[1, 2, 9, 4]);
    assert_eq!(script.finish(), replay(MEMORY + 6, 3, 9));
    // A value that does not arrive.
    let mut script = Script::new(&[STR]);
    script.execute(0).report_value(Store, 4, 4, 0xff);
    assert_eq!(script.finish(), replay(MEMORY + 4, 0xff, 0));
}

/// Layers' inputs are replaced from outside, and semihosting writes results.
#[test]
fn memory_written_from_outside() {
    let mut script = Script::new(&[NOP]);
    script.checker.write(MEMORY + 8, &[5, 6]);
    // Elsewhere: read-only memory, which nobody replays.
    script.checker.write(0x40, &[1]);
    script.checker.write(u32::MAX, &[1]);
    script.memory[8..10].copy_from_slice(&[5, 6]);
    assert_eq!(script.execute(0).finish(), Ok(()));
}

#[test]
fn skipped_instruction() {
    let mut script = Script::new(&[NOP, LDR, NOP]);
    script.execute(0).execute(2);
    let skipped = CheckError::Skipped {
        from: Address(START),
        to: Address(START + 4),
        skipped: Address(START + 2),
    };
    assert_eq!(script.finish(), Err(skipped));
    // Backwards, without a branch.
    let mut script = Script::new(&[NOP, NOP]);
    script.execute(1).execute(0);
    assert!(matches!(script.finish(), Err(CheckError::Skipped { .. })));
}

/// Whatever may branch may go anywhere.
#[test]
fn branches() {
    for branch in [
        [0xe7fe, 0],      // b
        [0xd0fe, 0],      // beq
        [0xb100, 0],      // cbz
        [0xb900, 0],      // cbnz
        [0x4770, 0],      // bx lr
        [0x4788, 0],      // blx r1
        [0x468f, 0],      // mov pc, r1
        [0x448f, 0],      // add pc, r1
        [0xf000, 0xf800], // bl
        [0xf000, 0xb800], // b.w
        [0xf000, 0x8000], // beq.w
    ] {
        let mut script = Script::new(&[branch[0], branch[1], NOP, NOP, NOP]);
        script.execute(0).execute(4);
        assert_eq!(script.finish(), Ok(()), "{branch:04x?}");
    }
    for (branch, size_bytes) in [
        ([0xbd00, 0], 4),      // pop {pc}
        ([0xe8bd, 0x8010], 8), // pop.w {r4, pc}
        ([0xf8d1, 0xf000], 4), // ldr.w pc, [r1]
    ] {
        let mut script = Script::new(&[branch[0], branch[1], NOP, NOP, NOP]);
        script.execute(0).report(Load, 0, size_bytes).execute(4);
        assert_eq!(script.finish(), Ok(()), "{branch:04x?}");
    }
    // tbb [r1, r2]; tbh [r1, r2, lsl #1]
    for (table, offset, size_bytes) in [(0xf002, 4, 1), (0xf012, 8, 2)] {
        let mut script = Script::new(&[0xe8d1, table, NOP, NOP, NOP]);
        script
            .execute(0)
            .report(Load, offset, size_bytes)
            .execute(4);
        assert_eq!(script.finish(), Ok(()), "{table:04x}");
    }
    // None of these branches.
    for other in [
        [0xf3bf, 0x8f5f], // dmb
        [0xf3ef, 0x8000], // mrs
        [0xf380, 0x8800], // msr
        [0x4608, 0],      // mov r0, r1
        [0xb662, 0],      // cpsie i
        [0xba09, 0],      // rev
    ] {
        let mut script = Script::new(&[other[0], other[1], NOP, NOP, NOP]);
        script.execute(0).execute(4);
        let result = script.finish();
        assert!(
            matches!(result, Err(CheckError::Skipped { .. })),
            "{other:04x?}"
        );
    }
}

#[test]
fn wrong_clock() {
    let mut script = Script::new(&[NOP, NOP]);
    script.execute(0).execute(1);
    let wrong = |clock| Err(CheckError::Clock { clock, counted: 2 });
    assert_eq!(script.finish_at(3), wrong(3));
    let mut script = Script::new(&[NOP, NOP]);
    script.execute(0).execute(1);
    assert_eq!(script.finish_at(1), wrong(1));
}

#[test]
fn the_first_error_counts() {
    let mut script = Script::new(&[LDR, STR]);
    script.execute(0).execute(1);
    let expected = mismatch(0, "load of 4 bytes at 0x20000000", "nothing");
    assert_eq!(script.finish_at(100), expected);
}

#[test]
fn unknown_access() {
    // strexd, which no Armv7-M core has
    let mut script = Script::new(&[0xe8c1, 0x2374]);
    script.execute(0).report(Store, 0, 8);
    let pc = Address(START);
    assert_eq!(script.finish(), Err(CheckError::Unknown { pc }));
}

/// A store-exclusive that does not store is right too.
#[test]
fn store_exclusive() {
    // strex r3, r4, [r1]
    for stores in [false, true] {
        let mut script = Script::new(&[0xe841, 0x4300]);
        script.execute(0);
        if stores {
            script.report(Store, 0, 4);
        }
        assert_eq!(script.finish(), Ok(()));
    }
    let mut script = Script::new(&[0xe841, 0x4300]);
    script.execute(0).report(Store, 4, 4);
    assert!(script.finish().is_err());
}

/// Another engine, that does what it was made for.
struct Scripted {
    state: CoreState,
    accesses: Vec<Executed>,
    memory: Vec<u8>,
    stops: Result<(), String>,
}

impl Companion for Scripted {
    fn name(&self) -> &'static str {
        "other"
    }
    fn take_over(&mut self, _state: &CoreState, _floats: Option<&[u32; 32]>, _time: u64) {}
    fn advance(&mut self, _time: u64) -> Result<(), String> {
        self.stops.clone()
    }
    fn take_accesses(&mut self) -> Vec<Executed> {
        std::mem::take(&mut self.accesses)
    }
    fn state(&self) -> CoreState {
        self.state
    }
    fn floats(&self) -> Option<[u32; 32]> {
        None
    }
    fn answer(&mut self, _value: u32) {}
    fn regions(&self) -> Vec<std::ops::Range<u64>> {
        Vec::new()
    }
    fn read(&self, address: u32, size_bytes: usize) -> Option<Vec<u8>> {
        let start = (address - MEMORY) as usize;
        self.memory
            .get(start..start + size_bytes)
            .map(<[u8]>::to_vec)
    }
    fn write(&mut self, _address: u32, _bytes: &[u8]) {}
}

/// `str r0, [r1, #4]` and a branch, beside another engine that is not quite as it should be; gives
/// what is found.
fn beside(change: impl FnOnce(&mut Scripted)) -> Result<(), CheckError> {
    let mut registers = [MEMORY; 15];
    registers[2] = 4;
    let store = Reported {
        kind: Store,
        address: MEMORY + 4,
        size_bytes: 4,
        value: 0,
    };
    let mut other = Scripted {
        state: CoreState {
            pc: START + 4,
            registers,
            status: 0,
        },
        accesses: vec![Executed {
            time: 1,
            pc: START,
            accesses: vec![store],
        }],
        memory: vec![0; 32],
        stops: Ok(()),
    };
    other.memory[4..8].copy_from_slice(&[1, 2, 3, 4]);
    change(&mut other);
    let mut script = Script::new(&[STR, 0xe7ff, NOP]);
    script.checker.follow_by(Box::new(other), 0, |_, _| None);
    script.execute(0).report_value(Store, 4, 4, 0x0403_0201);
    script.execute(1).execute(2);
    script.memory[4..8].copy_from_slice(&[1, 2, 3, 4]);
    script.finish()
}

#[test]
fn the_first_difference_of_another_engine_is_named() {
    assert_eq!(beside(|_| ()), Ok(()));
    let found = |change: fn(&mut Scripted)| match beside(change) {
        Err(CheckError::Differs {
            engine: "other",
            since: 0,
            time: 2,
            what,
            ..
        }) => what,
        other => panic!("{other:?}"),
    };
    let store = "store of 4 bytes at 0x20000004 by the instruction at 0x00000100 at time";
    assert_eq!(
        found(|other| other.state.registers[3] = 5),
        "r3 is 0x00000005, not 0x20000000"
    );
    assert_eq!(
        found(|other| other.state.status = 1 << 31),
        "the flags are 0x80000000, not 0x00000000"
    );
    assert_eq!(
        found(|other| other.state.pc += 2),
        "it is at 0x00000106, not at 0x00000104"
    );
    assert_eq!(
        found(|other| other.accesses.clear()),
        format!("nothing, not {store} 1")
    );
    assert_eq!(
        found(|other| other.accesses[0].time = 2),
        format!("{store} 2, not {store} 1")
    );
    assert_eq!(
        found(|other| other.accesses.push(other.accesses[0].clone())),
        format!("{store} 1, not nothing")
    );
    assert_eq!(
        found(|other| other.memory[6] = 9),
        "the byte at 0x20000006 is 0x09, not 0x03"
    );
    assert_eq!(
        found(|other| other.stops = Err("it has had enough".to_owned())),
        "it has had enough"
    );
}

/// Flags N, Z, C, V in bits 3 to 0: when a condition holds, from its name.
fn holds(condition: u16, flags: u32) -> bool {
    let [v, c, z, n] = [0, 1, 2, 3].map(|bit| flags >> bit & 1 == 1);
    match condition {
        0 => z,             // eq
        1 => !z,            // ne
        2 => c,             // cs
        3 => !c,            // cc
        4 => n,             // mi
        5 => !n,            // pl
        6 => v,             // vs
        7 => !v,            // vc
        8 => c && !z,       // hi
        9 => !c || z,       // ls
        10 => n == v,       // ge
        11 => n != v,       // lt
        12 => !z && n == v, // gt
        13 => z || n != v,  // le
        _ => true,          // al
    }
}

/// `it`, `ite`, `itte` and so on: for every condition, every mask and all flags, those
/// loads are expected that execute, and no others.
#[test]
fn it_blocks() {
    for condition in 0..15_u16 {
        for mask in 1..16_u16 {
            // AL has no opposite.
            let length = 4 - mask.trailing_zeros() as usize;
            let inverted = |index: usize| index > 0 && mask >> (4 - index) & 1 != condition & 1;
            if condition == 14 && (0..length).any(inverted) {
                continue;
            }
            let mut code = vec![0xbf00 | condition << 4 | mask];
            code.extend(std::iter::repeat_n(LDR, length));
            code.push(NOP);
            for flags in 0..16 {
                for told in [true, false] {
                    let mut script = Script::new(&code);
                    script.status = flags << 28;
                    script.execute(0);
                    let mut skipped = 0;
                    for index in 0..length {
                        if holds(condition, flags) != inverted(index) {
                            script.execute(1 + index).report(Load, 0, 4);
                        } else if told {
                            // Some emulators tell of instructions that do nothing.
                            script.execute(1 + index);
                        } else {
                            skipped += 1;
                        }
                    }
                    script.execute(1 + length);
                    let clock = script.executed + skipped;
                    let case = format!("{:04x}, flags {flags:x}, {told}", code[0]);
                    assert_eq!(script.finish_at(clock), Ok(()), "{case}");
                }
            }
        }
    }
}

/// Inside an IT block too a load that should be there must be there, and one whose
/// condition fails must not.
#[test]
fn it_blocks_hide_nothing() {
    let (eq, zero) = (0xbf08, 1 << 30);
    let mut script = Script::new(&[eq, LDR, NOP]);
    script.status = zero;
    script.execute(0).execute(1).execute(2);
    let load = "load of 4 bytes at 0x20000000";
    assert_eq!(script.finish(), mismatch(1, load, "nothing"));

    let mut script = Script::new(&[eq, LDR, NOP]);
    script.execute(0).execute(1).report(Load, 0, 4).execute(2);
    assert_eq!(script.finish(), mismatch(1, "nothing", load));

    // Its condition holds: it must not be left out.
    let mut script = Script::new(&[eq, LDR, NOP]);
    script.status = zero;
    script.execute(0).execute(2);
    assert!(matches!(script.finish(), Err(CheckError::Skipped { .. })));

    // Behind the block nothing is conditional any more, nor behind a branch that leaves it.
    let mut script = Script::new(&[eq, LDR, LDR]);
    script.execute(0).execute(2);
    assert_eq!(script.finish_at(3), mismatch(2, load, "nothing"));
    // itt eq; ldreq; beq: the last instruction branches
    let mut script = Script::new(&[0xbf04, LDR, 0xe7fe, NOP, LDR]);
    script.status = zero;
    script
        .execute(0)
        .execute(1)
        .report(Load, 0, 4)
        .execute(2)
        .execute(4);
    assert_eq!(script.finish(), mismatch(4, load, "nothing"));
}

// ---- Its decode ------------------------------------------------------------------------

/// Encodings of loads and stores: Armv7-M manual, A5.2 and A5.3. `n` is the base register,
/// `m` the index register, `t` the transferred one, `r` a list; other letters are
/// free.
const ENCODINGS: [&str; 52] = [
    // 16 bits
    "01001tttiiiiiiii", // LDR literal
    "0101ooommmnnnttt", // by register: STR STRH STRB LDRSB LDR LDRH LDRB LDRSH
    "011bliiiiinnnttt", // STR LDR STRB LDRB
    "1000liiiiinnnttt", // STRH LDRH
    "1001ltttiiiiiiii", // SP-relative
    "1011010irrrrrrrr", // PUSH
    "1011110irrrrrrrr", // POP
    "1100lnnnrrrrrrrr", // STM LDM
    // 32 bits: single
    "11111000100snnnnttttiiiiiiiiiiii", // STRB LDRB, 12 bits
    "11111000101snnnnttttiiiiiiiiiiii", // STRH LDRH
    "11111000110snnnnttttiiiiiiiiiiii", // STR LDR
    "111110011001nnnnttttiiiiiiiiiiii", // LDRSB
    "111110011011nnnnttttiiiiiiiiiiii", // LDRSH
    "11111000000snnnntttt1puwiiiiiiii", // STRB LDRB, 8 bits
    "11111000001snnnntttt1puwiiiiiiii", // STRH LDRH
    "11111000010snnnntttt1puwiiiiiiii", // STR LDR
    "111110010001nnnntttt1puwiiiiiiii", // LDRSB
    "111110010011nnnntttt1puwiiiiiiii", // LDRSH
    "11111000000snnnntttt1110iiiiiiii", // STRBT LDRBT
    "11111000001snnnntttt1110iiiiiiii", // STRHT LDRHT
    "11111000010snnnntttt1110iiiiiiii", // STRT LDRT
    "111110010001nnnntttt1110iiiiiiii", // LDRSBT
    "111110010011nnnntttt1110iiiiiiii", // LDRSHT
    "11111000000snnnntttt000000iimmmm", // STRB LDRB, by register
    "11111000001snnnntttt000000iimmmm", // STRH LDRH
    "11111000010snnnntttt000000iimmmm", // STR LDR
    "111110010001nnnntttt000000iimmmm", // LDRSB
    "111110010011nnnntttt000000iimmmm", // LDRSH
    "11111000u0011111ttttiiiiiiiiiiii", // LDRB literal
    "11111000u0111111ttttiiiiiiiiiiii", // LDRH
    "11111000u1011111ttttiiiiiiiiiiii", // LDR
    "11111001u0011111ttttiiiiiiiiiiii", // LDRSB
    "11111001u0111111ttttiiiiiiiiiiii", // LDRSH
    // double, multiple
    "1110100pu1wsnnnnttttddddiiiiiiii", // STRD LDRD, exclusives
    "11101000010snnnnttttddddiiiiiiii", // STREX LDREX
    "11101000110snnnntttt1111010idddd", // STREXB LDREXB STREXH LDREXH
    "111010001101nnnn11110000000hmmmm", // TBB TBH
    "1110100010wsnnnnrrrrrrrrrrrrrrrr", // STM LDM
    "1110100100wsnnnnrrrrrrrrrrrrrrrr", // STMDB LDMDB
    "1110100100101101rrrrrrrrrrrrrrrr", // PUSH
    "1110100010111101rrrrrrrrrrrrrrrr", // POP
    // floating point
    "11101101ud0snnnndddd1010iiiiiiii", // VSTR VLDR, single
    "11101101ud0snnnndddd1011iiiiiiii", // double
    "111011001dwsnnnndddd1010iiiiiiii", // VSTM VLDM, single
    "111011001dwsnnnndddd1011iiiiiiii", // double
    "111011010d1snnnndddd1010iiiiiiii", // VSTMDB VLDMDB, single
    "111011010d1snnnndddd1011iiiiiiii", // double
    // near by, and no access
    "1111100010w1nnnn1111iiiiiiiiiiii", // PLD, PLDW
    "11111001000snnnn11111100iiiiiiii", // PLI
    "11101100010snnnnttttttttiiiiiiii", // moves of two registers
    "11101110iiiiiiiiiiiiiiiiiiiiiiii", // coprocessor operations
    "11110iiiiiiiiiii1iiiiiiiiiiiiiii", // branches, control
];

/// An encoding with its letters filled in.
#[derive(Debug, Clone, Copy)]
struct Filled {
    halfwords: [u16; 2],
    base: Option<u8>,
    index: Option<u8>,
}

fn fill(encoding: &str, random: u32) -> Filled {
    let width = encoding.len();
    assert!(width == 16 || width == 32, "{encoding}");
    let (mut word, mut base, mut index) = (0_u32, None, None);
    for (position, letter) in encoding.chars().enumerate() {
        let bit = match letter {
            '0' => 0,
            '1' => 1,
            _ => random >> (31 - position) & 1,
        };
        word = word << 1 | bit;
        let field = match letter {
            'n' => &mut base,
            'm' => &mut index,
            _ => continue,
        };
        *field = Some(field.unwrap_or(0) << 1 | bit as u8);
    }
    let halfwords = if width == 16 {
        [word as u16, 0]
    } else {
        [(word >> 16) as u16, word as u16]
    };
    Filled {
        halfwords,
        base,
        index,
    }
}

fn encodings() -> impl Strategy<Value = Filled> {
    (any::<Index>(), any::<u32>())
        .prop_map(|(index, random)| fill(ENCODINGS[index.index(ENCODINGS.len())], random))
}

/// An access as a disassembler sees it: load or store, address, bytes.
type Seen = Option<(AccessKind, u32, u32)>;

/// What capstone makes of an instruction; none where it knows none.
fn seen_by_capstone(
    capstone: &Capstone,
    code: &[u8],
    pc: u32,
    registers: &[u32; 15],
) -> Option<(String, u32, Seen)> {
    let instructions = capstone.disasm_count(code, pc.into(), 1).ok()?;
    let instruction = instructions.first()?;
    let detail = capstone.insn_detail(instruction).ok()?;
    let text = format!(
        "{} {}",
        instruction.mnemonic()?,
        instruction.op_str().unwrap_or_default()
    );
    let mnemonic = instruction.mnemonic()?.trim_end_matches(".w").to_owned();
    let detail = detail.arch_detail();
    let operands: Vec<_> = detail.arm()?.operands().collect();
    let name = |register| capstone.reg_name(register).unwrap_or_default();
    let listed: Vec<String> = operands
        .iter()
        .filter_map(|operand| match operand.op_type {
            ArmOperandType::Reg(register) => Some(name(register)),
            _ => None,
        })
        .collect();
    let value = |register: &str, aligned: bool| match (number(register), aligned) {
        (15, true) => pc.wrapping_add(4) & !3,
        (15, false) => pc.wrapping_add(4),
        (number, _) => registers[number],
    };
    let length = instruction.bytes().len() as u32;
    let seen = |access| Some((text.clone(), length, access));

    // Several registers: a base, unless it is the stack's, and a list.
    let multiple = match mnemonic.as_str() {
        "push" | "vpush" => Some((Store, true, true)),
        "pop" | "vpop" => Some((Load, true, false)),
        "ldm" | "vldmia" | "fldmiax" => Some((Load, false, false)),
        "ldmdb" | "vldmdb" | "fldmdbx" => Some((Load, false, true)),
        "stm" | "vstmia" | "fstmiax" => Some((Store, false, false)),
        "stmdb" | "vstmdb" | "fstmdbx" => Some((Store, false, true)),
        _ => None,
    };
    if let Some((kind, stack, before)) = multiple {
        let (base, list) = if stack {
            ("sp", &listed[..])
        } else {
            (listed.first()?.as_str(), &listed[1..])
        };
        let bytes: u32 = list.iter().map(|name| register_bytes(name)).sum();
        // These count one word that they do not transfer.
        let word_more = if mnemonic.ends_with('x') { 4 } else { 0 };
        let start = value(base, false);
        let address = if before {
            start.wrapping_sub(bytes + word_more)
        } else {
            start
        };
        return seen(Some((kind, address, bytes)));
    }
    let Some((memory, shift)) = operands.iter().find_map(|operand| match operand.op_type {
        ArmOperandType::Mem(memory) => Some((memory, operand.shift)),
        _ => None,
    }) else {
        return seen(None);
    };
    if matches!(mnemonic.as_str(), "pld" | "pldw" | "pli") {
        return seen(None);
    }
    let kind = if mnemonic.starts_with("st") || mnemonic == "vstr" {
        Store
    } else {
        Load
    };
    let suffix = [
        "ldrex", "ldaex", "strex", "stlex", "ldrs", "ldr", "lda", "str", "stl",
    ]
    .into_iter()
    .find_map(|stem| mnemonic.strip_prefix(stem))
    .unwrap_or_default();
    let bytes = match (mnemonic.as_str(), suffix) {
        ("tbb", _) | (_, "b" | "bt") => 1,
        ("tbh", _) | (_, "h" | "ht") => 2,
        ("vldr" | "vstr", _) => register_bytes(listed.first()?),
        (_, "d") => 8,
        (_, "" | "t") => 4,
        _ => panic!("a mnemonic that this test does not know: {text}"),
    };
    let index = name(memory.index());
    let offset = if index.is_empty() {
        memory.disp() as u32
    } else {
        let shift = match shift {
            ArmShift::Lsl(shift) => shift,
            ArmShift::Invalid => 0,
            other => panic!("{text}: {other:?}"),
        };
        value(&index, false) << shift
    };
    let base = value(&name(memory.base()), index.is_empty());
    seen(Some((kind, base.wrapping_add(offset), bytes)))
}

fn number(register: &str) -> usize {
    match register {
        "sb" => 9,
        "sl" => 10,
        "fp" => 11,
        "ip" => 12,
        "sp" => 13,
        "lr" => 14,
        "pc" => 15,
        _ => register
            .strip_prefix('r')
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("register '{register}'")),
    }
}

fn register_bytes(register: &str) -> u32 {
    if register.starts_with('d') { 8 } else { 4 }
}

fn thumb() -> Capstone {
    Capstone::new()
        .arm()
        .mode(ArchMode::Thumb)
        .extra_mode([ArchExtraMode::MClass].into_iter())
        .detail(true)
        .build()
        .expect("capstone")
}

/// Where the manual leaves open what an instruction does, and a disassembler may see
/// something else in it.
fn unpredictable(filled: &Filled) -> bool {
    let [first, second] = filled.halfwords;
    if matches!(filled.index, Some(13 | 15)) {
        return true;
    }
    let (base, load) = (first & 0xf, first >> 4 & 1 == 1);
    let [high, low] = [second >> 12, second >> 8 & 0xf];
    match first >> 9 {
        // Stores relative to the program counter.
        0b1111100 if base == 15 && !load => true,
        // Bytes and halfwords to the program counter, unless that is a hint.
        0b1111100 if high == 15 && first >> 5 & 3 != 2 => {
            !load || (first >> 7 & 1 == 0 && base != 15 && second >> 11 & 1 == 1 && low != 0b1100)
        }
        // Of no register, or of one alone; relative to the program counter.
        0b1110100 if first >> 6 & 1 == 0 => second.count_ones() < 2 || base == 15,
        // Doubles and exclusives of the stack pointer or the program counter, or relative
        // to it and writing it.
        0b1110100 => {
            let special = |register| matches!(register, 13 | 15);
            special(high) || special(low) || base == 15 && (!load || first >> 5 & 1 == 1)
        }
        0b1110110 => {
            let double = second >> 8 & 1 == 1;
            let multiple = first >> 8 & 1 == 0 || first >> 5 & 1 == 1;
            let (start, count) = if double {
                ((first >> 6 & 1) << 4 | high, second >> 1 & 0x7f)
            } else {
                (high << 1 | first >> 6 & 1, second & 0xff)
            };
            // More registers than there are, or none.
            let all = if double { 16 } else { 32 };
            start >= all && double
                || multiple && (count == 0 || start + count > all || base == 15)
                || base == 15 && !load
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// One instruction after the other, as they lie in memory.
    #[test]
    fn decode_agrees_with_a_disassembler(
        sequence in prop::collection::vec(encodings(), 1..20),
        registers in prop::array::uniform15(any::<u32>()),
        start in 0_u32..0x1000,
    ) {
        let capstone = thumb();
        let code: Vec<u8> = sequence
            .iter()
            .flat_map(|filled| {
                let [first, second] = filled.halfwords;
                let count = if is_wide(first) { 2 } else { 1 };
                [first, second].into_iter().take(count).flat_map(u16::to_le_bytes)
            })
            .collect();
        let mut at = 0;
        for filled in &sequence {
            let [first, second] = filled.halfwords;
            let pc = 2 * start + at as u32;
            let decoded = decode(first, second);
            if let Some((text, length, seen)) = seen_by_capstone(&capstone, &code[at..], pc, &registers)
                && !unpredictable(filled)
            {
                let case = format!("{first:04x} {second:04x} {text} at {pc:#x}");
                prop_assert_eq!(decoded.length_bytes, length, "{}", &case);
                let decoded = match decoded.memory {
                    Memory::Untouched => None,
                    Memory::Access(access) => {
                        Some((access.kind, access.address(pc, &registers), access.bytes))
                    }
                    Memory::Unknown => {
                        return Err(TestCaseError::fail(format!("{case}: unknown to the decoder")));
                    }
                };
                prop_assert_eq!(decoded, seen, "{}", case);
            }
            at += decoded.length_bytes as usize;
        }
        prop_assert_eq!(at, code.len());
    }
}

#[test]
fn every_encoding_is_known_to_the_disassembler() {
    let capstone = thumb();
    for encoding in ENCODINGS {
        let known = (0..64_u32).any(|seed| {
            let filled = fill(encoding, seed.wrapping_mul(0x9e37_79b9));
            let code: Vec<u8> = filled
                .halfwords
                .into_iter()
                .flat_map(u16::to_le_bytes)
                .collect();
            seen_by_capstone(&capstone, &code, 0x100, &[0; 15]).is_some()
        });
        assert!(known, "{encoding}");
    }
}

/// The emulator's hooks and the decode agree on every encoding that stays in place. The
/// same instructions each time, so that each encoding surely executes.
#[test]
fn decode_agrees_with_the_emulator() {
    let config = ProptestConfig {
        cases: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    for encoding in ENCODINGS {
        let (accesses, passed) = (Cell::new(0), Cell::new(0));
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let result = TestRunner::new_with_rng(config.clone(), random).run(
            &(any::<u32>(), any::<[u8; 15]>()),
            |(random, registers)| {
                let filled = fill(encoding, random);
                let [first, second] = filled.halfwords;
                let instruction = decode(first, second);
                let stays = !instruction.may_branch && !unpredictable(&filled);
                if let Memory::Access(_) = instruction.memory
                    && stays
                {
                    accesses.set(accesses.get() + 1);
                    if execute(&filled, &registers)? {
                        passed.set(passed.get() + 1);
                    }
                }
                Ok(())
            },
        );
        if let Err(error) = result {
            panic!("{encoding}: {error}");
        }
        let (accesses, passed) = (accesses.get(), passed.get());
        let enough = 5 * passed >= accesses;
        assert!(enough, "{encoding}: {passed} of {accesses} executed");
    }
}

/// Executes one instruction under the self-check; false where this core has no such
/// instruction, or no such memory.
fn execute(filled: &Filled, registers: &[u8; 15]) -> Result<bool, TestCaseError> {
    let mut firmware = Firmware::new();
    // The floating-point unit: str r0, [r1]; and a stop before the registers are set.
    firmware
        .set(0, 0xf << 20)
        .set(1, 0xe000_ed88)
        .code(&[0x6008, 0xbe00]);
    // As far behind the start as a literal may be before its load.
    firmware.pad_to(0x1200);
    let [first, second] = filled.halfwords;
    let count = if is_wide(first) { 2 } else { 1 };
    firmware.code(&[first, second][..count]).code(&[0xbe00]);
    let mut target = firmware.target();
    target.engine = LEADER;
    let mut machine = target
        .machine(Observation::SelfCheck, support::LIMITS)
        .expect("a machine");
    prop_assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0));
    // Bases are in the middle of RAM, an index is small.
    for (register, random) in registers.iter().enumerate() {
        let word = u32::from(*random) * 8;
        let index = Some(register as u8) == filled.index && filled.base != filled.index;
        let value = if index { word } else { RAM + 0x8000 + word };
        machine.set_register(register, value).expect("register");
    }
    let after_stop = machine.register(15) + 2;
    machine.skip_to(after_stop).expect("skip");
    match machine.run() {
        Pause::SoftwareBreakpoint(0) => {
            prop_assert_eq!(machine.finish_check(), Ok(()));
            Ok(true)
        }
        // Two bases added are no address; some operands are not allowed.
        Pause::Fault(
            FaultCause::Undefined
            | FaultCause::Unpredictable { .. }
            | FaultCause::Lacks { .. }
            | FaultCause::Access { mapped: false, .. },
        ) => Ok(false),
        // Unicorn does something where the manual leaves it open, and keeps the lowest bits of r13.
        Pause::Fault(FaultCause::SelfCheck(CheckError::Differs { what, .. }))
            if what.ends_with("that the architecture calls unpredictable")
                || what.starts_with("r13 is") =>
        {
            Ok(false)
        }
        other => Err(TestCaseError::fail(format!(
            "{first:04x} {second:04x}: {other:?}"
        ))),
    }
}

/// Code in RAM is replaced by other code of the same length: its time is right.
fn check_code_in_ram(observation: Observation) {
    let place = RAM + 0x1000;
    let mut firmware = Firmware::new();
    firmware.set(4, RAM);
    for code in [
        [0x3501_u16, 0x3501, 0x4770], // adds r5, #1; adds r5, #1; bx lr
        [0xf8d4, 0x2000, 0x4770],     // ldr.w r2, [r4]; bx lr
        [0x6822, 0x6065, 0x4770],     // ldr r2, [r4]; str r5, [r4, #4]; bx lr
    ] {
        firmware.set(1, place).set(2, code[2].into());
        firmware.set(0, u32::from(code[1]) << 16 | u32::from(code[0]));
        // str r0, [r1]; strh r2, [r1, #4]
        firmware.code(&[0x6008, 0x808a]).call(place);
    }
    firmware.code(&[0xbe00]);
    let mut machine = firmware.machine(observation);
    assert_eq!(machine.run(), Pause::SoftwareBreakpoint(0));
    assert_eq!(machine.register(5), 2);
    // 11 to put and call each, of 3, 2 and 3 instructions; 2 before, 1 after.
    assert_eq!(machine.now(), 2 + 3 * 11 + 8 + 1);
    assert_eq!(machine.finish_check(), Ok(()));
}

#[test]
fn code_in_ram() {
    check_code_in_ram(Observation::Watch);
}

#[test]
fn code_in_ram_under_self_check() {
    check_code_in_ram(Observation::SelfCheck);
}
