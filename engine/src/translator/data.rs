//! Data processing.

use super::emit::Emitter;
use super::flags::Flags;
use crate::operation::{
    AluOperation, Comparison, Extension, Operation, Reversal, Selection, SetFlags, ShiftKind,
    Shifted, Source,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
    /// Whether the next instruction follows.
    pub(super) fn data_processing(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Alu {
                operation,
                flags,
                rd,
                rn,
                source,
            } => {
                let sets = self.sets(flags);
                let (b, carry) = self.source(source, sets);
                let a = self.register(rn);
                if rd == 13 {
                    let result = self.alu(operation, a, b, None, false);
                    self.check_stack_pointer(result);
                }
                let result = self.alu(operation, a, b, carry, sets);
                return self.set_result(rd, result);
            }
            Operation::Move {
                not,
                flags,
                rd,
                source,
            } => {
                let sets = self.sets(flags);
                let (value, carry) = self.source(source, sets);
                let result = if not {
                    self.builder.ins().bnot(value)
                } else {
                    value
                };
                if rd == 13 {
                    self.check_stack_pointer(result);
                }
                if sets {
                    self.set_logical(result, carry);
                }
                return self.set_result(rd, result);
            }
            Operation::Compare {
                comparison,
                rn,
                source,
            } => {
                let (b, carry) = self.source(source, true);
                let a = self.register(rn);
                let operation = match comparison {
                    Comparison::Tst => AluOperation::And,
                    Comparison::Teq => AluOperation::Eor,
                    Comparison::Cmp => AluOperation::Sub,
                    Comparison::Cmn => AluOperation::Add,
                };
                self.alu(operation, a, b, carry, true);
            }
            Operation::ShiftBy {
                kind,
                flags,
                rd,
                rn,
                rm,
            } => self.shift_by(kind, flags, rd, rn, rm),
            _ => self.bits(operation),
        }
        true
    }

    fn set_result(&mut self, rd: u8, result: Value) -> bool {
        if rd == 15 {
            let target = self.builder.ins().band_imm(result, !1);
            self.go_indirect(target);
            return false;
        }
        self.set_register(rd, result);
        true
    }

    fn set_logical(&mut self, result: Value, carry: Option<Value>) {
        self.set_nz(result);
        if let Some(carry) = carry {
            self.set_carry(carry);
        }
    }

    /// The flexible operand, and where it is asked for, the carry that comes with it, if it is
    /// another one.
    fn source(&mut self, source: Source, with_carry: bool) -> (Value, Option<Value>) {
        match source {
            Source::Immediate { value, carry } => {
                let carry = carry.map(|carry| self.constant(carry.into()));
                (self.constant(value), carry)
            }
            Source::Register(shifted) => self.shifted(shifted, with_carry),
        }
    }

    pub(super) fn shifted(
        &mut self,
        Shifted { rm, kind, amount }: Shifted,
        with_carry: bool,
    ) -> (Value, Option<Value>) {
        let value = self.register(rm);
        let amount = i64::from(amount);
        if kind == ShiftKind::Lsl && amount == 0 {
            return (value, None);
        }
        let result = match kind {
            ShiftKind::Lsl => self.builder.ins().ishl_imm(value, amount),
            ShiftKind::Lsr if amount == 32 => self.constant(0),
            ShiftKind::Lsr => self.builder.ins().ushr_imm(value, amount),
            ShiftKind::Asr => self.builder.ins().sshr_imm(value, amount.min(31)),
            ShiftKind::Ror => self.builder.ins().rotr_imm(value, amount),
            ShiftKind::Rrx => {
                let carry = self.carry();
                let top = self.builder.ins().ishl_imm(carry, 31);
                let rest = self.builder.ins().ushr_imm(value, 1);
                self.builder.ins().bor(top, rest)
            }
        };
        let carry = with_carry.then(|| {
            let bit = match kind {
                ShiftKind::Lsl => 32 - amount,
                ShiftKind::Rrx => 0,
                _ => amount - 1,
            };
            let bit = self.builder.ins().ushr_imm(value, bit);
            self.builder.ins().band_imm(bit, 1)
        });
        (result, carry)
    }

    fn alu(
        &mut self,
        operation: AluOperation,
        a: Value,
        b: Value,
        carry: Option<Value>,
        sets: bool,
    ) -> Value {
        use AluOperation as A;
        let result = match operation {
            A::And => self.builder.ins().band(a, b),
            A::Bic => self.builder.ins().band_not(a, b),
            A::Orr => self.builder.ins().bor(a, b),
            A::Orn => self.builder.ins().bor_not(a, b),
            A::Eor => self.builder.ins().bxor(a, b),
            A::Add => self.builder.ins().iadd(a, b),
            A::Sub => self.builder.ins().isub(a, b),
            A::Rsb => self.builder.ins().isub(b, a),
            A::Adc | A::Sbc => {
                let b = match operation {
                    A::Sbc => self.builder.ins().bnot(b),
                    _ => b,
                };
                return self.add_carry(a, b, sets);
            }
        };
        if sets {
            match operation {
                A::Add => self.set_flags_of_sum(a, b, result),
                A::Sub => self.set_flags_of_difference(a, b, result),
                A::Rsb => self.set_flags_of_difference(b, a, result),
                _ => self.set_logical(result, carry),
            }
        }
        result
    }

    fn set_flags_of_sum(&mut self, a: Value, b: Value, result: Value) {
        let carry = self.builder.ins().icmp(IntCC::UnsignedLessThan, result, a);
        let carry = self.builder.ins().uextend(I32, carry);
        self.set_nz(result);
        self.set_carry_of_sum(carry, a, b, result);
    }

    /// Sets C, and V from the sum.
    fn set_carry_of_sum(&mut self, carry: Value, a: Value, b: Value, result: Value) {
        let x = self.builder.ins().bxor(a, result);
        let y = self.builder.ins().bxor(b, result);
        let both = self.builder.ins().band(x, y);
        let overflow = self.builder.ins().ushr_imm(both, 31);
        self.set_carry_and_overflow(carry, overflow);
    }

    fn set_flags_of_difference(&mut self, a: Value, b: Value, result: Value) {
        self.set_nz(result);
        self.set_compared(a, b);
        self.flags = Flags::Difference(a, b);
    }

    fn add_carry(&mut self, a: Value, b: Value, sets: bool) -> Value {
        let carry = self.carry();
        let wide = [a, b, carry].map(|value| self.builder.ins().uextend(I64, value));
        let sum = self.builder.ins().iadd(wide[0], wide[1]);
        let sum = self.builder.ins().iadd(sum, wide[2]);
        let result = self.builder.ins().ireduce(I32, sum);
        if sets {
            let carry = self.builder.ins().ushr_imm(sum, 32);
            let carry = self.builder.ins().ireduce(I32, carry);
            self.set_nz(result);
            self.set_carry_of_sum(carry, a, b, result);
        }
        result
    }

    /// A shift by the lowest byte of a register, in 64 bits: by more than 63 is by 63.
    fn shift_by(&mut self, kind: ShiftKind, flags: SetFlags, rd: u8, rn: u8, rm: u8) {
        let value = self.register(rn);
        let amount = self.register(rm);
        let amount = self.builder.ins().band_imm(amount, 0xff);
        let old_carry = self.carry();
        let (result, carry) = if kind == ShiftKind::Ror {
            let result = self.builder.ins().rotr(value, amount);
            (result, self.builder.ins().ushr_imm(result, 31))
        } else {
            self.wide_shift(kind, value, amount)
        };
        if self.sets(flags) {
            let none = self.builder.ins().icmp_imm(IntCC::Equal, amount, 0);
            let carry = self.builder.ins().select(none, old_carry, carry);
            self.set_logical(result, Some(carry));
        }
        self.set_register(rd, result);
    }

    fn wide_shift(&mut self, kind: ShiftKind, value: Value, amount: Value) -> (Value, Value) {
        let most = self.constant(63);
        let amount = self.builder.ins().umin(amount, most);
        if kind == ShiftKind::Lsl {
            let wide = self.builder.ins().uextend(I64, value);
            let wide = self.builder.ins().ishl(wide, amount);
            let carry = self.builder.ins().ushr_imm(wide, 32);
            let carry = self.builder.ins().ireduce(I32, carry);
            let carry = self.builder.ins().band_imm(carry, 1);
            return (self.builder.ins().ireduce(I32, wide), carry);
        }
        // One bit to the left, so that the last bit that is shifted out stays.
        let wide = if kind == ShiftKind::Asr {
            let wide = self.builder.ins().sextend(I64, value);
            let wide = self.builder.ins().ishl_imm(wide, 1);
            self.builder.ins().sshr(wide, amount)
        } else {
            let wide = self.builder.ins().uextend(I64, value);
            let wide = self.builder.ins().ishl_imm(wide, 1);
            self.builder.ins().ushr(wide, amount)
        };
        let carry = self.builder.ins().ireduce(I32, wide);
        let carry = self.builder.ins().band_imm(carry, 1);
        let result = self.builder.ins().ushr_imm(wide, 1);
        (self.builder.ins().ireduce(I32, result), carry)
    }

    fn bits(&mut self, operation: &Operation) {
        match *operation {
            Operation::MoveTop { rd, value } => {
                let low = self.register(rd);
                let low = self.builder.ins().band_imm(low, 0xffff);
                let result = self.builder.ins().bor_imm(low, i64::from(value) << 16);
                self.set_register(rd, result);
            }
            Operation::Address { rd, offset } => {
                let base = self.current.pc.wrapping_add(4) & !3;
                let result = self.constant(base.wrapping_add_signed(offset));
                self.set_register(rd, result);
            }
            Operation::Extend {
                extension,
                rd,
                rn,
                rm,
                rotation,
            } => {
                let value = self.register(rm);
                let value = self.builder.ins().rotr_imm(value, i64::from(rotation));
                let base = rn.map(|rn| self.register(rn));
                let result = self.extend(extension, base, value);
                self.set_register(rd, result);
            }
            Operation::Reverse { reversal, rd, rm } => {
                let value = self.register(rm);
                let result = self.reverse(reversal, value);
                self.set_register(rd, result);
            }
            Operation::CountLeadingZeros { rd, rm } => {
                let value = self.register(rm);
                let result = self.builder.ins().clz(value);
                self.set_register(rd, result);
            }
            Operation::BitFieldInsert { rd, rn, lsb, width } => {
                let mask = (u32::MAX >> (32 - u32::from(width))) << lsb;
                let old = self.register(rd);
                let mut result = self.builder.ins().band_imm(old, i64::from(!mask));
                if let Some(rn) = rn {
                    let new = self.register(rn);
                    let new = self.builder.ins().ishl_imm(new, i64::from(lsb));
                    let new = self.builder.ins().band_imm(new, i64::from(mask));
                    result = self.builder.ins().bor(result, new);
                }
                self.set_register(rd, result);
            }
            Operation::BitFieldExtract {
                signed,
                rd,
                rn,
                lsb,
                width,
            } => {
                let value = self.register(rn);
                let (lsb, unused) = (i64::from(lsb), i64::from(32 - width));
                let value = self.builder.ins().ishl_imm(value, unused - lsb);
                let result = if signed {
                    self.builder.ins().sshr_imm(value, unused)
                } else {
                    self.builder.ins().ushr_imm(value, unused)
                };
                self.set_register(rd, result);
            }
            Operation::ConditionalSelect {
                selection,
                condition,
                rd,
                rn,
                rm,
            } => {
                let [first, other] = [rn, rm].map(|index| match index {
                    15 => self.constant(0),
                    index => self.register(index),
                });
                let other = match selection {
                    Selection::Csel => other,
                    Selection::Csinc => self.builder.ins().iadd_imm(other, 1),
                    Selection::Csinv => self.builder.ins().bnot(other),
                    Selection::Csneg => self.builder.ins().ineg(other),
                };
                let holds = self.condition(condition);
                let result = self.builder.ins().select(holds, first, other);
                self.set_register(rd, result);
            }
            _ => {}
        }
    }

    fn extend(&mut self, extension: Extension, base: Option<Value>, value: Value) -> Value {
        let extended = match extension {
            Extension::Sxtb => self.sign_extend(value, 24),
            Extension::Sxth => self.sign_extend(value, 16),
            Extension::Uxtb => self.builder.ins().band_imm(value, 0xff),
            Extension::Uxth => self.builder.ins().band_imm(value, 0xffff),
            Extension::Uxtb16 => self.builder.ins().band_imm(value, 0x00ff_00ff),
            Extension::Sxtb16 => {
                let low = self.builder.ins().ireduce(I8, value);
                let low = self.builder.ins().sextend(I16, low);
                let low = self.builder.ins().uextend(I32, low);
                let high = self.builder.ins().ishl_imm(value, 8);
                let high = self.builder.ins().sshr_imm(high, 8);
                let high = self.builder.ins().band_imm(high, 0xffff_0000);
                self.builder.ins().bor(low, high)
            }
        };
        let Some(base) = base else {
            return extended;
        };
        if !matches!(extension, Extension::Sxtb16 | Extension::Uxtb16) {
            return self.builder.ins().iadd(base, extended);
        }
        let low = self.builder.ins().iadd(base, extended);
        let low = self.builder.ins().band_imm(low, 0xffff);
        let [base, extended] =
            [base, extended].map(|value| self.builder.ins().band_imm(value, 0xffff_0000));
        let high = self.builder.ins().iadd(base, extended);
        self.builder.ins().bor(low, high)
    }

    fn sign_extend(&mut self, value: Value, unused: i64) -> Value {
        let value = self.builder.ins().ishl_imm(value, unused);
        self.builder.ins().sshr_imm(value, unused)
    }

    fn reverse(&mut self, reversal: Reversal, value: Value) -> Value {
        match reversal {
            Reversal::Rev => self.builder.ins().bswap(value),
            Reversal::Rev16 => {
                let value = self.builder.ins().bswap(value);
                self.builder.ins().rotl_imm(value, 16)
            }
            Reversal::Revsh => {
                let value = self.builder.ins().bswap(value);
                self.builder.ins().sshr_imm(value, 16)
            }
            Reversal::Rbit => self.builder.ins().bitrev(value),
        }
    }
}
