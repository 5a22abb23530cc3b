//! Branches whose ways meet again before either has done anything but compute, with what it loads from
//! or stores to places that are nobody else's.

use super::footprint::{Footprint, footprint};
use super::places::{Places, core, float};
use crate::endless::instruction_at;
use crate::features::Features;
use crate::interpreter::advanced;
use crate::memory::Memory;
use crate::operation::{Addressing, Condition, Instruction, Offset, Operation, Precision};
use std::collections::BTreeSet;

/// The most instructions of all ways together.
const MOST_INSTRUCTIONS: usize = 96;

const LR: u8 = 14;

/// The ways from a branch to where they meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Detour {
    pub(super) end: End,
    /// All that is written on any of them.
    pub(super) writes: Places,
    /// All that may be loaded or stored, at addresses that are made of registers as they are at the
    /// branch.
    pub(super) accesses: Vec<Operation>,
}

/// Where ways meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    At(u32),
    /// Where the function returns to: LR, which none of the ways writes.
    Return,
}

/// A place on a way: where it goes on, and the IT state there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    At(u32, u32),
    /// Where LR points to.
    Return,
}

impl Node {
    fn is_in_it_block(self) -> bool {
        matches!(self, Self::At(_, 1..))
    }

    fn end(self) -> End {
        match self {
            Self::At(address, _) => End::At(address),
            Self::Return => End::Return,
        }
    }
}

/// The detour of the conditional branch at an address, with the IT state there; `None` where its ways
/// do more than compute before they meet, or are too long.
pub(super) fn detour(
    pc: u32,
    it: u32,
    instruction: (&Operation, u8),
    features: &Features,
    memory: &Memory,
) -> Option<Detour> {
    let starts = ways(pc, it, instruction.0, instruction.1)?;
    let code = Code { features, memory };
    let [first, second] = <[Node; 2]>::try_from(starts).ok()?;
    let (reached, others) = (code.reachable(first), code.reachable(second));
    let mut meetings = reached.into_iter().filter(|node| others.contains(node));
    meetings.find_map(|end| code.up_to([first, second], end.end()))
}

struct Code<'a> {
    features: &'a Features,
    memory: &'a Memory,
}

impl Code<'_> {
    /// What is done at a node, and the nodes after it; `None` where it is more than a detour may do.
    fn step(&self, node: Node) -> Option<(Done, Vec<Node>)> {
        let Node::At(pc, it) = node else {
            return None;
        };
        let instruction = fixed_instruction(pc, self.features, self.memory)?;
        let operation = &instruction.operation;
        let footprint = footprint(operation, it != 0);
        let mut done = Done {
            writes: footprint.writes | footprint.changes,
            access: None,
        };
        if let Some(next) = ways(pc, it, operation, instruction.bytes) {
            return Some((done, next));
        }
        if let Some(access) = Access::of(operation) {
            done.writes |= access.loaded;
            done.access = access.is_variable(pc, self.memory).then_some(*operation);
        } else if !only_computes(operation, &footprint, self.features) {
            return None;
        }
        let state = match operation {
            Operation::IfThen { state } => u32::from(*state),
            _ => advanced(it),
        };
        let next = pc.wrapping_add(instruction.bytes.into());
        Some((done, vec![Node::At(next, state)]))
    }

    /// All nodes that are reached by computing, the nearest first, and those where that ends.
    fn reachable(&self, start: Node) -> Vec<Node> {
        let mut found = vec![start];
        let mut index = 0;
        while index < found.len() && found.len() < MOST_INSTRUCTIONS {
            let (_, next) = self.step(found[index]).unwrap_or_default();
            for node in next {
                if !found.contains(&node) {
                    found.push(node);
                }
            }
            index += 1;
        }
        found
    }

    /// The detour, if all ways come to this end.
    fn up_to(&self, starts: [Node; 2], end: End) -> Option<Detour> {
        let (mut seen, mut writes, mut accesses) = (BTreeSet::new(), 0, Vec::new());
        let mut left = starts.to_vec();
        while let Some(node) = left.pop() {
            if node.end() == end {
                if node.is_in_it_block() {
                    return None;
                }
                continue;
            }
            if !seen.insert(node) {
                continue;
            }
            let (done, next) = self.step(node)?;
            writes |= done.writes;
            accesses.extend(done.access);
            left.extend(next);
            if seen.len() > MOST_INSTRUCTIONS {
                return None;
            }
        }
        // It returns to what LR holds at the branch, and accesses what registers point to there.
        let returns = if end == End::Return { core(LR) } else { 0 };
        let bases = accesses.iter().filter_map(Access::of);
        let needed = bases.fold(returns, |set, access| set | access.base);
        (writes & needed == 0 && needed & core(15) == 0).then_some(Detour {
            end,
            writes,
            accesses,
        })
    }
}

/// What an instruction of a detour does.
#[derive(Default)]
struct Done {
    writes: Places,
    access: Option<Operation>,
}

