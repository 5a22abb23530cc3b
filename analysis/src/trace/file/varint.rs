//! Numbers in as few bytes as they need.

/// Small magnitudes of either sign to small numbers: 0, -1, 1, -2, ... to 0, 1, 2, 3.
pub(super) const fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

pub(super) const fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

/// Seven bits a byte, lowest first; the top bit says that more follow.
#[inline]
pub(super) fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[inline]
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    take_long_varint(first, bytes)
}

fn take_long_varint(first: u8, bytes: &mut &[u8]) -> Option<u64> {
    let mut value = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panic")]
    use super::*;

    #[test]
    fn varints_and_zigzag_are_undone() {
        let mut values = vec![0, u64::MAX];
        for bit in 0..64 {
            values.extend([(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        }
        for value in values {
            let mut bytes = Vec::new();
            push_varint(&mut bytes, value);
            let mut rest = &bytes[..];
            assert_eq!(take_varint(&mut rest).unwrap(), value);
            assert!(rest.is_empty());
            assert_eq!(take_varint(&mut &bytes[..bytes.len() - 1]), None);
            assert_eq!(unzigzag(zigzag(value as i32)), value as i32);
        }
        assert_eq!(take_varint(&mut &[0xff; 11][..]), None);
        assert_eq!(zigzag(i32::MIN), u32::MAX);
    }
}
