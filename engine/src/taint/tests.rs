//! Two cores that differ in nothing but what depends stay equal in all that does not: on every
//! instruction of the table with random operands, and on random programs with branches.
//!
//! What depends lies where it is said to lie in both.
//!
//! `DMO_ENGINE_TAINT` cases of each, from seed `DMO_ENGINE_SEED`.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panic")]

mod calls;
mod comparisons;
mod tables;

use super::Taint;
use super::fork::{differences, unfollowed};
use super::places::{C, COMPARED, EXCEPTIONS, GE, N, Places, Q, V, Z};
use super::range::Range;
use crate::decode::{decode, rows};
use crate::engine::{Engine, Execution, Stop};
use crate::features::{Architecture, Features, FloatingPoint, Traps};
use crate::memory::{Kind, Memory, Watch};

const CODE: u32 = 0x1000_0000;
const RAM: u32 = 0x2000_0000;
const RAM_BYTES: u32 = 0x1000;

const FEATURES: [Features; 3] = [
    features(Architecture::Armv7EM, FloatingPoint::Fpv5Double),
    features(Architecture::Armv81MMainline, FloatingPoint::Fpv5Double),
    features(Architecture::Armv6M, FloatingPoint::None),
];

const fn features(architecture: Architecture, floating_point: FloatingPoint) -> Features {
    Features {
        architecture,
        dsp: !matches!(architecture, Architecture::Armv6M),
        floating_point,
        traps: Traps::NONE,
    }
}

/// xorshift.
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

    /// Mostly an address in RAM.
    fn register(&mut self) -> u32 {
        match self.below(6) {
            0 => self.next(),
            1 => self.below(40),
            _ => RAM + 0x400 + 4 * self.below(0x200),
        }
    }
}

fn setting(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|it| it.parse().ok());
    given.unwrap_or(default)
}

fn engine(features: Features) -> Engine {
    let region = |start: u32, kind| (u64::from(start)..u64::from(start + RAM_BYTES), kind);
    let memory = Memory::new([region(CODE, Kind::Flash), region(RAM, Kind::Ram)]).unwrap();
    let mut engine = Engine::new(features, memory, Execution::Interpreter);
    engine.enable_floating_point();
    engine
}

/// Two cores, the first of which is followed.
struct Twins {
    followed: Engine,
    other: Engine,
}

impl Twins {
    fn new(features: Features) -> Self {
        Self {
            followed: engine(features),
            other: engine(features),
        }
    }

    fn taint(&self) -> &Taint {
        self.followed.taint().unwrap()
    }

    /// The same code and random state in both; what a random set holds depends, and is something else
    /// in the other.
    fn prepare(&mut self, random: &mut Random, code: &[u16], depend: Places) {
        let code: Vec<u8> = code.iter().copied().flat_map(u16::to_le_bytes).collect();
        let mut ram: Vec<u8> = (0..RAM_BYTES).map(|_| random.next() as u8).collect();
        self.followed.follow_data(true);
        for engine in [&mut self.followed, &mut self.other] {
            assert!(engine.write(CODE, &code) && engine.write(RAM, &ram));
        }
        let core = &mut self.followed.core;
        *core = crate::core::Core::default();
        for register in &mut core.r {
            *register = random.register();
        }
        core.r[13] &= !3;
        core.r[15] = CODE;
        for single in &mut core.s {
            *single = random.next();
        }
        let flags = random.next();
        core.set_flags(flags);
        (core.q, core.ge) = (flags >> 3 & 1, flags >> 4 & 0xf);
        core.fpscr = random.next() & 0xf000_009f;
        self.other.core = self.followed.core.clone();
        change(&mut self.other.core, random, depend);
        self.followed.taint_mut().unwrap().places = depend;
        self.confine(random, depend);
        for _ in 0..random.below(40) {
            let (start, length) = (random.below(RAM_BYTES - 64), random.below(64));
            let taint = self.followed.taint_mut().unwrap();
            taint.mark_memory(RAM + start..RAM + start + length, true);
            for byte in &mut ram[start as usize..(start + length) as usize] {
                *byte = random.next() as u8;
            }
        }
        assert!(self.other.write(RAM, &ram));
    }

