//! Branches.

use super::emit::Emitter;
use super::unit::Instruction;
use crate::operation::{Condition, Operation};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

const LR: u8 = 14;

impl Emitter<'_, '_> {
    /// Emits an instruction; whether the next one follows.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> bool {
        use Operation as O;
        match instruction.operation {
            O::Branch { .. }
            | O::BranchLink { .. }
            | O::BranchExchange { .. }
            | O::CompareBranch { .. }
            | O::TableBranch { .. }
            | O::LoopStart { .. }
            | O::LoopEnd { .. } => self.branch(instruction),
            O::IfThen { .. } | O::Nop => true,
            O::Load { .. }
            | O::Store { .. }
            | O::LoadDouble { .. }
            | O::StoreDouble { .. }
            | O::LoadMultiple { .. }
            | O::StoreMultiple { .. } => self.access(&instruction.operation),
            ref operation if operation.is_floating_point() => {
                self.floating_point(operation);
                true
            }
            ref operation if self.multiplication(operation) => true,
            ref operation => self.data_processing(operation),
        }
    }

    fn branch(&mut self, instruction: &Instruction) -> bool {
        let relative = |offset: i32| instruction.pc.wrapping_add(4).wrapping_add_signed(offset);
        let next = instruction.next();
        match instruction.operation {
            Operation::Branch { condition, offset } => {
                let target = relative(offset);
                if target == instruction.pc {
                    // It may be an endless loop.
                    self.interpret();
                } else if condition == Condition::Al {
                    self.go(target);
                } else {
                    let holds = self.condition(condition);
                    self.go_if(holds, target, next);
                }
            }
            Operation::BranchLink { offset } => {
                self.link(next);
                self.go(relative(offset));
            }
            Operation::BranchExchange { link, rm } => {
                let target = self.register(rm);
                self.check_thumb(target);
                if link {
                    self.link(next);
                }
                let target = self.builder.ins().band_imm(target, !1);
                self.go_indirect(target);
            }
            Operation::CompareBranch {
                nonzero,
                rn,
                offset,
            } => {
                let value = self.register(rn);
                let code = if nonzero {
                    IntCC::NotEqual
                } else {
                    IntCC::Equal
                };
                let holds = self.builder.ins().icmp_imm(code, value, 0);
                self.go_if(holds, relative(offset), next);
            }
            Operation::LoopStart { rn, skip } => {
                let count = self.register(rn);
                let Some(offset) = skip else {
                    self.set_register(LR, count);
                    return true;
                };
                // Without a loop LR stays.
                let none = self.builder.ins().icmp_imm(IntCC::Equal, count, 0);
                let link = self.register(LR);
                let link = self.builder.ins().select(none, link, count);
                self.set_register(LR, link);
                self.go_if(none, relative(offset), next);
            }
            Operation::LoopEnd { forever, offset } => {
                self.loop_end(forever, relative(-offset), next);
            }
            // TBB and TBH.
            _ => self.interpret(),
        }
        false
    }

    fn loop_end(&mut self, forever: bool, target: u32, next: u32) {
        if forever {
            self.go(target);
            return;
        }
        let count = self.register(LR);
        let again = self
            .builder
            .ins()
            .icmp_imm(IntCC::UnsignedGreaterThan, count, 1);
        let less = self.builder.ins().iadd_imm(count, -1);
        let count = self.builder.ins().select(again, less, count);
        self.set_register(LR, count);
        self.go_if(again, target, next);
    }

    fn link(&mut self, next: u32) {
        let address = self.constant(next | 1);
        self.set_register(LR, address);
    }

    /// On Armv8-M, a stack pointer that would fall below its limit is for the interpreter.
    pub(super) fn check_stack_pointer(&mut self, value: Value) {
        let event = self.event();
        self.check_loaded_stack_pointer(value, event);
    }

    /// The same of one that was loaded; the load was recorded from `event` on.
    pub(super) fn check_loaded_stack_pointer(&mut self, value: Value, event: Value) {
        if !self.features.is_armv8() {
            return;
        }
        let value = self.builder.ins().band_imm(value, !3);
        let limit = self.stack_limit();
        let below = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, value, limit);
        self.leave_unrecorded_if(below, event);
    }
}
