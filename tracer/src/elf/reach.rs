//! What the code of some functions may reach: the functions that it calls or points to, and the
//! objects that it points to.

use super::image::{Image, Segment};
use super::symbols::Symbol;
use std::collections::BTreeMap;

/// Bytes of the functions that begin at these addresses and of all that they may reach. A word of
/// code that happens to be an address counts as one.
pub fn reachable_bytes(image: &Image, entries: impl IntoIterator<Item = u32>) -> u64 {
    let mut reached: BTreeMap<u32, u32> = BTreeMap::new();
    let mut open: Vec<u32> = entries.into_iter().collect();
    while let Some(address) = open.pop() {
        let Some(symbol) = image.symbols.holding(address) else {
            continue;
        };
        if reached.insert(symbol.address, symbol.size_bytes).is_none() {
            open.extend(targets(image, symbol));
        }
    }
    reached.values().map(|&bytes| u64::from(bytes)).sum()
}

/// Addresses that the content of a symbol leads to.
fn targets(image: &Image, symbol: &Symbol) -> Vec<u32> {
    let Some(content) = content(&image.segments, symbol) else {
        return Vec::new();
    };
    let words = content.chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let mut found: Vec<u32> = words.filter(|&word| is_pointer(image, word)).collect();
    if symbol.function {
        let half = |at: usize| {
            Some(u16::from_le_bytes([
                *content.get(at)?,
                *content.get(at + 1)?,
            ]))
        };
        let mut at = 0;
        while let Some(first) = half(at) {
            let is_long = first >= LONG;
            if let Some(second) = half(at + 2).filter(|_| is_long) {
                let pc = symbol.address.wrapping_add(at as u32 + 4);
                let target = branch(first, second).map(|distance| pc.wrapping_add_signed(distance));
                found.extend(target.filter(|&target| is_start(image, target)));
            }
            at += if is_long { 4 } else { 2 };
        }
    }
    found
}

/// Instructions of 32 bits begin with a halfword of at least this.
const LONG: u16 = 0xe800;

/// Calls go to where functions begin.
fn is_start(image: &Image, address: u32) -> bool {
    let symbol = image.symbols.holding(address);
    symbol.is_some_and(|symbol| symbol.address == address)
}

/// A pointer to a function is its start, with the Thumb bit; one to an object may be into it.
fn is_pointer(image: &Image, word: u32) -> bool {
    let symbol = image.symbols.holding(word);
    symbol.is_some_and(|symbol| !symbol.function || word == symbol.address | 1)
}

/// How far `BL` and the long `B` jump, in bytes; `None` for any other instruction.
fn branch(first: u16, second: u16) -> Option<i32> {
    const LONG_BRANCH: u16 = 0x9000;
    if first & 0xf800 != 0xf000 || second & LONG_BRANCH != LONG_BRANCH {
        return None;
    }
    let bit = |half: u16, at: u16| u32::from(half >> at & 1);
    let sign = bit(first, 10);
    let (high, low) = (1 ^ bit(second, 13) ^ sign, 1 ^ bit(second, 11) ^ sign);
    let distance = sign << 24
        | high << 23
        | low << 22
        | u32::from(first & 0x3ff) << 12
        | u32::from(second & 0x7ff) << 1;
    Some((distance << 7) as i32 >> 7)
}

fn content<'a>(segments: &'a [Segment], symbol: &Symbol) -> Option<&'a [u8]> {
    let start = u64::from(symbol.address);
    let end = start + u64::from(symbol.size_bytes);
    segments.iter().find_map(|segment| {
        let base = segment.run_range().start;
        let within = start.checked_sub(base)? as usize..end.checked_sub(base)? as usize;
        segment.content.get(within)
    })
}

#[cfg(test)]
mod tests {
    use super::branch;

    #[test]
    fn branches_are_those_of_the_assembler() {
        // Of arm-none-eabi-as: bl .+4, bl .+0x1000, bl .-0x1000, b.w .+0x2000, b.w .-0x20, from which the
        // distance is that to 4 bytes after `.`; a load and a conditional branch.
        let known = [
            ((0xf000, 0xf800), Some(0)),
            ((0xf000, 0xfffe), Some(0xffc)),
            ((0xf7fe, 0xfffe), Some(-0x1004)),
            ((0xf001, 0xbffe), Some(0x1ffc)),
            ((0xf7ff, 0xbfee), Some(-0x24)),
            ((0xf8d0, 0x0000), None),
            ((0xf000, 0x8000), None),
        ];
        for ((first, second), distance) in known {
            assert_eq!(branch(first, second), distance, "{first:#x} {second:#x}");
        }
    }
}
