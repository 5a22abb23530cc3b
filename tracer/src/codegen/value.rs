//! Arguments of a kernel's call as C values: what the emulated call receives in registers and
//! memory, with the types that the kernel's header gives it.

use super::c_interface::{CInterface, CType};
use super::memory::{Memory, Place};
use dmo_analysis::trace::Address;
use std::collections::{BTreeMap, HashMap};

/// A value of a parameter or member.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// An integer of at most 32 bits.
    Integer(i32),
    /// A single-precision number, by its bits.
    Float(u32),
    /// The null pointer.
    Null,
    /// A parameter of the function that makes the calls.
    Parameter(&'static str),
    /// A pointer into the arena, or into one of its memories.
    Arena(Place),
    /// A pointer to a constant array of [`Constants`].
    Constant(ConstantId),
    /// A structure's members in order.
    Structure(String, Vec<Value>),
    /// The elements of an array, of this type.
    Array(CType, Vec<Value>),
    /// A pointer to a structure, or to the first element of an array.
    PointerTo(Box<Value>),
}

impl Value {
    /// Whether it contains a pointer into the arena, which is known only at run time.
    pub fn needs_arena(&self) -> bool {
        match self {
            Self::Arena(_) => true,
            Self::Structure(_, values) | Self::Array(_, values) => {
                values.iter().any(Self::needs_arena)
            }
            Self::PointerTo(value) => value.needs_arena(),
            _ => false,
        }
    }
}

/// Index among [`Constants`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstantId(pub usize);

/// An array of numbers that never change: weights, biases, multipliers, tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Constant {
    /// C type of an element.
    pub element: String,
    /// Little-endian elements.
    pub bytes: Vec<u8>,
}

/// Constant arrays, each once.
#[derive(Debug, Default)]
pub struct Constants {
    all: Vec<(String, Constant)>,
    known: HashMap<Constant, ConstantId>,
}

impl Constants {
    /// The array, with the name of its first user.
    pub fn get(&self, id: ConstantId) -> &(String, Constant) {
        &self.all[id.0]
    }

    /// All of them.
    pub fn all(&self) -> &[(String, Constant)] {
        &self.all
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        let all = self.all.iter();
        all.map(|(_, constant)| constant.bytes.len() as u64).sum()
    }

    fn intern(&mut self, name: &str, constant: Constant) -> ConstantId {
        if let Some(&id) = self.known.get(&constant) {
            return id;
        }
        let id = ConstantId(self.all.len());
        self.all.push((name.to_owned(), constant.clone()));
        self.known.insert(constant, id);
        id
    }
}

/// Memory of a call, as far as arguments point to it.
pub struct CallMemory<'a> {
    /// Where the arena begins.
    pub arena: u32,
    /// The memories that make it.
    pub memories: &'a [Memory],
    /// What was placed in flash, by its address.
    pub flash: BTreeMap<u32, &'a [u8]>,
}

/// Why an argument has no value in C.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// An address that is neither in the arena nor of a constant.
    #[error("a pointer of type {ctype} to {address}, where nothing is known to lie")]
    Nowhere {
        /// What it points to.
        ctype: String,
        /// Where.
        address: Address,
    },
    /// A type that none of our headers has.
    #[error("type {ctype} cannot be written")]
    Type {
        /// Its name.
        ctype: String,
    },
}

/// Reads values out of a call's memory.
pub struct Reader<'a> {
    /// The types of the kernels.
    pub interface: &'a CInterface,
    /// What the arguments point to.
    pub memory: CallMemory<'a>,
    /// Arrays found so far.
    pub constants: &'a mut Constants,
}

