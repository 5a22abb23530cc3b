//! Floating point: moves, loads and stores, and arithmetic.

use super::{Execution, Outcome, address};
use crate::core::Core;
use crate::fault::Fault;
use crate::float::{self, Arithmetic};
use crate::operation::{FloatBinary, FloatUnary, Operation, Precision, Rounding};

/// What of FPSCR can be written: flags, modes and what was cumulated.
const WRITABLE_STATUS: u32 = 0xf7c0_009f;

impl Execution<'_> {
    pub(super) fn float_move(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::MoveSingle { to_core, rt, s } => self.move_word(to_core, rt, s),
            Operation::MoveSingles {
                to_core,
                rt,
                rt2,
                s,
            } => {
                self.move_word(to_core, rt, s)?;
                self.move_word(to_core, rt2, s + 1)
            }
            Operation::MoveDouble {
                to_core,
                rt,
                rt2,
                d,
            } => {
                self.move_word(to_core, rt, 2 * d)?;
                self.move_word(to_core, rt2, 2 * d + 1)
            }
            Operation::MoveLane {
                to_core,
                rt,
                d,
                top,
            } => self.move_word(to_core, rt, 2 * d + u8::from(top)),
            Operation::ReadFloatStatus { rt: 15 } => {
                self.core.set_flags(self.core.fpscr);
                Ok(())
            }
            Operation::ReadFloatStatus { rt } => self.set_register(rt, self.core.fpscr),
            Operation::WriteFloatStatus { rt } => {
                self.core.fpscr = self.register(rt) & WRITABLE_STATUS;
                Ok(())
            }
            Operation::FloatSelect {
                condition,
                precision,
                d,
                n,
                m,
            } => {
                let from = if self.holds(condition) { n } else { m };
                copy(self.core, precision, d, from, |bits| bits);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn move_word(&mut self, to_core: bool, rt: u8, s: u8) -> Outcome {
        let s = usize::from(s & 31);
        if to_core {
            return self.set_register(rt, self.core.s[s]);
        }
        self.core.s[s] = self.register(rt);
        Ok(())
    }

    pub(super) fn float_access(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::FloatLoad {
                precision,
                d,
                rn,
                offset,
            } => {
                let address = self.float_address(rn, offset)?;
                self.load_float(precision, d, address)
            }
            Operation::FloatStore {
                precision,
                d,
                rn,
                offset,
            } => {
                let address = self.float_address(rn, offset)?;
                self.store_float(precision, d, address)
            }
            Operation::FloatLoadMultiple {
                precision,
                d,
                count,
                rn,
                decrement,
                writeback,
            } => {
                let several = (precision, d, count);
                self.several(several, (rn, decrement, writeback), Self::load_float)
            }
            Operation::FloatStoreMultiple {
                precision,
                d,
                count,
                rn,
                decrement,
                writeback,
            } => {
                let several = (precision, d, count);
                self.several(several, (rn, decrement, writeback), Self::store_float)
            }
            _ => Ok(()),
        }
    }

    fn float_address(&self, rn: u8, offset: i32) -> Result<u32, Fault> {
        let address = address::of_float(self.core, rn, offset);
        self.check_word("VLDR or VSTR", address)?;
        Ok(address)
    }

    fn several(
        &mut self,
        (precision, first, count): (Precision, u8, u8),
        (rn, decrement, writeback): (u8, bool, bool),
        access: fn(&mut Self, Precision, u8, u32) -> Outcome,
    ) -> Outcome {
        let bytes = match precision {
            Precision::Single => 4,
            Precision::Double => 8,
        };
        let (start, base) = address::of_several(self.core, rn, bytes * u32::from(count), decrement);
        self.check_word("VLDM or VSTM", start)?;
        if rn == 13 && writeback && base < self.stack_limit() {
            return Err(Fault::StackLimit { address: base });
        }
        for index in 0..count {
            let address = start.wrapping_add(bytes * u32::from(index));
            access(self, precision, first + index, address)?;
        }
        if writeback {
            self.set_register(rn, base)?;
        }
        Ok(())
    }

    fn load_float(&mut self, precision: Precision, d: u8, address: u32) -> Outcome {
        let moment = self.moment();
        match precision {
            Precision::Single => {
                let bytes = self.memory.load(moment, address)?;
                self.core.s[usize::from(d & 31)] = u32::from_le_bytes(bytes);
            }
            Precision::Double => {
                let bytes = self.memory.load(moment, address)?;
                self.core.set_double(d, u64::from_le_bytes(bytes));
            }
        }
        Ok(())
    }

    fn store_float(&mut self, precision: Precision, d: u8, address: u32) -> Outcome {
        let moment = self.moment();
        match precision {
            Precision::Single => {
                let bytes = self.core.s[usize::from(d & 31)].to_le_bytes();
                self.memory.store(moment, address, bytes)
            }
            Precision::Double => {
                let bytes = self.core.double(d).to_le_bytes();
                self.memory.store(moment, address, bytes)
            }
        }
    }
}

