//! From a function of hand-written assembly, which seldom has call frame information, to its
//! caller: where it has touched neither the stack pointer nor the link register, as `memcpy` of
//! C libraries.

use super::unwind::{LR, PC, Registers, SP, Unwound, halfword_before, is_behind_call};

/// Longer functions are not analysed.
const MAX_BYTES: u32 = 1024;

/// The frame of the code at `address`, whose function the link register's call has called.
/// None where that is not certain.
pub(super) fn unwind(
    address: u32,
    registers: &Registers,
    read: &dyn Fn(u32, usize) -> Option<Vec<u8>>,
) -> Option<Unwound> {
    let (stack, back) = (registers.words[SP]?, registers.words[LR]?);
    if back & 1 == 0 || !is_behind_call(back & !1, read) {
        return None;
    }
    let back = back & !1;
    let entry = called_by(back, read)?;
    let length = address
        .checked_sub(entry)
        .filter(|&length| length <= MAX_BYTES)?;
    let code = read(entry, length as usize)?;
    if touches_frame(&code) {
        return None;
    }
    let mut caller = registers.clone();
    caller.forget_scratch();
    caller.words[PC] = Some(back);
    caller.words[LR] = None;
    Some(Unwound {
        cfa: stack,
        caller: Some(caller),
    })
}

/// Where the BL that ends at `back` leads.
fn called_by(back: u32, read: &dyn Fn(u32, usize) -> Option<Vec<u8>>) -> Option<u32> {
    let first = u32::from(halfword_before(back, 4, read)?);
    let second = u32::from(halfword_before(back, 2, read)?);
    if first >> 11 != 0b11110 || second & 0xd000 != 0xd000 {
        return None;
    }
    let sign = first >> 10 & 1;
    let inverted = |bit: u32| !(second >> bit ^ sign) & 1;
    let offset = sign << 24
        | inverted(13) << 23
        | inverted(11) << 22
        | (first & 0x3ff) << 12
        | (second & 0x7ff) << 1;
    // The sign is that of 25 bits.
    let offset = (offset << 7) as i32 >> 7;
    Some(back.wrapping_add_signed(offset))
}

/// Whether an instruction may change the stack pointer or the link register. Data between
/// instructions may look like one that does.
fn touches_frame(code: &[u8]) -> bool {
    let halfwords = code.chunks_exact(2);
    let mut halfwords = halfwords.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    while let Some(first) = halfwords.next() {
        let touches = match first >> 11 {
            0b11101..=0b11111 => {
                let second = halfwords.next();
                second.is_none_or(|second| touches_frame_wide(first, second))
            }
            _ => touches_frame_narrow(first),
        };
        if touches {
            return true;
        }
    }
    false
}

fn touches_frame_narrow(code: u16) -> bool {
    let high_destination = code & 7 | code >> 4 & 8;
    // ADD and MOV of high registers; BLX.
    matches!(code >> 8, 0x44 | 0x46) && matches!(high_destination, 13 | 14)
        || code & 0xff80 == 0x4780
        // ADD and SUB of the stack pointer; PUSH; POP.
        || matches!(code >> 8, 0xb0 | 0xb4 | 0xb5 | 0xbc | 0xbd)
}

