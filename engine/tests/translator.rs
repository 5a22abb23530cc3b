//! Translated code does exactly what the interpreter does, in as many estimated cycles: random
//! loops, from the decoder's table.
//!
//! `DMO_ENGINE_LOOPS` loops, from seed `DMO_ENGINE_SEED`.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use dmo_engine::decode::{decode, rows};
use dmo_engine::engine::{Engine, Execution, Stop};
use dmo_engine::features::{Architecture, Features, FloatingPoint, Traps};
use dmo_engine::memory::{Event, Kind, Memory, Watch};
use dmo_engine::operation::Operation;
use dmo_engine::timing::{FlashTiming, Held, Pipeline, Timing};

const CODE: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
const RAM_BYTES: u32 = 0x4000;
/// Enough for a loop to become hot and to run translated.
const UNTIL: u64 = 40_000;

/// A generator of random numbers: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    /// A register: mostly an address in RAM, else a number at an edge or any.
    fn register(&mut self) -> u32 {
        const EDGES: [u32; 8] = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, !0, 0x8000, 0x7fff_8000];
        match self.below(8) {
            0 => EDGES[self.below(8) as usize],
            1 => self.next(),
            2 => RAM + self.below(RAM_BYTES),
            _ => RAM + 0x1000 + 4 * self.below(0x800),
        }
    }
}

fn features() -> [Features; 3] {
    let features = |architecture, dsp, floating_point| Features {
        architecture,
        dsp,
        floating_point,
        traps: Traps::NONE,
    };
    [
        features(Architecture::Armv7EM, true, FloatingPoint::Fpv5Double),
        features(
            Architecture::Armv81MMainline,
            true,
            FloatingPoint::Fpv5Double,
        ),
        features(Architecture::Armv6M, false, FloatingPoint::None),
    ]
}

/// Pipelines whose cycles are counted: any, for the rules have to agree on all code.
const PIPELINES: [Pipeline; 6] = [
    Pipeline::CortexM0Plus,
    Pipeline::CortexM3,
    Pipeline::CortexM4,
    Pipeline::CortexM7,
    Pipeline::CortexM33,
    Pipeline::CortexM55,
];

/// Flash memory with a buffer or a cache, of any kind.
fn flash(random: &mut Random) -> FlashTiming {
    let held = |random: &mut Random| Held {
        ways: random.below(3) as u16,
        sets: 1 << random.below(3),
    };
    FlashTiming {
        wait_states: 1 + random.below(6) as u16,
        line_bytes: 4 << random.below(4),
        prefetch: random.below(2) == 0,
        code: held(random),
        data: (random.below(2) == 0).then(|| held(random)),
    }
}

/// The body of a loop: no branches but one over an instruction, some IT blocks.
fn body(random: &mut Random, features: &Features) -> Vec<u16> {
    let mut code = Vec::new();
    let mut left = 4 + random.below(14);
    while left > 0 {
        let row = &rows()[random.below(rows().len() as u32) as usize];
        let mut encoding = row.encoding(random.next());
        // Bases that are addresses more often than not.
        if row.bytes() == 4 && random.below(2) == 0 {
            encoding = encoding & !(0xf << 16) | random.below(8) << 16;
        }
        let (first, second) = match row.bytes() {
            2 => (encoding as u16, 0),
            _ => ((encoding >> 16) as u16, encoding as u16),
        };
        let Ok(instruction) = decode(first, second, features) else {
            continue;
        };
        if is_control(&instruction.operation) {
            continue;
        }
        code.push(first);
        if instruction.bytes == 4 {
            code.push(second);
        }
        left -= 1;
    }
    code
}

