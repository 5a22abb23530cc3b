//! Draws cases.

use super::prepare::prepare;
use super::{Case, Drawn, Ram};
use crate::cpu::Cpu;
use crate::layout;
use crate::random::Random;
use crate::state::{FLAGS, GE};
use dmo_engine::decode::{ItRule, Row, decode, it_rule, length};
use dmo_engine::fault::Fault;
use dmo_engine::operation::{AluOperation, Instruction, Offset, Operation, Source, Width};

/// What a case is of.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// One instruction of a row, at times in an IT block of its own.
    Single(&'a Row),
    /// Several instructions of these rows, with IT blocks.
    Sequence(&'a [Row]),
    /// Any halfwords that are not unpredictable, mostly no instruction.
    Anything,
}

/// The most instructions of a case that is made of bytes; one may come with a load of its own.
const MOST_OF_BYTES: usize = 14;
/// Encodings to be tried until one is predictable.
const TRIES: usize = 400;

/// A case, the number of which says where it lies; `None` where the row has no encoding of which
/// the architecture says what it does.
pub fn draw(kind: Kind, cpu: &Cpu, seed: u64, number: usize) -> Option<Case> {
    let mut random = Random::new(seed);
    let instructions = match kind {
        Kind::Single(row) => single(row, cpu, &mut random)?,
        Kind::Sequence(rows) => sequence(rows, cpu, &mut random),
        Kind::Anything => vec![anything(cpu, &mut random)?],
    };
    let mut case = in_some_state(instructions, cpu, &mut random, number);
    case.seed = seed;
    Some(case)
}

/// A case of the instructions that any bytes are: eight for the state, the rest code. What cannot be
/// compared is left out of it.
pub fn of_bytes(bytes: &[u8], cpu: &Cpu, number: usize) -> Option<Case> {
    let (seed, code) = bytes.split_first_chunk()?;
    let mut random = Random::new(u64::from_le_bytes(*seed));
    let (halves, _) = code.as_chunks();
    let mut halfwords = halves.iter().map(|half| u16::from_le_bytes(*half));
    let mut instructions: Vec<Drawn> = Vec::new();
    let mut block = 0;
    while instructions.len() < MOST_OF_BYTES
        && let Some(first) = halfwords.next()
    {
        let second = match length(first) {
            2 => Some(0),
            _ => halfwords.next(),
        };
        let Some(second) = second else {
            break;
        };
        let Some(drawn) = drawn([first, second], cpu) else {
            continue;
        };
        match drawn.operation() {
            Some(Operation::IfThen { state }) if block == 0 => {
                block = 4 - (state & 0b1111).trailing_zeros();
                instructions.push(drawn);
            }
            _ if fits(&drawn, block > 0) => {
                instructions.extend(exclusive_load(&drawn, cpu));
                instructions.push(drawn);
                block = block.saturating_sub(1);
            }
            _ => {}
        }
    }
    (!instructions.is_empty()).then(|| in_some_state(instructions, cpu, &mut random, number))
}

/// These instructions in a random state.
fn in_some_state(instructions: Vec<Drawn>, cpu: &Cpu, random: &mut Random, number: usize) -> Case {
    let start = number as u32 * layout::CASE_BYTES % layout::CASES_BYTES;
    let mut case = Case {
        seed: 0,
        address: layout::CASES_START + start + random.pick([0, 2]),
        instructions,
        registers: std::array::from_fn(|_| random.word()),
        status: random.bits() as u32 & FLAGS,
        float_status: random.float_status(),
        floats: floats(cpu, random),
        ram: Ram::Words(random.bits() as u32),
    };
    case.registers[13] = random.ram_address() & !3;
    if !cpu.features.dsp {
        case.status &= !GE;
    }
    if !cpu.has_floats() {
        case.float_status = 0;
    }
    prepare(&mut case, random);
    case
}

/// Without a floating-point unit all are 0.
fn floats(cpu: &Cpu, random: &mut Random) -> [u32; 32] {
    let mut floats = [0; 32];
    if !cpu.has_floats() {
        return floats;
    }
    for pair in floats.chunks_exact_mut(2) {
        let double = random.double();
        let words = match random.below(3) {
            0 => [double as u32, (double >> 32) as u32],
            1 => [random.word(), random.single()],
            _ => [random.single(), random.single()],
        };
        pair.copy_from_slice(&words);
    }
    floats
}

/// An encoding of the row that is predictable.
fn instruction(row: &Row, cpu: &Cpu, random: &mut Random) -> Option<Drawn> {
    (0..TRIES).find_map(|_| {
        let word = row.encoding(random.bits() as u32);
        let halfwords = match row.bytes() {
            2 => [word as u16, 0],
            _ => [(word >> 16) as u16, word as u16],
        };
        drawn(halfwords, cpu)
    })
}

fn drawn(halfwords: [u16; 2], cpu: &Cpu) -> Option<Drawn> {
    let [first, second] = halfwords;
    let instruction = match decode(first, second, &cpu.features) {
        Ok(instruction) => Some(instruction),
        Err(Fault::Unpredictable { .. }) => return None,
        Err(_) => None,
    };
    Some(Drawn {
        halfwords,
        bytes: length(first),
        instruction,
    })
}

/// Any halfwords that are not unpredictable; wide ones more often than they come by chance.
fn anything(cpu: &Cpu, random: &mut Random) -> Option<Drawn> {
    (0..TRIES).find_map(|_| {
        let bits = random.bits() as u32;
        let wide = random.pick([0, 0xe800, 0xf000]);
        drawn([(bits >> 16) as u16 | wide, bits as u16], cpu)
    })
}

fn single(row: &Row, cpu: &Cpu, random: &mut Random) -> Option<Vec<Drawn>> {
    let drawn = instruction(row, cpu, random)?;
    let mut instructions = Vec::with_capacity(2);
    if random.one_in(4) && can_be_conditional(&drawn, ItRule::Last) {
        instructions.push(if_then(1, cpu, random)?);
    }
    // Without it most would fail.
    if !random.one_in(4) && instructions.is_empty() {
        instructions.extend(exclusive_load(&drawn, cpu));
    }
    instructions.push(drawn);
    Some(instructions)
}

fn sequence(rows: &[Row], cpu: &Cpu, random: &mut Random) -> Vec<Drawn> {
    let length = 4 + random.below(5) as usize;
    let mut instructions = Vec::with_capacity(length + 2);
    // How many more are in the block.
    let mut block = 0;
    while instructions.len() < length || block > 0 {
        if block == 0 && random.one_in(3) {
            block = 1 + random.below(4);
            instructions.extend(if_then(block, cpu, random));
        }
        let row = &rows[random.below(rows.len() as u32) as usize];
        let Some(drawn) = instruction(row, cpu, random) else {
            continue;
        };
        if !fits(&drawn, block > 0) {
            continue;
        }
        instructions.extend(exclusive_load(&drawn, cpu));
        instructions.push(drawn);
        block = block.saturating_sub(1);
    }
    instructions
}

/// IT for so many instructions.
fn if_then(length: u32, cpu: &Cpu, random: &mut Random) -> Option<Drawn> {
    (0..TRIES).find_map(|_| {
        let condition = random.below(15);
        let stop = 1 << (4 - length);
        // Else is the opposite of then; there is none of always.
        let others = match condition {
            14 => 0,
            _ => random.below(16),
        } << (5 - length)
            & 0xf;
        let mask = stop | others;
        drawn([(0xbf00 | condition << 4 | mask) as u16, 0], cpu)
    })
}

/// Whether others may follow it, here.
fn fits(drawn: &Drawn, in_block: bool) -> bool {
    goes_on(drawn, in_block) && (!in_block || can_be_conditional(drawn, ItRule::Any))
}

/// Whether the next instruction follows it, and both emulators have the same state then, as far as
/// that can be said from the instruction: where they differ on purpose there is nothing to be
/// compared after it.
fn goes_on(drawn: &Drawn, in_block: bool) -> bool {
    use Operation as O;
    let Some(instruction) = &drawn.instruction else {
        return false;
    };
    let is_aligned = |offset: Offset| match offset {
        Offset::Immediate(offset) => offset % 4 == 0,
        Offset::Register { .. } => false,
    };
    match instruction.operation {
        // The lowest bits of the stack pointer.
        O::Alu {
            operation: AluOperation::Add | AluOperation::Sub,
            rd: 13,
            rn: 13,
            source: Source::Immediate { value, .. },
            ..
        } => value % 4 == 0,
        O::Alu { rd: 13, .. } | O::Move { rd: 13, .. } | O::Load { rt: 13, .. } => false,
        O::Load { addressing, .. } | O::Store { addressing, .. }
            if addressing.writeback && addressing.rn == 13 =>
        {
            is_aligned(addressing.offset)
        }
        // It has its load before it.
        O::StoreExclusive { .. } => !in_block,
        O::BranchLink { .. }
        | O::BranchExchange { .. }
        | O::CompareBranch { .. }
        | O::TableBranch { .. }
        | O::IfThen { .. }
        | O::LoopStart { .. }
        | O::LoopEnd { .. }
        | O::Hint
        | O::Sleep
        | O::Breakpoint { .. }
        | O::SupervisorCall { .. }
        | O::PermanentlyUndefined
        | O::WriteSpecial { .. } => false,
        _ => !branches(instruction),
    }
}

fn branches(instruction: &Instruction) -> bool {
    use Operation as O;
    match instruction.operation {
        O::Branch { .. } => true,
        O::Alu { rd, .. } | O::Move { rd, .. } => rd == 15,
        O::Load { rt, .. } => rt == 15,
        O::LoadMultiple { registers, .. } => registers >> 15 == 1,
        _ => false,
    }
}

/// Whether the architecture says what it does as the last of an IT block, or anywhere in it.
fn can_be_conditional(drawn: &Drawn, place: ItRule) -> bool {
    let Some(instruction) = &drawn.instruction else {
        return false;
    };
    // Unicorn goes on after a hint with an IT state that is none.
    let is_hint = matches!(instruction.operation, Operation::Hint | Operation::Sleep);
    match it_rule(instruction) {
        ItRule::Any => !is_hint,
        ItRule::Last => place == ItRule::Last,
        ItRule::Outside => false,
    }
}

/// The load that an exclusive store belongs to.
fn exclusive_load(store: &Drawn, cpu: &Cpu) -> Option<Drawn> {
    let Operation::StoreExclusive {
        width,
        rn,
        offset,
        rd,
        ..
    } = store.operation()?
    else {
        return None;
    };
    // Not over the base.
    let rt = if rd == rn {
        u16::from(rn == 0)
    } else {
        u16::from(rd)
    };
    let rn = u16::from(rn);
    let halfwords = match width {
        Width::Word => [0xe850 | rn, rt << 12 | 0x0f00 | (offset / 4) as u16],
        Width::Byte => [0xe8d0 | rn, rt << 12 | 0x0f4f],
        Width::Half => [0xe8d0 | rn, rt << 12 | 0x0f5f],
    };
    drawn(halfwords, cpu)
}
