//! Loads and stores.

use super::{Execution, Outcome, address};
use crate::fault::{AccessKind, Fault};
use crate::operation::{Addressing, Operation, Width};

impl Execution<'_> {
    pub(super) fn access(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::Load {
                width,
                signed,
                rt,
                addressing,
            } => self.load_register(width, signed, rt, addressing),
            Operation::Store {
                width,
                rt,
                addressing,
            } => {
                let (address, base) = address::of_one(self.core, addressing);
                self.check_unaligned(AccessKind::Store, width, address)?;
                self.check_stack(addressing, base)?;
                self.store(width, address, self.register(rt))?;
                self.write_back(addressing, base)
            }
            Operation::LoadDouble {
                rt,
                rt2,
                addressing,
            } => {
                let (address, base) = address::of_one(self.core, addressing);
                self.check_word("LDRD", address)?;
                let low = self.load(Width::Word, false, address)?;
                let high = self.load(Width::Word, false, address.wrapping_add(4))?;
                self.write_back(addressing, base)?;
                self.set_register(rt, low)?;
                self.set_register(rt2, high)
            }
            Operation::StoreDouble {
                rt,
                rt2,
                addressing,
            } => {
                let (address, base) = address::of_one(self.core, addressing);
                self.check_word("STRD", address)?;
                self.check_stack(addressing, base)?;
                self.store(Width::Word, address, self.register(rt))?;
                self.store(Width::Word, address.wrapping_add(4), self.register(rt2))?;
                self.write_back(addressing, base)
            }
            Operation::LoadMultiple {
                rn,
                registers,
                decrement,
                writeback,
            } => self.load_multiple(rn, registers, decrement, writeback),
            Operation::StoreMultiple {
                rn,
                registers,
                decrement,
                writeback,
            } => self.store_multiple(rn, registers, decrement, writeback),
            _ => self.synchronised(operation),
        }
    }

    fn synchronised(&mut self, operation: &Operation) -> Outcome {
        match *operation {
            Operation::LoadExclusive {
                width,
                rt,
                rn,
                offset,
            } => {
                let address = self.register(rn).wrapping_add(offset);
                check("LDREX", address, width.bytes())?;
                let value = self.load(width, false, address)?;
                self.core.exclusive = 1;
                self.set_register(rt, value)
            }
            Operation::StoreExclusive {
                width,
                rd,
                rt,
                rn,
                offset,
            } => {
                let address = self.register(rn).wrapping_add(offset);
                check("STREX", address, width.bytes())?;
                let succeeds = self.core.exclusive == 1;
                if succeeds {
                    self.store(width, address, self.register(rt))?;
                }
                self.core.exclusive = 0;
                self.set_register(rd, u32::from(!succeeds))
            }
            Operation::LoadAcquire { width, rt, rn } => {
                let address = self.register(rn);
                check("LDA", address, width.bytes())?;
                let value = self.load(width, false, address)?;
                self.set_register(rt, value)
            }
            Operation::StoreRelease { width, rt, rn } => {
                let address = self.register(rn);
                check("STL", address, width.bytes())?;
                self.store(width, address, self.register(rt))
            }
            _ => Ok(()),
        }
    }

    fn load_register(
        &mut self,
        width: Width,
        signed: bool,
        rt: u8,
        addressing: Addressing,
    ) -> Outcome {
        let (address, base) = address::of_one(self.core, addressing);
        self.check_unaligned(AccessKind::Load, width, address)?;
        self.check_stack(addressing, base)?;
        let value = self.load(width, signed, address)?;
        self.write_back(addressing, base)?;
        match rt {
            15 => self.go_exchanging(value),
            _ => self.set_register(rt, value),
        }
    }

    fn load_multiple(
        &mut self,
        rn: u8,
        registers: u16,
        decrement: bool,
        writeback: bool,
    ) -> Outcome {
        let (start, base) =
            address::of_several(self.core, rn, registers.count_ones() * 4, decrement);
        self.check_word("LDM", start)?;
        let mut values = [0; 16];
        for (index, address) in list(registers).zip((0..).map(|n| start.wrapping_add(4 * n))) {
            values[usize::from(index)] = self.load(Width::Word, false, address)?;
        }
        if writeback {
            self.set_register(rn, base)?;
        }
        for index in list(registers & 0x7fff) {
            self.set_register(index, values[usize::from(index)])?;
        }
        if registers >> 15 == 1 {
            self.go_exchanging(values[15])?;
        }
        Ok(())
    }

    fn store_multiple(
        &mut self,
        rn: u8,
        registers: u16,
        decrement: bool,
        writeback: bool,
    ) -> Outcome {
        let (start, base) =
            address::of_several(self.core, rn, registers.count_ones() * 4, decrement);
        self.check_word("STM", start)?;
        if rn == 13 && writeback && base < self.stack_limit() {
            return Err(Fault::StackLimit { address: base });
        }
        for (index, address) in list(registers).zip((0..).map(|n| start.wrapping_add(4 * n))) {
            self.store(Width::Word, address, self.register(index))?;
        }
        if writeback {
            self.set_register(rn, base)?;
        }
        Ok(())
    }

    #[inline]
    fn write_back(&mut self, addressing: Addressing, base: u32) -> Outcome {
        if addressing.writeback {
            self.set_register(addressing.rn, base)?;
        }
        Ok(())
    }

    /// A stack pointer that would fall below its limit stops the access.
    #[inline]
    fn check_stack(&self, addressing: Addressing, base: u32) -> Outcome {
        if addressing.writeback && addressing.rn == 13 && base < self.stack_limit() {
            return Err(Fault::StackLimit { address: base });
        }
        Ok(())
    }

    #[inline]
    pub(super) fn load(&mut self, width: Width, signed: bool, address: u32) -> Result<u32, Fault> {
        let moment = self.moment();
        Ok(match width {
            Width::Byte => {
                let [byte] = self.memory.load(moment, address)?;
                if signed {
                    i32::from(byte as i8) as u32
                } else {
                    u32::from(byte)
                }
            }
            Width::Half => {
                let half = u16::from_le_bytes(self.memory.load(moment, address)?);
                if signed {
                    i32::from(half as i16) as u32
                } else {
                    u32::from(half)
                }
            }
            Width::Word => u32::from_le_bytes(self.memory.load(moment, address)?),
        })
    }

    #[inline]
    pub(super) fn store(&mut self, width: Width, address: u32, value: u32) -> Outcome {
        let moment = self.moment();
        match width {
            Width::Byte => self.memory.store(moment, address, [value as u8]),
            Width::Half => self
                .memory
                .store(moment, address, (value as u16).to_le_bytes()),
            Width::Word => self.memory.store(moment, address, value.to_le_bytes()),
        }
    }

    /// Armv6-M and Armv8-M Baseline have aligned accesses only.
    #[inline]
    fn check_unaligned(&self, kind: AccessKind, width: Width, address: u32) -> Outcome {
        if self.features.allows_unaligned() {
            return Ok(());
        }
        let name = match (kind, width) {
            (AccessKind::Load, Width::Half) => "LDRH",
            (AccessKind::Load, _) => "LDR",
            (AccessKind::Store, Width::Half) => "STRH",
            (AccessKind::Store, _) => "STR",
        };
        check(name, address, width.bytes())
    }

    /// Several accesses have to begin at a word, on all cores.
    pub(super) fn check_word(&self, name: &'static str, address: u32) -> Outcome {
        check(name, address, 4)
    }
}

fn check(name: &'static str, address: u32, bytes: u32) -> Outcome {
    if address.is_multiple_of(bytes) {
        Ok(())
    } else {
        Err(Fault::Unaligned {
            name,
            address,
            alignment: bytes,
        })
    }
}

/// The registers of a list, in ascending order.
fn list(registers: u16) -> impl Iterator<Item = u8> {
    (0..16).filter(move |index| registers >> index & 1 == 1)
}
