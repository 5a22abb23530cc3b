//! Accesses of conditional instructions, whether or not their conditions hold.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine::engine::{Engine, Execution, Stop};
use dmo_engine::fault::AccessKind::{self, Load, Store};
use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use dmo_engine::memory::{Condition, Kind, Memory, Watch};

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;

const FEATURES: Features = Features {
    architecture: Architecture::Armv7EM,
    dsp: true,
    floating_point: FloatingPoint::None,
    traps: Traps::NONE,
};

/// `r0 < r1` decides, r2 is the start of RAM.
const PROGRAM: [u16; 11] = [
    0x4288, // cmp r0, r1
    0xbfb8, // it lt
    0x7010, // strblt r0, [r2]
    0xbfb8, // it lt
    0x7853, // ldrblt r3, [r2, #1]
    0x7090, // strb r0, [r2, #2]
    0xbfbc, // itt lt
    0x3501, // addlt r5, #1
    0x7028, // strblt r0, [r5]
    0x70d0, // strb r0, [r2, #3]
    0xbe00, // bkpt
];

type Access = (AccessKind, u32, Condition);

/// The accesses, by offset in RAM, and the addresses of instructions with an unknown outcome.
fn run(first: u32, second: u32, every_outcome: bool) -> (Vec<Access>, Vec<u32>) {
    let region = |start: u32, kind| (u64::from(start)..u64::from(start) + 0x1000, kind);
    let mut memory = Memory::new([region(FLASH, Kind::Flash), region(RAM, Kind::Ram)]).unwrap();
    let range = u64::from(RAM)..u64::from(RAM) + 16;
    memory.watch(&[Watch { range, loads: true }]);
    let mut engine = Engine::new(FEATURES, memory, Execution::Translator);
    let code: Vec<u8> = PROGRAM.into_iter().flat_map(u16::to_le_bytes).collect();
    assert!(engine.write(FLASH, &code));
    if every_outcome {
        engine.record_every_outcome();
    }
    for (register, value) in [(0, first), (1, second), (2, RAM), (5, RAM + 8), (15, FLASH)] {
        engine.core.r[register] = value;
    }
    assert_eq!(engine.run(100), Stop::Breakpoint(0));
    let unknown = engine.unknown_outcomes().collect();
    let events = engine.memory.take_events();
    let events = events.as_slice().iter();
    let accesses = events.map(|it| (it.kind(), it.address() - RAM, it.condition()));
    (accesses.collect(), unknown)
}

#[test]
fn both_outcomes_are_recorded_at_their_addresses() {
    use Condition::{Fails, Holds, Unconditional};
    let itt_store = FLASH + 16;
    let (held, unknown) = run(1, 2, true);
    let expected = [
        (Store, 0, Holds),
        (Load, 1, Holds),
        (Store, 2, Unconditional),
        (Store, 9, Holds),
        (Store, 3, Unconditional),
    ];
    assert_eq!(held, expected);
    assert_eq!(unknown, [itt_store], "its address depends on the condition");
    let (failed, unknown) = run(2, 1, true);
    let expected = expected.map(|(kind, offset, condition)| match condition {
        Holds => (kind, if offset == 9 { 8 } else { offset }, Fails),
        _ => (kind, offset, condition),
    });
    assert_eq!(failed, expected);
    assert_eq!(unknown, [itt_store]);
}

#[test]
fn nothing_is_marked_unless_it_is_asked_for() {
    let accesses = |first, second| run(first, second, false).0;
    let plain = |offset| (Store, offset, Condition::Unconditional);
    assert_eq!(accesses(2, 1), [plain(2), plain(3)]);
    assert_eq!(accesses(1, 2).len(), 5);
    assert_eq!(run(1, 2, false).1, [0; 0]);
}
