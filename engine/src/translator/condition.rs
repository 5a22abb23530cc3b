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
