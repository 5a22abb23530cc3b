//! What is known of numbers that are compared: on random programs of comparisons, and of what is done
//! under their conditions.

use super::{FEATURES, Random, Twins, setting};
use crate::engine::Stop;
use crate::taint::range::Range;
use crate::taint::ranges::Ranges;

/// Registers in use, and the numbers that they begin with: few, so that most comparisons matter.
const REGISTERS: u32 = 3;
const NUMBERS: u32 = 16;

/// MOV, MOVS and ADDS of a constant, CMP.
fn simple(random: &mut Random) -> u16 {
    let (rd, rm) = registers(random);
    let number = random.below(NUMBERS) as u16;
    match random.below(4) {
        0 => 0x4600 | rm << 3 | rd,
        1 => 0x2000 | rd << 8 | number,
        2 => 0x3000 | rd << 8 | number,
        _ => comparison(random),
    }
}

/// CMP with a register or a constant.
fn comparison(random: &mut Random) -> u16 {
    let (rd, rm) = registers(random);
    match random.below(2) {
        0 => 0x4280 | rm << 3 | rd,
        _ => 0x2800 | rd << 8 | random.below(NUMBERS) as u16,
    }
}

fn registers(random: &mut Random) -> (u16, u16) {
    let mut register = || random.below(REGISTERS) as u16;
    (register(), register())
}

/// IT with two under the condition, or the second under the opposite one.
fn two(random: &mut Random) -> [u16; 3] {
    let condition = random.below(14) as u16;
    let second = (condition & 1 ^ random.below(2) as u16) << 3;
    let it = 0xbf04 | condition << 4 | second;
    [it, simple(random), simple(random)]
}

/// Of narrow instructions and IT instructions.
fn program(random: &mut Random) -> Vec<u16> {
    let mut code = Vec::new();
    for _ in 0..4 + random.below(8) {
        let [compare, simple] = [comparison(random), simple(random)];
        let condition = (random.below(14) as u16) << 4;
        match random.below(6) {
            0 => code.push(simple),
            1 => code.extend([compare, 0xbf08 | condition, simple]),
            // Of what was compared before.
            2 => code.extend([0xbf08 | condition, simple]),
            3 => code.extend([[compare].as_slice(), &two(random)].concat()),
            // A branch over one or three.
            4 => code.extend([compare, 0xd000 | condition << 4, simple]),
            _ => {
                code.extend([compare, 0xd002 | condition << 4]);
                code.extend(two(random));
            }
        }
    }
    code.push(0xbe00);
    code
}

#[test]
fn compared_numbers_lie_where_they_are_said_to() {
    let mut random = Random(setting("DMO_ENGINE_SEED", 1) | 1 << 42);
    let cases = 4 * setting("DMO_ENGINE_TAINT", 30_000);
    let mut twins = Twins::new(FEATURES[0]);
    let (mut silent, mut confined) = (0, 0);
    for case in 0..cases {
        let code = program(&mut random);
        let depend = u64::from(1 + random.below((1 << REGISTERS) - 1));
        twins.prepare(&mut random, &code, depend);
        let mut ranges = Ranges::any();
        for index in 0..REGISTERS as u8 {
            let [a, other] = [random.below(NUMBERS), random.below(NUMBERS)];
            let b = if depend >> index & 1 == 1 { other } else { a };
            ranges.set(index, Range::exact(a).or(Range::exact(b)));
            twins.followed.core.r[usize::from(index)] = a;
            twins.other.core.r[usize::from(index)] = b;
        }
        twins.followed.taint_mut().unwrap().ranges = ranges;
        let stops = [&mut twins.followed, &mut twins.other].map(|it| it.run(100));
        assert_eq!(
            stops,
            [Stop::Breakpoint(0), Stop::Breakpoint(0)],
            "{code:x?}"
        );
        if twins.taint().decisions().is_empty() {
            silent += 1;
            confined += u64::from(twins.confined() > 0);
            if let Err(difference) = twins.agree() {
                panic!("case {case}: {code:x?}, {depend:#x}: {difference}");
            }
        }
    }
    assert!(
        silent > cases / 2 && confined > cases / 4,
        "{silent} {confined}"
    );
}
