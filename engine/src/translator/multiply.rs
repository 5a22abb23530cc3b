//! Multiplication, division, and the DSP extension's parallel arithmetic.

use super::emit::Emitter;
use crate::core::Core;
use crate::operation::{Accumulation, Operation, Shifted};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    /// Emits an instruction if it is of this kind.
    pub(super) fn multiplication(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Multiply { flags, rd, rn, rm } => {
                let (n, m) = (self.register(rn), self.register(rm));
                let result = self.builder.ins().imul(n, m);
                if self.sets(flags) {
                    self.set_nz(result);
                }
                self.set_register(rd, result);
            }
            Operation::MultiplyAdd {
                subtract,
                rd,
                rn,
                rm,
                ra,
            } => {
                let (n, m, a) = (self.register(rn), self.register(rm), self.register(ra));
                let product = self.builder.ins().imul(n, m);
                let result = if subtract {
                    self.builder.ins().isub(a, product)
                } else {
                    self.builder.ins().iadd(a, product)
                };
                self.set_register(rd, result);
            }
            Operation::MultiplyLong {
                signed,
                accumulation,
                lo,
                hi,
                rn,
                rm,
            } => self.multiply_long(signed, accumulation, [lo, hi], [rn, rm]),
            Operation::Divide { signed, rd, rn, rm } => self.divide(signed, rd, rn, rm),
            _ => return self.product_of_halves(operation),
        }
        true
    }

    fn product_of_halves(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::MultiplyHalves {
                rd,
                rn,
                rm,
                ra,
                n_top,
                m_top,
            } => {
                let n = self.half(rn, n_top);
                let m = self.half(rm, m_top);
                let product = self.builder.ins().imul(n, m);
                self.accumulate(rd, product, ra);
            }
            Operation::MultiplyWordByHalf {
                rd,
                rn,
                rm,
                ra,
                m_top,
            } => {
                let n = self.signed(rn);
                let m = self.half(rm, m_top);
                let m = self.builder.ins().sextend(I64, m);
                let product = self.builder.ins().imul(n, m);
                let product = self.builder.ins().sshr_imm(product, 16);
                let product = self.builder.ins().ireduce(I32, product);
                self.accumulate(rd, product, ra);
            }
            Operation::MultiplyDual {
                subtract,
                exchange,
                rd,
                rn,
                rm,
                ra,
            } => self.multiply_dual(subtract, exchange, rd, [rn, rm], ra),
            Operation::MultiplyHalvesLong {
                lo,
                hi,
                rn,
                rm,
                n_top,
                m_top,
            } => {
                let n = self.half(rn, n_top);
                let m = self.half(rm, m_top);
                let product = self.builder.ins().imul(n, m);
                let product = self.builder.ins().sextend(I64, product);
                let sum = self.long(lo, hi);
                let sum = self.builder.ins().iadd(sum, product);
                self.set_long(lo, hi, sum);
            }
            Operation::MultiplyDualLong {
                subtract,
                exchange,
                lo,
                hi,
                rn,
                rm,
            } => {
                let product = self.dual(subtract, exchange, [rn, rm]);
                let sum = self.long(lo, hi);
                let sum = self.builder.ins().iadd(sum, product);
                self.set_long(lo, hi, sum);
            }
            Operation::MultiplyTop {
                subtract,
                round,
                rd,
                rn,
                rm,
                ra,
            } => self.multiply_top(subtract, round, rd, [rn, rm], ra),
            _ => return self.parallel(operation),
        }
        true
    }

    fn signed(&mut self, index: u8) -> Value {
        let value = self.register(index);
        self.builder.ins().sextend(I64, value)
    }

    /// A half of a register, as a signed word.
    fn half(&mut self, index: u8, top: bool) -> Value {
        let value = self.register(index);
        let value = if top {
            value
        } else {
            self.builder.ins().ishl_imm(value, 16)
        };
        self.builder.ins().sshr_imm(value, 16)
    }

    fn long(&mut self, lo: u8, hi: u8) -> Value {
        let (lo, hi) = (self.register(lo), self.register(hi));
        let lo = self.builder.ins().uextend(I64, lo);
        let hi = self.builder.ins().uextend(I64, hi);
        let hi = self.builder.ins().ishl_imm(hi, 32);
        self.builder.ins().bor(hi, lo)
    }

    fn set_long(&mut self, lo: u8, hi: u8, value: Value) {
        let low = self.builder.ins().ireduce(I32, value);
        let high = self.builder.ins().ushr_imm(value, 32);
        let high = self.builder.ins().ireduce(I32, high);
        self.set_register(lo, low);
        self.set_register(hi, high);
    }

    fn multiply_long(
        &mut self,
        signed: bool,
        accumulation: Accumulation,
        [lo, hi]: [u8; 2],
        factors: [u8; 2],
    ) {
        let [n, m] = factors.map(|index| {
            let value = self.register(index);
            if signed {
                self.builder.ins().sextend(I64, value)
            } else {
                self.builder.ins().uextend(I64, value)
            }
        });
        let product = self.builder.ins().imul(n, m);
        let result = match accumulation {
            Accumulation::None => product,
            Accumulation::Long => {
                let sum = self.long(lo, hi);
                self.builder.ins().iadd(product, sum)
            }
            Accumulation::BothWords => [lo, hi].into_iter().fold(product, |sum, index| {
                let word = self.register(index);
                let word = self.builder.ins().uextend(I64, word);
                self.builder.ins().iadd(sum, word)
            }),
        };
        self.set_long(lo, hi, result);
    }

    /// By zero it gives zero; in 64 bits the one division that overflows does not.
    fn divide(&mut self, signed: bool, rd: u8, rn: u8, rm: u8) {
        let divisor = self.register(rm);
        let zero = self.builder.ins().icmp_imm(IntCC::Equal, divisor, 0);
        let one = self.constant(1);
        let divisor = self.builder.ins().select(zero, one, divisor);
        let dividend = self.register(rn);
        let quotient = if signed {
            let n = self.builder.ins().sextend(I64, dividend);
            let m = self.builder.ins().sextend(I64, divisor);
            let quotient = self.builder.ins().sdiv(n, m);
            self.builder.ins().ireduce(I32, quotient)
        } else {
            self.builder.ins().udiv(dividend, divisor)
        };
        let none = self.constant(0);
        let result = self.builder.ins().select(zero, none, quotient);
        self.set_register(rd, result);
    }

    /// Adds a signed word, and sets Q where the sum is none.
    fn accumulate(&mut self, rd: u8, product: Value, ra: Option<u8>) {
        let Some(ra) = ra else {
            self.set_register(rd, product);
            return;
        };
        let product = self.builder.ins().sextend(I64, product);
        let addend = self.signed(ra);
        let sum = self.builder.ins().iadd(product, addend);
        self.set_sum(rd, sum);
    }

    /// Sets a register to the lower word of a sum, and Q where that is not all.
    fn set_sum(&mut self, rd: u8, sum: Value) {
        let result = self.builder.ins().ireduce(I32, sum);
        let again = self.builder.ins().sextend(I64, result);
        let overflow = self.builder.ins().icmp(IntCC::NotEqual, sum, again);
        self.saturated(overflow);
        self.set_register(rd, result);
    }

    /// Sets Q where this is so.
    fn saturated(&mut self, overflow: Value) {
        let overflow = self.builder.ins().uextend(I32, overflow);
        let q = self.load_core(I32, offset_of!(Core, q));
        let q = self.builder.ins().bor(q, overflow);
        self.store_core(q, offset_of!(Core, q));
    }

    /// The sum or difference of the products of both halves, in 64 bits.
    fn dual(&mut self, subtract: bool, exchange: bool, [rn, rm]: [u8; 2]) -> Value {
        let [low, high] = [false, true].map(|top| {
            let n = self.half(rn, top);
            let m = self.half(rm, top != exchange);
            let product = self.builder.ins().imul(n, m);
            self.builder.ins().sextend(I64, product)
        });
        if subtract {
            self.builder.ins().isub(low, high)
        } else {
            self.builder.ins().iadd(low, high)
        }
    }

    fn multiply_dual(
        &mut self,
        subtract: bool,
        exchange: bool,
        rd: u8,
        factors: [u8; 2],
        ra: Option<u8>,
    ) {
        let product = self.dual(subtract, exchange, factors);
        let sum = match ra {
            Some(ra) => {
                let addend = self.signed(ra);
                self.builder.ins().iadd(product, addend)
            }
            None => product,
        };
        self.set_sum(rd, sum);
    }

    fn multiply_top(
        &mut self,
        subtract: bool,
        round: bool,
        rd: u8,
        [rn, rm]: [u8; 2],
        ra: Option<u8>,
    ) {
        let (n, m) = (self.signed(rn), self.signed(rm));
        let product = self.builder.ins().imul(n, m);
        let addend = match ra {
            Some(ra) => {
                let addend = self.signed(ra);
                self.builder.ins().ishl_imm(addend, 32)
            }
            None => self.builder.ins().iconst(I64, 0),
        };
        let sum = if subtract {
            self.builder.ins().isub(addend, product)
        } else {
            self.builder.ins().iadd(addend, product)
        };
        let sum = self.builder.ins().iadd_imm(sum, i64::from(round) << 31);
        let result = self.builder.ins().ushr_imm(sum, 32);
        let result = self.builder.ins().ireduce(I32, result);
        self.set_register(rd, result);
    }

    fn parallel(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Saturate {
                signed,
                bits,
                rd,
                source,
            } => self.saturate(signed, bits, rd, source),
            Operation::Pack {
                top,
                rd,
                rn,
                source,
            } => {
                let n = self.register(rn);
                let (m, _) = self.shifted(source, false);
                let (upper, lower) = if top { (n, m) } else { (m, n) };
                let upper = self.builder.ins().band_imm(upper, 0xffff_0000);
                let lower = self.builder.ins().band_imm(lower, 0xffff);
                let result = self.builder.ins().bor(upper, lower);
                self.set_register(rd, result);
            }
            // The interpreter computes these, with their operands in the core's registers.
            Operation::Parallel { rd, rn, rm, .. }
            | Operation::SaturatingAdd { rd, rn, rm, .. }
            | Operation::Select { rd, rn, rm } => self.compute(operation, rd, &[rn, rm]),
            Operation::SaturateHalves { rd, rn, .. } => self.compute(operation, rd, &[rn]),
            Operation::SumOfDifferences { rd, rn, rm, ra } => match ra {
                Some(ra) => self.compute(operation, rd, &[rn, rm, ra]),
                None => self.compute(operation, rd, &[rn, rm]),
            },
            _ => return false,
        }
        true
    }

    fn saturate(&mut self, signed: bool, bits: u8, rd: u8, source: Shifted) {
        let (value, _) = self.shifted(source, false);
        let value = self.builder.ins().sextend(I64, value);
        let (low, high) = if signed {
            (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1)
        } else {
            (0, (1_i64 << bits) - 1)
        };
        let low = self.builder.ins().iconst(I64, low);
        let high = self.builder.ins().iconst(I64, high);
        let result = self.builder.ins().smax(value, low);
        let result = self.builder.ins().smin(result, high);
        let changed = self.builder.ins().icmp(IntCC::NotEqual, result, value);
        self.saturated(changed);
        let result = self.builder.ins().ireduce(I32, result);
        self.set_register(rd, result);
    }

    fn compute(&mut self, operation: &Operation, rd: u8, sources: &[u8]) {
        for &index in sources {
            let value = self.register(index);
            self.store_core(value, offset_of!(Core, r) + 4 * usize::from(index));
        }
        self.call_interpreter(operation);
        let result = self.load_core(I32, offset_of!(Core, r) + 4 * usize::from(rd));
        self.set_register(rd, result);
    }
}
