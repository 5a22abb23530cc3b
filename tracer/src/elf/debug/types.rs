//! Types of variables, and values of the simple ones.

use super::{DebugInfo, Entry, text};
use dmo_analysis::trace::Address;
use gimli::constants as dw;
use schemars::JsonSchema;
use serde::Serialize;

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Value {
    /// An integer or a character.
    Integer(i128),
    /// A floating-point number; `null` in JSON if it is infinite or undefined.
    Float(#[schemars(with = "Option<f64>")] f64),
    /// True or false.
    Boolean(bool),
    /// A pointer or a reference.
    Pointer(Address),
    /// An enumerator; none of them may have this number.
    Enumerator {
        /// The number.
        number: i128,
        /// Name.
        name: Option<String>,
    },
    /// An array or a structure, which lies here.
    Object(Address),
    /// The compiler has kept it nowhere at this instruction.
    OptimisedOut,
    /// It is somewhere that is not known any more, or of a type that is not.
    Unknown,
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Pointer(address) => write!(f, "{address}"),
            Self::Enumerator {
                number,
                name: Some(name),
            } => write!(f, "{name} ({number})"),
            Self::Enumerator { number, name: None } => write!(f, "{number}"),
            Self::Object(address) => write!(f, "at {address}"),
            Self::OptimisedOut => write!(f, "optimised out"),
            Self::Unknown => write!(f, "not known here"),
        }
    }
}

/// A type as far as values need it.
pub(super) struct Type {
    /// As C writes it.
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) size_bytes: usize,
}

/// How bytes become a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Integer {
        signed: bool,
    },
    Float,
    Boolean,
    Pointer,
    Enumeration(Entry),
    /// An array, a structure, or something unknown.
    Object,
}

/// Types that stand for others are not nested deeper.
const MAX_HOPS: usize = 32;

/// Enumerators that are read.
const MAX_ENUMERATORS: usize = 1 << 12;

impl DebugInfo {
    /// The type of a variable.
    pub(super) fn type_of(&self, variable: Entry) -> Option<Type> {
        let first = self.follow(variable, |_, unit, die| {
            self.referred(unit, &die.attr_value(gimli::DW_AT_type)?)
        })?;
        let (shape, size_bytes) = self.shape(first)?;
        Some(Type {
            name: self.type_name(first),
            shape,
            size_bytes,
        })
    }

    /// The type that this one refers to; `None` stands for `void`.
    fn inner(&self, entry: Entry) -> Option<Entry> {
        let die = self.unit(entry.unit)?.entry(entry.offset).ok()?;
        self.referred(entry.unit, &die.attr_value(gimli::DW_AT_type)?)
    }

    fn tag(&self, entry: Entry) -> Option<gimli::DwTag> {
        Some(self.unit(entry.unit)?.entry(entry.offset).ok()?.tag())
    }