impl Reader<'_> {
    /// The value that a word is, of a parameter or member of this name and type.
    ///
    /// # Errors
    /// When it points to something unknown.
    pub fn word(&mut self, name: &str, ctype: &CType, word: u32) -> Result<Value, ValueError> {
        match ctype {
            CType::Scalar(scalar) if scalar == "float" => Ok(Value::Float(word)),
            CType::Scalar(_) => Ok(Value::Integer(word as i32)),
            CType::Pointer { to, .. } | CType::Array(to, _) => self.pointer(name, to, word),
            CType::Struct(structure) => Err(ValueError::Type {
                ctype: structure.clone(),
            }),
        }
    }

    fn pointer(&mut self, name: &str, to: &CType, word: u32) -> Result<Value, ValueError> {
        if word == 0 {
            return Ok(Value::Null);
        }
        let in_arena = word.checked_sub(self.memory.arena);
        let place = in_arena.and_then(|offset| Memory::locate(self.memory.memories, offset));
        if let Some(place) = place {
            return Ok(Value::Arena(place));
        }
        let bytes = self.memory.flash.get(&word).copied();
        let bytes = bytes.ok_or_else(|| ValueError::Nowhere {
            ctype: format!("{to:?}"),
            address: Address(word),
        })?;
        if let CType::Scalar(element) = to {
            let element = if element == "void" {
                "uint8_t"
            } else {
                element
            };
            let constant = Constant {
                element: element.to_owned(),
                bytes: bytes.to_vec(),
            };
            return Ok(Value::Constant(self.constants.intern(name, constant)));
        }
        let size = self.size(to)?;
        let values = bytes.chunks_exact(size);
        let mut values = values
            .map(|chunk| self.value(name, to, chunk))
            .collect::<Result<Vec<Value>, ValueError>>()?;
        let value = match (values.len(), to) {
            (1, CType::Struct(_)) => values.remove(0),
            _ => Value::Array(to.clone(), values),
        };
        Ok(Value::PointerTo(Box::new(value)))
    }

    /// The value of this type that these bytes are.
    fn value(&mut self, name: &str, ctype: &CType, bytes: &[u8]) -> Result<Value, ValueError> {
        match ctype {
            CType::Struct(structure) => {
                let unknown = || ValueError::Type {
                    ctype: structure.clone(),
                };
                let members = self.interface.members_with_offsets(structure);
                let members = members.ok_or_else(unknown)?;
                let mut values = Vec::with_capacity(members.len());
                for (offset, member) in members {
                    let ctype = member_type(structure, &member.ctype, bytes);
                    let end = offset + self.size(&ctype)?;
                    let own = bytes.get(offset..end).ok_or_else(unknown)?;
                    values.push(self.value(&member.name, &ctype, own)?);
                }
                Ok(Value::Structure(structure.clone(), values))
            }
            CType::Array(element, _) => {
                let size = self.size(element)?;
                let values = bytes.chunks_exact(size);
                let values = values.map(|chunk| self.value(name, element, chunk));
                let values = values.collect::<Result<Vec<Value>, ValueError>>()?;
                Ok(Value::Array((**element).clone(), values))
            }
            CType::Scalar(scalar) if scalar == "bool" && bytes.len() == 1 => {
                Ok(Value::Integer(bytes[0].into()))
            }
            CType::Scalar(_) | CType::Pointer { .. } => {
                let unknown = || ValueError::Type {
                    ctype: format!("{ctype:?}"),
                };
                let word: [u8; 4] = bytes.try_into().map_err(|_| unknown())?;
                self.word(name, ctype, u32::from_le_bytes(word))
            }
        }
    }

    fn size(&self, ctype: &CType) -> Result<usize, ValueError> {
        let size = self.interface.size_bytes(ctype);
        size.ok_or_else(|| ValueError::Type {
            ctype: format!("{ctype:?}"),
        })
    }
}

/// The type of a structure's member. Biases of layers with 16-bit activations are of the type that
/// the structure's last member says, and have to be aligned for it.
fn member_type(structure: &str, declared: &CType, bytes: &[u8]) -> CType {
    match declared {
        CType::Pointer { is_const, .. } if structure == "cmsis_nn_bias_data" => {
            let is_int32 = bytes.get(4).is_some_and(|&flag| flag != 0);
            let element = if is_int32 { "int32_t" } else { "int64_t" };
            CType::Pointer {
                to: Box::new(CType::Scalar(element.to_owned())),
                is_const: *is_const,
            }
        }
        _ => declared.clone(),
    }
}
