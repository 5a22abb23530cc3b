//! Constants that `TFLM_DECODE` unpacks: tables of values, Huffman codes, what was pruned filled in
//! (`tensorflow/lite/micro/kernels/decode_state_*.cc`).

/// How a constant is packed, and what it is once unpacked.
///
/// Its data are two tensors: the encoded elements, and the ancillary data, which have
/// [`HEADER_BYTES`](Self::HEADER_BYTES) that say how it is packed, then tables or values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// How.
    pub packing: Packing,
    /// Number of elements.
    pub elements: u32,
    /// Bytes per element.
    pub element_bytes: u32,
    /// Channels, with a table or zero point each.
    pub channels: Channels,
}

/// Which elements belong to which channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels {
    /// How many there are; a divisor of the number of elements.
    pub count: u32,
    /// Whether they are the indices of the last axis, not of the first.
    pub are_last: bool,
}

impl Channels {
    /// How many of so many elements belong to one channel, one after the other; at least 1.
    pub fn run(self, elements: u32) -> u32 {
        if self.are_last {
            return 1;
        }
        elements.checked_div(self.count).unwrap_or(1).max(1)
    }
}

/// How a constant is packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packing {
    /// Indices of 1 to 7 `bits` into a table of values for each channel, `stride` elements apart.
    Table {
        /// Bits of an index.
        bits: u32,
        /// Elements of a table.
        stride: u32,
    },
    /// Codes of variable length, looked up in tables: by `first_bits`, then by as many as an entry says.
    Huffman {
        /// Bits of the first look-up, 1 to 16.
        first_bits: u32,
        /// Bytes of an entry, 2 or 4.
        entry_bytes: u32,
    },
    /// A bit for each element, and the values of those whose bit is 1. The others are their channel's
    /// zero point.
    Pruned {
        /// Of each channel, or one for all.
        zero_points: Vec<i8>,
    },
}

/// Why packed data make no constant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PackedError {
    #[error("element {element} of {elements} lies beyond the {bytes} bytes of encoded data")]
    Encoded {
        element: u32,
        elements: u32,
        bytes: usize,
    },
    #[error(
        "element {element} of {elements} needs what lies beyond the {bytes} bytes of ancillary data"
    )]
    Ancillary {
        element: u32,
        elements: u32,
        bytes: usize,
    },
    #[error("the code of element {element} of {elements} has no bits, or no end")]
    Endless { element: u32, elements: u32 },
}

impl Packed {
    /// Bytes before the tables or values.
    pub const HEADER_BYTES: usize = 16;
    /// A code goes through fewer tables.
    const TABLES: u32 = 64;

    /// Bytes of the constant.
    pub fn size_bytes(&self) -> u64 {
        u64::from(self.elements) * u64::from(self.element_bytes)
    }

    /// The constant's elements, little-endian.
    ///
    /// # Errors
    /// When the data end before all elements are known.
    pub fn unpacked(&self, encoded: &[u8], ancillary: &[u8]) -> Result<Vec<u8>, PackedError> {
        let data = Data {
            packed: self,
            encoded,
            values: ancillary.get(Self::HEADER_BYTES..).unwrap_or_default(),
            ancillary_bytes: ancillary.len(),
        };
        match &self.packing {
            &Packing::Table { bits, stride } => data.by_table(bits, stride),
            &Packing::Huffman {
                first_bits,
                entry_bytes,
            } => data.by_huffman(first_bits, entry_bytes),
            Packing::Pruned { zero_points } => data.pruned(zero_points),
        }
    }

    fn channel(&self, element: u32) -> u32 {
        element / self.channels.run(self.elements) % self.channels.count.max(1)
    }
}

struct Data<'a> {
    packed: &'a Packed,
    encoded: &'a [u8],
    /// Ancillary data after the header.
    values: &'a [u8],
    ancillary_bytes: usize,
}

