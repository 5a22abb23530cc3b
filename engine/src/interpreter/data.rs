//! Data processing.

use super::{Execution, Outcome};
use crate::arithmetic::{add_with_carry, shift};
use crate::operation::{
    AluOperation, Comparison, Extension, Operation, Reversal, Selection, SetFlags, Source,
};

impl Execution<'_> {
    pub(super) fn data_processing(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::Alu {
                operation,
                flags,
                rd,
                rn,
                source,
            } => {
                let (b, shifted_out) = self.source(source);
                let (result, c, v) = self.alu(operation, self.register(rn), b, shifted_out);
                self.set_result(rd, result, flags, [c, v])
            }
            Operation::Move {
                not,
                flags,
                rd,
                source,
            } => {
                let (value, carry) = self.source(source);
                let result = if not { !value } else { value };
                self.set_result(rd, result, flags, [carry, self.core.v])
            }
            Operation::Compare {
                comparison,
                rn,
                source,
            } => {
                self.compare(comparison, self.register(rn), source);
                Ok(())
            }
            Operation::ShiftBy {
                kind,
                flags,
                rd,
                rn,
                rm,
            } => {
                let amount = self.register(rm) & 0xff;
                let (result, carry) = shift(kind, self.register(rn), amount, self.core.c);
                self.set_result(rd, result, flags, [carry, self.core.v])
            }
            _ => Ok(()),
        }
    }

    /// The result, the carry and the overflow.
    #[inline]
    fn alu(&self, operation: AluOperation, a: u32, b: u32, shifted_out: u32) -> (u32, u32, u32) {
        let carry = self.core.c;
        let logical = |result| (result, shifted_out, self.core.v);
        match operation {
            AluOperation::And => logical(a & b),
            AluOperation::Bic => logical(a & !b),
            AluOperation::Orr => logical(a | b),
            AluOperation::Orn => logical(a | !b),
            AluOperation::Eor => logical(a ^ b),
            AluOperation::Add => add_with_carry(a, b, 0),
            AluOperation::Adc => add_with_carry(a, b, carry),
            AluOperation::Sub => add_with_carry(a, !b, 1),
            AluOperation::Sbc => add_with_carry(a, !b, carry),
            AluOperation::Rsb => add_with_carry(!a, b, 1),
        }
    }

    #[inline]
    fn set_result(&mut self, rd: u8, result: u32, flags: SetFlags, [c, v]: [u32; 2]) -> Outcome {
        if rd == 15 {
            self.go(result);
            return Ok(());
        }
        self.set_register(rd, result)?;
        let set = match flags {
            SetFlags::No => false,
            SetFlags::Yes => true,
            SetFlags::OutsideIt => !self.in_it_block,
        };
        if set {
            self.set_nz(result);
            self.core.c = c;
            self.core.v = v;
        }
        Ok(())
    }

    fn compare(&mut self, comparison: Comparison, a: u32, source: Source) {
        let (b, shifted_out) = self.source(source);
        let (result, c, v) = match comparison {
            Comparison::Tst => (a & b, shifted_out, self.core.v),
            Comparison::Teq => (a ^ b, shifted_out, self.core.v),
            Comparison::Cmp => add_with_carry(a, !b, 1),
            Comparison::Cmn => add_with_carry(a, b, 0),
        };
        self.set_nz(result);
        self.core.c = c;
        self.core.v = v;
    }

    pub(super) fn bits(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::MoveTop { rd, value } => {
                let low = self.register(rd) & 0xffff;
                self.set_register(rd, low | u32::from(value) << 16)
            }
            Operation::Address { rd, offset } => {
                let base = self.register(15) & !3;
                self.set_register(rd, base.wrapping_add_signed(offset))
            }
            Operation::Extend {
                extension,
                rd,
                rn,
                rm,
                rotation,
            } => {
                let value = self.register(rm).rotate_right(u32::from(rotation));
                let base = rn.map_or(0, |rn| self.register(rn));
                self.set_register(rd, extend(extension, base, value))
            }
            Operation::Reverse { reversal, rd, rm } => {
                let value = self.register(rm);
                let result = match reversal {
                    Reversal::Rev => value.swap_bytes(),
                    Reversal::Rev16 => value.swap_bytes().rotate_left(16),
                    Reversal::Revsh => i32::from((value as u16).swap_bytes() as i16) as u32,
                    Reversal::Rbit => value.reverse_bits(),
                };
                self.set_register(rd, result)
            }
            Operation::CountLeadingZeros { rd, rm } => {
                self.set_register(rd, self.register(rm).leading_zeros())
            }
            Operation::BitFieldInsert { rd, rn, lsb, width } => {
                let mask = mask(width) << lsb;
                let inserted = rn.map_or(0, |rn| self.register(rn)) << lsb & mask;
                self.set_register(rd, self.register(rd) & !mask | inserted)
            }
            Operation::BitFieldExtract {
                signed,
                rd,
                rn,
                lsb,
                width,
            } => {
                let field = self.register(rn) >> lsb & mask(width);
                let unused = 32 - u32::from(width);
                let result = if signed {
                    ((field << unused) as i32 >> unused) as u32
                } else {
                    field
                };
                self.set_register(rd, result)
            }
            Operation::ConditionalSelect {
                selection,
                condition,
                rd,
                rn,
                rm,
            } => {
                let value = |index| if index == 15 { 0 } else { self.register(index) };
                let other = value(rm);
                let result = match selection {
                    _ if self.holds(condition) => value(rn),
                    Selection::Csel => other,
                    Selection::Csinc => other.wrapping_add(1),
                    Selection::Csinv => !other,
                    Selection::Csneg => other.wrapping_neg(),
                };
                self.set_register(rd, result)
            }
            _ => Ok(()),
        }
    }
}

/// The lowest bits, 1 to 32 of them.
fn mask(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width))
}

fn extend(extension: Extension, base: u32, value: u32) -> u32 {
    let halves = |low: u32, high: u32| {
        base.wrapping_add(low) & 0xffff | (base >> 16).wrapping_add(high) << 16
    };
    match extension {
        Extension::Sxtb => base.wrapping_add_signed(i32::from(value as i8)),
        Extension::Sxth => base.wrapping_add_signed(i32::from(value as i16)),
        Extension::Uxtb => base.wrapping_add(value & 0xff),
        Extension::Uxth => base.wrapping_add(value & 0xffff),
        Extension::Sxtb16 => halves(
            i32::from(value as i8) as u32,
            i32::from((value >> 16) as i8) as u32,
        ),
        Extension::Uxtb16 => halves(value & 0xff, value >> 16 & 0xff),
    }
}
