//! What an instruction on a way does, and where it goes on.

use super::super::footprint::footprint;
use super::super::paths::{Access, fixed_instruction, only_computes};
use super::super::places::{Places, core, float};
use super::super::uses_what_lasts;
use super::state::{State, Value};
use crate::features::Features;
use crate::interpreter::advanced;
use crate::memory::Memory;
use crate::operation::{
    Addressing, AluOperation, Condition, Instruction, Offset, Operation, Precision, ShiftKind,
    Shifted, Source, Width,
};
use std::ops::Range;

const SP: u8 = 13;
const LR: u8 = 14;

/// Where a way is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// At an instruction.
    At {
        pc: u32,
        it: u32,
        /// The stack pointer, less what it was at the branch.
        stack: i32,
        /// Where the functions return to that have been called on the way.
        calls: Vec<u32>,
    },
    /// Where what was known at the branch points to.
    Return { to: Value, stack: i32 },
}

/// What an instruction does beside what it does to a [`State`].
#[derive(Default)]
pub(super) struct Effects {
    /// What it writes but r0 to r15.
    pub(super) writes: Places,
    /// A load or store whose address is made of registers as they were at the branch.
    pub(super) access: Option<Operation>,
    /// Bytes of the stack that it accesses, from the stack pointer at the branch.
    pub(super) stack: Option<Range<i32>>,
}

/// A step of a way.
pub(super) struct Taken {
    pub(super) effects: Effects,
    pub(super) state: State,
    pub(super) next: Vec<Node>,
}

/// Code that nothing can change.
pub(super) struct Code<'a> {
    pub(super) features: &'a Features,
    pub(super) memory: &'a Memory,
}

impl Code<'_> {
    /// Takes a step; `None` where an instruction may do more than compute, call and use the stack.
    pub(super) fn step(&self, node: &Node, state: &State) -> Option<Taken> {
        let Node::At {
            pc,
            it,
            stack,
            calls,
        } = node
        else {
            return None;
        };
        let mut way = Way {
            code: self,
            instruction: fixed_instruction(*pc, self.features, self.memory)?,
            pc: *pc,
            it: *it,
            stack: *stack,
            calls: calls.clone(),
            state: state.clone(),
            effects: Effects::default(),
        };
        let next = way.execute()?;
        Some(Taken {
            effects: way.effects,
            state: way.state,
            next,
        })
    }
}

/// A way at an instruction.
struct Way<'a> {
    code: &'a Code<'a>,
    instruction: Instruction,
    pc: u32,
    it: u32,
    stack: i32,
    calls: Vec<u32>,
    state: State,
    effects: Effects,
}