impl Data<'_> {
    fn by_table(&self, bits: u32, stride: u32) -> Result<Vec<u8>, PackedError> {
        let mut made = Vec::new();
        for element in 0..self.packed.elements {
            let index = self.bits(element, u64::from(element) * u64::from(bits), bits)?;
            let table = self.packed.channel(element) as usize * stride as usize;
            made.extend(self.value(element, table + index as usize)?);
        }
        Ok(made)
    }

    fn pruned(&self, zero_points: &[i8]) -> Result<Vec<u8>, PackedError> {
        let (mut made, mut next) = (Vec::new(), 0);
        for element in 0..self.packed.elements {
            if self.bits(element, element.into(), 1)? == 1 {
                made.extend(self.value(element, next)?);
                next += 1;
                continue;
            }
            let channel = self.packed.channel(element) as usize;
            let zero_point = zero_points.get(channel).or(zero_points.first());
            let bytes = i64::from(zero_point.copied().unwrap_or(0)).to_le_bytes();
            made.extend(&bytes[..self.packed.element_bytes as usize]);
        }
        Ok(made)
    }

    fn by_huffman(&self, first_bits: u32, entry_bytes: u32) -> Result<Vec<u8>, PackedError> {
        let (mut made, mut position) = (Vec::new(), 0);
        for element in 0..self.packed.elements {
            let symbol = self.symbol(element, &mut position, first_bits, entry_bytes)?;
            made.extend(&symbol.to_le_bytes()[..self.packed.element_bytes as usize]);
        }
        Ok(made)
    }

    /// The element whose code begins at a bit, which goes on to that after it.
    fn symbol(
        &self,
        element: u32,
        position: &mut u64,
        first_bits: u32,
        entry_bytes: u32,
    ) -> Result<u32, PackedError> {
        let (begin, mut bits, mut place) = (*position, first_bits, 0u64);
        // The flag, four bits of a count, the rest a value.
        let value_bits = 8 * entry_bytes - 5;
        for _ in 0..Packed::TABLES {
            place += u64::from(self.bits_or_zeros(*position, bits));
            let entry = self.entry(element, place, entry_bytes)?;
            let count = entry >> value_bits & 0xf;
            let value = entry & ((1 << value_bits) - 1);
            if entry >> (value_bits + 4) & 1 == 1 {
                *position += u64::from(count.min(bits));
                if *position == begin {
                    break;
                }
                let read = self.encoded.len() as u64 * 8;
                return (*position <= read)
                    .then_some(value)
                    .ok_or_else(|| self.beyond_encoded(element));
            }
            *position += u64::from(bits);
            (bits, place) = (count + 1, place + u64::from(value));
        }
        Err(PackedError::Endless {
            element,
            elements: self.packed.elements,
        })
    }

    fn entry(&self, element: u32, place: u64, bytes: u32) -> Result<u32, PackedError> {
        let size = bytes as usize;
        let begin = usize::try_from(place)
            .ok()
            .and_then(|it| it.checked_mul(size));
        let entry = begin.and_then(|begin| self.values.get(begin..begin.checked_add(size)?));
        let entry = entry.ok_or_else(|| self.beyond_ancillary(element))?;
        let bytes = entry.iter().rev();
        Ok(bytes.fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    fn value(&self, element: u32, index: usize) -> Result<&[u8], PackedError> {
        let size = self.packed.element_bytes as usize;
        let begin = index.checked_mul(size);
        let value = begin.and_then(|begin| self.values.get(begin..begin.checked_add(size)?));
        value.ok_or_else(|| self.beyond_ancillary(element))
    }

    /// Bits of the encoded data, all of which must be there.
    fn bits(&self, element: u32, position: u64, count: u32) -> Result<u32, PackedError> {
        let end = position + u64::from(count);
        if end > self.encoded.len() as u64 * 8 {
            return Err(self.beyond_encoded(element));
        }
        Ok(self.bits_or_zeros(position, count))
    }

    /// Bits of the encoded data, the first the highest; 0 beyond their end.
    fn bits_or_zeros(&self, position: u64, count: u32) -> u32 {
        (position..position + u64::from(count)).fold(0, |bits, place| {
            let byte = usize::try_from(place / 8).ok();
            let byte = byte.and_then(|byte| self.encoded.get(byte)).copied();
            bits << 1 | u32::from(byte.unwrap_or(0) >> (7 - place % 8) & 1)
        })
    }

    fn beyond_encoded(&self, element: u32) -> PackedError {
        PackedError::Encoded {
            element,
            elements: self.packed.elements,
            bytes: self.encoded.len(),
        }
    }

    fn beyond_ancillary(&self, element: u32) -> PackedError {
        PackedError::Ancillary {
            element,
            elements: self.packed.elements,
            bytes: self.ancillary_bytes,
        }
    }
}
