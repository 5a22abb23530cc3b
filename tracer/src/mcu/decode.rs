//! Which memory a Thumb instruction accesses, decoded from its encoding alone.
//!
//! The recorder believes the emulator's hooks only as far as this module, which shares
//! no code with the emulator, agrees. Encodings: Armv7-M Architecture Reference Manual,
//! chapters A5 to A7. Addresses and sizes are in bytes.

use dmo_analysis::trace::AccessKind;

/// The program counter as a base register.
const PC: u8 = 15;
const SP: u8 = 13;

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// 2 or 4.
    pub length_bytes: u32,
    /// Its effect on memory.
    pub memory: Memory,
    /// `true` if the next instruction executed may be another than the following one.
    pub may_branch: bool,
    /// `true` if it needs the floating-point unit.
    pub floating_point: bool,
    /// The instruction is IT: base condition (bits 7..4) and mask (bits 3..0).
    pub it: Option<u8>,
}

/// The effect of an instruction on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Nothing.
    Untouched,
    /// One contiguous access.
    Access(MemoryAccess),
    /// Something that this module does not know.
    Unknown,
}

/// A contiguous access: `bytes` bytes from `base + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Load or store.
    pub kind: AccessKind,
    base: u8,
    offset: Offset,
    /// How many bytes in all.
    pub bytes: u32,
    /// The core faults unless the address is a multiple of 4.
    pub must_be_aligned: bool,
    /// A store-exclusive may fail and store nothing.
    pub may_fail: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offset {
    Immediate(i32),
    Register { index: u8, shift: u8 },
}

impl MemoryAccess {
    /// First byte, given the address of the instruction and r0 to r14 before it.
    pub fn address(&self, pc: u32, registers: &[u32; 15]) -> u32 {
        let register = |index: u8| registers.get(index as usize).copied().unwrap_or(0);
        let base = match (self.base, self.offset) {
            (PC, Offset::Register { .. }) => pc.wrapping_add(4),
            (PC, Offset::Immediate(_)) => pc.wrapping_add(4) & !3,
            (base, _) => register(base),
        };
        match self.offset {
            Offset::Immediate(offset) => base.wrapping_add_signed(offset),
            Offset::Register { index, shift } => base.wrapping_add(register(index) << shift),
        }
    }
}

/// Returns `true` if the first halfword of an instruction is followed by a second one.
pub const fn is_wide(first: u16) -> bool {
    first >> 11 >= 0b11101
}

/// Decodes one instruction; `second` is only read where [`is_wide`].
pub fn decode(first: u16, second: u16) -> Instruction {
    if is_wide(first) {
        Instruction {
            length_bytes: 4,
            memory: wide_memory(first, second),
            may_branch: wide_may_branch(first, second),
            floating_point: is_floating_point(first, second),
            it: None,
        }
    } else {
        Instruction {
            length_bytes: 2,
            memory: narrow_memory(first),
            may_branch: narrow_may_branch(first),
            floating_point: false,
            it: (first >> 8 == 0xbf && first & 0xf != 0).then_some(first as u8),
        }
    }
}

fn access(kind: AccessKind, base: u8, offset: Offset, bytes: u32) -> MemoryAccess {
    MemoryAccess {
        kind,
        base,
        offset,
        bytes,
        must_be_aligned: false,
        may_fail: false,
    }
}

fn aligned(kind: AccessKind, base: u8, offset: i32, bytes: u32) -> MemoryAccess {
    MemoryAccess {
        must_be_aligned: true,
        ..access(kind, base, Offset::Immediate(offset), bytes)
    }
}

fn kind(load: bool) -> AccessKind {
    if load {
        AccessKind::Load
    } else {
        AccessKind::Store
    }
}

/// Bits `[low, low + count)`.
const fn bits(word: u16, low: u16, count: u16) -> u16 {
    word >> low & ((1 << count) - 1)
}

const fn bit(word: u16, index: u16) -> bool {
    bits(word, index, 1) == 1
}

