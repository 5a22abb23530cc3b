//! Tables of a flatbuffer, with limits.
//!
//! A flatbuffer's parts may lie anywhere and be referred to any number of times, so that
//! a small file can stand for a huge tree. All that is read is therefore charged
//! to one account, and an account holds a few times the file's size.

use super::TfliteError;
use super::schema::Field;
use planus::errors::ErrorKind;
use planus::{SliceWithStartOffset, TableRead, table_reader};
use std::cell::Cell;
use std::ops::Range;

const _: () = planus::check_version_compatibility("planus-1.3.0");

/// How often the bytes of a file may be read. Writers share equal strings and vectors,
/// but not many times over.
const TIMES: usize = 16;

/// A file and the account of what was read of it.
#[derive(Debug)]
pub(crate) struct File<'a> {
    pub bytes: &'a [u8],
    charged: Cell<usize>,
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    file: &'a File<'a>,
    table: table_reader::Table<'a>,
    /// How many fields its directory has room for.
    pub fields: usize,
    /// Where it begins.
    start: usize,
    /// Where its directory begins.
    directory: usize,
}

/// Where the bytes of a field are.
struct FieldPosition(usize);

/// Where the elements of a vector are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub start: usize,
    pub count: usize,
}

/// Whether a file calls itself a model of TensorFlow Lite.
pub fn is_model(file: &[u8]) -> bool {
    file.get(4..8) == Some(b"TFL3")
}

