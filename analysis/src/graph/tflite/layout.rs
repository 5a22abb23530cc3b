//! Writing flatbuffers from front to back: a reference is written first, and what it
//! refers to follows.

use super::TfliteError;
use super::schema::{Field, operator, operator_code};
use crate::graph::TensorId;
use std::collections::HashMap;

/// Bytes that begin with a reference to the root table.
#[derive(Debug)]
pub(crate) struct Layout {
    pub bytes: Vec<u8>,
    /// Where tables' directories are, each once, if equal ones are shared.
    directories: Option<HashMap<Vec<u8>, usize>>,
}

/// Where the reference to the root table is.
pub(crate) const ROOT: usize = 0;

/// The largest number that fits the old field of operator codes.
const OLD_CODES: usize = 127;

/// A field's own bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value {
    Byte(u8),
    Word(u32),
    Float(f32),
    /// To be followed by what it refers to.
    Reference,
}

impl Layout {
    pub(crate) fn new() -> Self {
        Self {
            bytes: b"\0\0\0\0TFL3".to_vec(),
            directories: None,
        }
    }

    /// One whose tables share their directories, which makes a file of many tables smaller.
    pub(crate) fn sharing() -> Self {
        Self {
            directories: Some(HashMap::new()),
            ..Self::new()
        }
    }

