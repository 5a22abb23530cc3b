//! Programs that call functions with several returns, and with branches on data around and in them.

use super::{CODE, FEATURES, RAM, RAM_BYTES, Random, Twins, setting};
use crate::decode::decode;
use crate::engine::Stop;
use crate::memory::Watch;

/// Code, and the calls in it: where each is, and of which function.
#[derive(Default)]
struct Code {
    halves: Vec<u16>,
    calls: Vec<(usize, usize)>,
}

fn low(random: &mut Random) -> u16 {
    random.below(6) as u16
}

impl Code {
    /// An instruction that computes, or uses a word of the stack below this many.
    fn compute(&mut self, random: &mut Random, words: u32) {
        let (rd, rm) = (low(random), low(random));
        let word = random.below(words.max(1)) as u16;
        self.halves.push(match random.below(12) {
            // CMP, ADDS, EORS, MOV, ASRS, MOVS of a constant.
            0 | 1 => 0x4280 | rm << 3 | rd,
            2 => 0x1800 | rm << 3 | rd,
            3 => 0x4040 | rm << 3 | rd,
            4 => 0x4600 | rm << 3 | rd,
            5 => 0x1040 | rm << 3 | rd,
            6 => 0x2000 | rd << 8 | random.below(256) as u16,
            // MOV to and from r8.
            7 => 0x4680 | rm << 3,
            8 => 0x4640 | rd,
            // LDR and STR with SP, STRB of a byte of such a word.
            9 if words > 0 => 0x9800 | rd << 8 | word,
            10 if words > 0 => 0x9000 | rd << 8 | word,
            // LDRB with r6.
            _ => 0x7800 | (random.below(32) as u16) << 6 | 6 << 3 | rd,
        });
    }

    /// Bcond over so many halfwords.
    fn branch_over(&mut self, random: &mut Random, halves: u16) {
        let (rd, rm) = (low(random), low(random));
        self.halves.push(0x4280 | rm << 3 | rd);
        let condition = (random.below(14) as u16) << 8;
        self.halves
            .push(0xd000 | condition | halves.wrapping_sub(1) & 0xff);
    }

    fn call(&mut self, function: usize) {
        self.calls.push((self.halves.len(), function));
        self.halves.extend([0xf000, 0xf800]);
    }

    /// A body that may call the functions with lower numbers than `functions`, and be left in the middle
    /// by these instructions.
    fn body(&mut self, random: &mut Random, functions: usize, words: u32, leave: &[u16]) {
        for _ in 0..2 + random.below(8) {
            match random.below(8) {
                0 => {
                    self.branch_over(random, leave.len() as u16);
                    self.halves.extend(leave);
                }
                1 if functions > 0 => self.call(random.below(functions as u32) as usize),
                2 if functions > 0 => {
                    self.branch_over(random, 2);
                    self.call(random.below(functions as u32) as usize);
                }
                3 => {
                    let halves = 1 + random.below(4) as u16;
                    self.branch_over(random, halves);
                    self.compute(random, words);
                }
                // Back: a loop of as many rounds as the data have it.
                4 if random.below(3) == 0 => {
                    let counter = low(random);
                    self.halves.push(0x3001 | counter << 8);
                    self.halves.push(0x2803 | counter << 8);
                    self.halves.push(0xdb00 | 0xfc);
                }
                _ => self.compute(random, words),
            }
        }
        self.halves.extend(leave);
    }
}

/// A program: what is called lies after it.
fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Code::default();
    code.body(random, 3, 4, &[0xbe00]);
    let mut starts = Vec::new();
    // One without a frame, two that save registers, of which the last has words of its own.
    starts.push(code.halves.len());
    code.body(random, 0, 0, &[0x4770]);
    for frame in 0..2_u16 {
        starts.push(code.halves.len());
        let saved = 0x30 | 1 << low(random);
        code.halves.push(0xb500 | saved);
        let leave = match frame {
            0 => vec![0xbd00 | saved],
            _ => {
                code.halves.push(0xb082);
                vec![0xb002, 0xbd00 | saved]
            }
        };
        let functions = starts.len() - 1;
        code.body(random, functions, u32::from(2 * frame), &leave);
    }
    for (place, function) in code.calls {
        let offset = (2 * starts[function]).wrapping_sub(2 * place + 4);
        let sign = 0x400 * u16::from(starts[function] < place);
        code.halves[place] = 0xf000 | sign | (offset >> 12 & 0x3ff) as u16;
        code.halves[place + 1] = 0xf800 | (offset >> 1 & 0x7ff) as u16;
    }
    // What branches beyond the last one goes no further.
    code.halves.extend([0xbe00; 32]);
    code.halves
}

#[test]
fn equal_what_does_not_depend_after_any_call() {
    // BL to the instruction after it.
    assert!(decode(0xf000, 0xf800, &FEATURES[0]).is_ok());
    let mut random = Random(setting("DMO_ENGINE_SEED", 1) | 1 << 42);
    let cases = setting("DMO_ENGINE_TAINT", 30_000) / 5;
    let (mut silent, mut apart, mut away, mut endless) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut twins = Twins::new(FEATURES[0]);
    for case in 0..cases {
        let code = program(&mut random);
        let depend = 1 << random.below(6) | 1 << random.below(6);
        twins.prepare(&mut random, &code, depend);
        let stack = RAM + 0x600..RAM + 0x680;
        let taint = twins.followed.taint_mut().unwrap();
        taint.set_own_memory(stack.clone());
        let mut traces = [&mut twins.followed, &mut twins.other].map(|engine| {
            let core = &mut engine.core;
            core.r[6] = CODE;
            (core.r[13], core.r[14]) = (stack.start + 0x60, CODE | 1);
            let range = u64::from(RAM)..u64::from(RAM + RAM_BYTES);
            engine.memory.watch(&[Watch { range, loads: true }]);
            let stop = engine.run(1000);
            let events = engine.memory.take_events();
            let events = events.as_slice().iter();
            let others = events.filter(|event| !stack.contains(&event.address()));
            let accesses: Vec<_> = others
                .map(|it| (it.kind(), it.address(), it.size_bytes()))
                .collect();
            (stop, accesses, engine.core.time)
        });
        // Of a program that faults nothing is said; it may have left its code.
        if !twins.taint().decisions().is_empty() || matches!(traces[0].0, Stop::Fault(_)) {
            continue;
        }
        if traces.iter().any(|(stop, ..)| *stop == Stop::Until) {
            endless += 1;
            continue;
        }
        silent += 1;
        apart += u64::from(traces[0].2 != traces[1].2);
        away += u64::from(twins.taint().excursions.values().any(Option::is_some));
        traces[1].2 = traces[0].2;
        assert_eq!(traces[0], traces[1], "case {case}: {code:x?}");
        if traces[0].0 == Stop::Breakpoint(0)
            && let Err(difference) = twins.agree()
        {
            panic!("case {case}: {code:x?}, {depend:#x}: {difference}");
        }
    }
    assert!(
        silent > cases / 4 && apart > cases / 50 && away > cases / 20 && endless < cases / 4,
        "{silent} {apart} {away} {endless}"
    );
}