fn narrow_memory(word: u16) -> Memory {
    let (rn, imm5) = (bits(word, 3, 3) as u8, i32::from(bits(word, 6, 5)));
    let imm8 = i32::from(bits(word, 0, 8));
    let load = kind(bit(word, 11));
    let scaled = |bytes: u32| access(load, rn, Offset::Immediate(imm5 * bytes as i32), bytes);
    let listed = bits(word, 0, 8).count_ones() as i32;
    Memory::Access(match word >> 11 {
        0b01001 => access(AccessKind::Load, PC, Offset::Immediate(imm8 * 4), 4),
        0b01010 | 0b01011 => {
            let index = bits(word, 6, 3) as u8;
            let offset = Offset::Register { index, shift: 0 };
            // STR STRH STRB LDRSB LDR LDRH LDRB LDRSH
            let operation = bits(word, 9, 3) as usize;
            let bytes = [4, 2, 1, 1, 4, 2, 1, 2][operation];
            access(kind(operation >= 3), rn, offset, bytes)
        }
        0b01100 | 0b01101 => scaled(4),
        0b01110 | 0b01111 => scaled(1),
        0b10000 | 0b10001 => scaled(2),
        0b10010 | 0b10011 => access(load, SP, Offset::Immediate(imm8 * 4), 4),
        0b10110 if bits(word, 9, 2) == 0b10 => {
            let bytes = 4 * (listed + i32::from(bit(word, 8)));
            aligned(AccessKind::Store, SP, -bytes, bytes as u32)
        }
        0b10111 if bits(word, 9, 2) == 0b10 => {
            let bytes = 4 * (listed + i32::from(bit(word, 8)));
            aligned(AccessKind::Load, SP, 0, bytes as u32)
        }
        0b11000 | 0b11001 => aligned(load, bits(word, 8, 3) as u8, 0, 4 * listed as u32),
        _ => return Memory::Untouched,
    })
}

fn narrow_may_branch(word: u16) -> bool {
    let to_pc = bits(word, 0, 3) == 7 && bit(word, 7);
    match word >> 12 {
        // Conditional branch, SVC, UDF.
        0b1101 => true,
        0b1110 => word >> 11 == 0b11100,
        // CBZ, CBNZ, POP with PC, BKPT.
        0b1011 => word & 0x0500 == 0x0100 || word >> 8 == 0xbd || word >> 8 == 0xbe,
        // BX, BLX; ADD and MOV to PC.
        0b0100 => word >> 8 == 0x47 || (matches!(word >> 8, 0x44 | 0x46) && to_pc),
        _ => false,
    }
}

fn wide_memory(first: u16, second: u16) -> Memory {
    match first >> 9 {
        0b1110100 if bit(first, 6) => dual_or_exclusive(first, second),
        0b1110100 => multiple(first, second),
        0b1111100 => single(first, second),
        0b1110110 | 0b1111110 => coprocessor(first, second),
        _ => Memory::Untouched,
    }
}

/// LDM, STM, PUSH.W, POP.W.
fn multiple(first: u16, second: u16) -> Memory {
    let load = kind(bit(first, 4));
    let base = bits(first, 0, 4) as u8;
    let bytes = 4 * second.count_ones();
    Memory::Access(match bits(first, 7, 2) {
        // CLRM of Armv8.1-M has the place of LDM from the program counter.
        0b01 if base == PC => return Memory::Untouched,
        0b01 => aligned(load, base, 0, bytes),
        0b10 => aligned(load, base, -(bytes as i32), bytes),
        _ => return Memory::Unknown,
    })
}