    /// Some of the registers that depend lie between known numbers.
    fn confine(&mut self, random: &mut Random, depend: Places) {
        for index in (0..15).filter(|index| depend >> index & 1 == 1) {
            let [a, b] = [&self.followed, &self.other].map(|it| it.core.r[usize::from(index)]);
            let [low, high] = [a.min(b), a.max(b)].map(i64::from);
            let slack = [16, 1 << 12, 1 << 31][random.below(3) as usize];
            let mut beyond = || i64::from(random.next()) % slack;
            let (below, above) = (beyond(), beyond());
            let range = match random.below(4) {
                0 => Range::exact(a).or(Range::exact(b)),
                _ => Range::between(low - below, high + above),
            };
            assert!(range.holds(a) && range.holds(b));
            let taint = self.followed.taint_mut().unwrap();
            taint.ranges.set(index, range);
        }
    }

    /// How many registers that depend are known to lie somewhere.
    fn confined(&self) -> usize {
        let taint = self.taint();
        let dependent = (0..15).filter(|&index| taint.depends(index));
        let range = |index| taint.ranges.of(&self.followed.core, taint.places, index);
        dependent.filter(|&index| range(index).is_known()).count()
    }

    /// Everything that does not depend is equal, and what does lies where it is said to.
    fn agree(&self) -> Result<(), String> {
        let (a, b) = (&self.followed.core, &self.other.core);
        let taint = self.taint();
        let differ = differences(a, b) & !taint.places;
        if differ != 0 {
            return Err(format!("places {differ:#x}"));
        }
        for index in (0..15).filter(|&index| taint.depends(index)) {
            let range = taint.ranges.of(a, taint.places, index);
            for value in [a.r[usize::from(index)], b.r[usize::from(index)]] {
                if !range.holds(value) {
                    return Err(format!("r{index} {value:#x} is not in {range:?}"));
                }
            }
        }
        if a.r[15] != b.r[15] || unfollowed(a) != unfollowed(b) {
            return Err(format!("{:#x} and {:#x}", a.r[15], b.r[15]));
        }
        let [a, b] = [&self.followed, &self.other].map(|it| it.memory.read(RAM, 0x1000).unwrap());
        let mut bytes = (RAM..).zip(a.iter().zip(&b));
        match bytes.find(|&(address, (a, b))| a != b && !taint.memory_depends(address, 1)) {
            Some((address, _)) => Err(format!("byte {address:#x}")),
            None => Ok(()),
        }
    }
}

fn change(core: &mut crate::core::Core, random: &mut Random, places: Places) {
    for (index, register) in core.r.iter_mut().enumerate() {
        if places >> index & 1 == 1 {
            *register = random.register();
        }
    }
    core.r[13] &= !3;
    for (index, single) in core.s.iter_mut().enumerate() {
        if places >> (32 + index) & 1 == 1 {
            *single = random.next();
        }
    }
    let flags = random.next();
    for (place, flag, bit) in [
        (N, &mut core.n, 0),
        (Z, &mut core.z, 1),
        (C, &mut core.c, 2),
        (V, &mut core.v, 3),
        (Q, &mut core.q, 4),
    ] {
        if places & place != 0 {
            *flag = flags >> bit & 1;
        }
    }
    if places & GE != 0 {
        core.ge = flags >> 8 & 0xf;
    }
    for (place, mask) in [(COMPARED, 0xf000_0000), (EXCEPTIONS, 0x9f)] {
        if places & place != 0 {
            core.fpscr = core.fpscr & !mask | random.next() & mask;
        }
    }
}

/// A random instruction of the table, as halfwords.
fn instruction(random: &mut Random, features: &Features) -> Vec<u16> {
    loop {
        let row = &rows()[random.below(rows().len() as u32) as usize];
        let mut encoding = row.encoding(random.next());
        // Bases that are addresses more often than not.
        if row.bytes() == 4 && random.below(2) == 0 {
            encoding = encoding & !(0xf << 16) | random.below(8) << 16;
        }
        let halves = match row.bytes() {
            2 => vec![encoding as u16],
            _ => vec![(encoding >> 16) as u16, encoding as u16],
        };
        if decode(halves[0], halves.get(1).copied().unwrap_or(0), features).is_ok() {
            return halves;
        }
    }
}

