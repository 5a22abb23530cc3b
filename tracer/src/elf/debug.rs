//! What debug information (DWARF 4 and 5) says of a program that stands at an instruction:
//! its calls, its source lines, its variables and their values.
//!
//! Damaged information is none: whatever cannot be read is left out. Nothing here recurses,
//! and every list has a limit.

mod frame;
mod leaf;
mod location;
mod scope;
mod types;
mod unwind;

pub use frame::{Frame, Function};
pub use types::Value;

use gimli::{DebugFrame, DebugInfoOffset, Dwarf, EndianArcSlice, LittleEndian, SectionId, Unit};
use gimli::{UnitOffset, UnitRef};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub(crate) type Reader = EndianArcSlice<LittleEndian>;

/// The processor at an instruction, before it executes.
pub struct State<'a> {
    /// r0 to r15.
    pub registers: [u32; 16],
    /// s0 to s31 as bits; `None` without a floating-point unit.
    pub floats: [Option<u32>; 32],
    /// Reads memory; `None` if none is mapped there.
    pub read: &'a dyn Fn(u32, usize) -> Option<Vec<u8>>,
}

/// A variable in scope.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Name of its type, if it has one.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The function that it belongs to, where that is inlined not the one around it.
    pub function: Option<String>,
    /// `true` if it is a parameter of the function.
    pub parameter: bool,
    /// Blocks of its function around its declaration: 0 for the function's own.
    pub block: usize,
    /// Line of its declaration.
    pub line: Option<u64>,
    /// Value at the instruction.
    pub value: Value,
    /// Where the debug information describes it, which tells variables of one name apart.
    #[serde(skip)]
    pub identity: usize,
}

/// The debug information of a program. Empty where there is none, or none that can be read.
pub struct DebugInfo {
    dwarf: Arc<Dwarf<Reader>>,
    calls: DebugFrame<Reader>,
    /// The program has a function at address 0, which is otherwise where linkers leave the
    /// descriptions of functions that they have dropped.
    code_at_zero: bool,
    units: OnceLock<Units>,
}

impl std::fmt::Debug for DebugInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DebugInfo").finish_non_exhaustive()
    }
}

/// The compiled parts of a program, and the code of their functions.
#[derive(Default)]
struct Units {
    units: Vec<Unit<Reader>>,
    /// By their start.
    functions: Vec<FunctionCode>,
}

/// A stretch of code of a function.
#[derive(Debug, Clone)]
struct FunctionCode {
    range: Range<u64>,
    entry: Entry,
}

/// An entry of the debug information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Position among the units.
    unit: usize,
    offset: UnitOffset<usize>,
}

/// Units that are read.
const MAX_UNITS: usize = 1 << 16;

/// Attributes that are read while looking for functions.
const MAX_ATTRIBUTES: usize = 1 << 27;

/// Stretches of code that are remembered.
const MAX_FUNCTIONS: usize = 1 << 20;

/// Stretches of code of one entry.
const MAX_RANGES: usize = 1 << 8;

