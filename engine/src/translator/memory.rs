//! Loads and stores. What does not lie in one page of plain memory is for the interpreter.

use super::emit::Emitter;
use crate::core::Core;
use crate::fault::AccessKind;
use crate::memory::{BYTES, EVENT_BYTES, MAPPED, PAGE_BYTES, STORES, TAGS, WATCHED, event_form};
use crate::operation::{Addressing, Offset, Operation, Precision, Width};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlags, Value};
use std::mem::offset_of;

const TRUSTED: MemFlags = MemFlags::trusted();
/// Guest memory: addresses need not be aligned.
const GUEST: MemFlags = MemFlags::new().with_notrap();

/// Accesses one after the other.
#[derive(Clone, Copy)]
struct Accesses {
    kind: AccessKind,
    size_bytes: u32,
    count: u32,
    /// They have to begin at a multiple of this.
    alignment: u32,
}

impl Emitter<'_, '_> {
    /// Whether the next instruction follows.
    pub(super) fn access(&mut self, operation: &Operation) -> bool {
        match *operation {
            Operation::Load {
                width,
                signed,
                rt,
                addressing,
            } => return self.load_register(width, signed, rt, addressing),
            Operation::Store {
                width,
                rt,
                addressing,
            } => {
                let (address, base) = self.address(addressing);
                self.check_stack(addressing, base);
                let place = self.place(AccessKind::Store, width, address);
                let value = self.register(rt);
                self.store(width, place, value);
                self.write_back(addressing, base);
            }
            Operation::LoadDouble {
                rt,
                rt2,
                addressing,
            } => {
                let (address, base) = self.address(addressing);
                let place = self.words(AccessKind::Load, 2, address);
                let low = self.load_word(place, 0);
                let high = self.load_word(place, 1);
                self.write_back(addressing, base);
                self.set_register(rt, low);
                self.set_register(rt2, high);
            }
            Operation::StoreDouble {
                rt,
                rt2,
                addressing,
            } => {
                let (address, base) = self.address(addressing);
                self.check_stack(addressing, base);
                let place = self.words(AccessKind::Store, 2, address);
                for (index, register) in [rt, rt2].into_iter().enumerate() {
                    let value = self.register(register);
                    self.store_word(place, index, value);
                }
                self.write_back(addressing, base);
            }
            Operation::LoadMultiple {
                rn,
                registers,
                decrement,
                writeback,
            } => return self.load_multiple(rn, registers, decrement, writeback),
            Operation::StoreMultiple {
                rn,
                registers,
                decrement,
                writeback,
            } => self.store_multiple(rn, registers, decrement, writeback),
            _ => {}
        }
        true
    }

    fn load_register(
        &mut self,
        width: Width,
        signed: bool,
        rt: u8,
        addressing: Addressing,
    ) -> bool {
        let (address, base) = self.address(addressing);
        self.check_stack(addressing, base);
        let event = self.event();
        let place = self.place(AccessKind::Load, width, address);
        let value = match (width, signed) {
            (Width::Byte, false) => self.builder.ins().uload8(I32, GUEST, place, 0),
            (Width::Byte, true) => self.builder.ins().sload8(I32, GUEST, place, 0),
            (Width::Half, false) => self.builder.ins().uload16(I32, GUEST, place, 0),
            (Width::Half, true) => self.builder.ins().sload16(I32, GUEST, place, 0),
            (Width::Word, _) => self.builder.ins().load(I32, GUEST, place, 0),
        };
        match rt {
            13 => self.check_loaded_stack_pointer(value, event),
            15 => self.check_loaded_thumb(value, event),
            _ => {}
        }
        self.write_back(addressing, base);
        if rt == 15 {
            let target = self.builder.ins().band_imm(value, !1);
            self.go_indirect(target);
            return false;
        }
        self.set_register(rt, value);
        true
    }

    fn load_multiple(&mut self, rn: u8, registers: u16, decrement: bool, writeback: bool) -> bool {
        let count = registers.count_ones();
        let (start, base) = self.multiple(rn, 4 * count, decrement);
        let event = self.event();
        let place = self.words(AccessKind::Load, count, start);
        let values: Vec<(u8, Value)> = list(registers)
            .enumerate()
            .map(|(index, register)| (register, self.load_word(place, index)))
            .collect();
        let target = values.last().filter(|(register, _)| *register == 15);
        if let Some(&(_, target)) = target {
            self.check_loaded_thumb(target, event);
        }
        if writeback {
            self.set_register(rn, base);
        }
        for &(register, value) in values.iter().filter(|(register, _)| *register != 15) {
            self.set_register(register, value);
        }
        if let Some(&(_, target)) = target {
            let target = self.builder.ins().band_imm(target, !1);
            self.go_indirect(target);
            return false;
        }
        true
    }

