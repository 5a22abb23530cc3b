//! Branches.

use super::{Execution, Flow, address};
use crate::fault::Fault;
use crate::operation::{Operation, Width};

const LR: u8 = 14;

impl Execution<'_> {
    pub(super) fn branch(&mut self, operation: &Operation) -> Result<Flow, Fault> {
        match *operation {
            Operation::Branch { condition, offset } => {
                if self.holds(condition) {
                    self.go(self.relative(offset));
                }
                if self.next == self.pc {
                    return Ok(Flow::Loop);
                }
            }
            Operation::BranchLink { offset } => {
                self.link()?;
                self.go(self.relative(offset));
            }
            Operation::BranchExchange { link, rm } => {
                let target = self.register(rm);
                if link {
                    self.link()?;
                }
                self.go_exchanging(target)?;
            }
            Operation::CompareBranch {
                nonzero,
                rn,
                offset,
            } if (self.register(rn) != 0) == nonzero => self.go(self.relative(offset)),
            Operation::TableBranch { half, rn, rm } => {
                let width = if half { Width::Half } else { Width::Byte };
                let address = address::of_entry(self.core, rn, rm, half);
                let entry = self.load(width, false, address)?;
                self.go(self.pc.wrapping_add(4).wrapping_add(2 * entry));
            }
            Operation::IfThen { state } => {
                self.core.it = u32::from(state);
                self.memory.is_first_in_block = true;
            }
            Operation::LoopStart { rn, skip } => {
                let count = self.register(rn);
                match (count, skip) {
                    // Without a loop LR stays.
                    (0, Some(offset)) => self.go(self.relative(offset)),
                    _ => self.set_register(LR, count)?,
                }
            }
            Operation::LoopEnd { forever, offset } => {
                let count = self.register(LR);
                if forever || count > 1 {
                    if !forever {
                        self.set_register(LR, count - 1)?;
                    }
                    self.go(self.relative(-offset));
                }
            }
            _ => {}
        }
        Ok(Flow::Next)
    }

    fn relative(&self, offset: i32) -> u32 {
        self.pc.wrapping_add(4).wrapping_add_signed(offset)
    }

    /// The return address, with the Thumb bit.
    fn link(&mut self) -> Result<(), Fault> {
        self.set_register(LR, self.next | 1)
    }
}