#[test]
fn equal_what_does_not_depend_after_any_instruction() {
    let mut random = Random(setting("DMO_ENGINE_SEED", 1) | 1 << 40);
    let cases = setting("DMO_ENGINE_TAINT", 30_000);
    let (mut silent, mut decided, mut changed, mut confined) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut twins = FEATURES.map(Twins::new);
    for case in 0..cases {
        let which = random.below(FEATURES.len() as u32) as usize;
        let twins = &mut twins[which];
        let mut code = instruction(&mut random, &FEATURES[which]);
        // Some in an IT block.
        let conditional = FEATURES[which].architecture != Architecture::Armv6M;
        if conditional && random.below(4) == 0 {
            code.insert(0, 0xbf08 | (random.below(14) << 4) as u16);
        }
        let steps = 1 + u64::from(code[0] & 0xff0f == 0xbf08);
        let depend = match random.below(4) {
            0 => random.next().into(),
            _ => {
                1 << random.below(15)
                    | Places::from(random.next()) << 32
                    | 1 << (16 + random.below(8))
            }
        } & !(1 << 15 | 0xff << 24);
        code.extend([0xbf00; 4]);
        twins.prepare(&mut random, &code, depend);
        let stops = [twins.followed.run(steps), twins.other.run(steps)];
        let taint = twins.taint();
        if taint.decisions().is_empty() && taint.underway.is_empty() {
            silent += 1;
            assert_eq!(stops[0], stops[1], "case {case}: {code:x?}");
            // An instruction that faults has not done what was followed.
            if let Stop::Until = stops[0]
                && let Err(difference) = twins.agree()
            {
                panic!("case {case}: {code:x?}, {depend:#x}: {difference}");
            }
            changed += u64::from(twins.taint().places != depend);
            confined += u64::from(twins.confined() > 0);
        } else {
            decided += 1;
        }
    }
    assert!(
        silent > cases / 2 && decided > cases / 20 && changed > cases / 50 && confined > cases / 4,
        "{silent} {decided} {changed} {confined}"
    );
}

/// A program of narrow instructions, of which many branch over some of the next.
fn program(random: &mut Random) -> Vec<u16> {
    let length = 6 + random.below(14);
    let low = |random: &mut Random| random.below(6) as u16;
    let mut code = Vec::new();
    for index in 0..length {
        let (rd, rm) = (low(random), low(random));
        // To any of the next instructions, at most the last.
        let ahead = random.below(length - index).min(7) as u16;
        // PUSH of two registers, and POP: with a way to itself, it moves the stack.
        if random.below(8) == 0 {
            let registers = [1 << rd | 1 << (rm | 1), 1 << low(random) | 1 << 5];
            let body = 0x1800 | low(random) << 3 | low(random);
            let counted = [0x2000 | 2 << 8 | 3, 0x3a01, 0xd1fd];
            code.push(0xb400 | registers[0]);
            code.push(body);
            if random.below(2) == 0 {
                code.extend(counted);
            }
            code.push(0xbc00 | registers[1]);
        }
        // A loop of which one way has made the first round: it comes twice by where both meet.
        if random.below(8) == 0 {
            let (changed, counter) = (low(random), low(random));
            let store = 0x7000 | (random.below(32) as u16) << 6 | 7 << 3 | rm;
            let set = |register: u16, value: u16| 0x2000 | register << 8 | value;
            code.push(set(counter, 0));
            code.push(0x4280 | rm << 3 | rd);
            code.push(0xd002 | (random.below(14) as u16) << 8);
            code.extend([store, set(changed, 5), set(counter, 1)]);
            code.extend([0x2801 | counter << 8, 0xda03]);
            code.extend([store, set(changed, 3), 0x3001 | counter << 8, 0xe7f9]);
        }
        // A comparison and a store on either way, mostly of the same byte.
        if random.below(8) == 0 {
            let offset = random.below(32) as u16;
            let other = if random.below(4) == 0 { 1 } else { offset };
            let store = |register: u16, offset: u16| 0x7000 | offset << 6 | 7 << 3 | register;
            code.push(0x4280 | rm << 3 | rd);
            code.push(0xd001 | (random.below(14) as u16) << 8);
            code.extend([store(rd, offset), 0xe000, store(rm, other)]);
        }
        // A minimum, a maximum, or something like it, of what one of both is.
        if random.below(4) == 0 {
            let number = random.below(256) as u16;
            code.push([0x4280 | rm << 3 | rd, 0x2800 | rd << 8 | number][random.below(2) as usize]);
            code.push(0xbf08 | (random.below(14) as u16) << 4);
            let added = 0x3000 | rd << 8 | number;
            code.push(
                [0x4600 | rm << 3 | rd, 0x2000 | rd << 8 | number, added][random.below(3) as usize],
            );
        }
        // A number, and on one way another.
        if random.below(8) == 0 {
            let set = |random: &mut Random| 0x2000 | rd << 8 | random.below(256) as u16;
            code.push(set(random));
            code.push(0x4280 | rm << 3 | low(random));
            code.push(0xd000 | (random.below(14) as u16) << 8);
            code.push(set(random));
        }
        // A loop over what is before, of which some branches go to the middle.
        if random.below(8) == 0 {
            let (counter, back) = (low(random) << 8, 3 + random.below(8) as u16);
            code.push(0x3001 | counter);
            code.push(0x2803 | counter);
            code.push(0xdb00 | (0x100 - back.min(code.len() as u16 + 2)) & 0xff);
        }
        code.push(match random.below(15) {
            // CMP, ADDS, EORS, MOV, ASRS, MOVS of a constant.
            0 | 1 => 0x4280 | rm << 3 | rd,
            2 => 0x1800 | rm << 3 | rd,
            3 => 0x4040 | rm << 3 | rd,
            4 => 0x4600 | rm << 3 | rd,
            5 => 0x1040 | rm << 3 | rd,
            6 => 0x2000 | rd << 8 | random.below(256) as u16,
            // LDRB and STRB with r6 and r7, LDR and STR with SP, LDR of a literal.
            7 => 0x7800 | (random.below(32) as u16) << 6 | 6 << 3 | rd,
            8 if random.below(3) == 0 => 0x7000 | (random.below(32) as u16) << 6 | 7 << 3 | rd,
            8 | 9 => 0x9800 | rd << 8 | random.below(16) as u16,
            10 => 0x9000 | rd << 8 | random.below(16) as u16,
            11 if random.below(2) == 0 => 0x4800 | rd << 8 | random.below(8) as u16,
            // ADDS of a constant to r6.
            13 => 0x3600 | random.below(4) as u16,
            // BX LR, and B.
            11 if random.below(3) == 0 => 0x4770,
            12 if ahead > 1 => 0xe000 | (ahead - 1),
            // Bcond; it goes to the instruction after the next for 0.
            _ if ahead > 0 => 0xd000 | (random.below(14) as u16) << 8 | (ahead - 1),
            _ => 0xbf00,
        });
    }
    code.push(0xbe00);
    code
}