    fn type_name(&self, first: Entry) -> String {
        let mut entry = Some(first);
        let mut constant = false;
        let mut suffix = String::new();
        for _ in 0..MAX_HOPS {
            let Some(this) = entry else { break };
            let Some(tag) = self.tag(this) else { break };
            match tag {
                dw::DW_TAG_const_type => constant = true,
                dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
                | dw::DW_TAG_immutable_type => {}
                dw::DW_TAG_pointer_type => {
                    let star = if constant { "*const" } else { "*" };
                    suffix = format!("{star}{suffix}");
                    constant = false;
                }
                dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                    suffix = format!("&{suffix}");
                    constant = false;
                }
                dw::DW_TAG_array_type => suffix = format!("[]{suffix}"),
                _ => {
                    let name = self.name(this).unwrap_or_else(|| {
                        match tag {
                            dw::DW_TAG_structure_type | dw::DW_TAG_class_type => "struct",
                            dw::DW_TAG_union_type => "union",
                            dw::DW_TAG_enumeration_type => "enum",
                            dw::DW_TAG_subroutine_type => "function",
                            _ => "unnamed",
                        }
                        .to_owned()
                    });
                    return declared(constant, &name, &suffix);
                }
            }
            entry = self.inner(this);
        }
        declared(constant, "void", &suffix)
    }

    fn shape(&self, first: Entry) -> Option<(Shape, usize)> {
        let mut entry = first;
        for _ in 0..MAX_HOPS {
            let die = self.unit(entry.unit)?.entry(entry.offset).ok()?;
            let size = die
                .attr(gimli::DW_AT_byte_size)
                .and_then(gimli::Attribute::udata_value)
                .and_then(|size| usize::try_from(size).ok());
            let shape = match die.tag() {
                dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
                | dw::DW_TAG_immutable_type => {
                    entry = self.inner(entry)?;
                    continue;
                }
                dw::DW_TAG_base_type => match die.attr_value(gimli::DW_AT_encoding)? {
                    gimli::AttributeValue::Encoding(encoding) => base(encoding),
                    _ => Shape::Object,
                },
                dw::DW_TAG_pointer_type
                | dw::DW_TAG_reference_type
                | dw::DW_TAG_rvalue_reference_type => {
                    return Some((Shape::Pointer, size.unwrap_or(4)));
                }
                dw::DW_TAG_enumeration_type => Shape::Enumeration(entry),
                _ => Shape::Object,
            };
            return Some((shape, size.unwrap_or(0)));
        }
        None
    }

    /// The value that little-endian bytes of the type's size stand for.
    pub(super) fn value(&self, kind: &Type, bytes: &[u8]) -> Value {
        let size = kind.size_bytes;
        let (true, Some(bytes)) = (matches!(size, 1 | 2 | 4 | 8), bytes.get(..size)) else {
            return Value::Unknown;
        };
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(word);
        match kind.shape {
            Shape::Integer { signed: true } => {
                let unused = 64 - 8 * size as u32;
                Value::Integer(((unsigned << unused) as i64 >> unused).into())
            }
            Shape::Integer { signed: false } => Value::Integer(unsigned.into()),
            Shape::Boolean => Value::Boolean(unsigned != 0),
            Shape::Pointer => Value::Pointer(Address(unsigned as u32)),
            Shape::Float if size == 4 => Value::Float(f32::from_bits(unsigned as u32).into()),
            Shape::Float if size == 8 => Value::Float(f64::from_bits(unsigned)),
            Shape::Enumeration(entry) => self.enumerator(entry, size, unsigned),
            Shape::Float | Shape::Object => Value::Unknown,
        }
    }

    fn enumerator(&self, enumeration: Entry, size_bytes: usize, number: u64) -> Value {
        self.find_enumerator(enumeration, size_bytes, number)
            .unwrap_or(Value::Enumerator {
                number: number.into(),
                name: None,
            })
    }

    fn find_enumerator(&self, enumeration: Entry, size: usize, number: u64) -> Option<Value> {
        let unit = self.unit(enumeration.unit)?;
        let mut entries = unit.entries_raw(Some(enumeration.offset)).ok()?;
        let mut entry = gimli::DebuggingInformationEntry::null();
        let outer = entries.next_depth();
        entries.read_entry(&mut entry).ok()?;
        for _ in 0..MAX_ENUMERATORS {
            if entries.is_empty() || entries.next_depth() <= outer {
                return None;
            }
            if !entries.read_entry(&mut entry).ok()? || entry.tag() != dw::DW_TAG_enumerator {
                continue;
            }
            let Some(value) = entry.attr(gimli::DW_AT_const_value) else {
                continue;
            };
            let (signed, plain) = (value.sdata_value(), value.udata_value());
            let mask = u64::MAX >> (64 - 8 * size as u32);
            let bits = plain.or_else(|| signed.map(|value| value as u64))?;
            if bits & mask == number {
                let name = entry.attr_value(gimli::DW_AT_name)?;
                return Some(Value::Enumerator {
                    number: plain.map(i128::from).or(signed.map(i128::from))?,
                    name: text(&unit.attr_string(name).ok()?),
                });
            }
        }
        None
    }
}

fn declared(constant: bool, name: &str, suffix: &str) -> String {
    let constant = if constant { "const " } else { "" };
    let space = if suffix.is_empty() || suffix.starts_with('[') {
        ""
    } else {
        " "
    };
    format!("{constant}{name}{space}{suffix}")
}

fn base(encoding: gimli::DwAte) -> Shape {
    match encoding {
        dw::DW_ATE_signed | dw::DW_ATE_signed_char => Shape::Integer { signed: true },
        dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF | dw::DW_ATE_ASCII => {
            Shape::Integer { signed: false }
        }
        dw::DW_ATE_float => Shape::Float,
        dw::DW_ATE_boolean => Shape::Boolean,
        dw::DW_ATE_address => Shape::Pointer,
        _ => Shape::Object,
    }
}