impl DebugInfo {
    /// Reads the debug sections; `section` gives the content of one by name.
    pub fn read<'a>(section: &impl Fn(&str) -> &'a [u8], code_at_zero: bool) -> Self {
        let load = |id: SectionId| Reader::new(Arc::from(section(id.name())), LittleEndian);
        let Ok(dwarf) = Dwarf::load(|id| Ok::<_, std::convert::Infallible>(load(id)));
        let mut calls = DebugFrame::from(load(SectionId::DebugFrame));
        calls.set_address_size(4);
        Self {
            dwarf: Arc::new(dwarf),
            calls,
            code_at_zero,
            units: OnceLock::new(),
        }
    }

    /// The sections, for readers of other things.
    pub(crate) fn dwarf(&self) -> Arc<Dwarf<Reader>> {
        Arc::clone(&self.dwarf)
    }

    /// Returns `true` if the program has debug information.
    pub fn is_present(&self) -> bool {
        !self.units().units.is_empty()
    }

    fn units(&self) -> &Units {
        self.units.get_or_init(|| self.find_units())
    }

    fn find_units(&self) -> Units {
        let mut found = Units::default();
        let mut attributes_left = MAX_ATTRIBUTES;
        let mut headers = self.dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if found.units.len() >= MAX_UNITS {
                break;
            }
            if let Ok(unit) = self.dwarf.unit(header) {
                let index = found.units.len();
                self.find_functions(&unit, index, &mut attributes_left, &mut found.functions);
                found.units.push(unit);
            }
        }
        found.functions.sort_by_key(|code| code.range.start);
        found
    }

    fn find_functions(
        &self,
        unit: &Unit<Reader>,
        index: usize,
        attributes_left: &mut usize,
        functions: &mut Vec<FunctionCode>,
    ) {
        let Ok(mut entries) = unit.entries_raw(None) else {
            return;
        };
        let mut entry = gimli::DebuggingInformationEntry::null();
        while !entries.is_empty() {
            match entries.read_entry(&mut entry) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => return,
            }
            let Some(left) = attributes_left.checked_sub(entry.attrs().len() + 1) else {
                return;
            };
            *attributes_left = left;
            if entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            for range in ranges(unit.unit_ref(&self.dwarf), &entry) {
                if functions.len() >= MAX_FUNCTIONS {
                    return;
                }
                functions.push(FunctionCode {
                    range,
                    entry: Entry {
                        unit: index,
                        offset: entry.offset(),
                    },
                });
            }
        }
    }

    /// The function whose code is at this address.
    fn function_at(&self, address: u32) -> Option<Entry> {
        let functions = &self.units().functions;
        let address = u64::from(address);
        let end = functions.partition_point(|code| code.range.start <= address);
        // Functions do not overlap, but those that were dropped may.
        functions[..end]
            .iter()
            .rev()
            .take(64)
            .find(|code| code.range.end > address && !self.is_dropped(code.range.start))
            .map(|code| code.entry)
    }

    /// The compiler of the function whose code is at this address, with its options as far as it
    /// names them.
    pub fn producer_at(&self, address: u32) -> Option<String> {
        let unit = self.unit(self.function_at(address)?.unit)?;
        let mut entries = unit.entries();
        let root = entries.next_dfs().ok()??;
        let producer = unit.attr_string(root.attr_value(gimli::DW_AT_producer)?);
        let producer = producer.ok()?;
        let text = gimli::Reader::to_string_lossy(&producer).ok()?;
        Some(text.into_owned())
    }

    /// Returns `true` if no code of the program starts at this address.
    fn is_dropped(&self, start: u64) -> bool {
        start == 0 && !self.code_at_zero
    }

    fn unit(&self, index: usize) -> Option<UnitRef<'_, Reader>> {
        let unit = self.units().units.get(index)?;
        Some(unit.unit_ref(&self.dwarf))
    }

    /// The entry that an attribute of one in `unit` refers to.
    fn referred(&self, unit: usize, value: &gimli::AttributeValue<Reader>) -> Option<Entry> {
        match *value {
            gimli::AttributeValue::UnitRef(offset) => Some(Entry { unit, offset }),
            gimli::AttributeValue::DebugInfoRef(offset) => self.entry_at(offset),
            _ => None,
        }
    }

    fn entry_at(&self, offset: DebugInfoOffset<usize>) -> Option<Entry> {
        let units = &self.units().units;
        let start = |unit: &Unit<Reader>| unit.header.debug_info_offset().map_or(0, |at| at.0);
        let index = units
            .partition_point(|unit| start(unit) <= offset.0)
            .checked_sub(1)?;
        let unit = offset.to_unit_offset(&units.get(index)?.header)?;
        Some(Entry {
            unit: index,
            offset: unit,
        })
    }

    /// The first of an entry and those it stands for that has what is looked for.
    fn follow<T>(
        &self,
        entry: Entry,
        get: impl Fn(UnitRef<'_, Reader>, usize, &Die) -> Option<T>,
    ) -> Option<T> {
        const MAX_HOPS: usize = 8;
        let mut entry = entry;
        for _ in 0..MAX_HOPS {
            let unit = self.unit(entry.unit)?;
            let die = unit.entry(entry.offset).ok()?;
            if let Some(found) = get(unit, entry.unit, &die) {
                return Some(found);
            }
            let origin = die
                .attr_value(gimli::DW_AT_abstract_origin)
                .or_else(|| die.attr_value(gimli::DW_AT_specification))?;
            entry = self.referred(entry.unit, &origin)?;
        }
        None
    }

    /// The name of an entry, demangled.
    fn name(&self, entry: Entry) -> Option<String> {
        self.follow(entry, |unit, _, die| {
            let name = die.attr_value(gimli::DW_AT_name)?;
            text(&unit.attr_string(name).ok()?)
        })
    }
}

type Die = gimli::DebuggingInformationEntry<Reader>;

/// Names are not longer; what is, is damaged.
const MAX_NAME_BYTES: usize = 1 << 12;

fn text(bytes: &Reader) -> Option<String> {
    let text = String::from_utf8_lossy(
        bytes
            .bytes()
            .get(..MAX_NAME_BYTES.min(bytes.bytes().len()))?,
    );
    // Control characters would be the terminal's.
    Some(text.chars().filter(|it| !it.is_control()).collect())
}

/// The code of an entry, each stretch not empty.
fn ranges(unit: UnitRef<'_, Reader>, entry: &Die) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    if let Ok(mut ranges) = unit.die_ranges(entry) {
        while let Ok(Some(range)) = ranges.next() {
            if range.begin < range.end && found.len() < MAX_RANGES {
                found.push(range.begin..range.end);
            } else if found.len() >= MAX_RANGES {
                break;
            }
        }
    }
    found
}