#[test]
fn equal_what_does_not_depend_after_any_way() {
    let mut random = Random(setting("DMO_ENGINE_SEED", 1) | 1 << 41);
    let cases = setting("DMO_ENGINE_TAINT", 30_000);
    let (mut silent, mut apart, mut decided, mut endless) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut twins = Twins::new(FEATURES[0]);
    for case in 0..cases {
        let code = program(&mut random);
        let end = CODE + 2 * (code.len() as u32 - 1);
        let depend = 1 << random.below(6) | 1 << random.below(6);
        twins.prepare(&mut random, &code, depend);
        // What r6 points to is read-only or not; the stack is the program's own.
        let loaded = if random.below(2) == 0 { CODE } else { RAM };
        let stack = RAM + 0x600..RAM + 0x640;
        let taint = twins.followed.taint_mut().unwrap();
        taint.set_own_memory(stack.clone());
        let mut traces = [&mut twins.followed, &mut twins.other].map(|engine| {
            let core = &mut engine.core;
            (core.r[6], core.r[7]) = (loaded, RAM + 0x800);
            (core.r[13], core.r[14]) = (stack.start + 0x20, end | 1);
            let range = u64::from(RAM)..u64::from(RAM + RAM_BYTES);
            engine.memory.watch(&[Watch { range, loads: true }]);
            let stop = engine.run(400);
            let events = engine.memory.take_events();
            let events = events.as_slice().iter();
            let others = events.filter(|event| !stack.contains(&event.address()));
            let accesses: Vec<_> = others
                .map(|it| (it.kind(), it.address(), it.size_bytes()))
                .collect();
            (stop, accesses, engine.core.time)
        });
        if !twins.taint().decisions().is_empty() {
            decided += 1;
            continue;
        }
        // A loop that was branched into may have no end.
        if traces.iter().any(|(stop, ..)| *stop == Stop::Until) {
            endless += 1;
            continue;
        }
        silent += 1;
        apart += u64::from(traces[0].2 != traces[1].2);
        traces[1].2 = traces[0].2;
        assert_eq!(traces[0], traces[1], "case {case}: {code:x?}");
        // An instruction that faults, in both, has not done what was followed.
        if traces[0].0 == Stop::Breakpoint(0)
            && let Err(difference) = twins.agree()
        {
            panic!("case {case}: {code:x?}, {depend:#x}: {difference}");
        }
    }
    assert!(
        silent > cases / 4 && decided > cases / 50 && apart > cases / 100 && endless < cases / 5,
        "{silent} {decided} {apart}"
    );
}