/// A load or store that a detour may have: of registers but the program counter, without write-back.
pub(super) struct Access {
    /// What the address is made of; r15 stands for the program counter.
    pub(super) base: Places,
    offset: i32,
    size_bytes: u32,
    pub(super) loaded: Places,
}

impl Access {
    /// Not a literal, which is the same whatever happens.
    pub(super) fn is_variable(&self, pc: u32, memory: &Memory) -> bool {
        let literal = (pc.wrapping_add(4) & !3).wrapping_add_signed(self.offset);
        self.base != core(15) || !memory.is_read_only(literal, self.size_bytes)
    }

    pub(super) fn of(operation: &Operation) -> Option<Self> {
        use Operation as O;
        let general = |addressing: Addressing, size_bytes: u32, loaded| {
            let (index, offset) = match addressing.offset {
                Offset::Immediate(offset) => (0, offset),
                Offset::Register { rm, .. } => (core(rm), 0),
            };
            (!addressing.writeback).then_some(Self {
                base: core(addressing.rn) | index,
                offset,
                size_bytes,
                loaded,
            })
        };
        let words = |precision| match precision {
            Precision::Single => 4,
            Precision::Double => 8,
        };
        let access = match *operation {
            O::Load {
                width,
                rt,
                addressing,
                ..
            } => general(addressing, width.bytes(), core(rt)),
            O::Store {
                width, addressing, ..
            } => general(addressing, width.bytes(), 0),
            O::LoadDouble {
                rt,
                rt2,
                addressing,
            } => general(addressing, 8, core(rt) | core(rt2)),
            O::StoreDouble { addressing, .. } => general(addressing, 8, 0),
            O::FloatLoad {
                precision,
                d,
                rn,
                offset,
            } => Some(Self {
                base: core(rn),
                offset,
                size_bytes: words(precision),
                loaded: float(precision, d),
            }),
            O::FloatStore {
                precision,
                rn,
                offset,
                ..
            } => Some(Self {
                base: core(rn),
                offset,
                size_bytes: words(precision),
                loaded: 0,
            }),
            _ => None,
        };
        access.filter(|access| access.loaded & (core(13) | core(15)) == 0)
    }
}

/// An instruction of code that nothing can change.
pub(super) fn fixed_instruction(
    pc: u32,
    features: &Features,
    memory: &Memory,
) -> Option<Instruction> {
    let is_fixed = memory.is_read_only(pc, 4);
    is_fixed.then(|| instruction_at(pc, features, memory))?
}

/// Where a branch may go on; `None` where the instruction is none, or one that does more.
pub(super) fn ways(pc: u32, it: u32, operation: &Operation, bytes: u8) -> Option<Vec<Node>> {
    let next = Node::At(pc.wrapping_add(bytes.into()), advanced(it));
    let to = |offset| Node::At(pc.wrapping_add(4).wrapping_add_signed(offset), 0);
    let conditional = |node| {
        if it == 0 {
            vec![node]
        } else {
            vec![next, node]
        }
    };
    Some(match *operation {
        Operation::Branch {
            condition: Condition::Al,
            offset,
        } => conditional(to(offset)),
        Operation::Branch { offset, .. } | Operation::CompareBranch { offset, .. } => {
            vec![next, to(offset)]
        }
        Operation::BranchExchange {
            link: false,
            rm: LR,
        } => conditional(Node::Return),
        _ => return None,
    })
}

/// Nothing else happens, whatever the data are, and the program goes on with the next instruction.
pub(super) fn only_computes(
    operation: &Operation,
    footprint: &Footprint,
    features: &Features,
) -> bool {
    use Operation as O;
    let traps = features.traps.division && matches!(operation, O::Divide { .. });
    let does_more = matches!(
        operation,
        O::Load { .. }
            | O::Store { .. }
            | O::LoadDouble { .. }
            | O::StoreDouble { .. }
            | O::LoadMultiple { .. }
            | O::StoreMultiple { .. }
            | O::LoadExclusive { .. }
            | O::StoreExclusive { .. }
            | O::LoadAcquire { .. }
            | O::StoreRelease { .. }
            | O::FloatLoad { .. }
            | O::FloatStore { .. }
            | O::FloatLoadMultiple { .. }
            | O::FloatStoreMultiple { .. }
            | O::Branch { .. }
            | O::BranchLink { .. }
            | O::BranchExchange { .. }
            | O::CompareBranch { .. }
            | O::TableBranch { .. }
            | O::LoopStart { .. }
            | O::LoopEnd { .. }
            | O::ClearExclusive
            | O::ChangeState { .. }
            | O::Hint
            | O::Sleep
            | O::Breakpoint { .. }
            | O::SupervisorCall { .. }
            | O::PermanentlyUndefined
    );
    let moves_stack = (footprint.writes | footprint.changes) & core(13) != 0;
    !does_more && !traps && !moves_stack && footprint.decides == 0 && footprint.sets_up == 0
}