/// A word that holds floating-point registers.
trait Register: Arithmetic {
    fn get(core: &Core, index: u8) -> Self;
    fn set(self, core: &mut Core, index: u8);
}

impl Register for u32 {
    fn get(core: &Core, index: u8) -> Self {
        core.s[usize::from(index & 31)]
    }

    fn set(self, core: &mut Core, index: u8) {
        core.s[usize::from(index & 31)] = self;
    }
}

impl Register for u64 {
    fn get(core: &Core, index: u8) -> Self {
        core.double(index)
    }

    fn set(self, core: &mut Core, index: u8) {
        core.set_double(index, self);
    }
}

fn copy(core: &mut Core, precision: Precision, d: u8, m: u8, change: impl Fn(u64) -> u64) {
    match precision {
        Precision::Single => (change(u32::get(core, m).into()) as u32).set(core, d),
        Precision::Double => change(u64::get(core, m)).set(core, d),
    }
}

/// Executes an instruction that needs nothing but floating-point registers and FPSCR.
pub(super) fn compute(core: &mut Core, operation: &Operation) {
    use Operation as O;
    match *operation {
        O::FloatBinary { precision, .. }
        | O::FloatMultiplyAdd { precision, .. }
        | O::FloatFused { precision, .. }
        | O::FloatUnary { precision, .. }
        | O::FloatCompare { precision, .. }
        | O::FloatToInteger { precision, .. }
        | O::IntegerToFloat { precision, .. }
        | O::FloatFixed { precision, .. }
        | O::FloatRound { precision, .. } => match precision {
            Precision::Single => arithmetic::<u32>(core, operation),
            Precision::Double => arithmetic::<u64>(core, operation),
        },
        O::FloatImmediate { precision, d, bits } => copy(core, precision, d, d, |_| bits),
        O::FloatConvert { to_double, d, m } => convert(core, to_double, d, m),
        O::FloatHalf {
            to_half,
            top,
            precision,
            d,
            m,
        } => match precision {
            Precision::Single => half::<u32>(core, to_half, top, d, m),
            Precision::Double => half::<u64>(core, to_half, top, d, m),
        },
        _ => {}
    }
}

fn convert(core: &mut Core, to_double: bool, d: u8, m: u8) {
    let mut fpscr = core.fpscr;
    if to_double {
        float::convert::<u32, u64>(Register::get(core, m), &mut fpscr).set(core, d);
    } else {
        float::convert::<u64, u32>(Register::get(core, m), &mut fpscr).set(core, d);
    }
    core.fpscr = fpscr;
}

