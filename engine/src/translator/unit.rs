//! The code that is translated at once: what is reached from an instruction by direct branches.

use crate::endless::is_endless;
use crate::fault::Fault;
use crate::features::Features;
use crate::memory::Memory;
use crate::operation::{Condition, Operation};
use crate::timing::{Cost, Pipeline};
use std::collections::{BTreeMap, BTreeSet};

/// More make a unit slow to translate.
const MOST_INSTRUCTIONS: usize = 500;
/// Places where blocks may begin: without a limit, a memory of instructions that are left to the
/// interpreter, such as BKPT, would be searched to its end.
const MOST_LEADERS: usize = 1500;
/// What is kept free for the accesses of all its instructions, each once.
const MOST_ACCESSES: usize = crate::memory::EVENTS_BEYOND;
/// Accesses of one instruction: VLDM of all single registers.
const MOST_OF_ONE: usize = 32;

/// An instruction of a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) pc: u32,
    pub(super) operation: Operation,
    pub(super) bytes: u8,
    /// The IT state that it executes in.
    pub(super) it: u8,
    /// What it takes, where cycles are counted.
    pub(super) cost: Option<Cost>,
}

impl Instruction {
    pub(super) fn next(&self) -> u32 {
        self.pc.wrapping_add(u32::from(self.bytes))
    }

    /// The IT state of the instruction after it.
    pub(super) fn next_it(&self) -> u8 {
        match self.operation {
            Operation::IfThen { state } => state,
            _ if self.it & 0b111 == 0 => 0,
            _ => self.it & 0b1110_0000 | self.it << 1 & 0b0001_1111,
        }
    }

    /// Whether the other one comes after it in a block. Code that is reached in two ways may
    /// overlap, and then need not be what it seems from its address.
    fn is_followed_by(&self, other: &Self) -> bool {
        !self.ends_block() && self.next() == other.pc && self.next_it() == other.it
    }

    /// Whether it may branch.
    fn ends_block(&self) -> bool {
        use Operation as O;
        match self.operation {
            O::Branch { .. }
            | O::BranchLink { .. }
            | O::CompareBranch { .. }
            | O::LoopEnd { .. } => true,
            O::LoopStart { skip, .. } => skip.is_some(),
            ref operation => is_indirect(operation),
        }
    }

    /// The condition that the IT state gives it.
    pub(super) fn condition(&self) -> Condition {
        match self.it {
            0 => Condition::Al,
            it => Condition::from_bits(u32::from(it >> 4)),
        }
    }
}

/// Instructions that are executed one after the other.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) instructions: Vec<Instruction>,
}

/// The code that is translated at once.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// By their first instructions.
    pub(super) blocks: BTreeMap<u32, Block>,
    /// Blocks at which the unit can be entered: where it was asked for, heads of loops, and
    /// where calls return to.
    pub(super) entries: BTreeSet<u32>,
}

impl Unit {
    /// The unit that begins at an instruction, of those that are `within` it. It does not go into what
    /// cannot be decoded; empty where it begins with that.
    pub(super) fn at(
        start: u32,
        features: &Features,
        memory: &Memory,
        pipeline: Option<Pipeline>,
        within: impl Fn(u32) -> bool,
    ) -> Self {
        let mut search = Search {
            features,
            memory,
            pipeline,
            instructions: BTreeMap::new(),
            accesses: 0,
            leaders: BTreeSet::from([start]),
            entries: BTreeSet::from([start]),
            waiting: vec![start],
        };
        while let Some(address) = search.waiting.pop() {
            search.follow(address, &within);
        }
        search.finish()
    }

    /// How many instructions it has.
    pub(super) fn instructions(&self) -> u64 {
        let blocks = self.blocks.values();
        blocks.map(|block| block.instructions.len() as u64).sum()
    }

    /// The pages that its code lies in.
    pub(super) fn pages(&self) -> BTreeSet<u32> {
        let instructions = self.blocks.values().flat_map(|block| &block.instructions);
        instructions
            .flat_map(|instruction| [instruction.pc >> 12, (instruction.next() - 1) >> 12])
            .collect()
    }
}

struct Search<'a> {
    features: &'a Features,
    memory: &'a Memory,
    pipeline: Option<Pipeline>,
    instructions: BTreeMap<u32, Instruction>,
    /// Of all instructions, each once.
    accesses: usize,
    leaders: BTreeSet<u32>,
    entries: BTreeSet<u32>,
    waiting: Vec<u32>,
}

