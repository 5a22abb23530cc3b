//! The instruction set: one table of encoding diagrams, and the decoder that reads it.
//!
//! Of the rows that an instruction matches, the most specific one decides: the one with the most
//! fixed bits. A core that lacks what that row needs lacks the instruction.

mod control;
mod data;
mod float;
mod it;
mod memory;
mod multiply;
mod narrow;
mod operand;
mod row;

pub use it::{ItRule, it_rule};
pub use row::Row;

use crate::fault::Fault;
use crate::features::{Features, Needs};
use crate::operation::Instruction;
use row::Fields;
use std::sync::LazyLock;

/// How many of the first bits tell which rows can match.
const INDEX_BITS: u32 = 12;

struct Table {
    /// The most specific rows first.
    rows: Vec<Row>,
    /// Numbers of the rows that can match, by the first bits.
    index: Vec<Vec<u16>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let entries = [
        narrow::ENTRIES,
        data::ENTRIES,
        multiply::ENTRIES,
        multiply::PARALLEL,
        memory::ENTRIES,
        memory::STORES,
        memory::NARROW_LOADS,
        control::ENTRIES,
        float::ENTRIES,
    ];
    let entries = entries.into_iter().flatten();
    let mut rows: Vec<Row> = entries.flat_map(row::Entry::rows).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.mask.count_ones()));
    let index = (0..1 << INDEX_BITS).map(|first: u32| {
        let differ = |row: &Row| (row.value ^ first << (32 - INDEX_BITS)) & row.mask;
        let can_match = |row: &Row| differ(row) >> (32 - INDEX_BITS) == 0;
        let numbered = (0..).zip(&rows);
        numbered
            .filter(|(_, row)| can_match(row))
            .map(|(number, _)| number)
            .collect()
    });
    let index = index.collect();
    Table { rows, index }
});

/// The length in bytes, 2 or 4, of the instruction that starts with this halfword.
pub fn length(first: u16) -> u8 {
    if first >> 11 >= 0b11101 { 4 } else { 2 }
}

/// All rows, the most specific first.
pub fn rows() -> &'static [Row] {
    &TABLE.rows
}

/// The row that decides about an instruction. The second halfword of a narrow one is ignored.
pub fn row_of(first: u16, second: u16) -> Option<&'static Row> {
    let word = u32::from(first) << 16 | u32::from(second);
    let table = &*TABLE;
    let candidates = table.index[(word >> (32 - INDEX_BITS)) as usize].iter();
    candidates
        .map(|&number| &table.rows[usize::from(number)])
        .find(|row| row.matches(word))
}

/// The instruction of these halfwords on a core with these features. The second halfword of a
/// narrow instruction is ignored.
///
/// # Errors
///
/// [`Fault::Undefined`], [`Fault::Lacks`], or [`Fault::Unpredictable`].
pub fn decode(first: u16, second: u16, features: &Features) -> Result<Instruction, Fault> {
    let row = row_of(first, second).ok_or_else(|| of_no_row(first, second))?;
    let word = u32::from(first) << 16 | u32::from(second);
    let fields = Fields::new(row, word, features);
    let name = row.name();
    if fields.is_undefined() {
        return Err(Fault::Undefined);
    }
    if !features.meet(row.needs()) {
        let needs = row.needs();
        return Err(Fault::Lacks { name, needs });
    }
    if fields.is_unpredictable() {
        return Err(Fault::Unpredictable { name });
    }
    Ok(Instruction {
        operation: fields.operation(),
        bytes: row.bytes(),
        name,
    })
}

/// Why a core does not have what no row matches: the space of coprocessors, which Helium and half
/// precision use too, and Helium's loops belong to extensions that cores may have.
fn of_no_row(first: u16, second: u16) -> Fault {
    let coprocessor = first & 0xec00 == 0xec00;
    let vector_loop = first & 0xff80 == 0xf000 && second & 0xc001 == 0xc001;
    if coprocessor || vector_loop {
        return Fault::Lacks {
            name: "the instruction",
            needs: Needs::Extension,
        };
    }
    Fault::Undefined
}
