//! Time in executed instructions, from the emulator's notice of each block that it
//! enters.
//!
//! A block is entered at its start and left at its end (or by a stop), so the
//! instructions before the current one are those of all earlier blocks and those that
//! stand before it in its own block. Which they are is decoded once a block.

use crate::mcu::decode::{Instruction, Memory, decode, is_wide};
use dmo_analysis::trace::Time;
use std::ops::Range;

/// A decoded block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    start: u32,
    size_bytes: u32,
    instructions: u32,
    ordinals: usize,
    code: usize,
    /// The block lies in memory that the program can write, so its code may change.
    pub writable: bool,
    /// The block only branches to itself.
    pub endless: bool,
    /// The block needs the floating-point unit.
    pub floating_point: bool,
    /// The block has a store-exclusive.
    pub exclusive_store: bool,
}

/// Counts executed instructions.
#[derive(Debug, Default)]
pub struct Clock {
    /// Instructions of all blocks before the current one.
    before: Time,
    current: Option<Block>,
    blocks: Vec<Block>,
    /// For each halfword of each block: which instruction of the block it belongs to, from
    /// 1, and in the highest bit whether that instruction is inside an IT block.
    ordinals: Vec<u16>,
    /// The code of the blocks that lie in writable memory, as it was decoded.
    code: Vec<u8>,
    /// Some block ended inside an IT block, so that others may begin inside one.
    it_crosses_blocks: bool,
    regions: Vec<CodeRegion>,
}

/// Marks an instruction inside an IT block among the ordinals.
const IN_IT_BLOCK: u16 = 0x8000;

/// An instruction that is being executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutingInstruction {
    /// Time at which it executes.
    pub time: Time,
    /// `true` if it may be inside an IT block.
    pub maybe_in_it_block: bool,
}

/// Blocks by their start: 1 + index into the blocks, 0 for none.
#[derive(Debug)]
struct CodeRegion {
    range: Range<u32>,
    writable: bool,
    by_halfword: Vec<u32>,
}

impl Clock {
    /// A clock for code in the given ranges; for each, whether the program can write it.
    pub fn new(code: impl IntoIterator<Item = (Range<u32>, bool)>) -> Self {
        let regions = code
            .into_iter()
            .map(|(range, writable)| CodeRegion {
                by_halfword: vec![0; (range.len()).div_ceil(2)],
                range,
                writable,
            })
            .collect();
        Self {
            regions,
            ..Self::default()
        }
    }

    /// Enters a block; returns `None` if it is not known yet and must be learned.
    #[inline]
    pub fn enter(&mut self, start: u32, size_bytes: u32) -> Option<Block> {
        if let Some(block) = self.current {
            self.before += Time::from(block.instructions);
            // Most loops go round in one block.
            if (block.start, block.size_bytes) == (start, size_bytes) {
                return self.current;
            }
        }
        self.current = self
            .known(start)
            .filter(|block| block.size_bytes == size_bytes);
        self.current
    }

    fn known(&self, start: u32) -> Option<Block> {
        let region = self
            .regions
            .iter()
            .find(|region| region.range.contains(&start))?;
        let slot = region.by_halfword[((start - region.range.start) / 2) as usize];
        (slot > 0).then(|| self.blocks[slot as usize - 1])
    }