/// LDRD, STRD, LDREX, STREX, TBB, TBH, and the acquire and release forms of Armv8-M.
fn dual_or_exclusive(first: u16, second: u16) -> Memory {
    // SG of Armv8-M has the place of an LDRD.
    if (first, second) == (0xe97f, 0xe97f) {
        return Memory::Untouched;
    }
    let load = kind(bit(first, 4));
    let base = bits(first, 0, 4) as u8;
    let offset = 4 * i32::from(bits(second, 0, 8));
    let (indexed, up, writeback) = (bit(first, 8), bit(first, 7), bit(first, 5));
    if indexed || writeback {
        let offset = match (indexed, up) {
            (false, _) => 0,
            (true, true) => offset,
            (true, false) => -offset,
        };
        return Memory::Access(aligned(load, base, offset, 8));
    }
    let exclusive = |offset, bytes| MemoryAccess {
        may_fail: load == AccessKind::Store,
        ..aligned(load, base, offset, bytes)
    };
    if !up {
        // TT, the Armv8-M test of a target, has the place of STREX with Rt = 15.
        let test_target = load == AccessKind::Store && bits(second, 12, 4) == 15;
        return if test_target {
            Memory::Untouched
        } else {
            Memory::Access(exclusive(offset, 4))
        };
    }
    let operation = bits(second, 4, 4);
    let table = |shift| {
        let index = bits(second, 0, 4) as u8;
        access(
            AccessKind::Load,
            base,
            Offset::Register { index, shift },
            1 << shift,
        )
    };
    let bytes = 1 << (operation & 3);
    Memory::Access(match operation {
        0b0000 if bit(first, 4) => table(0),
        0b0001 if bit(first, 4) => table(1),
        0b0100 | 0b0101 | 0b1100..=0b1110 => exclusive(0, bytes),
        0b1000..=0b1010 => aligned(load, base, 0, bytes),
        _ => return Memory::Unknown,
    })
}

/// Loads and stores of one register; PLD and PLI access nothing.
fn single(first: u16, second: u16) -> Memory {
    let load = bit(first, 4);
    let base = bits(first, 0, 4) as u8;
    let size = bits(first, 5, 2);
    if size == 3 {
        return Memory::Unknown;
    }
    if load && bits(second, 12, 4) == 15 && size != 2 {
        return Memory::Untouched;
    }
    let imm12 = i32::from(bits(second, 0, 12));
    let imm8 = i32::from(bits(second, 0, 8));
    let up = bit(first, 7);
    let offset = if base == PC {
        Offset::Immediate(if up { imm12 } else { -imm12 })
    } else if up {
        Offset::Immediate(imm12)
    } else if bit(second, 11) {
        Offset::Immediate(match (bit(second, 10), bit(second, 9)) {
            (false, _) => 0,
            (true, true) => imm8,
            (true, false) => -imm8,
        })
    } else if bits(second, 6, 6) == 0 {
        Offset::Register {
            index: bits(second, 0, 4) as u8,
            shift: bits(second, 4, 2) as u8,
        }
    } else {
        return Memory::Unknown;
    };
    Memory::Access(access(kind(load), base, offset, 1 << size))
}

/// VLDR, VSTR, VLDM, VSTM, VPUSH, VPOP.
fn coprocessor(first: u16, second: u16) -> Memory {
    let (indexed, up, writeback) = (bit(first, 8), bit(first, 7), bit(first, 5));
    if !indexed && !up && !writeback {
        // Moves between two core registers and the coprocessor.
        return Memory::Untouched;
    }
    if !is_floating_point(first, second) || (!indexed && !up) {
        return Memory::Unknown;
    }
    let load = kind(bit(first, 4));
    let base = bits(first, 0, 4) as u8;
    let double = bit(second, 8);
    let words = i32::from(bits(second, 0, 8));
    if indexed && !writeback {
        let offset = if up { 4 * words } else { -4 * words };
        return Memory::Access(aligned(load, base, offset, if double { 8 } else { 4 }));
    }
    // FLDMX and FSTMX count one word more than they transfer.
    let transferred = if double { words & !1 } else { words };
    let offset = if indexed { -4 * words } else { 0 };
    Memory::Access(aligned(load, base, offset, 4 * transferred as u32))
}

/// Coprocessors 10 and 11 are the floating-point unit.
fn is_floating_point(first: u16, second: u16) -> bool {
    let coprocessor = matches!(first >> 8 & 0xef, 0xec..=0xee);
    coprocessor && matches!(bits(second, 8, 4), 10 | 11)
}