impl<'a> File<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            charged: Cell::new(0),
        }
    }

    /// The root table.
    pub(crate) fn root(&'a self) -> Result<Table<'a>, TfliteError> {
        if !is_model(self.bytes) {
            let problem = match self.bytes {
                [] => "the file is empty".to_owned(),
                [0x7f, b'E', b'L', b'F', ..] => {
                    "it is an ELF file, which `dmo-trace run` takes".to_owned()
                }
                [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => {
                    "it is a static library, which --kernels takes".to_owned()
                }
                [b'{', ..] => "it begins like JSON; a plan goes with its model, as MODEL.tflite --plan FILE.json".to_owned(),
                other => format!("no identifier TFL3 at byte 4 of {}", other.len()),
            };
            return Err(TfliteError::NotTflite { problem });
        }
        self.table(0)
    }

    /// The table that the offset at `place` leads to.
    fn table(&'a self, place: usize) -> Result<Table<'a>, TfliteError> {
        self.charge(8)?;
        let whole = SliceWithStartOffset {
            buffer: self.bytes,
            offset_from_start: 0,
        };
        let damaged = |kind: ErrorKind| {
            TfliteError::damaged(format!("the table that byte {place} refers to: {kind}"))
        };
        let table = table_reader::Table::from_buffer(whole, place).map_err(damaged)?;
        let [start, directory, fields] = directory_of(whole, place).map_err(damaged)?;
        Ok(Table {
            file: self,
            table,
            fields,
            start,
            directory,
        })
    }

    fn charge(&self, bytes: usize) -> Result<(), TfliteError> {
        let limit = self.bytes.len().saturating_mul(TIMES);
        let charged = self.charged.get().saturating_add(bytes);
        self.charged.set(charged);
        if charged > limit {
            return Err(TfliteError::Amplified {
                limit,
                times: TIMES,
            });
        }
        Ok(())
    }
}

impl<'a> Table<'a> {
    fn field<T: TableRead<'a>>(&self, field: Field) -> Result<Option<T>, TfliteError> {
        Ok(self.table.access(field.number, field.table, field.name)?)
    }

    /// Charges the file's account for what is made of this many bytes of memory.
    pub(crate) fn charge(&self, bytes: usize) -> Result<(), TfliteError> {
        self.file.charge(bytes)
    }

    /// Length of the file.
    pub(crate) fn file_length(&self) -> usize {
        self.file.bytes.len()
    }

    /// A number or truth value.
    pub(crate) fn number<T: TableRead<'a>>(
        &self,
        field: Field,
        default: T,
    ) -> Result<T, TfliteError> {
        Ok(self.field(field)?.unwrap_or(default))
    }

    /// Where the field's own bytes are.
    pub(crate) fn place(&self, field: Field) -> Result<Option<usize>, TfliteError> {
        Ok(self
            .field::<FieldPosition>(field)?
            .map(|FieldPosition(place)| place))
    }

    /// The first field from this number on that the table has.
    pub(crate) fn unknown_field(&self, first: usize) -> Result<Option<usize>, TfliteError> {
        for number in first..self.fields {
            let field = Field {
                table: "model",
                name: "unknown field",
                number,
            };
            if self.place(field)?.is_some() {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Where its directory and its own bytes are: all of it, if no field is a reference.
    pub(crate) fn inline(&self) -> Result<[Range<usize>; 2], TfliteError> {
        let words = self.file.bytes.get(self.directory..);
        let words = words.and_then(|rest| rest.first_chunk::<4>());
        let ranges = words.map(|&[low, high, own_low, own_high]| {
            let [directory, own] = [[low, high], [own_low, own_high]].map(u16::from_le_bytes);
            [
                self.directory..self.directory + usize::from(directory),
                self.start..self.start + usize::from(own),
            ]
        });
        let inside = |range: &Range<usize>| range.end <= self.file.bytes.len();
        let ranges = ranges.filter(|ranges| ranges.iter().all(inside));
        let ranges = ranges.ok_or_else(|| {
            let start = self.start;
            TfliteError::damaged(format!("the table at byte {start} has no bytes of its own"))
        })?;
        self.charge(ranges.iter().map(ExactSizeIterator::len).sum())?;
        Ok(ranges)
    }

    /// The text of a string; what is no UTF-8 is replaced.
    pub(crate) fn text(&self, field: Field) -> Result<String, TfliteError> {
        let bytes = self.bytes(field)?.unwrap_or_default();
        self.file.charge(bytes.len())?;
        Ok(String::from_utf8_lossy(&self.file.bytes[bytes]).into_owned())
    }

    /// Where the bytes of a vector of bytes are.
    pub(crate) fn bytes(&self, field: Field) -> Result<Option<Range<usize>>, TfliteError> {
        let span = self.span(field, 1)?;
        Ok(span.map(|span| span.start..span.start + span.count))
    }

    /// The elements of a vector of 32-bit integers; an absent one is empty.
    pub(crate) fn integers(&self, field: Field) -> Result<Vec<i32>, TfliteError> {
        self.elements(field)
            .map(|words| decoded(words, i32::from_le_bytes))
    }

    /// The elements of a vector of 64-bit integers; an absent one is empty.
    pub(crate) fn long_integers(&self, field: Field) -> Result<Vec<i64>, TfliteError> {
        self.elements(field)
            .map(|words| decoded(words, i64::from_le_bytes))
    }

    /// The elements of a vector of floating-point numbers; an absent one is empty.
    pub(crate) fn floats(&self, field: Field) -> Result<Vec<f32>, TfliteError> {
        self.elements(field)
            .map(|words| decoded(words, f32::from_le_bytes))
    }

    fn elements<const SIZE: usize>(&self, field: Field) -> Result<&'a [[u8; SIZE]], TfliteError> {
        let Some(span) = self.span(field, SIZE)? else {
            return Ok(&[]);
        };
        self.file.charge(SIZE * span.count)?;
        let bytes = &self.file.bytes[span.start..span.start + SIZE * span.count];
        Ok(bytes.as_chunks().0)
    }

    /// The table in a field.
    pub(crate) fn table(&self, field: Field) -> Result<Option<Table<'a>>, TfliteError> {
        let place = self.place(field)?;
        place.map(|place| self.file.table(place)).transpose()
    }

    /// The tables of a vector; an absent one is empty.
    pub(crate) fn tables(
        &self,
        field: Field,
    ) -> Result<impl ExactSizeIterator<Item = Result<Table<'a>, TfliteError>> + use<'a>, TfliteError>
    {
        let span = self.span(field, 4)?.unwrap_or(Span { start: 0, count: 0 });
        self.file.charge(4 * span.count)?;
        let file = self.file;
        Ok((0..span.count).map(move |index| file.table(span.start + 4 * index)))
    }

    /// Where the elements of a vector are, inside the file.
    pub(crate) fn span(&self, field: Field, stride: usize) -> Result<Option<Span>, TfliteError> {
        let Some(span) = self.field::<Span>(field)? else {
            return Ok(None);
        };
        let room = self.file.bytes.len().saturating_sub(span.start);
        if span.count > room / stride {
            return Err(TfliteError::damaged(format!(
                "{}.{} has {} elements of {stride} bytes at byte {}, but the file ends at {}",
                field.table,
                field.name,
                span.count,
                span.start,
                self.file.bytes.len()
            )));
        }
        Ok(Some(span))
    }
}

/// Little-endian integers; what remains at the end is left out.
pub(crate) fn integers(bytes: &[u8]) -> Vec<i32> {
    decoded(bytes.as_chunks().0, i32::from_le_bytes)
}

fn decoded<const SIZE: usize, T>(words: &[[u8; SIZE]], decode: fn([u8; SIZE]) -> T) -> Vec<T> {
    words.iter().map(|&word| decode(word)).collect()
}

/// Where the table begins that the offset at `place` leads to, where its directory does, and how
/// many fields this has room for: before them stand its own length and the table's, 16 bits each.
fn directory_of(buffer: SliceWithStartOffset, place: usize) -> Result<[usize; 3], ErrorKind> {
    let table = forward(buffer, place)?;
    let back: i32 = TableRead::from_buffer(buffer, table)?;
    let directory = i64::try_from(table)
        .ok()
        .and_then(|table| usize::try_from(table - i64::from(back)).ok())
        .ok_or(ErrorKind::InvalidOffset)?;
    let length: u16 = TableRead::from_buffer(buffer, directory)?;
    let fields = usize::from(length).saturating_sub(4) / 2;
    Ok([table, directory, fields])
}

/// Where the offset at `place` leads to.
fn forward(buffer: SliceWithStartOffset, place: usize) -> Result<usize, ErrorKind> {
    let offset: u32 = TableRead::from_buffer(buffer, place)?;
    place
        .checked_add(offset as usize)
        .ok_or(ErrorKind::InvalidOffset)
}

impl<'a> TableRead<'a> for FieldPosition {
    fn from_buffer(buffer: SliceWithStartOffset<'a>, offset: usize) -> Result<Self, ErrorKind> {
        buffer.advance(offset)?;
        Ok(Self(buffer.offset_from_start + offset))
    }
}

impl<'a> TableRead<'a> for Span {
    fn from_buffer(buffer: SliceWithStartOffset<'a>, offset: usize) -> Result<Self, ErrorKind> {
        let place = forward(buffer, offset)?;
        let count: u32 = TableRead::from_buffer(buffer, place)?;
        Ok(Self {
            start: buffer.offset_from_start + place + 4,
            count: count as usize,
        })
    }
}