    /// Appends zeros up to the next multiple.
    pub(crate) fn align(&mut self, multiple: usize) {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(multiple), 0);
    }

    /// Writes a table and where its fields are, and gives the places of the fields.
    pub(crate) fn table(
        &mut self,
        reference: usize,
        fields: &[(Field, Value)],
    ) -> Result<Vec<usize>, TfliteError> {
        let count = fields.iter().map(|(field, _)| field.number + 1).max();
        let mut offsets = vec![0u16; count.unwrap_or(0)];
        let mut body = vec![0; 4];
        for (field, value) in fields {
            // Fields are few, so that an offset fits.
            offsets[field.number] = body.len() as u16;
            body.extend(match value {
                Value::Byte(byte) => u32::from(*byte).to_le_bytes(),
                Value::Word(word) => word.to_le_bytes(),
                Value::Float(float) => float.to_le_bytes(),
                Value::Reference => [0; 4],
            });
        }
        let length = 4 + 2 * offsets.len();
        let words = [length as u16, body.len() as u16].into_iter();
        let directory: Vec<u8> = words
            .chain(offsets.iter().copied())
            .flat_map(u16::to_le_bytes)
            .collect();
        // The table, which begins with a 32-bit number, follows its directory.
        self.align(4);
        let place = self.directory(&directory, length % 4);
        let start = self.bytes.len();
        let back = i32::try_from(start - place).map_err(|_| too_large(start))?;
        body[..4].copy_from_slice(&back.to_le_bytes());
        self.bytes.extend(body);
        self.link(reference, start)?;
        let fields = fields.iter();
        Ok(fields
            .map(|(field, _)| start + usize::from(offsets[field.number]))
            .collect())
    }

    /// Where a directory is, which is written if it has to be, with as many zeros before it.
    fn directory(&mut self, directory: &[u8], zeros: usize) -> usize {
        let known = self.directories.as_ref();
        if let Some(&place) = known.and_then(|known| known.get(directory)) {
            return place;
        }
        self.bytes.resize(self.bytes.len() + zeros, 0);
        let place = self.bytes.len();
        self.bytes.extend(directory);
        if let Some(known) = &mut self.directories {
            known.insert(directory.to_vec(), place);
        }
        place
    }

    /// Writes a table whose fields are no references, as another file has it: its directory and
    /// its own bytes, which begin there at `start`.
    pub(crate) fn inline(
        &mut self,
        reference: usize,
        directory: &[u8],
        table: &[u8],
        start: usize,
    ) -> Result<(), TfliteError> {
        const LARGEST: usize = 8;
        self.align(2);
        let place = self.directory(directory, 0);
        // Numbers inside are aligned as they were.
        while self.bytes.len() % LARGEST != start % LARGEST {
            self.bytes.push(0);
        }
        let target = self.bytes.len();
        self.bytes.extend(table);
        let back = i32::try_from(target - place).map_err(|_| too_large(target))?;
        if let Some(first) = self.bytes[target..].first_chunk_mut() {
            *first = back.to_le_bytes();
        }
        self.link(reference, target)
    }

    /// Writes a vector of references, and gives their places.
    pub(crate) fn references(
        &mut self,
        reference: usize,
        count: usize,
    ) -> Result<Vec<usize>, TfliteError> {
        let start = self.vector(reference, count, &vec![0; 4 * count], 4)?;
        Ok((0..count).map(|index| start + 4 * index).collect())
    }

    /// Writes a vector of 32-bit integers.
    pub(crate) fn integers(&mut self, reference: usize, values: &[i32]) -> Result<(), TfliteError> {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.vector(reference, values.len(), &bytes, 4).map(|_| ())
    }

    /// Writes indices as the schema has them; a graph has fewer tensors than 31 bits count.
    pub(crate) fn ids(&mut self, reference: usize, ids: &[TensorId]) -> Result<(), TfliteError> {
        let indices: Vec<i32> = ids.iter().map(|id| id.0 as i32).collect();
        self.integers(reference, &indices)
    }

    /// Writes the code and options' type of an operator, and gives the places of these and of
    /// inputs, outputs and, if there is a type, options.
    pub(crate) fn operator(
        &mut self,
        reference: usize,
        code: u32,
        options_type: u8,
    ) -> Result<Vec<usize>, TfliteError> {
        let mut fields = vec![
            (operator::OPCODE_INDEX, Value::Word(code)),
            (operator::INPUTS, Value::Reference),
            (operator::OUTPUTS, Value::Reference),
        ];
        if options_type != 0 {
            fields.push((operator::OPTIONS_TYPE, Value::Byte(options_type)));
            fields.push((operator::OPTIONS, Value::Reference));
        }
        self.table(reference, &fields)
    }

    /// Writes a kind's code and its version.
    pub(crate) fn operator_code(
        &mut self,
        reference: usize,
        code: usize,
        version: u32,
    ) -> Result<(), TfliteError> {
        let fields = [
            (
                operator_code::DEPRECATED_BUILTIN_CODE,
                Value::Byte(code.min(OLD_CODES) as u8),
            ),
            (operator_code::VERSION, Value::Word(version)),
            (operator_code::BUILTIN_CODE, Value::Word(code as u32)),
        ];
        self.table(reference, &fields).map(|_| ())
    }

    /// Writes a vector of bytes that begins at a multiple of 16.
    pub(crate) fn data(&mut self, reference: usize, bytes: &[u8]) -> Result<(), TfliteError> {
        self.vector(reference, bytes.len(), bytes, 16).map(|_| ())
    }

    /// Writes a string.
    pub(crate) fn text(&mut self, reference: usize, text: &str) -> Result<(), TfliteError> {
        self.vector(reference, text.len(), text.as_bytes(), 4)?;
        self.bytes.push(0);
        Ok(())
    }

    /// Writes a vector whose elements begin at a multiple of `alignment`, and gives where.
    pub(crate) fn vector(
        &mut self,
        reference: usize,
        count: usize,
        bytes: &[u8],
        alignment: usize,
    ) -> Result<usize, TfliteError> {
        self.bytes.extend([0; 4]);
        self.align(alignment);
        let start = self.bytes.len();
        let count = u32::try_from(count).map_err(|_| too_large(start))?;
        self.bytes[start - 4..].copy_from_slice(&count.to_le_bytes());
        self.bytes.extend(bytes);
        self.link(reference, start - 4)?;
        Ok(start)
    }

    /// Lets a reference refer to what begins at `target`.
    pub(crate) fn link(&mut self, reference: usize, target: usize) -> Result<(), TfliteError> {
        link(&mut self.bytes, reference, target)
    }
}

/// Lets the reference at a place refer to what begins at `target`, which lies after it.
pub(crate) fn link(bytes: &mut [u8], place: usize, target: usize) -> Result<(), TfliteError> {
    let offset = target
        .checked_sub(place)
        .filter(|&offset| offset > 0)
        .and_then(|offset| u32::try_from(offset).ok())
        .ok_or_else(|| too_large(target))?;
    bytes[place..place + 4].copy_from_slice(&offset.to_le_bytes());
    Ok(())
}

fn too_large(target: usize) -> TfliteError {
    TfliteError::Plan(format!(
        "byte {target} of the file lies out of reach of the reference to it: references are \
         32 bits, and lead forwards"
    ))
}
