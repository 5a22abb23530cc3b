//! Floating-point arithmetic by the host's instructions, for ordinary numbers.
//!
//! The host does what the manual says where numbers are rounded to nearest, none is flushed to
//! zero, and the result is neither infinite nor NaN nor too small: only then could a flag but
//! `inexact` be set, or a NaN be another one. Where `inexact` is set already, it need not be found
//! out. All else is the interpreter's.

use super::emit::Emitter;
use super::translation::host_multiplies_and_adds;
use crate::core::Core;
use crate::float::status::{FLUSH_TO_ZERO, INEXACT, ROUNDING};
use crate::operation::{FloatBinary, Operation, Precision};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use std::mem::offset_of;

/// A format of numbers.
#[derive(Clone, Copy)]
struct Format {
    precision: Precision,
    float: Type,
    bits: Type,
    fraction_bits: u32,
    /// The exponent of infinities and NaNs.
    highest_exponent: i64,
}

impl Format {
    fn of(precision: Precision) -> Self {
        let (float, bits, fraction_bits, highest_exponent) = match precision {
            Precision::Single => (F32, I32, 23, 0xff),
            Precision::Double => (F64, I64, 52, 0x7ff),
        };
        Self {
            precision,
            float,
            bits,
            fraction_bits,
            highest_exponent,
        }
    }

    /// An exponent, where it is in a number without its sign.
    fn exponent(self, exponent: i64) -> i64 {
        exponent << (self.fraction_bits + 1)
    }
}

/// A result of the host, and whether it is the manual's.
type Judged = (Value, Value);

