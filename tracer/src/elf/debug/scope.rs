//! The functions and blocks around an instruction, and the variables declared in them.

use super::location::{Context, EvaluatedLocation};
use super::types::Shape;
use super::{DebugInfo, Die, Entry, Function, Reader, Value, Variable, ranges};
use gimli::constants as dw;
use gimli::{DebuggingInformationEntry, UnitRef};

/// Variables of a frame.
const MAX_VARIABLES: usize = 256;

/// Entries of a function that are read.
const MAX_ENTRIES: usize = 1 << 20;

/// Blocks and inlined functions around an instruction.
const MAX_DEPTH: usize = 64;

/// Entries of a location list.
const MAX_LOCATIONS: usize = 1 << 12;

/// The functions and variables in whose scope an instruction lies.
#[derive(Default)]
pub(super) struct Scope {
    /// The function whose code it is, then those inlined in it, outermost first. The first has
    /// no place; each other has the place that it is called from.
    pub(super) functions: Vec<Function>,
    /// Entry of each variable with its function and blocks.
    declared: Vec<Declared>,
}

struct Declared {
    entry: Entry,
    function: Option<String>,
    parameter: bool,
    block: usize,
}

/// A block or an inlined function that the instruction is in.
struct Around {
    depth: isize,
    /// Blocks of its function around what is declared here.
    block: usize,
    function: Option<String>,
}

impl DebugInfo {
    /// The scope of the instruction at `address` in the function with this entry.
    pub(super) fn scope(&self, function: Entry, address: u32) -> Scope {
        let mut scope = Scope::default();
        // What cannot be read ends the list; what has been read holds.
        let _ = self.find_scope(function, address, &mut scope);
        scope
    }

    fn find_scope(&self, function: Entry, address: u32, scope: &mut Scope) -> Option<()> {
        let unit = self.unit(function.unit)?;
        let mut entries = unit.entries_raw(Some(function.offset)).ok()?;
        let outermost = entries.next_depth();
        let mut die = DebuggingInformationEntry::null();
        entries.read_entry(&mut die).ok()?;
        let name = self.name(function);
        scope.functions.push(Function {
            name: name.clone(),
            file: None,
            line: None,
        });
        let mut around = vec![Around {
            depth: outermost,
            block: 0,
            function: name,
        }];
        for _ in 0..MAX_ENTRIES {
            let depth = entries.next_depth();
            if entries.is_empty() || depth <= outermost {
                return Some(());
            }
            if !entries.read_entry(&mut die).ok()? {
                continue;
            }
            while around.last()?.depth >= depth {
                around.pop();
            }
            let outer = around.last()?;
            // Inside something that the instruction is not in.
            if outer.depth + 1 != depth {
                continue;
            }
            let entry = Entry {
                unit: function.unit,
                offset: die.offset(),
            };
            match die.tag() {
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter
                    if scope.declared.len() < MAX_VARIABLES =>
                {
                    scope.declared.push(Declared {
                        entry,
                        function: outer.function.clone(),
                        parameter: die.tag() == dw::DW_TAG_formal_parameter,
                        block: outer.block,
                    });
                }
                dw::DW_TAG_lexical_block
                    if around.len() < MAX_DEPTH && holds(unit, &die, address) =>
                {
                    let inner = Around {
                        depth,
                        block: outer.block + 1,
                        function: outer.function.clone(),
                    };
                    around.push(inner);
                }
                dw::DW_TAG_inlined_subroutine
                    if around.len() < MAX_DEPTH && holds(unit, &die, address) =>
                {
                    let name = self.name(entry);
                    scope.functions.push(call_of(unit, &die, name.clone()));
                    around.push(Around {
                        depth,
                        block: 0,
                        function: name,
                    });
                }
                _ => {}
            }
        }
        Some(())
    }

    /// The variables of a scope with their values at `address`; of the function with this
    /// entry everything is counted from its frame's base.
    pub(super) fn variables(
        &self,
        function: Entry,
        scope: &Scope,
        address: u32,
        context: &mut Context<'_>,
    ) -> Vec<Variable> {
        context.frame_base = self.frame_base(function, address, context);
        let variable = |declared: &Declared| self.variable(declared, address, context);
        scope.declared.iter().filter_map(variable).collect()
    }