    /// The emulator has entered a block of this code for the first time.
    #[cold]
    pub fn learn(&mut self, start: u32, size_bytes: u32, code: &[u8]) -> Block {
        let halfwords: Vec<u16> = code
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let ordinals = self.ordinals.len();
        let mut instructions = 0;
        let mut at = 0;
        let (mut floating_point, mut exclusive_store) = (false, false);
        let mut in_it_block = 0;
        while at < halfwords.len() {
            let (first, second) = (
                halfwords[at],
                halfwords.get(at + 1).copied().unwrap_or_default(),
            );
            let instruction = decode(first, second);
            instructions += 1;
            floating_point |= instruction.floating_point;
            exclusive_store |= is_exclusive_store(&instruction);
            let mark = if in_it_block > 0 { IN_IT_BLOCK } else { 0 };
            let length = if is_wide(first) { 2 } else { 1 };
            self.ordinals
                .extend(std::iter::repeat_n(instructions as u16 | mark, length));
            in_it_block = match instruction.it {
                Some(it) => 4 - it.trailing_zeros(),
                None => in_it_block.saturating_sub(1),
            };
            at += length;
        }
        self.it_crosses_blocks |= in_it_block > 0;
        let place = self
            .regions
            .iter()
            .position(|region| region.range.contains(&start));
        let writable = place.is_none_or(|place| self.regions[place].writable);
        let block = Block {
            start,
            size_bytes,
            instructions,
            ordinals,
            code: self.code.len(),
            writable,
            endless: is_endless(&halfwords),
            floating_point,
            exclusive_store,
        };
        if writable {
            self.code.extend_from_slice(code);
        }
        self.blocks.push(block);
        if let Some(region) = place.map(|place| &mut self.regions[place]) {
            let slot = ((start - region.range.start) / 2) as usize;
            region.by_halfword[slot] = self.blocks.len() as u32;
        }
        self.current = Some(block);
        block
    }

    /// Returns `true` if a block in writable memory still has the code that was decoded.
    pub fn is_unchanged(&self, block: &Block, code: &[u8]) -> bool {
        self.code.get(block.code..block.code + code.len()) == Some(code)
    }

    /// The instruction at `pc`, which is being executed.
    #[inline]
    pub fn executing(&self, pc: u32) -> ExecutingInstruction {
        let ordinal = self.current.map_or(0, |block| {
            let halfword = pc.wrapping_sub(block.start) / 2;
            if halfword < block.size_bytes / 2 {
                self.ordinals[block.ordinals + halfword as usize]
            } else {
                // It has been left: all of it has been executed.
                block.instructions as u16
            }
        });
        ExecutingInstruction {
            time: self.before + Time::from(ordinal & !IN_IT_BLOCK),
            maybe_in_it_block: ordinal & IN_IT_BLOCK != 0 || self.it_crosses_blocks,
        }
    }

    /// Returns `true` if the current block ends just before `pc`.
    pub fn is_behind_block(&self, pc: u32) -> bool {
        self.current
            .is_some_and(|block| block.start.wrapping_add(block.size_bytes) == pc)
    }

    /// Returns `true` if the current block has a store-exclusive.
    pub fn has_exclusive_store(&self) -> bool {
        self.current.is_some_and(|block| block.exclusive_store)
    }

    /// Time of the instruction at `pc`, which is being executed.
    pub fn at(&self, pc: u32) -> Time {
        self.executing(pc).time
    }

    /// Instructions before the current block: cheap, and never too large.
    pub fn at_least(&self) -> Time {
        self.before
    }

    /// The current block is not executed after all.
    pub fn abandon(&mut self) {
        self.current = None;
    }

    /// The program is stopped with `executed` instructions done; the block that it
    /// was in will not be finished.
    pub fn stop_at(&mut self, executed: Time) {
        self.before = executed;
        self.current = None;
    }
}

/// Whether an instruction is a store-exclusive: the emulator loads the old content for it, which
/// no core does.
pub fn is_exclusive_store(instruction: &Instruction) -> bool {
    matches!(instruction.memory, Memory::Access(access) if access.may_fail)
}

/// Only NOP, YIELD, WFE, WFI, SEV and then a branch to the first of them.
fn is_endless(halfwords: &[u16]) -> bool {
    let Some((&last, idle)) = halfwords.split_last() else {
        return false;
    };
    // B: imm11 counts halfwords from the branch's address plus 4.
    let branch_back = 0xe000 | (-(idle.len() as i32 + 2) as u16 & 0x7ff);
    last == branch_back && idle.iter().all(|&word| word & 0xff0f == 0xbf00)
}