fn wide_may_branch(first: u16, second: u16) -> bool {
    let to_pc = bits(second, 12, 4) == 15;
    match first >> 9 {
        0b1110100 if bit(first, 6) => bit(first, 4) && bits(second, 5, 3) == 0 && to_pc,
        0b1110100 => bit(first, 4) && bit(second, 15),
        0b1111100 => bit(first, 4) && to_pc,
        _ if first >> 11 == 0b11110 && bit(second, 15) => {
            // B.W, BL; else a conditional branch unless it is a control instruction.
            bit(second, 12) || bits(first, 7, 3) != 0b111
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test may fail loudly")]
mod tests {
    use super::*;

    fn accessed(first: u16, second: u16) -> (AccessKind, u32, u32) {
        let registers: [u32; 15] = std::array::from_fn(|index| 0x1000 * (index as u32 + 1));
        match decode(first, second).memory {
            Memory::Access(access) => {
                (access.kind, access.address(0x102, &registers), access.bytes)
            }
            other => panic!("{first:04x} {second:04x}: {other:?}"),
        }
    }

    /// Encodings as GNU as prints them for the instruction in the comment.
    #[test]
    fn encodings_of_gnu_as() {
        use AccessKind::{Load, Store};
        let cases = [
            (0x4a01, 0, Load, 0x108, 4),                 // ldr r2, [pc, #4]
            (0x5488, 0, Store, 0x2000 + 0x3000, 1),      // strb r0, [r1, r2]
            (0x5688, 0, Load, 0x2000 + 0x3000, 1),       // ldrsb r0, [r1, r2]
            (0x8848, 0, Load, 0x2002, 2),                // ldrh r0, [r1, #2]
            (0x9102, 0, Store, 0xe008, 4),               // str r1, [sp, #8]
            (0xb510, 0, Store, 0xdff8, 8),               // push {r4, lr}
            (0xbd10, 0, Load, 0xe000, 8),                // pop {r4, pc}
            (0xc90c, 0, Load, 0x2000, 8),                // ldmia r1!, {r2, r3}
            (0xe92d, 0x43f0, Store, 0xdfe4, 28),         // push.w {r4-r9, lr}
            (0xe8bd, 0x83f0, Load, 0xe000, 28),          // pop.w {r4-r9, pc}
            (0xe9d1, 0x2302, Load, 0x2008, 8),           // ldrd r2, r3, [r1, #8]
            (0xe9c1, 0x2300, Store, 0x2000, 8),          // strd r2, r3, [r1]
            (0xe8f1, 0x2302, Load, 0x2000, 8),           // ldrd r2, r3, [r1], #8
            (0xf811, 0x0b01, Load, 0x2000, 1),           // ldrb.w r0, [r1], #1
            (0xf811, 0x0f01, Load, 0x2001, 1),           // ldrb.w r0, [r1, #1]!
            (0xf851, 0x0c04, Load, 0x1ffc, 4),           // ldr.w r0, [r1, #-4]
            (0xf8a1, 0x0123, Store, 0x2123, 2),          // strh.w r0, [r1, #0x123]
            (0xf911, 0x0023, Load, 0x2000 + 0x10000, 1), // ldrsb.w r0, [r1, r3, lsl #2]
            (0xf85f, 0x0008, Load, 0xfc, 4),             // ldr.w r0, [pc, #-8]
            (0xe8d1, 0xf002, Load, 0x5000, 1),           // tbb [r1, r2]
            (0xe8d1, 0xf012, Load, 0x8000, 2),           // tbh [r1, r2, lsl #1]
            (0xed91, 0x0a02, Load, 0x2008, 4),           // vldr s0, [r1, #8]
            (0xed01, 0x0b02, Store, 0x1ff8, 8),          // vstr d0, [r1, #-8]
            (0xecb1, 0x0a04, Load, 0x2000, 16),          // vldmia r1!, {s0-s3}
            (0xed2d, 0x8b04, Store, 0xdff0, 16),         // vpush {d8-d9}
            (0xecbd, 0x8b04, Load, 0xe000, 16),          // vpop {d8-d9}
        ];
        for (first, second, kind, address, bytes) in cases {
            assert_eq!(
                accessed(first, second),
                (kind, address, bytes),
                "{first:04x} {second:04x}"
            );
        }
    }

    #[test]
    fn no_access() {
        for (first, second) in [
            (0xbf00, 0),      // nop
            (0xf891, 0xf000), // pld [r1]
            (0xec51, 0x0b10), // vmov r0, r1, d0
            (0x4770, 0),      // bx lr
            (0xf3bf, 0x8f5f), // dmb
            (0xe89f, 0x000f), // clrm {r0-r3}
            (0xf00f, 0xc009), // le lr, ...
        ] {
            assert_eq!(
                decode(first, second).memory,
                Memory::Untouched,
                "{first:04x}"
            );
        }
    }
}
