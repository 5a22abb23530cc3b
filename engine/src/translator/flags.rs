//! The flags, and whether conditions hold.

use super::emit::Emitter;
use crate::operation::{Condition, SetFlags};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32};
use cranelift_codegen::ir::{InstBuilder, Value};

/// The last instruction that set the flags, where a condition can be had from its operands.
#[derive(Clone, Copy)]
pub(super) enum Flags {
    /// Only from the flags themselves.
    Stored,
    /// It was the subtraction of these.
    Difference(Value, Value),
}

impl Emitter<'_, '_> {
    /// C, 0 or 1.
    pub(super) fn carry(&mut self) -> Value {
        let [a, b] = self.compared();
        let code = IntCC::UnsignedGreaterThanOrEqual;
        let carry = self.builder.ins().icmp(code, a, b);
        self.builder.ins().uextend(I32, carry)
    }

    /// V, 0 or 1.
    pub(super) fn overflow(&mut self) -> Value {
        let word = self.overflow_word();
        self.builder.ins().ushr_imm(word, 31)
    }

    /// A word that is negative where V is 1.
    fn overflow_word(&mut self) -> Value {
        let [a, b] = self.compared();
        let difference = self.builder.ins().isub(a, b);
        let x = self.builder.ins().bxor(a, b);
        let y = self.builder.ins().bxor(a, difference);
        self.builder.ins().band(x, y)
    }

    fn compared(&mut self) -> [Value; 2] {
        self.state.compared.map(|it| self.get(it))
    }

    /// Sets C and V as the subtraction of these does.
    pub(super) fn set_compared(&mut self, a: Value, b: Value) {
        let [first, second] = self.state.compared;
        self.set(first, a);
        self.set(second, b);
    }

    /// Sets N and Z by a result.
    pub(super) fn set_nz(&mut self, result: Value) {
        self.set(self.state.negative, result);
        self.set(self.state.zero, result);
        self.flags = Flags::Stored;
    }

    /// Sets N and Z from flags of 0 or 1.
    pub(super) fn set_nz_bits(&mut self, negative: Value, zero: Value) {
        let negative = self.builder.ins().ineg(negative);
        let zero = self.builder.ins().bxor_imm(zero, 1);
        self.set(self.state.negative, negative);
        self.set(self.state.zero, zero);
        self.flags = Flags::Stored;
    }

    /// Sets C, 0 or 1.
    pub(super) fn set_carry(&mut self, carry: Value) {
        let overflow = self.overflow();
        self.set_carry_and_overflow(carry, overflow);
    }

    /// Sets C and V, each 0 or 1: with C less 1 where V is 0, and where it is 1, with the greatest
    /// number less -1 or the least less 1.
    pub(super) fn set_carry_and_overflow(&mut self, carry: Value, overflow: Value) {
        let mask = self.builder.ins().ineg(overflow);
        let greatest = self.builder.ins().ushr_imm(mask, 1);
        let a = self.builder.ins().iadd(greatest, carry);
        let clear = self.builder.ins().bxor_imm(carry, 1);
        let negative = self.builder.ins().band(overflow, clear);
        let twice = self.builder.ins().ishl_imm(negative, 1);
        let one = self.constant(1);
        let b = self.builder.ins().isub(one, twice);
        self.set_compared(a, b);
        self.flags = Flags::Stored;
    }

    /// Whether an instruction sets the flags here.
    pub(super) fn sets(&self, flags: SetFlags) -> bool {
        match flags {
            SetFlags::No => false,
            SetFlags::Yes => true,
            SetFlags::OutsideIt => self.current.it == 0,
        }
    }

    /// Whether a condition holds.
    pub(super) fn condition(&mut self, condition: Condition) -> Value {
        if let Flags::Difference(a, b) = self.flags
            && let Some(code) = comparison(condition)
        {
            return self.builder.ins().icmp(code, a, b);
        }
        let holds = self.stored_condition(condition);
        if condition as u8 & 1 == 1 {
            self.builder.ins().bxor_imm(holds, 1)
        } else {
            holds
        }
    }

    /// Whether the even one of a pair of conditions holds, by the flags.
    fn stored_condition(&mut self, condition: Condition) -> Value {
        use Condition as C;
        let negative = self.get(self.state.negative);
        let zero = self.get(self.state.zero);
        let [a, b] = self.compared();
        let carry = IntCC::UnsignedGreaterThanOrEqual;
        match condition {
            C::Eq | C::Ne => self.builder.ins().icmp_imm(IntCC::Equal, zero, 0),
            C::Cs | C::Cc => self.builder.ins().icmp(carry, a, b),
            C::Mi | C::Pl => self.is_negative(negative),
            C::Vs | C::Vc => {
                let overflow = self.overflow_word();
                self.is_negative(overflow)
            }
            C::Hi | C::Ls => {
                let carry = self.builder.ins().icmp(carry, a, b);
                let different = self.builder.ins().icmp_imm(IntCC::NotEqual, zero, 0);
                self.builder.ins().band(carry, different)
            }
            C::Ge | C::Lt => self.not_less(negative),
            C::Gt | C::Le => {
                let not_less = self.not_less(negative);
                let different = self.builder.ins().icmp_imm(IntCC::NotEqual, zero, 0);
                self.builder.ins().band(not_less, different)
            }
            C::Al => self.builder.ins().iconst(I8, 1),
        }
    }

    fn is_negative(&mut self, word: Value) -> Value {
        self.builder.ins().icmp_imm(IntCC::SignedLessThan, word, 0)
    }

    /// Whether N and V are the same.
    fn not_less(&mut self, negative: Value) -> Value {
        let overflow = self.overflow_word();
        let other = self.builder.ins().bxor(negative, overflow);
        let code = IntCC::SignedGreaterThanOrEqual;
        self.builder.ins().icmp_imm(code, other, 0)
    }
}

fn comparison(condition: Condition) -> Option<IntCC> {
    use Condition as C;
    Some(match condition {
        C::Eq => IntCC::Equal,
        C::Ne => IntCC::NotEqual,
        C::Cs => IntCC::UnsignedGreaterThanOrEqual,
        C::Cc => IntCC::UnsignedLessThan,
        C::Hi => IntCC::UnsignedGreaterThan,
        C::Ls => IntCC::UnsignedLessThanOrEqual,
        C::Ge => IntCC::SignedGreaterThanOrEqual,
        C::Lt => IntCC::SignedLessThan,
        C::Gt => IntCC::SignedGreaterThan,
        C::Le => IntCC::SignedLessThanOrEqual,
        _ => return None,
    })
}