    fn frame_base(&self, function: Entry, address: u32, context: &Context<'_>) -> Option<u32> {
        let unit = self.unit(function.unit)?;
        let die = unit.entry(function.offset).ok()?;
        let expression = expression(unit, &die, gimli::DW_AT_frame_base, address)?;
        match context.evaluate(expression) {
            EvaluatedLocation::At(address) => Some(address),
            EvaluatedLocation::Bytes(bytes) => {
                Some(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?))
            }
            EvaluatedLocation::OptimisedOut | EvaluatedLocation::Unknown => None,
        }
    }

    fn variable(
        &self,
        declared: &Declared,
        address: u32,
        context: &Context<'_>,
    ) -> Option<Variable> {
        let entry = declared.entry;
        let unit = self.unit(entry.unit)?;
        let die = unit.entry(entry.offset).ok()?;
        if die.has_attr(gimli::DW_AT_declaration) {
            return None;
        }
        let kind = self.type_of(entry);
        let value = match &kind {
            None => Value::Unknown,
            Some(kind) => match self.place(entry, address, context) {
                EvaluatedLocation::OptimisedOut => Value::OptimisedOut,
                EvaluatedLocation::Unknown => Value::Unknown,
                EvaluatedLocation::At(at) if kind.shape == Shape::Object => {
                    Value::Object(dmo_analysis::trace::Address(at))
                }
                EvaluatedLocation::At(at) => match kind.size_bytes {
                    size @ 1..=8 => (context.read)(at, size)
                        .map_or(Value::Unknown, |bytes| self.value(kind, &bytes)),
                    _ => Value::Unknown,
                },
                EvaluatedLocation::Bytes(bytes) => self.value(kind, &bytes),
            },
        };
        Some(Variable {
            name: self.name(entry)?,
            type_name: kind.map_or_else(|| "unnamed".to_owned(), |kind| kind.name),
            function: declared.function.clone(),
            parameter: declared.parameter,
            block: declared.block,
            line: self.follow(entry, |_, _, die| {
                die.attr(gimli::DW_AT_decl_line)?.udata_value()
            }),
            value,
            identity: unit.header.debug_info_offset().map_or(0, |at| at.0) + entry.offset.0,
        })
    }

    fn place(&self, entry: Entry, address: u32, context: &Context<'_>) -> EvaluatedLocation {
        let found = self.follow(entry, |unit, _, die| {
            if let Some(expression) = expression(unit, die, gimli::DW_AT_location, address) {
                return Some(context.evaluate(expression));
            }
            if die.has_attr(gimli::DW_AT_location) {
                return Some(EvaluatedLocation::OptimisedOut);
            }
            constant(die).map(EvaluatedLocation::Bytes)
        });
        found.unwrap_or(EvaluatedLocation::OptimisedOut)
    }
}

/// Where an inlined function is called.
fn call_of(unit: UnitRef<'_, Reader>, die: &Die, name: Option<String>) -> Function {
    let file = || -> Option<String> {
        let index = match die.attr_value(gimli::DW_AT_call_file)? {
            gimli::AttributeValue::FileIndex(index) => index,
            value => value.udata_value()?,
        };
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let mut path = String::new();
        if let Some(folder) = &unit.comp_dir {
            append(&mut path, &super::text(folder)?);
        }
        // The first is the folder of the compilation in version 5, and is not named in 4.
        if file.directory_index() != 0
            && let Some(folder) = file.directory(header)
        {
            append(&mut path, &super::text(&unit.attr_string(folder).ok()?)?);
        }
        append(
            &mut path,
            &super::text(&unit.attr_string(file.path_name()).ok()?)?,
        );
        Some(path)
    };
    Function {
        name,
        file: file(),
        line: die
            .attr(gimli::DW_AT_call_line)
            .and_then(gimli::Attribute::udata_value)
            .and_then(|line| u32::try_from(line).ok()),
    }
}

/// A path in the folder, unless it starts at the root.
fn append(folder: &mut String, path: &str) {
    if path.starts_with('/') || folder.is_empty() {
        path.clone_into(folder);
    } else {
        folder.push('/');
        folder.push_str(path);
    }
}

fn holds(unit: UnitRef<'_, Reader>, die: &Die, address: u32) -> bool {
    ranges(unit, die)
        .iter()
        .any(|range| range.contains(&u64::from(address)))
}

/// The expression of an attribute that holds at `address`.
fn expression(
    unit: UnitRef<'_, Reader>,
    die: &Die,
    name: gimli::DwAt,
    address: u32,
) -> Option<gimli::Expression<Reader>> {
    let value = die.attr_value(name)?;
    if let Some(expression) = value.exprloc_value() {
        return Some(expression);
    }
    let mut list = unit.attr_locations(value).ok()??;
    let address = u64::from(address);
    for _ in 0..MAX_LOCATIONS {
        let entry = list.next().ok()??;
        if entry.range.begin <= address && address < entry.range.end {
            return Some(entry.data);
        }
    }
    None
}

fn constant(die: &Die) -> Option<Vec<u8>> {
    let value = die.attr(gimli::DW_AT_const_value)?;
    if let gimli::AttributeValue::Block(bytes) = value.value() {
        return Some(bytes.bytes().get(..bytes.bytes().len().min(16))?.to_vec());
    }
    let number = value
        .sdata_value()
        .or_else(|| value.udata_value().map(|value| value as i64))?;
    Some(number.to_le_bytes().to_vec())
}
