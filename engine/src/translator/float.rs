//! Floating point. Its registers stay in the core.

use super::emit::Emitter;
use crate::core::Core;
use crate::operation::{FloatUnary, Operation, Precision};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

impl Emitter<'_, '_> {
    pub(super) fn floating_point(&mut self, operation: &Operation) {
        match *operation {
            Operation::FloatLoad { .. }
            | Operation::FloatStore { .. }
            | Operation::FloatLoadMultiple { .. }
            | Operation::FloatStoreMultiple { .. } => self.float_access(operation),
            Operation::MoveSingle { to_core, rt, s } => self.move_word(to_core, rt, s),
            Operation::MoveSingles {
                to_core,
                rt,
                rt2,
                s,
            } => {
                self.move_word(to_core, rt, s);
                self.move_word(to_core, rt2, s + 1);
            }
            Operation::MoveDouble {
                to_core,
                rt,
                rt2,
                d,
            } => {
                self.move_word(to_core, rt, 2 * d);
                self.move_word(to_core, rt2, 2 * d + 1);
            }
            Operation::MoveLane {
                to_core,
                rt,
                d,
                top,
            } => self.move_word(to_core, rt, 2 * d + u8::from(top)),
            Operation::ReadFloatStatus { rt } => self.read_status(rt),
            Operation::FloatImmediate { precision, d, bits } => {
                let value = match precision {
                    Precision::Single => self.constant(bits as u32),
                    Precision::Double => self.builder.ins().iconst(I64, bits as i64),
                };
                self.store_core(value, place(precision, d));
            }
            Operation::FloatUnary {
                operation,
                precision,
                d,
                m,
            } if operation != FloatUnary::Sqrt => self.sign(operation, precision, d, m),
            Operation::FloatSelect {
                condition,
                precision,
                d,
                n,
                m,
            } => {
                let holds = self.condition(condition);
                let kind = kind(precision);
                let first = self.load_core(kind, place(precision, n));
                let other = self.load_core(kind, place(precision, m));
                let value = self.builder.ins().select(holds, first, other);
                self.store_core(value, place(precision, d));
            }
            _ => {
                if !self.host_arithmetic(operation) {
                    self.call_interpreter(operation);
                }
            }
        }
    }

    fn move_word(&mut self, to_core: bool, rt: u8, s: u8) {
        let place = offset_of!(Core, s) + 4 * usize::from(s);
        if to_core {
            let value = self.load_core(I32, place);
            self.set_register(rt, value);
        } else {
            let value = self.register(rt);
            self.store_core(value, place);
        }
    }

    fn read_status(&mut self, rt: u8) {
        let status = self.load_core(I32, offset_of!(Core, fpscr));
        if rt != 15 {
            self.set_register(rt, status);
            return;
        }
        let [n, z, c, v] = [31, 30, 29, 28].map(|bit| self.bit(status, bit));
        self.set_nz_bits(n, z);
        self.set_carry_and_overflow(c, v);
    }

    fn bit(&mut self, value: Value, bit: i64) -> Value {
        let value = self.builder.ins().ushr_imm(value, bit);
        self.builder.ins().band_imm(value, 1)
    }

    fn sign(&mut self, operation: FloatUnary, precision: Precision, d: u8, m: u8) {
        let value = self.load_core(kind(precision), place(precision, m));
        let sign = match precision {
            Precision::Single => i64::from(1_u32 << 31),
            Precision::Double => i64::MIN,
        };
        let value = match operation {
            FloatUnary::Abs => self.builder.ins().band_imm(value, !sign),
            FloatUnary::Neg => self.builder.ins().bxor_imm(value, sign),
            FloatUnary::Mov | FloatUnary::Sqrt => value,
        };
        self.store_core(value, place(precision, d));
    }
}

fn kind(precision: Precision) -> cranelift_codegen::ir::Type {
    match precision {
        Precision::Single => I32,
        Precision::Double => I64,
    }
}

/// Where a floating-point register is in the core.
pub(super) fn place(precision: Precision, index: u8) -> usize {
    let bytes = match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    };
    offset_of!(Core, s) + bytes * usize::from(index)
}