impl Emitter<'_, '_> {
    /// Computes by the host's instructions; false where that is not known.
    pub(super) fn host_arithmetic(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::FloatBinary {
                operation: binary,
                precision,
                d,
                n,
                m,
            } if !matches!(
                binary,
                FloatBinary::MaxNm | FloatBinary::MinNm | FloatBinary::Div
            ) =>
            {
                let format = Format::of(precision);
                let (a, b) = (self.float(format, n), self.float(format, m));
                let result = match binary {
                    FloatBinary::Add => self.sum(format, a, b),
                    FloatBinary::Sub => {
                        let b = self.builder.ins().fneg(b);
                        self.sum(format, a, b)
                    }
                    FloatBinary::Nmul => {
                        let (product, fine) = self.product(format, a, b);
                        (self.builder.ins().fneg(product), fine)
                    }
                    _ => self.product(format, a, b),
                };
                self.keep(format, d, result, operation);
            }
            Operation::FloatMultiplyAdd {
                negate_product,
                negate_addend,
                precision,
                d,
                n,
                m,
            } => {
                let format = Format::of(precision);
                let (a, b) = (self.float(format, n), self.float(format, m));
                let (product, fine) = self.product(format, a, b);
                let product = self.negated_if(negate_product, product);
                let addend = self.float(format, d);
                let addend = self.negated_if(negate_addend, addend);
                let (sum, also_fine) = self.sum(format, addend, product);
                let fine = self.builder.ins().band(fine, also_fine);
                self.keep(format, d, (sum, fine), operation);
            }
            Operation::FloatFused {
                negate_product,
                negate_addend,
                precision,
                d,
                n,
                m,
            } if host_multiplies_and_adds() => {
                let format = Format::of(precision);
                let (a, b) = (self.float(format, n), self.float(format, m));
                let a = self.negated_if(negate_product, a);
                let addend = self.float(format, d);
                let addend = self.negated_if(negate_addend, addend);
                let sum = self.builder.ins().fma(a, b, addend);
                let fine = self.is_ordinary(format, sum, [a, b]);
                self.keep(format, d, (sum, fine), operation);
            }
            Operation::FloatCompare {
                precision, d, m, ..
            } => self.compare(Format::of(precision), d, m, operation),
            _ => return false,
        }
        true
    }

    fn float(&mut self, format: Format, index: u8) -> Value {
        self.load_core(format.float, super::float::place(format.precision, index))
    }

    fn negated_if(&mut self, negate: bool, value: Value) -> Value {
        if negate {
            self.builder.ins().fneg(value)
        } else {
            value
        }
    }

    /// A sum is exact where it is small.
    fn sum(&mut self, format: Format, a: Value, b: Value) -> Judged {
        let sum = self.builder.ins().fadd(a, b);
        let magnitude = self.magnitude(format, sum);
        (sum, self.is_finite(format, magnitude))
    }

    fn product(&mut self, format: Format, a: Value, b: Value) -> Judged {
        let product = self.builder.ins().fmul(a, b);
        (product, self.is_ordinary(format, product, [a, b]))
    }

    /// Whether a result is that of the manual: it is neither infinite nor NaN, and well above the
    /// numbers that are too small, or a factor is zero, so that it is exact.
    fn is_ordinary(&mut self, format: Format, result: Value, factors: [Value; 2]) -> Value {
        let magnitude = self.magnitude(format, result);
        let finite = self.is_finite(format, magnitude);
        let large = self.builder.ins().icmp_imm(
            IntCC::UnsignedGreaterThanOrEqual,
            magnitude,
            format.exponent(2),
        );
        let mut exact = large;
        for factor in factors {
            let factor = self.magnitude(format, factor);
            let zero = self.builder.ins().icmp_imm(IntCC::Equal, factor, 0);
            exact = self.builder.ins().bor(exact, zero);
        }
        self.builder.ins().band(finite, exact)
    }

    /// The bits of a number, its sign shifted out.
    fn magnitude(&mut self, format: Format, value: Value) -> Value {
        let bits = self
            .builder
            .ins()
            .bitcast(format.bits, MemFlags::new(), value);
        self.builder.ins().ishl_imm(bits, 1)
    }

    fn is_finite(&mut self, format: Format, magnitude: Value) -> Value {
        let infinity = self.constant_of(format, format.exponent(format.highest_exponent));
        self.builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, magnitude, infinity)
    }

    fn constant_of(&mut self, format: Format, bits: i64) -> Value {
        self.builder.ins().iconst(format.bits, bits)
    }

    /// Whether FPSCR is as it has to be, all of `needed` set and nothing else of `examined`.
    fn status_is(&mut self, examined: u32, needed: u32) -> Value {
        let status = self.load_core(I32, offset_of!(Core, fpscr));
        let modes = self.builder.ins().band_imm(status, i64::from(examined));
        self.builder
            .ins()
            .icmp_imm(IntCC::Equal, modes, i64::from(needed))
    }

    /// Keeps a result that is the manual's; else the interpreter computes.
    fn keep(&mut self, format: Format, d: u8, (value, fine): Judged, operation: &Operation) {
        let examined = INEXACT | ROUNDING | FLUSH_TO_ZERO;
        let ready = self.status_is(examined, INEXACT);
        let fine = self.builder.ins().band(fine, ready);
        self.otherwise_interpret(fine, operation, |emitter| {
            emitter.store_core(value, super::float::place(format.precision, d));
        });
    }

    fn compare(&mut self, format: Format, d: u8, m: Option<u8>, operation: &Operation) {
        let a = self.float(format, d);
        let b = match m {
            Some(m) => self.float(format, m),
            None => {
                let zero = self.constant_of(format, 0);
                self.builder
                    .ins()
                    .bitcast(format.float, MemFlags::new(), zero)
            }
        };
        let ordered = self.builder.ins().fcmp(FloatCC::Ordered, a, b);
        let ready = self.status_is(FLUSH_TO_ZERO, 0);
        let fine = self.builder.ins().band(ordered, ready);
        self.otherwise_interpret(fine, operation, |emitter| {
            let less = emitter.builder.ins().fcmp(FloatCC::LessThan, a, b);
            let equal = emitter.builder.ins().fcmp(FloatCC::Equal, a, b);
            let [less_flags, equal_flags, greater_flags] =
                [0b1000, 0b0110, 0b0010].map(|flags| emitter.constant(flags << 28));
            let flags = emitter
                .builder
                .ins()
                .select(equal, equal_flags, greater_flags);
            let flags = emitter.builder.ins().select(less, less_flags, flags);
            let status = emitter.load_core(I32, offset_of!(Core, fpscr));
            let status = emitter.builder.ins().band_imm(status, 0x0fff_ffff);
            let status = emitter.builder.ins().bor(status, flags);
            emitter.store_core(status, offset_of!(Core, fpscr));
        });
    }

    fn otherwise_interpret(
        &mut self,
        fine: Value,
        operation: &Operation,
        compute: impl FnOnce(&mut Self),
    ) {
        let [by_host, by_interpreter, go_on] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(by_interpreter);
        self.builder
            .ins()
            .brif(fine, by_host, &[], by_interpreter, &[]);
        self.builder.switch_to_block(by_interpreter);
        self.call_interpreter(operation);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(by_host);
        compute(self);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }
}
