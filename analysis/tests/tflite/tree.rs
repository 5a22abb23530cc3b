//! Flatbuffers written part by part, also such as no converter makes.

#[derive(Clone)]
pub enum Part {
    Byte(u8),
    Word(u32),
    Long(u64),
    /// Fields by their number.
    Table(Vec<(usize, Part)>),
    Tables(Vec<Part>),
    Words(Vec<i32>),
    Longs(Vec<i64>),
    Floats(Vec<f32>),
    Bytes(Vec<u8>),
    Text(&'static str),
    /// What the reference before this one in a vector refers to.
    Again,
}

use Part::*;

pub fn write(root: &Part) -> Vec<u8> {
    let mut bytes = b"\0\0\0\0TFL3".to_vec();
    append(&mut bytes, 0, root, 0);
    bytes
}

/// Writes what the reference at a place refers to, and gives where that is.
fn append(bytes: &mut Vec<u8>, reference: usize, part: &Part, before: usize) -> usize {
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    let start = match part {
        Table(fields) => {
            let count = fields
                .iter()
                .map(|(number, _)| number + 1)
                .max()
                .unwrap_or(0);
            let directory = (4 + 2 * count).next_multiple_of(16);
            let start = bytes.len() + directory;
            let mut offsets = vec![0u16; count];
            for (index, (number, _)) in fields.iter().enumerate() {
                offsets[*number] = 8 + 8 * index as u16;
            }
            let first = start - (4 + 2 * count);
            bytes.resize(first, 0);
            bytes.extend((4 + 2 * count as u16).to_le_bytes());
            bytes.extend((8 + 8 * fields.len() as u16).to_le_bytes());
            bytes.extend(offsets.into_iter().flat_map(u16::to_le_bytes));
            bytes.extend((start as i32 - first as i32).to_le_bytes());
            bytes.resize(start + 8 + 8 * fields.len(), 0);
            for (index, (_, part)) in fields.iter().enumerate() {
                let place = start + 8 + 8 * index;
                match part {
                    Byte(byte) => bytes[place] = *byte,
                    Word(word) => bytes[place..place + 4].copy_from_slice(&word.to_le_bytes()),
                    Long(long) => bytes[place..place + 8].copy_from_slice(&long.to_le_bytes()),
                    other => {
                        append(bytes, place, other, 0);
                    }
                }
            }
            start
        }
        Tables(parts) => {
            let start = bytes.len();
            bytes.extend((parts.len() as u32).to_le_bytes());
            bytes.resize(start + 4 + 4 * parts.len(), 0);
            let mut before = 0;
            for (index, part) in parts.iter().enumerate() {
                before = append(bytes, start + 4 + 4 * index, part, before);
            }
            start
        }
        Words(words) => elements(bytes, words.iter().map(|word| word.to_le_bytes())),
        Longs(longs) => elements(bytes, longs.iter().map(|long| long.to_le_bytes())),
        Floats(floats) => elements(bytes, floats.iter().map(|float| float.to_le_bytes())),
        Bytes(data) => vector(bytes, data),
        Text(text) => vector(bytes, text.as_bytes()),
        Again => before,
        Byte(_) | Word(_) | Long(_) => panic!("a number is no reference"),
    };
    let offset = (start - reference) as u32;
    bytes[reference..reference + 4].copy_from_slice(&offset.to_le_bytes());
    start
}

fn elements<const SIZE: usize>(
    bytes: &mut Vec<u8>,
    elements: impl ExactSizeIterator<Item = [u8; SIZE]>,
) -> usize {
    let start = bytes.len();
    bytes.extend((elements.len() as u32).to_le_bytes());
    bytes.extend(elements.flatten());
    start
}

fn vector(bytes: &mut Vec<u8>, data: &[u8]) -> usize {
    let start = bytes.len() + 12;
    bytes.resize(start, 0);
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes.push(0);
    start
}