fn half<R: Register>(core: &mut Core, to_half: bool, top: bool, d: u8, m: u8) {
    let mut fpscr = core.fpscr;
    let shift = 16 * u32::from(top);
    if to_half {
        let half: u16 = float::convert(R::get(core, m), &mut fpscr);
        let old = u32::get(core, d) & !(0xffff << shift);
        (old | u32::from(half) << shift).set(core, d);
    } else {
        let half = (u32::get(core, m) >> shift) as u16;
        float::convert::<u16, R>(half, &mut fpscr).set(core, d);
    }
    core.fpscr = fpscr;
}

fn arithmetic<R: Register>(core: &mut Core, operation: &Operation) {
    use Operation as O;
    let mut fpscr = core.fpscr;
    match *operation {
        O::FloatBinary {
            operation, d, n, m, ..
        } => {
            let (a, b) = (R::get(core, n), R::get(core, m));
            let result = match operation {
                FloatBinary::Add => float::add(a, b, &mut fpscr),
                FloatBinary::Sub => float::sub(a, b, &mut fpscr),
                FloatBinary::Mul => float::mul(a, b, &mut fpscr),
                FloatBinary::Nmul => float::negate(float::mul(a, b, &mut fpscr)),
                FloatBinary::Div => float::div(a, b, &mut fpscr),
                FloatBinary::MaxNm => float::max_num(a, b, &mut fpscr),
                FloatBinary::MinNm => float::min_num(a, b, &mut fpscr),
            };
            result.set(core, d);
        }
        O::FloatMultiplyAdd {
            negate_product,
            negate_addend,
            d,
            n,
            m,
            ..
        } => {
            let product = float::mul(R::get(core, n), R::get(core, m), &mut fpscr);
            let product = negated_if(negate_product, product);
            let addend = negated_if(negate_addend, R::get(core, d));
            float::add(addend, product, &mut fpscr).set(core, d);
        }
        O::FloatFused {
            negate_product,
            negate_addend,
            d,
            n,
            m,
            ..
        } => {
            let a = negated_if(negate_product, R::get(core, n));
            let addend = negated_if(negate_addend, R::get(core, d));
            float::mul_add(addend, a, R::get(core, m), &mut fpscr).set(core, d);
        }
        O::FloatUnary {
            operation, d, m, ..
        } => {
            let value = R::get(core, m);
            let result = match operation {
                FloatUnary::Mov => value,
                FloatUnary::Abs => float::absolute(value),
                FloatUnary::Neg => float::negate(value),
                FloatUnary::Sqrt => float::sqrt(value, &mut fpscr),
            };
            result.set(core, d);
        }
        O::FloatCompare { signal, d, m, .. } => {
            let b = m.map_or(R::from_bits(0), |m| R::get(core, m));
            let flags = float::compare(R::get(core, d), b, signal, &mut fpscr);
            fpscr = fpscr & 0x0fff_ffff | flags;
        }
        O::FloatToInteger {
            signed,
            rounding,
            d,
            m,
            ..
        } => float::to_integer(R::get(core, m), signed, rounding, &mut fpscr).set(core, d),
        O::IntegerToFloat { signed, d, m, .. } => {
            let integer = u32::get(core, m);
            float::from_integer::<R>(integer, signed, &mut fpscr).set(core, d);
        }
        O::FloatFixed {
            to_fixed,
            signed,
            bits,
            fraction,
            d,
            ..
        } => {
            let convert = if to_fixed {
                float::to_fixed
            } else {
                float::from_fixed
            };
            let (bits, fraction) = (bits.into(), fraction.into());
            convert(R::get(core, d), signed, bits, fraction, &mut fpscr).set(core, d);
        }
        O::FloatRound {
            rounding,
            exact,
            d,
            m,
            ..
        } => {
            let rounding: Rounding = rounding;
            float::round_to_integral(R::get(core, m), rounding, exact, &mut fpscr).set(core, d);
        }
        _ => {}
    }
    core.fpscr = fpscr;
}

fn negated_if<R: Register>(negate: bool, value: R) -> R {
    if negate { float::negate(value) } else { value }
}
