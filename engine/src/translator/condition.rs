//! Whether conditions hold.

use super::emit::{Emitter, Flags};
use crate::operation::Condition;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I8;
use cranelift_codegen::ir::{InstBuilder, Value};

impl Emitter<'_, '_> {
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
        let negative = self.builder.use_var(self.state.negative);
        let zero = self.builder.use_var(self.state.zero);
        let carry = self.builder.use_var(self.state.carry);
        let overflow = self.builder.use_var(self.state.overflow);
        match condition {
            C::Eq | C::Ne => self.builder.ins().icmp_imm(IntCC::Equal, zero, 0),
            C::Cs | C::Cc => self.builder.ins().icmp_imm(IntCC::NotEqual, carry, 0),
            C::Mi | C::Pl => self
                .builder
                .ins()
                .icmp_imm(IntCC::SignedLessThan, negative, 0),
            C::Vs | C::Vc => self.builder.ins().icmp_imm(IntCC::NotEqual, overflow, 0),
            C::Hi | C::Ls => {
                let carry = self.builder.ins().icmp_imm(IntCC::NotEqual, carry, 0);
                let different = self.builder.ins().icmp_imm(IntCC::NotEqual, zero, 0);
                self.builder.ins().band(carry, different)
            }
            C::Ge | C::Lt => self.not_less(negative, overflow),
            C::Gt | C::Le => {
                let not_less = self.not_less(negative, overflow);
                let different = self.builder.ins().icmp_imm(IntCC::NotEqual, zero, 0);
                self.builder.ins().band(not_less, different)
            }
            C::Al => self.builder.ins().iconst(I8, 1),
        }
    }

    fn not_less(&mut self, negative: Value, overflow: Value) -> Value {
        let negative = self.builder.ins().ushr_imm(negative, 31);
        self.builder.ins().icmp(IntCC::Equal, negative, overflow)
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