fn touches_frame_wide(first: u16, second: u16) -> bool {
    let base = first & 0xf;
    let is_frame = |register: u16| matches!(register, 13 | 14);
    match first >> 9 {
        // Loads and stores, of several or of two registers or of floating-point ones: the
        // base may be written back, and what is loaded is in the second half.
        0b1110100 => {
            let several = first >> 6 & 1 == 0;
            let loads = first >> 4 & 1 == 1;
            let loaded = if several {
                second & 0x6000 != 0
            } else {
                is_frame(second >> 12) || is_frame(second >> 8 & 0xf)
            };
            is_frame(base) || loads && loaded
        }
        0b1110110 | 0b1110111 | 0b1111110 | 0b1111111 => is_frame(base) || is_frame(second >> 12),
        // Loads and stores of one register.
        0b1111100 => {
            let loads = first >> 4 & 1 == 1;
            is_frame(base) || loads && is_frame(second >> 12)
        }
        // Branches with a link, and moves from and to special registers; other branches lead on
        // within the function.
        _ if first >> 11 == 0b11110 && second & 0x8000 != 0 => {
            second & 0x5000 == 0x5000 || first & 0xff80 == 0xf380 && second & 0x5000 == 0
        }
        // Arithmetic and logic.
        _ => is_frame(second >> 8 & 0xf) || is_frame(second >> 12),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test may fail loudly")]

    use super::*;
    use proptest::prelude::*;

    const CALL: u32 = 0x0800_4000;

    fn bl(from: u32, to: u32) -> [u16; 2] {
        let offset = to.wrapping_sub(from + 4);
        let bit = |low: u32| (offset >> low & 1) as u16;
        let sign = bit(24);
        let j = |low| !(bit(low) ^ sign) & 1;
        let first = 0xf000 | sign << 10 | (offset >> 12 & 0x3ff) as u16;
        let second = 0xd000 | j(23) << 13 | j(22) << 11 | (offset >> 1 & 0x7ff) as u16;
        [first, second]
    }

    /// Memory with the call and, from `entry` on, this code.
    fn caller(entry: u32, code: &[u16], at: u32) -> Option<Registers> {
        let bytes =
            |code: &[u16]| -> Vec<u8> { code.iter().flat_map(|it| it.to_le_bytes()).collect() };
        let pieces = [(CALL, bytes(&bl(CALL, entry))), (entry, bytes(code))];
        let read = |address: u32, size: usize| {
            pieces.iter().find_map(|(start, bytes)| {
                let from = address.checked_sub(*start)? as usize;
                bytes.get(from..from + size).map(<[u8]>::to_vec)
            })
        };
        let mut words = std::array::from_fn(|index| Some(index as u32));
        words[LR] = Some(CALL + 5);
        words[SP] = Some(0x2000_8000);
        let floats = [None; 32];
        unwind(at, &Registers { words, floats }, &read)?.caller
    }

    #[test]
    fn what_touches_the_frame_hides_the_caller() {
        const ENTRY: u32 = 0x0800_0100;
        let harmless: [&[u16]; 9] = [
            &[0x4684],         // mov ip, r0
            &[0xea41, 0x0300], // orr.w r3, r1, r0
            &[0xf013, 0x0303], // ands.w r3, r3, #3
            &[0xd16d],         // bne
            &[0x3a40],         // subs r2, #64
            &[0xf851, 0x3b04], // ldr.w r3, [r1], #4
            &[0xf840, 0x3b04], // str.w r3, [r0], #4
            &[0xf000, 0xb800], // b.w
            &[0xe8b1, 0x0038], // ldmia.w r1!, {r3, r4, r5}
        ];
        let harmful: [&[u16]; 16] = [
            &[0xb510],         // push {r4, lr}
            &[0xbd10],         // pop {r4, pc}
            &[0xb082],         // sub sp, #8
            &[0x46ee],         // mov lr, sp
            &[0x4685],         // mov sp, r0
            &[0x4788],         // blx r1
            &[0xf000, 0xf800], // bl
            &[0xe92d, 0x41f0], // push.w {r4-r8, lr}
            &[0xe8bd, 0x81f0], // pop.w {r4-r8, pc}
            &[0xf380, 0x8808], // msr msp, r0
            &[0xf84d, 0xed04], // str lr, [sp, #-4]!
            &[0xf85d, 0xeb04], // ldr lr, [sp], #4
            &[0xed2d, 0x8b02], // vpush {d8}
            &[0xf1ad, 0x0d08], // sub.w sp, sp, #8
            &[0xe8b1, 0x4008], // ldmia.w r1!, {r3, lr}
            &[0xf8d1, 0xe000], // ldr.w lr, [r1]
        ];
        for code in harmless {
            let at = ENTRY + 2 * code.len() as u32;
            let found = caller(ENTRY, code, at).expect("a caller");
            let expected = [Some(CALL + 4), Some(0x2000_8000), Some(4), None];
            let words = found.words;
            assert_eq!(
                [words[PC], words[SP], words[4], words[0]],
                expected,
                "{code:x?}"
            );
        }
        for code in harmful {
            let at = ENTRY + 2 * code.len() as u32;
            assert!(caller(ENTRY, code, at).is_none(), "{code:x?}");
        }
        // Before the function, and far after its entry.
        assert!(caller(ENTRY, &[0xbf00], ENTRY - 2).is_none());
        assert!(caller(ENTRY, &[0xbf00; 600], ENTRY + 1026).is_none());
    }

    proptest! {
        #[test]
        fn calls_lead_where_they_were_assembled_to(halfwords in -0x80_0000_i32..0x80_0000) {
            let entry = (CALL + 4).wrapping_add_signed(2 * halfwords);
            prop_assume!(entry.abs_diff(CALL) > 8);
            prop_assert!(caller(entry, &[], entry).is_some());
        }
    }
}