    fn store_multiple(&mut self, rn: u8, registers: u16, decrement: bool, writeback: bool) {
        let count = registers.count_ones();
        let (start, base) = self.multiple(rn, 4 * count, decrement);
        if rn == 13 && writeback {
            self.check_stack_pointer(base);
        }
        let place = self.words(AccessKind::Store, count, start);
        for (index, register) in list(registers).enumerate() {
            let value = self.register(register);
            self.store_word(place, index, value);
        }
        if writeback {
            self.set_register(rn, base);
        }
    }

    /// VLDR, VSTR, VLDM and VSTM: between memory and the registers of the core.
    pub(super) fn float_access(&mut self, operation: &Operation) {
        match *operation {
            Operation::FloatLoad {
                precision,
                d,
                rn,
                offset,
            } => self.move_floats(AccessKind::Load, precision, [d, 1], (rn, offset)),
            Operation::FloatStore {
                precision,
                d,
                rn,
                offset,
            } => self.move_floats(AccessKind::Store, precision, [d, 1], (rn, offset)),
            Operation::FloatLoadMultiple {
                precision,
                d,
                count,
                rn,
                decrement,
                writeback,
            } => {
                let base = (rn, decrement, writeback);
                self.move_several_floats(AccessKind::Load, precision, [d, count], base);
            }
            Operation::FloatStoreMultiple {
                precision,
                d,
                count,
                rn,
                decrement,
                writeback,
            } => {
                let base = (rn, decrement, writeback);
                self.move_several_floats(AccessKind::Store, precision, [d, count], base);
            }
            _ => {}
        }
    }

    fn move_floats(
        &mut self,
        kind: AccessKind,
        precision: Precision,
        floats: [u8; 2],
        (rn, offset): (u8, i32),
    ) {
        let base = self.base(rn);
        let address = self.builder.ins().iadd_imm(base, i64::from(offset));
        self.copy_floats(kind, precision, floats, address);
    }

    fn move_several_floats(
        &mut self,
        kind: AccessKind,
        precision: Precision,
        floats: [u8; 2],
        (rn, decrement, writeback): (u8, bool, bool),
    ) {
        let bytes = u32::from(floats[1]) * size_of(precision);
        let (start, base) = self.multiple(rn, bytes, decrement);
        if rn == 13 && writeback {
            self.check_stack_pointer(base);
        }
        self.copy_floats(kind, precision, floats, start);
        if writeback {
            self.set_register(rn, base);
        }
    }

    fn copy_floats(
        &mut self,
        kind: AccessKind,
        precision: Precision,
        [first, count]: [u8; 2],
        address: Value,
    ) {
        let size_bytes = size_of(precision);
        let place = self.checked(
            Accesses {
                kind,
                size_bytes,
                count: count.into(),
                alignment: 4,
            },
            address,
        );
        let value_type = if size_bytes == 8 { I64 } else { I32 };
        for index in 0..u32::from(count) {
            let in_core =
                (offset_of!(Core, s) as u32 + (u32::from(first) + index) * size_bytes) as i32;
            let in_guest = (index * size_bytes) as i32;
            let core = self.core;
            if kind == AccessKind::Load {
                let value = self.builder.ins().load(value_type, GUEST, place, in_guest);
                self.builder.ins().store(TRUSTED, value, core, in_core);
            } else {
                let value = self.builder.ins().load(value_type, TRUSTED, core, in_core);
                self.builder.ins().store(GUEST, value, place, in_guest);
            }
        }
    }

    fn base(&mut self, rn: u8) -> Value {
        match rn {
            15 => self.constant(self.current.pc.wrapping_add(4) & !3),
            rn => self.register(rn),
        }
    }