/// Anything: halfwords at random, instructions, and branches into the middle of it all.
fn anything(random: &mut Random, features: &Features) -> Vec<u16> {
    let mut code = Vec::new();
    for _ in 0..10 + random.below(30) {
        let back = code.len() as u32 + 2;
        match random.below(8) {
            0 => code.push(random.next() as u16),
            // b<c>, back or forward
            1 => code.push((0xd000 | random.below(14) << 8 | (random.below(20) & 0xff)) as u16),
            2 => {
                let offset = (random.below(back).wrapping_neg()) & 0xff;
                code.push((0xd000 | random.below(14) << 8 | offset) as u16);
            }
            // cbz, cbnz
            3 => code.push((0xb100 | random.below(2) << 11 | random.below(64) << 3) as u16),
            // bl, back or forward; bx lr
            4 => {
                let offset = random.below(30).wrapping_sub(random.below(back));
                code.extend([
                    0xf000 | (offset >> 11) as u16 & 0x3ff,
                    0xf800 | offset as u16 & 0x7ff,
                ]);
                if offset >> 31 == 1 {
                    let place = code.len() - 2;
                    code[place] |= 0x400;
                }
            }
            5 => code.push(0x4770),
            _ => code.extend(body(random, features)),
        }
    }
    code
}

fn is_control(operation: &Operation) -> bool {
    use Operation as O;
    match *operation {
        O::Branch { .. }
        | O::BranchLink { .. }
        | O::BranchExchange { .. }
        | O::CompareBranch { .. }
        | O::TableBranch { .. }
        | O::LoopStart { .. }
        | O::LoopEnd { .. }
        | O::Hint
        | O::Sleep
        | O::Breakpoint { .. }
        | O::SupervisorCall { .. }
        | O::PermanentlyUndefined
        | O::WriteSpecial { .. } => true,
        O::Alu { rd, .. } | O::Move { rd, .. } => rd == 15,
        O::Load { rt, .. } => rt == 15,
        O::LoadMultiple { registers, .. } => registers >> 15 == 1,
        _ => false,
    }
}

fn engine(seed: u64, features: Features, code: &[u16], execution: Execution) -> Engine {
    let mut random = Random(seed);
    let range = |start: u32, bytes: u32| u64::from(start)..u64::from(start + bytes);
    let regions = [
        (range(CODE, 0x1000), Kind::Flash),
        (range(RAM, RAM_BYTES), Kind::Ram),
    ];
    let mut memory = Memory::new(regions).unwrap();
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert!(memory.write(CODE, &bytes));
    let data: Vec<u8> = (0..RAM_BYTES).map(|_| random.next() as u8).collect();
    assert!(memory.write(RAM, &data));
    memory.watch(&[Watch {
        range: range(RAM + 0x1800, 0x1000),
        loads: true,
    }]);
    let mut engine = Engine::new(features, memory, execution);
    engine.enable_floating_point();
    for index in 0..15 {
        engine.core.r[index] = random.register();
    }
    engine.core.start_stack(RAM + 0x2000);
    if features.is_armv8() && random.below(4) == 0 {
        engine.core.stack_limits = [RAM + 0x1800 + random.below(0x800); 2];
    }
    engine.core.set_status(random.next() & 0xf80f_0000);
    engine.core.fpscr = if random.below(3) == 0 {
        random.next() & 0x07c0_009f
    } else {
        0x10
    };
    for register in &mut engine.core.s {
        *register = match random.below(3) {
            0 => (random.next() as i32 as f32).to_bits(),
            1 => random.next(),
            _ => (random.below(1000) as f32 / 64.0).to_bits(),
        };
    }
    engine.core.r[15] = CODE;
    engine
}

/// All that happens, with the accesses recorded.
fn run(engine: &mut Engine) -> (Stop, Vec<Event>) {
    let mut events = Vec::new();
    loop {
        let stop = engine.run(UNTIL);
        events.extend(engine.memory.take_events().as_slice());
        if stop != Stop::Events {
            return (stop, events);
        }
    }
}

