//! From a function to its caller, by the call frame information.

use super::{DebugInfo, Reader};
use gimli::{BaseAddresses, CfaRule, RegisterRule, UnwindContext, UnwindSection};

/// Registers of a frame, as far as they are known there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registers {
    /// r0 to r15.
    pub(super) words: [Option<u32>; 16],
    /// s0 to s31.
    pub(super) floats: [Option<u32>; 32],
}

/// The numbers of registers in the debug information (AADWARF32).
const FLOATS: u16 = 64;
const DOUBLES: u16 = 256;

pub(super) const SP: usize = 13;
pub(super) const LR: usize = 14;
pub(super) const PC: usize = 15;

impl Registers {
    /// Bytes of a register by its number; of a double one those of both halves.
    pub(super) fn bytes(&self, number: u16) -> Option<Vec<u8>> {
        if let Some(pair) = number.checked_sub(DOUBLES) {
            let first = 2 * usize::from(pair);
            let (low, high) = (*self.floats.get(first)?, *self.floats.get(first + 1)?);
            return Some([low?.to_le_bytes(), high?.to_le_bytes()].concat());
        }
        let words = match number.checked_sub(FLOATS) {
            Some(index) => self.floats.get(usize::from(index)),
            None => self.words.get(usize::from(number)),
        };
        words?.map(|word| word.to_le_bytes().to_vec())
    }

    /// Forgets what a call may change and need not say so (AAPCS32).
    pub(super) fn forget_scratch(&mut self) {
        for scratch in [0, 1, 2, 3, 12] {
            self.words[scratch] = None;
        }
        self.floats[..16].fill(None);
    }

    fn word(&self, number: u16) -> Option<u32> {
        let bytes = self.bytes(number)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn set(&mut self, number: u16, bytes: Option<[u32; 2]>) {
        let [low, high] = [bytes.map(|it| it[0]), bytes.map(|it| it[1])];
        if let Some(pair) = number.checked_sub(DOUBLES) {
            let first = 2 * usize::from(pair);
            for (index, word) in [(first, low), (first + 1, high)] {
                if let Some(slot) = self.floats.get_mut(index) {
                    *slot = word;
                }
            }
            return;
        }
        let slot = match number.checked_sub(FLOATS) {
            Some(index) => self.floats.get_mut(usize::from(index)),
            None => self.words.get_mut(usize::from(number)),
        };
        if let Some(slot) = slot {
            *slot = low;
        }
    }
}

/// A frame's start, and the registers of its caller at the call's return.
pub(super) struct Unwound {
    pub(super) cfa: u32,
    /// `None` if the unwinding information does not say how to go on.
    pub(super) caller: Option<Registers>,
}

/// Functions whose information is read for one address.
const MAX_ENTRIES: usize = 1 << 20;

impl DebugInfo {
    /// The frame of the code at `address`. None where there is no information on it.
    pub(super) fn unwind(
        &self,
        address: u32,
        registers: &Registers,
        read: &dyn Fn(u32, usize) -> Option<Vec<u8>>,
    ) -> Option<Unwound> {
        let bases = BaseAddresses::default();
        let description = self.description(address, &bases)?;
        let mut context = UnwindContext::new();
        let row = description
            .unwind_info_for_address(&self.calls, &bases, &mut context, address.into())
            .ok()?;
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                add(registers.word(register.0)?, *offset)?
            }
            CfaRule::Expression(_) => return None,
        };
        let word = |address: u32| -> Option<u32> {
            let bytes = read(address, 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        let mut caller = registers.clone();
        caller.forget_scratch();
        for (register, rule) in row.registers() {
            let saved = match rule {
                RegisterRule::SameValue => continue,
                RegisterRule::Offset(offset) => add(cfa, *offset).and_then(|at| {
                    let high = if register.0 >= DOUBLES {
                        word(at.checked_add(4)?)?
                    } else {
                        0
                    };
                    Some([word(at)?, high])
                }),
                RegisterRule::ValOffset(offset) => add(cfa, *offset).map(|value| [value, 0]),
                RegisterRule::Register(other) => registers.word(other.0).map(|value| [value, 0]),
                _ => None,
            };
            caller.set(register.0, saved);
        }
        let return_column = description.cie().return_address_register();
        let back = caller.word(return_column.0);
        let called = |back: &u32| back & 1 == 1 && is_behind_call(back & !1, read);
        let caller = back.filter(called).map(|back| {
            caller.words[SP] = Some(cfa);
            caller.words[PC] = Some(back & !1);
            // What it held before the call is gone.
            caller.words[LR] = None;
            caller
        });
        Some(Unwound { cfa, caller })
    }

    /// Not the first one that has the address: those of dropped functions have wrong ones.
    fn description(
        &self,
        address: u32,
        bases: &BaseAddresses,
    ) -> Option<gimli::FrameDescriptionEntry<Reader>> {
        let mut entries = self.calls.entries(bases);
        let mut found: Option<gimli::FrameDescriptionEntry<Reader>> = None;
        for _ in 0..MAX_ENTRIES {
            let Ok(Some(entry)) = entries.next() else {
                break;
            };
            let gimli::CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let Ok(entry) = partial.parse(gimli::DebugFrame::cie_from_offset) else {
                continue;
            };
            let start = entry.initial_address();
            let later = found
                .as_ref()
                .is_none_or(|found| found.initial_address() < start);
            if later && entry.contains(address.into()) && !self.is_dropped(start) {
                found = Some(entry);
            }
        }
        found
    }
}

/// Whether the instruction that ends here is BL or BLX: code without true information, such as
/// hand-written assembly, must not lead anywhere.
pub(super) fn is_behind_call(back: u32, read: &dyn Fn(u32, usize) -> Option<Vec<u8>>) -> bool {
    let halfword = |before| halfword_before(back, before, read);
    let by_register = halfword(2).is_some_and(|code| code & 0xff87 == 0x4780);
    let by_offset = halfword(4).is_some_and(|code| code >> 11 == 0b11110)
        && halfword(2).is_some_and(|code| code & 0xd000 == 0xd000);
    by_register || by_offset
}

/// The halfword this many bytes before an address.
pub(super) fn halfword_before(
    address: u32,
    bytes: u32,
    read: &dyn Fn(u32, usize) -> Option<Vec<u8>>,
) -> Option<u16> {
    let found = read(address.checked_sub(bytes)?, 2)?;
    Some(u16::from_le_bytes(found.try_into().ok()?))
}

fn add(address: u32, offset: i64) -> Option<u32> {
    u32::try_from(i64::from(address).checked_add(offset)?).ok()
}