    /// Where the access is, and base plus offset.
    fn address(&mut self, addressing: Addressing) -> (Value, Value) {
        let base = self.base(addressing.rn);
        let sum = match addressing.offset {
            Offset::Immediate(0) => base,
            Offset::Immediate(offset) => self.builder.ins().iadd_imm(base, i64::from(offset)),
            Offset::Register { rm, shift } => {
                let offset = self.register(rm);
                let offset = self.builder.ins().ishl_imm(offset, i64::from(shift));
                self.builder.ins().iadd(base, offset)
            }
        };
        (if addressing.index { sum } else { base }, sum)
    }

    fn multiple(&mut self, rn: u8, bytes: u32, decrement: bool) -> (Value, Value) {
        let base = self.register(rn);
        let bytes = i64::from(bytes);
        if decrement {
            let below = self.builder.ins().iadd_imm(base, -bytes);
            (below, below)
        } else {
            (base, self.builder.ins().iadd_imm(base, bytes))
        }
    }

    fn write_back(&mut self, addressing: Addressing, base: Value) {
        if addressing.writeback {
            self.set_register(addressing.rn, base);
        }
    }

    fn check_stack(&mut self, addressing: Addressing, base: Value) {
        if addressing.writeback && addressing.rn == 13 {
            self.check_stack_pointer(base);
        }
    }

    /// A branch to an even address is for the interpreter.
    pub(super) fn check_thumb(&mut self, target: Value) {
        let event = self.event();
        self.check_loaded_thumb(target, event);
    }

    /// The same of a target that was loaded; the loads were recorded from `event` on.
    fn check_loaded_thumb(&mut self, target: Value, event: Value) {
        let thumb = self.builder.ins().band_imm(target, 1);
        let even = self.builder.ins().icmp_imm(IntCC::Equal, thumb, 0);
        self.leave_unrecorded_if(even, event);
    }

    /// Where one access is on the host.
    fn place(&mut self, kind: AccessKind, width: Width, address: Value) -> Value {
        let size_bytes = width.bytes();
        let alignment = if self.features.allows_unaligned() {
            1
        } else {
            size_bytes
        };
        let place = self.checked(
            Accesses {
                kind,
                size_bytes,
                count: 1,
                alignment,
            },
            address,
        );
        self.count_unaligned(width, address);
        place
    }

    /// Where several words are on the host.
    fn words(&mut self, kind: AccessKind, count: u32, address: Value) -> Value {
        self.checked(
            Accesses {
                kind,
                size_bytes: 4,
                count,
                alignment: 4,
            },
            address,
        )
    }

    /// Where accesses are on the host, once they have been recorded where that is asked for.
    fn checked(&mut self, accesses: Accesses, address: Value) -> Value {
        let page = self.builder.ins().ushr_imm(address, 12);
        let page = self.builder.ins().uextend(I64, page);
        let page = self.builder.ins().ishl_imm(page, 2);
        let table = match accesses.kind {
            AccessKind::Load => 0,
            AccessKind::Store => STORES as i32,
        };
        let entry = self.builder.ins().iadd(self.memory, page);
        let entry = self.builder.ins().load(I32, TRUSTED, entry, table);
        let apart = self.builder.ins().iadd_imm(entry, -i64::from(MAPPED));
        let unusual = self.unusual(accesses, address, apart);
        let (slow, go_on) = (self.builder.create_block(), self.builder.create_block());
        let place = self.builder.append_block_param(go_on, I32);
        let usual = self.builder.ins().iadd(address, apart);
        self.builder
            .ins()
            .brif(unusual, slow, &[], go_on, &[BlockArg::from(usual)]);
        self.builder.switch_to_block(slow);
        let tags = self.builder.ins().band_imm(entry, i64::from(TAGS));
        let problem = self.problem(accesses, address, tags);
        self.leave_if(problem);
        let watched = self.builder.ins().band_imm(tags, i64::from(WATCHED));
        self.record_if(watched, accesses, address);
        let unusual = self.builder.ins().band_imm(entry, i64::from(!TAGS));
        let unusual = self.builder.ins().iadd(address, unusual);
        self.builder.ins().jump(go_on, &[BlockArg::from(unusual)]);
        self.builder.switch_to_block(go_on);
        if accesses.kind == AccessKind::Load {
            self.count_load(address, accesses.size_bytes * accesses.count);
        }
        let place = self.builder.ins().uextend(I64, place);
        let place = self.builder.ins().iadd(self.memory, place);
        self.builder.ins().iadd_imm(place, BYTES as i64)
    }