impl Search<'_> {
    /// Decodes from an address on, up to what is known or cannot go on.
    fn follow(&mut self, mut pc: u32, within: impl Fn(u32) -> bool) {
        let mut it = 0;
        while !self.instructions.contains_key(&pc)
            && self.instructions.len() < MOST_INSTRUCTIONS
            && self.accesses < MOST_ACCESSES - MOST_OF_ONE
            && within(pc)
            && !is_endless(pc, self.features, self.memory)
            && let Ok(instruction) = self.decode(pc, it)
        {
            let operation = instruction.operation;
            it = instruction.next_it();
            pc = instruction.next();
            if !is_translated(&operation, self.features) {
                // The interpreter executes it, and comes back.
                if it == 0 {
                    self.enter(pc);
                }
                return;
            }
            self.instructions.insert(instruction.pc, instruction);
            self.accesses += accesses(&operation);
            if !self.goes_on(&instruction) {
                return;
            }
        }
    }

    fn decode(&self, pc: u32, it: u8) -> Result<Instruction, Fault> {
        let first = self.memory.fetch(pc)?;
        let second = match crate::decode::length(first) {
            2 => 0,
            _ => self.memory.fetch(pc.wrapping_add(2))?,
        };
        let instruction = crate::decode::decode(first, second, self.features)?;
        if !crate::decode::it_rule(&instruction).allows(it.into()) {
            let name = instruction.name;
            return Err(Fault::Unpredictable { name });
        }
        let cost = self.pipeline.map(|it| Cost::of(it, &instruction, pc));
        Ok(Instruction {
            pc,
            operation: instruction.operation,
            bytes: instruction.bytes,
            it,
            cost,
        })
    }

    /// Notes where it branches to; whether the next instruction may follow.
    fn goes_on(&mut self, instruction: &Instruction) -> bool {
        let relative = |offset: i32| instruction.pc.wrapping_add(4).wrapping_add_signed(offset);
        let conditional = instruction.it != 0;
        let next = instruction.next();
        match instruction.operation {
            Operation::Branch { condition, offset } => {
                self.branch(instruction.pc, relative(offset));
                let conditional = conditional || condition != Condition::Al;
                if conditional {
                    self.lead(next);
                }
                conditional
            }
            Operation::CompareBranch { offset, .. } => {
                self.branch(instruction.pc, relative(offset));
                self.lead(next);
                true
            }
            Operation::LoopEnd { forever, offset } => {
                self.branch(instruction.pc, relative(-offset));
                if !forever {
                    self.lead(next);
                }
                !forever
            }
            Operation::LoopStart { skip, .. } => {
                if let Some(offset) = skip {
                    self.branch(instruction.pc, relative(offset));
                    self.lead(next);
                }
                true
            }
            Operation::BranchLink { offset } => {
                self.branch(instruction.pc, relative(offset));
                self.enter(next);
                conditional
            }
            Operation::BranchExchange { link, .. } => {
                if link {
                    self.enter(next);
                } else if conditional {
                    self.lead(next);
                }
                conditional
            }
            Operation::TableBranch { .. } => false,
            _ if is_indirect(&instruction.operation) => {
                if conditional {
                    self.lead(next);
                }
                conditional
            }
            _ => true,
        }
    }

    fn branch(&mut self, pc: u32, target: u32) {
        if target <= pc {
            self.enter(target);
        } else {
            self.lead(target);
        }
    }

    fn enter(&mut self, target: u32) {
        self.entries.insert(target);
        self.lead(target);
    }

    fn lead(&mut self, target: u32) {
        if self.leaders.len() < MOST_LEADERS && self.leaders.insert(target) {
            self.waiting.push(target);
        }
    }

    /// Cuts the instructions into blocks.
    fn finish(self) -> Unit {
        let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
        let mut current: Vec<Instruction> = Vec::new();
        for (&pc, &instruction) in &self.instructions {
            let follows = current.last().is_some_and(|last: &Instruction| {
                let outside_it = instruction.it == 0;
                let leads = self.leaders.contains(&pc) && outside_it;
                last.is_followed_by(&instruction) && !leads
            });
            if !follows {
                add(&mut blocks, std::mem::take(&mut current));
            }
            current.push(instruction);
        }
        add(&mut blocks, current);
        // Not those in the middle of an IT block: they are no blocks of their own.
        blocks.retain(|_, block| block.instructions[0].it == 0);
        let mut entries = self.entries;
        entries.retain(|entry| blocks.contains_key(entry));
        Unit { blocks, entries }
    }
}

fn add(blocks: &mut BTreeMap<u32, Block>, instructions: Vec<Instruction>) {
    if let Some(first) = instructions.first() {
        blocks.insert(first.pc, Block { instructions });
    }
}

/// Accesses that an instruction makes at most.
fn accesses(operation: &Operation) -> usize {
    use Operation as O;
    match *operation {
        O::LoadMultiple { registers, .. } | O::StoreMultiple { registers, .. } => {
            registers.count_ones() as usize
        }
        O::FloatLoadMultiple { count, .. } | O::FloatStoreMultiple { count, .. } => count.into(),
        O::LoadDouble { .. } | O::StoreDouble { .. } => 2,
        _ => 1,
    }
}

/// Whether there is translated code for it. All else is for the interpreter.
fn is_translated(operation: &Operation, features: &Features) -> bool {
    use Operation as O;
    if features.traps.division && matches!(operation, O::Divide { .. }) {
        return false;
    }
    !matches!(
        operation,
        O::Hint
            | O::Sleep
            | O::Breakpoint { .. }
            | O::SupervisorCall { .. }
            | O::PermanentlyUndefined
            | O::ChangeState { .. }
            | O::ReadSpecial { .. }
            | O::WriteSpecial { .. }
            | O::WriteFloatStatus { .. }
            | O::ClearRegisters { .. }
            | O::LoadExclusive { .. }
            | O::StoreExclusive { .. }
            | O::ClearExclusive
            | O::LoadAcquire { .. }
            | O::StoreRelease { .. }
    )
}

/// Whether it branches to where a register or memory says.
pub(super) fn is_indirect(operation: &Operation) -> bool {
    match *operation {
        Operation::BranchExchange { .. } | Operation::TableBranch { .. } => true,
        Operation::Load { rt, .. } => rt == 15,
        Operation::LoadMultiple { registers, .. } => registers >> 15 == 1,
        Operation::Alu { rd, .. } | Operation::Move { rd, .. } => rd == 15,
        _ => false,
    }
}