/// Runs without a limit; nobody looks at the accesses.
fn run_to_stop(engine: &mut Engine) -> Stop {
    loop {
        match engine.run(u64::MAX) {
            Stop::Events => drop(engine.memory.take_events()),
            stop => return stop,
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(otherwise, |value| value.parse().unwrap())
}

/// What came of a program.
struct Compared {
    goes_on: bool,
    events: usize,
    /// For code and for data.
    stalls: [u64; 2],
    stack_has_grown: bool,
    instructions: u64,
    translated: u64,
}

/// The translator does what the interpreter does: on one in two programs when an instruction has
/// become hot, on the others at once.
fn compare(seed: u64, make: fn(&mut Random, &Features) -> Vec<u16>) -> Compared {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let features = features()[random.below(3) as usize];
    let mut code = make(&mut random, &features);
    let back = -(code.len() as i32) - 2;
    code.push(0xe000 | back as u16 & 0x7ff);
    let start = u64::from(random.next()) | 1;
    let mut ours = engine(start, features, &code, Execution::Translator);
    if seed.is_multiple_of(2) {
        ours.translate_at_once();
    }
    let mut judge = engine(start, features, &code, Execution::Interpreter);
    let pipeline = PIPELINES[random.below(6) as usize];
    let timing = Timing {
        pipeline,
        flash: (random.below(2) == 0).then(|| flash(&mut random)),
    };
    for engine in [&mut ours, &mut judge] {
        engine.count_cycles(timing);
    }
    let (stop, events) = run(&mut ours);
    let (expected, expected_events) = run(&mut judge);
    let context = format!("seed {seed}: {features:?} {timing:?} {code:04x?}");
    assert_eq!(stop, expected, "{context}");
    assert_eq!(ours.core, judge.core, "{context}");
    // No core issues more than two at once, nor takes nothing for an instruction for long.
    let cycles = ours.core.cycles.total();
    assert!(
        stop != Stop::Until || cycles * 2 >= UNTIL,
        "{context}: {cycles} cycles"
    );
    let difference = events
        .iter()
        .zip(&expected_events)
        .position(|(a, b)| a != b);
    assert_eq!(difference, None, "{context}");
    assert_eq!(events.len(), expected_events.len(), "{context}");
    let memory = |engine: &Engine| engine.memory.read(RAM, RAM_BYTES as usize);
    assert!(memory(&ours) == memory(&judge), "{context}");
    let cycles = ours.core.cycles;
    Compared {
        goes_on: stop == Stop::Until,
        events: events.len(),
        stalls: [cycles.code_stalls, cycles.data_stalls],
        stack_has_grown: judge.core.lowest_sp < RAM + 0x2000,
        instructions: ours.core.time,
        translated: ours.translated_instructions(),
    }
}

fn compare_many(make: fn(&mut Random, &Features) -> Vec<u16>, of_each_end: u64) {
    let first = setting("DMO_ENGINE_SEED", 1);
    let programs = setting("DMO_ENGINE_LOOPS", 600);
    let (mut ended, mut recorded, mut grown) = (0, 0, 0);
    let (mut instructions, mut translated, mut stalls) = (0, 0, [0; 2]);
    for seed in first..first + programs {
        let compared = compare(seed, make);
        ended += u64::from(compared.goes_on);
        recorded += compared.events;
        stalls = [0, 1].map(|of| stalls[of] + compared.stalls[of]);
        grown += u64::from(compared.stack_has_grown);
        instructions += compared.instructions;
        translated += compared.translated;
    }
    assert!(
        translated * 3 >= instructions,
        "{translated} of {instructions} instructions were translated"
    );
    assert!(
        ended * of_each_end >= programs,
        "{ended} of {programs} go on to the end"
    );
    assert!(recorded > 0);
    assert!(stalls.iter().all(|&of| of > 0), "{stalls:?}");
    assert!(
        grown * 50 >= programs,
        "{grown} of {programs} use the stack"
    );
}

#[test]
fn loops_run_as_the_interpreter_runs_them() {
    compare_many(body, 5);
}

#[test]
fn anything_runs_as_the_interpreter_runs_it() {
    compare_many(anything, 40);
}

/// DLS, a body, LE; and WLS with nothing to do.
#[test]
fn low_overhead_loops() {
    let features = features()[1];
    let code = [
        0xf240, 0x7000, // movw r0, #0x700
        0x2100, // movs r1, #0
        0xf040, 0xe001, // dls lr, r0
        0x3101, // adds r1, #1
        0x3201, // adds r2, #1
        0xf00f, 0xc005, // le lr, to the first adds
        0x2300, // movs r3, #0
        0xf043, 0xc801, // wls lr, r3, to the breakpoint
        0x3101, // adds r1, #1
        0xbe00, // bkpt
    ];
    for execution in [Execution::Interpreter, Execution::Translator] {
        let mut engine = engine(7, features, &code, execution);
        engine.core.r[2] = 0;
        let (stop, _) = run(&mut engine);
        assert_eq!(stop, Stop::Breakpoint(0));
        assert_eq!(engine.core.r[1..3], [0x700, 0x700]);
        // As LE has left it: WLS sets it only where a loop follows.
        assert_eq!(engine.core.r[14], 1);
        assert_eq!(engine.core.r[15], CODE + 2 * (code.len() as u32 - 1));
    }
}

/// A loop that pushes, makes room, and frees it all; the process stack is another one.
#[test]
fn the_lowest_stack_pointer() {
    let code = [
        0xf240, 0x7000, // movw r0, #0x700
        0xb5f0, // push {r4-r7, lr}
        0xb084, // sub sp, #16
        0xb004, // add sp, #16
        0xe8bd, 0x40f0, // pop.w {r4-r7, lr}
        0x3801, // subs r0, #1
        0xd1f8, // bne to the push
        0xf381, 0x8809, // msr psp, r1
        0xf382, 0x8814, // msr control, r2
        0xb403, // push {r0, r1}
        0xbe00, // bkpt
    ];
    for execution in [Execution::Interpreter, Execution::Translator] {
        let mut engine = engine(7, features()[0], &code, execution);
        engine.core.r[1] = RAM + 0x1000;
        engine.core.r[2] = 2;
        let (stop, _) = run(&mut engine);
        assert_eq!(stop, Stop::Breakpoint(0));
        assert_eq!(engine.core.other_lowest_sp, RAM + 0x2000 - 20 - 16);
        assert_eq!(engine.core.take_lowest_sp(), RAM + 0x1000 - 8);
        assert_eq!(engine.core.lowest_sp, RAM + 0x1000 - 8, "counted anew");
    }
}

/// A loop in RAM that stores to words beside it, more often than its page stays one of code.
#[test]
fn code_that_stores_beside_itself() {
    let code = [
        0xe884, 0x0003, // stmia r4, {r0, r1}
        0x3101, // adds r1, #1
        0x3101, // adds r1, #1
        0x3101, // adds r1, #1
        0x3801, // subs r0, #1
        0xd1f8, // bne to the store
        0xbe00, // bkpt
    ];
    let bytes: Vec<u8> = code
        .iter()
        .flat_map(|half: &u16| half.to_le_bytes())
        .collect();
    let rounds = 50_000;
    for execution in [Execution::Interpreter, Execution::Translator] {
        let mut engine = engine(7, features()[0], &[], execution);
        assert!(engine.write(RAM, &bytes));
        engine.core.r[0] = rounds;
        engine.core.r[1] = 0;
        engine.core.r[4] = RAM + 64;
        engine.core.r[15] = RAM;
        let stop = run_to_stop(&mut engine);
        assert_eq!(stop, Stop::Breakpoint(0));
        assert_eq!(engine.core.r[..2], [0, 3 * rounds]);
        let last = engine.memory.read(RAM + 64, 8).unwrap();
        assert_eq!(
            last,
            [[1, 0, 0, 0], (3 * rounds - 3).to_le_bytes()].concat()
        );
        assert_eq!(engine.core.time, 6 * u64::from(rounds));
    }
}

/// Calls that return to a breakpoint on top of the stack, as those of kernels do.
#[test]
fn calls_with_their_return_on_the_stack_run_translated() {
    let function = [
        0xb40f, // push {r0-r3}
        0xbc0f, // pop {r0-r3}
        0x3801, // subs r0, #1
        0xd1fb, // bne to the push
        0x4770, // bx lr
    ];
    let breakpoint = RAM + 0x1ff8;
    let mut engine = engine(7, features()[0], &function, Execution::Translator);
    assert!(engine.write(breakpoint, &0xbe00_u16.to_le_bytes()));
    let (calls, rounds) = (50, 5_000);
    for _ in 0..calls {
        engine.core.r[0] = rounds;
        engine.core.r[13] = breakpoint;
        engine.core.r[14] = breakpoint | 1;
        engine.core.r[15] = CODE;
        let stop = run_to_stop(&mut engine);
        assert_eq!(stop, Stop::Breakpoint(0));
    }
    let instructions = u64::from(calls * (4 * rounds + 1));
    assert_eq!(engine.core.time, instructions);
    let translated = engine.translated_instructions();
    assert!(translated > instructions / 10 * 9, "{translated}");
}