    /// Not 0 where accesses are not aligned, or may not all be in one page of plain memory that is
    /// not watched: its entry less [`MAPPED`] has no tags.
    fn unusual(&mut self, accesses: Accesses, address: Value, apart: Value) -> Value {
        let low = i64::from(accesses.size_bytes.min(4) - 1);
        let both = match low {
            0 => apart,
            low => {
                let unaligned = self.builder.ins().band_imm(address, low);
                self.builder.ins().bor(apart, unaligned)
            }
        };
        let mut unusual = self.builder.ins().band_imm(both, i64::from(TAGS));
        if let Some(crosses) = self.crosses(accesses, address, accesses.size_bytes.min(4)) {
            let crosses = self.builder.ins().uextend(I32, crosses);
            unusual = self.builder.ins().bor(unusual, crosses);
        }
        unusual
    }

    /// Whether accesses that begin at a multiple of this go beyond the page; `None` if none can.
    fn crosses(&mut self, accesses: Accesses, address: Value, alignment: u32) -> Option<Value> {
        let bytes = accesses.size_bytes * accesses.count;
        if bytes <= alignment {
            return None;
        }
        let within = self.builder.ins().band_imm(address, i64::from(TAGS));
        let last = i64::from(PAGE_BYTES - bytes);
        let greater = IntCC::UnsignedGreaterThan;
        Some(self.builder.ins().icmp_imm(greater, within, last))
    }

    /// Whether accesses are not all in one page of plain memory, or not aligned as they have to be.
    fn problem(&mut self, accesses: Accesses, address: Value, tags: Value) -> Value {
        let plain = self.builder.ins().band_imm(tags, i64::from(!WATCHED));
        let mut problem = self
            .builder
            .ins()
            .icmp_imm(IntCC::NotEqual, plain, i64::from(MAPPED));
        if let Some(crosses) = self.crosses(accesses, address, accesses.alignment) {
            problem = self.builder.ins().bor(problem, crosses);
        }
        if accesses.alignment > 1 {
            let low = i64::from(accesses.alignment - 1);
            let low = self.builder.ins().band_imm(address, low);
            let unaligned = self.builder.ins().icmp_imm(IntCC::NotEqual, low, 0);
            problem = self.builder.ins().bor(problem, unaligned);
        }
        problem
    }

    /// Records accesses if they are watched: they are written to where the next ones come, which goes
    /// on only then.
    fn record_if(&mut self, watched: Value, accesses: Accesses, address: Value) {
        let form = event_form(accesses.kind, accesses.size_bytes);
        let time = self.time_with(form);
        let pc = self.constant(self.current.pc);
        let event = self.event();
        for index in 0..accesses.count {
            let address = match i64::from(index * accesses.size_bytes) {
                0 => address,
                offset => self.builder.ins().iadd_imm(address, offset),
            };
            let place = index as i32 * EVENT_BYTES as i32;
            self.builder.ins().store(TRUSTED, time, event, place);
            self.builder.ins().store(TRUSTED, pc, event, place + 8);
            self.builder
                .ins()
                .store(TRUSTED, address, event, place + 12);
        }
        let watched = self.builder.ins().uextend(I64, watched);
        let bytes = i64::from(accesses.count) * EVENT_BYTES / i64::from(WATCHED);
        // Quick translations have no shift for such a product.
        let bytes = if bytes.count_ones() == 1 {
            let places = i64::from(bytes.trailing_zeros());
            self.builder.ins().ishl_imm(watched, places)
        } else {
            self.builder.ins().imul_imm(watched, bytes)
        };
        let event = self.builder.ins().iadd(event, bytes);
        self.set_event(event);
    }

    fn store(&mut self, width: Width, place: Value, value: Value) {
        match width {
            Width::Byte => self.builder.ins().istore8(GUEST, value, place, 0),
            Width::Half => self.builder.ins().istore16(GUEST, value, place, 0),
            Width::Word => self.builder.ins().store(GUEST, value, place, 0),
        };
    }

    fn load_word(&mut self, place: Value, index: usize) -> Value {
        let offset = 4 * index as i32;
        self.builder.ins().load(I32, GUEST, place, offset)
    }

    fn store_word(&mut self, place: Value, index: usize, value: Value) {
        let offset = 4 * index as i32;
        self.builder.ins().store(GUEST, value, place, offset);
    }
}

fn size_of(precision: Precision) -> u32 {
    match precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

/// The registers of a list, in ascending order.
fn list(registers: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |index| registers >> index & 1 == 1)
}