impl Way<'_> {
    fn execute(&mut self) -> Option<Vec<Node>> {
        let operation = self.instruction.operation;
        let footprint = footprint(&operation, self.it != 0);
        self.effects.writes = (footprint.writes | footprint.changes) & !0xffff;
        if let Some(next) = self.branch(&operation) {
            return next;
        }
        if let Some(next) = self.on_stack(&operation) {
            return next;
        }
        if let Some(access) = Access::of(&operation) {
            self.access(&operation, &access)?;
            return Some(vec![self.next()]);
        }
        if !only_computes(&operation, &footprint, self.code.features) || uses_what_lasts(&operation)
        {
            return None;
        }
        let copied = self.copied(&operation);
        for index in
            (0..15).filter(|index| (footprint.writes | footprint.changes) >> index & 1 == 1)
        {
            let value = copied.filter(|(rd, _)| *rd == index);
            let value = value.map_or(Value::Unknown, |(_, value)| value);
            self.state.set_register(index, value);
        }
        Some(vec![self.next()])
    }

    /// Where a branch goes on; `None` where the instruction is none.
    fn branch(&mut self, operation: &Operation) -> Option<Option<Vec<Node>>> {
        let relative = |pc: u32, offset: i32| pc.wrapping_add(4).wrapping_add_signed(offset);
        let target = match *operation {
            Operation::Branch {
                condition: Condition::Al,
                offset,
            } => self.at(relative(self.pc, offset), 0),
            Operation::Branch { offset, .. } | Operation::CompareBranch { offset, .. } => {
                let taken = self.at(relative(self.pc, offset), 0);
                return Some(Some(vec![self.next(), taken]));
            }
            Operation::BranchLink { offset } => {
                if self.it != 0 {
                    return Some(None);
                }
                let back = self.after();
                self.state.set_register(LR, Value::Constant(back | 1));
                self.calls.push(back);
                self.at(relative(self.pc, offset), 0)
            }
            Operation::BranchExchange { link: false, rm } => {
                match self.go_to(self.state.register(rm)) {
                    Some(node) => node,
                    None => return Some(None),
                }
            }
            _ => return None,
        };
        let mut next = vec![target];
        if self.it != 0 {
            next.push(self.next());
        }
        Some(Some(next))
    }

    /// Where a value is branched to.
    fn go_to(&self, value: Value) -> Option<Node> {
        match value {
            Value::Unknown => None,
            Value::Constant(address) if address & 1 == 0 => None,
            Value::Constant(address) => {
                let mut calls = self.calls.clone();
                calls.pop_if(|back| *back == address & !1);
                Some(Node::At {
                    pc: address & !1,
                    it: 0,
                    stack: self.stack,
                    calls,
                })
            }
            to => Some(Node::Return {
                to,
                stack: self.stack,
            }),
        }
    }

    /// An instruction of the stack pointer; `None` where it is none.
    fn on_stack(&mut self, operation: &Operation) -> Option<Option<Vec<Node>>> {
        use Operation as O;
        let next = match *operation {
            O::Alu {
                operation: kind @ (AluOperation::Add | AluOperation::Sub),
                rd: SP,
                rn: SP,
                source: Source::Immediate { value, .. },
                ..
            } => {
                let bytes = if kind == AluOperation::Add {
                    i32::try_from(value).ok()
                } else {
                    i32::try_from(value).ok().map(|bytes| -bytes)
                };
                bytes.and_then(|bytes| self.move_stack(bytes))
            }
            O::LoadMultiple {
                rn: SP,
                registers,
                decrement: false,
                writeback,
            } => self.pop(registers, writeback),
            O::StoreMultiple {
                rn: SP,
                registers,
                decrement: true,
                writeback: true,
            } => self.push(registers),
            O::Load {
                width,
                rt,
                addressing,
                ..
            } if addressing.rn == SP => self.load(width, &[rt], addressing),
            O::Store {
                width,
                rt,
                addressing,
            } if addressing.rn == SP => self.store(width, &[rt], addressing),
            O::LoadDouble {
                rt,
                rt2,
                addressing,
            } if addressing.rn == SP => self.load(Width::Word, &[rt, rt2], addressing),
            O::StoreDouble {
                rt,
                rt2,
                addressing,
            } if addressing.rn == SP => self.store(Width::Word, &[rt, rt2], addressing),
            O::FloatLoad {
                precision,
                d,
                rn: SP,
                offset,
            } => {
                self.effects.writes |= float(precision, d);
                self.touch(self.stack.checked_add(offset), bytes_of(precision))
            }
            O::FloatStore {
                precision,
                rn: SP,
                offset,
                ..
            } => self.overwrite(self.stack.checked_add(offset), bytes_of(precision)),
            _ => return None,
        };
        Some(next)
    }

    /// ADD and SUB.
    fn move_stack(&mut self, bytes: i32) -> Option<Vec<Node>> {
        if self.it != 0 || bytes % 4 != 0 {
            return None;
        }
        self.stack = self.stack.checked_add(bytes)?;
        Some(vec![self.next()])
    }

    fn push(&mut self, registers: u16) -> Option<Vec<Node>> {
        let count = registers.count_ones() as i32;
        if self.it != 0 || registers & (1 << SP | 1 << 15) != 0 {
            return None;
        }
        self.stack = self.stack.checked_sub(4 * count)?;
        self.effects.stack = Some(self.stack..self.stack + 4 * count);
        for (place, index) in (self.stack..).step_by(4).zip(list(registers)) {
            self.state.set_word(place, self.state.register(index));
        }
        Some(vec![self.next()])
    }

    fn pop(&mut self, registers: u16, writeback: bool) -> Option<Vec<Node>> {
        let count = registers.count_ones() as i32;
        if self.it != 0 || registers >> SP & 1 == 1 {
            return None;
        }
        let start = self.stack;
        let end = start.checked_add(4 * count)?;
        self.effects.stack = Some(start..end);
        let mut target = None;
        for (place, index) in (start..).step_by(4).zip(list(registers)) {
            let value = self.state.word(place);
            match index {
                15 => target = Some(value),
                index => self.state.set_register(index, value),
            }
        }
        if writeback {
            self.stack = end;
        }
        let next = match target {
            Some(value) => self.go_to(value)?,
            None => self.next(),
        };
        Some(vec![next])
    }

    /// LDR and LDRD, POP of one register too.
    fn load(
        &mut self,
        width: Width,
        registers: &[u8],
        addressing: Addressing,
    ) -> Option<Vec<Node>> {
        let place = self.address(addressing)?;
        let bytes = width.bytes() as i32 * registers.len() as i32;
        self.effects.stack = Some(place..place.checked_add(bytes)?);
        let mut target = None;
        for (place, &index) in (place..).step_by(4).zip(registers) {
            let is_known = width == Width::Word && place % 4 == 0 && self.it == 0;
            let value = if is_known {
                self.state.word(place)
            } else {
                Value::Unknown
            };
            match index {
                15 => target = Some(value),
                SP => return None,
                index => self.state.set_register(index, value),
            }
        }
        let next = match target {
            Some(value) => self.go_to(value)?,
            None => self.next(),
        };
        Some(vec![next])
    }

    /// STR and STRD, PUSH of one register too.
    fn store(
        &mut self,
        width: Width,
        registers: &[u8],
        addressing: Addressing,
    ) -> Option<Vec<Node>> {
        let place = self.address(addressing)?;
        if width != Width::Word || place % 4 != 0 || self.it != 0 {
            return self.overwrite(Some(place), width.bytes() as i32 * registers.len() as i32);
        }
        self.effects.stack = Some(place..place.checked_add(4 * registers.len() as i32)?);
        for (place, &index) in (place..).step_by(4).zip(registers) {
            if index >= SP && index != LR {
                return None;
            }
            self.state.set_word(place, self.state.register(index));
        }
        Some(vec![self.next()])
    }

    /// Where an access by the stack pointer is, which it may move.
    fn address(&mut self, addressing: Addressing) -> Option<i32> {
        let Addressing {
            offset: Offset::Immediate(offset),
            index,
            writeback,
            ..
        } = addressing
        else {
            return None;
        };
        let moved = self.stack.checked_add(offset)?;
        let place = if index { moved } else { self.stack };
        if writeback {
            if self.it != 0 || moved % 4 != 0 {
                return None;
            }
            self.stack = moved;
        }
        Some(place)
    }

    /// Loads of what is not followed.
    fn touch(&mut self, place: Option<i32>, bytes: i32) -> Option<Vec<Node>> {
        let place = place?;
        self.effects.stack = Some(place..place.checked_add(bytes)?);
        Some(vec![self.next()])
    }

    /// Stores of what is not followed.
    fn overwrite(&mut self, place: Option<i32>, bytes: i32) -> Option<Vec<Node>> {
        let next = self.touch(place, bytes)?;
        let place = place?;
        let first = place & !3;
        for word in (first..place + bytes).step_by(4) {
            self.state.set_word(word, Value::Unknown);
        }
        Some(next)
    }

    /// A load or store by registers that are as they were at the branch, or of a literal.
    fn access(&mut self, operation: &Operation, access: &Access) -> Option<()> {
        if access.is_variable(self.pc, self.code.memory) {
            let mut bases = (0..16).filter(|index| access.base >> index & 1 == 1);
            let is_as_at_branch = |index: u8| self.state.register(index) == Value::Register(index);
            if !bases.all(is_as_at_branch) || access.base & core(SP) != 0 {
                return None;
            }
            self.effects.access = Some(*operation);
        }
        for index in (0..15).filter(|index| access.loaded >> index & 1 == 1) {
            self.state.set_register(index, Value::Unknown);
        }
        self.effects.writes |= access.loaded & !0xffff;
        Some(())
    }

    /// A register that is copied from another, and what that holds.
    fn copied(&self, operation: &Operation) -> Option<(u8, Value)> {
        match *operation {
            Operation::Move {
                not: false,
                rd,
                source:
                    Source::Register(Shifted {
                        rm,
                        kind: ShiftKind::Lsl,
                        amount: 0,
                    }),
                ..
            } if self.it == 0 && rm != SP => Some((rd, self.state.register(rm))),
            _ => None,
        }
    }

    fn after(&self) -> u32 {
        self.pc.wrapping_add(self.instruction.bytes.into())
    }

    /// At the instruction after this one.
    fn next(&self) -> Node {
        let it = match self.instruction.operation {
            Operation::IfThen { state } => u32::from(state),
            _ => advanced(self.it),
        };
        self.at(self.after(), it)
    }

    fn at(&self, pc: u32, it: u32) -> Node {
        Node::At {
            pc,
            it,
            stack: self.stack,
            calls: self.calls.clone(),
        }
    }
}

fn bytes_of(precision: Precision) -> i32 {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

/// The registers of a list, in ascending order.
fn list(registers: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |index| registers >> index & 1 == 1)
}
