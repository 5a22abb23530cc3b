//! Integer arithmetic, as the manual has it.

use crate::operation::ShiftKind;

/// Sum of two words and a carry: the result, the carry and the overflow.
#[inline]
pub fn add_with_carry(a: u32, b: u32, carry: u32) -> (u32, u32, u32) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    let result = sum as u32;
    let overflow = (a ^ result) & (b ^ result);
    (result, (sum >> 32) as u32, overflow >> 31)
}

/// A word shifted, and the carry out of it. The amount is 0 to 255, as of a register; 0 changes
/// nothing but for RRX.
#[inline]
pub fn shift(kind: ShiftKind, value: u32, amount: u32, carry: u32) -> (u32, u32) {
    if kind == ShiftKind::Rrx {
        return (value >> 1 | carry << 31, value & 1);
    }
    if amount == 0 {
        return (value, carry);
    }
    match kind {
        ShiftKind::Lsl => {
            let wide = u64::from(value).checked_shl(amount).unwrap_or(0);
            (wide as u32, (wide >> 32) as u32 & 1)
        }
        ShiftKind::Lsr => {
            let wide = (u64::from(value) << 1).checked_shr(amount).unwrap_or(0);
            ((wide >> 1) as u32, wide as u32 & 1)
        }
        ShiftKind::Asr => {
            let wide = (i64::from(value as i32) << 1) >> amount.min(32);
            ((wide >> 1) as u32, wide as u32 & 1)
        }
        ShiftKind::Ror | ShiftKind::Rrx => {
            let result = value.rotate_right(amount % 32);
            (result, result >> 31)
        }
    }
}

/// A number saturated to so many bits, signed or not, and whether that changed it.
#[inline]
pub fn saturate(value: i64, bits: u32, signed: bool) -> (u32, bool) {
    let (low, high) = if signed {
        (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1)
    } else {
        (0, (1_i64 << bits) - 1)
    };
    let result = value.clamp(low, high);
    (result as u32, result != value)
}

/// The lower or the upper half of a word, as a signed number.
#[inline]
pub fn half(value: u32, top: bool) -> i32 {
    i32::from((if top { value >> 16 } else { value }) as i16)
}

/// Whether a condition holds, by its number; flags are 0 or 1.
#[inline]
pub fn condition_holds(condition: u32, [n, z, c, v]: [u32; 4]) -> bool {
    let holds = match condition >> 1 & 7 {
        0 => z == 1,
        1 => c == 1,
        2 => n == 1,
        3 => v == 1,
        4 => c == 1 && z == 0,
        5 => n == v,
        6 => n == v && z == 0,
        _ => return true,
    };
    holds != (condition & 1 == 1)
}
