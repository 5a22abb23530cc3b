//! Options of custom operators: a `FlexBuffer` with a map of names to numbers
//! (<https://flatbuffers.dev/internals/#flexbuffers>).

/// Types, as the upper six bits of a packed type have them.
const INT: u8 = 1;
const UINT: u8 = 2;
const FLOAT: u8 = 3;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// A map of names to values.
pub(super) struct Map<'a> {
    bytes: &'a [u8],
    /// Where its values begin.
    values: usize,
    /// Bytes per value.
    width: usize,
    count: usize,
}

impl<'a> Map<'a> {
    /// The map that a buffer holds; `None` if it holds something else, or is damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[root_type, root_width], rest) =
            bytes.split_last_chunk::<2>().map(|(r, c)| (c, r))?;
        if root_type >> 2 != MAP {
            return None;
        }
        let root = rest.len().checked_sub(usize::from(root_width))?;
        let values = follow(rest, root, root_width.into())?;
        let width = 1 << (root_type & 3);
        let count = unsigned(bytes, values.checked_sub(width)?, width)?;
        Some(Self {
            bytes,
            values,
            width,
            count: usize::try_from(count).ok()?,
        })
    }

    /// The integer of this name, or the truth value as 0 or 1; `None` if there is none.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let (kind, value) = self.value(name)?;
        match kind {
            INT => {
                let unused = 64 - 8 * u32::try_from(self.width).ok()?;
                Some(value.cast_signed() << unused >> unused)
            }
            UINT | BOOL => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The number of this name, in single precision; `None` if there is none.
    pub fn number(&self, name: &str) -> Option<f32> {
        match (self.value(name)?, self.width) {
            ((FLOAT, value), 4) => Some(f32::from_bits(u32::try_from(value).ok()?)),
            ((FLOAT, value), 8) => Some(f64::from_bits(value) as f32),
            ((FLOAT, _), _) => None,
            _ => Some(self.integer(name)? as f32),
        }
    }

    /// The type of the value of this name, and its bits.
    fn value(&self, name: &str) -> Option<(u8, u64)> {
        // A name takes two bytes at least, so that this ends with the buffer.
        let mut indices = 0..self.count.min(self.bytes.len());
        let index = indices.find(|&index| self.is_named(index, name))?;
        let types = self
            .values
            .checked_add(self.count.checked_mul(self.width)?)?;
        let kind = *self.bytes.get(types.checked_add(index)?)? >> 2;
        let value = unsigned(self.bytes, self.values + index * self.width, self.width)?;
        Some((kind, value))
    }
}

impl Map<'_> {
    /// Whether it has values of these names in this order, and no others.
    pub fn has_names(&self, names: &[&str]) -> bool {
        let mut named = names.iter().enumerate();
        self.count == names.len() && named.all(|(index, name)| self.is_named(index, name))
    }

    fn is_named(&self, index: usize, name: &str) -> bool {
        let text = self.key(index).and_then(|at| self.bytes.get(at..));
        text.and_then(|text| text.strip_prefix(name.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Where the name of a value begins.
    fn key(&self, index: usize) -> Option<usize> {
        // Before the values: where the keys are, how wide their offsets are, how many there are.
        let before = |fields: usize| self.values.checked_sub(fields * self.width);
        let keys = follow(self.bytes, before(3)?, self.width)?;
        let key_width = usize::try_from(unsigned(self.bytes, before(2)?, self.width)?).ok()?;
        let at = keys.checked_add(index.checked_mul(key_width.min(8))?)?;
        follow(self.bytes, at, key_width)
    }
}

/// Where an offset points to: backwards from where it stands.
fn follow(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let offset = usize::try_from(unsigned(bytes, at, width)?).ok()?;
    at.checked_sub(offset)
}

fn unsigned(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let given = bytes.get(at..at.checked_add(width)?)?;
    let mut word = [0; 8];
    word.get_mut(..width)
        .filter(|_| width.is_power_of_two())?
        .copy_from_slice(given);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"T": 7, "fft_length": 512, "prefill": True, "shift": -3}`, by Python's `flexbuffers`.
    const EXAMPLE: &[u8] = b"T\0fft_length\0prefill\0shift\0\x04\x1c\x1b\x11\x0a\x04\0\x01\0\x04\0\x07\0\0\x02\x01\0\xfd\xff\x05\x05\x69\x05\x0c\x25\x01";

    #[test]
    fn numbers_have_names() {
        let integer = |bytes, name| Map::read(bytes).and_then(|map| map.integer(name));
        let every_time = super::super::circular_buffer::EVERY_TIME;
        assert_eq!(integer(every_time, "cycles_max"), Some(1));
        assert_eq!(integer(every_time, "cycles"), None);
        for (name, value) in [("T", 7), ("fft_length", 512), ("prefill", 1), ("shift", -3)] {
            assert_eq!(integer(EXAMPLE, name), Some(value), "{name}");
        }
    }

    #[test]
    fn damage_is_refused() {
        for length in 0..EXAMPLE.len() {
            let _ = Map::read(&EXAMPLE[..length]).map(|map| map.integer("fft_length"));
        }
        for at in 0..EXAMPLE.len() {
            for value in [0, 1, 2, 8, 0x7f, 0xff] {
                let mut bytes = EXAMPLE.to_vec();
                bytes[at] = value;
                let _ = Map::read(&bytes).map(|map| map.integer("shift"));
            }
        }
        assert!(Map::read(&[]).is_none() && Map::read(&[0; 40]).is_none());
    }
}
