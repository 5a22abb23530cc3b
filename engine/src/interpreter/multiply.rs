//! Multiplication and division.

use super::{Execution, Outcome};
use crate::arithmetic::half;
use crate::fault::Fault;
use crate::operation::{Accumulation, Operation, SetFlags};

impl Execution<'_> {
    fn signed(&self, index: u8) -> i64 {
        i64::from(self.register(index) as i32)
    }

    /// The number in two registers.
    fn long(&self, lo: u8, hi: u8) -> u64 {
        u64::from(self.register(hi)) << 32 | u64::from(self.register(lo))
    }

    fn set_long(&mut self, lo: u8, hi: u8, value: u64) -> Outcome {
        self.set_register(lo, value as u32)?;
        self.set_register(hi, (value >> 32) as u32)
    }

    /// Adds, and sets Q where the sum is no signed word.
    fn accumulate(&mut self, rd: u8, product: i64, ra: Option<u8>) -> Outcome {
        let sum = product + ra.map_or(0, |ra| self.signed(ra));
        self.core.q |= u32::from(i64::from(sum as i32) != sum);
        self.set_register(rd, sum as u32)
    }

    /// The sum or difference of the products of both halves.
    fn dual(&self, rn: u8, rm: u8, subtract: bool, exchange: bool) -> i64 {
        let (n, m) = (self.register(rn), self.register(rm));
        let product = |top| i64::from(half(n, top)) * i64::from(half(m, top != exchange));
        if subtract {
            product(false) - product(true)
        } else {
            product(false) + product(true)
        }
    }

    #[expect(clippy::too_many_lines, reason = "one instruction an arm")]
    pub(super) fn multiplication(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::Multiply { flags, rd, rn, rm } => {
                let result = self.register(rn).wrapping_mul(self.register(rm));
                self.set_register(rd, result)?;
                if flags == SetFlags::Yes || flags == SetFlags::OutsideIt && !self.in_it_block {
                    self.set_nz(result);
                }
                Ok(())
            }
            Operation::MultiplyAdd {
                subtract,
                rd,
                rn,
                rm,
                ra,
            } => {
                let product = self.register(rn).wrapping_mul(self.register(rm));
                let addend = self.register(ra);
                let result = if subtract {
                    addend.wrapping_sub(product)
                } else {
                    addend.wrapping_add(product)
                };
                self.set_register(rd, result)
            }
            Operation::MultiplyLong {
                signed,
                accumulation,
                lo,
                hi,
                rn,
                rm,
            } => {
                let product = if signed {
                    self.signed(rn).wrapping_mul(self.signed(rm)) as u64
                } else {
                    u64::from(self.register(rn)) * u64::from(self.register(rm))
                };
                let words = u64::from(self.register(lo)) + u64::from(self.register(hi));
                let addend = match accumulation {
                    Accumulation::None => 0,
                    Accumulation::Long => self.long(lo, hi),
                    Accumulation::BothWords => words,
                };
                self.set_long(lo, hi, product.wrapping_add(addend))
            }
            Operation::Divide { signed, rd, rn, rm } => {
                let (n, m) = (self.register(rn), self.register(rm));
                let result = match m {
                    0 if self.features.traps.division => return Err(Fault::DivisionByZero),
                    0 => 0,
                    _ if signed => (n as i32).wrapping_div(m as i32) as u32,
                    _ => n / m,
                };
                self.set_register(rd, result)
            }
            Operation::MultiplyHalves {
                rd,
                rn,
                rm,
                ra,
                n_top,
                m_top,
            } => {
                let product = half(self.register(rn), n_top) * half(self.register(rm), m_top);
                self.accumulate(rd, i64::from(product), ra)
            }
            Operation::MultiplyWordByHalf {
                rd,
                rn,
                rm,
                ra,
                m_top,
            } => {
                let product = self.signed(rn) * i64::from(half(self.register(rm), m_top));
                self.accumulate(rd, product >> 16, ra)
            }
            Operation::MultiplyDual {
                subtract,
                exchange,
                rd,
                rn,
                rm,
                ra,
            } => {
                let product = self.dual(rn, rm, subtract, exchange);
                self.accumulate(rd, product, ra)
            }
            Operation::MultiplyHalvesLong {
                lo,
                hi,
                rn,
                rm,
                n_top,
                m_top,
            } => {
                let product = half(self.register(rn), n_top) * half(self.register(rm), m_top);
                let sum = self.long(lo, hi).wrapping_add_signed(i64::from(product));
                self.set_long(lo, hi, sum)
            }
            Operation::MultiplyDualLong {
                subtract,
                exchange,
                lo,
                hi,
                rn,
                rm,
            } => {
                let product = self.dual(rn, rm, subtract, exchange);
                let sum = self.long(lo, hi).wrapping_add_signed(product);
                self.set_long(lo, hi, sum)
            }
            Operation::MultiplyTop {
                subtract,
                round,
                rd,
                rn,
                rm,
                ra,
            } => {
                let product = self.signed(rn) * self.signed(rm);
                let addend = ra.map_or(0, |ra| i64::from(self.register(ra)) << 32);
                let sum = if subtract {
                    addend.wrapping_sub(product)
                } else {
                    addend.wrapping_add(product)
                };
                let rounded = sum.wrapping_add(i64::from(round) << 31);
                self.set_register(rd, (rounded >> 32) as u32)
            }
            _ => Ok(()),
        }
    }
}
