//! A recorded access.

use crate::fault::AccessKind;

/// Which execution of an instruction makes an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Executed instructions, this one included.
    pub time: u64,
    /// The instruction's address.
    pub pc: u32,
}

/// A recorded access, in 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Event {
    /// The time in the upper 56 bits, then two of conditions, then twice the length in bytes, plus 1
    /// for stores.
    time_and_form: u64,
    pc: u32,
    address: u32,
}

/// The time of an event is above so many bits.
pub(crate) const TIME_BITS: u32 = 8;
/// The bit of accesses that a condition decides on.
const CONDITIONAL: u64 = 0x80;
/// The bit of those that are not made, because the condition fails.
const SKIPPED: u64 = 0x40;

/// What the condition of an access's instruction says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// It has none, or conditions are not recorded.
    #[default]
    Unconditional,
    /// It holds: the access is made.
    Holds,
    /// It fails: the access would have been made.
    Fails,
}

/// Size of an event.
pub(crate) const EVENT_BYTES: i64 = size_of::<Event>() as i64;

/// The lowest byte of an event.
pub(crate) fn event_form(kind: AccessKind, size_bytes: u32) -> u8 {
    (size_bytes as u8) << 1 | u8::from(kind == AccessKind::Store)
}

impl Event {
    /// An access of `size_bytes` bytes.
    #[inline]
    pub fn new(kind: AccessKind, moment: Moment, address: u32, size_bytes: u32) -> Self {
        Self {
            time_and_form: moment.time << TIME_BITS | u64::from(event_form(kind, size_bytes)),
            pc: moment.pc,
            address,
        }
    }

    /// The same access of an instruction with this condition.
    #[must_use]
    pub(crate) fn on(self, condition: Condition) -> Self {
        let bits = match condition {
            Condition::Unconditional => 0,
            Condition::Holds => CONDITIONAL,
            Condition::Fails => CONDITIONAL | SKIPPED,
        };
        Self {
            time_and_form: self.time_and_form | bits,
            ..self
        }
    }

    /// What its instruction's condition says.
    #[inline]
    pub fn condition(&self) -> Condition {
        if self.time_and_form & CONDITIONAL == 0 {
            Condition::Unconditional
        } else if self.time_and_form & SKIPPED == 0 {
            Condition::Holds
        } else {
            Condition::Fails
        }
    }

    /// When, in executed instructions, its own included.
    #[inline]
    pub fn time(&self) -> u64 {
        self.time_and_form >> TIME_BITS
    }

    /// Load or store.
    #[inline]
    pub fn kind(&self) -> AccessKind {
        match self.time_and_form & 1 {
            0 => AccessKind::Load,
            _ => AccessKind::Store,
        }
    }

    /// Length in bytes, 1 to 8.
    #[inline]
    pub fn size_bytes(&self) -> u8 {
        (self.time_and_form >> 1 & 0x1f) as u8
    }

    /// Address of the instruction.
    #[inline]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// First byte.
    #[inline]
    pub fn address(&self) -> u32 {
        self.address
    }
}
