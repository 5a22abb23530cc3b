//! The parts of a program that a memory plan is about.

use crate::foreign::ForeignError;
use crate::foreign::error::number;
use dmo_planner::problem::MAX_TOTAL_BYTES;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
pub(super) struct Program {
    pub execution_plan: Vec<Method>,
}

/// Fields with their default value are left out in the JSON that `flatc` makes.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Method {
    pub name: String,
    pub values: Vec<EValue>,
    pub inputs: Vec<i64>,
    pub outputs: Vec<i64>,
    pub chains: Vec<Chain>,
    pub operators: Vec<Operator>,
    pub non_const_buffer_sizes: Vec<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct EValue {
    val_type: String,
    val: Option<Val>,
}

/// The fields of all kinds of values that matter.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Val {
    scalar_type: Option<ScalarType>,
    sizes: Vec<i64>,
    data_buffer_idx: i64,
    allocation_info: Option<Allocation>,
    extra_tensor_info: Option<Extra>,
    items: Vec<Item>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Allocation {
    memory_id: i64,
    memory_offset_low: i64,
    memory_offset_high: i64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Extra {
    fully_qualified_name: Option<String>,
}

/// Of a list; only those of tensors are indices.
#[derive(Deserialize)]
#[serde(untagged)]
enum Item {
    Index(i64),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ScalarType {
    Name(String),
    Number(i64),
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Chain {
    pub instructions: Vec<Instruction>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Instruction {
    pub instr_args_type: String,
    pub instr_args: Arguments,
}

/// The fields of all kinds of instructions.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Arguments {
    pub op_index: i64,
    pub args: Vec<i64>,
    pub move_from: i64,
    pub move_to: i64,
    pub destination_instruction: i64,
    pub value_index: i64,
    pub cond_value_index: i64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Operator {
    pub name: String,
    pub overload: String,
}

/// Overloads that store their outputs where they are given, and whose names do not say so.
const OUTPUTS: [&str; 6] = [
    "values",
    "values_stable",
    "dim_max",
    "dim_min",
    "dim_values",
    "grad_input",
];

impl Operator {
    /// Whether it stores its outputs where they are given, as far as its name says so. One that changes
    /// an input in place has a name that ends with an underscore.
    pub fn stores_its_outputs(&self) -> bool {
        let overload = &*self.overload;
        !self.name.ends_with('_') && (overload.contains("out") || OUTPUTS.contains(&overload))
    }
}

/// A tensor with a place in memory.
pub(super) struct Tensor {
    pub memory: u64,
    pub offset: u64,
    pub size_bytes: u64,
    pub element_bytes: u64,
    /// It has initial data or a name of its own: it is a state.
    pub is_state: bool,
}

/// The schema's element types: name, number, and bytes that an element takes at most.
const ELEMENTS: [(&str, i64, u64); 23] = [
    ("BYTE", 0, 1),
    ("CHAR", 1, 1),
    ("SHORT", 2, 2),
    ("INT", 3, 4),
    ("LONG", 4, 8),
    ("HALF", 5, 2),
    ("FLOAT", 6, 4),
    ("DOUBLE", 7, 8),
    ("BOOL", 11, 1),
    ("QINT8", 12, 1),
    ("QUINT8", 13, 1),
    ("QINT32", 14, 4),
    ("BFLOAT16", 15, 2),
    ("QUINT4X2", 16, 1),
    ("QUINT2X4", 17, 1),
    ("BITS16", 22, 2),
    ("FLOAT8E5M2", 23, 1),
    ("FLOAT8E4M3FN", 24, 1),
    ("FLOAT8E5M2FNUZ", 25, 1),
    ("FLOAT8E4M3FNUZ", 26, 1),
    ("UINT16", 27, 2),
    ("UINT32", 28, 4),
    ("UINT64", 29, 8),
];

impl Tensor {
    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.size_bytes
    }
}

impl Method {
    /// The tensors that have a place and bytes, by value.
    pub fn tensors(&self) -> Result<Vec<Option<Tensor>>, ForeignError> {
        let values = self.values.iter().enumerate();
        values
            .map(|(index, value)| self.tensor(index, value))
            .collect()
    }

    fn tensor(&self, index: usize, value: &EValue) -> Result<Option<Tensor>, ForeignError> {
        let Some(val) = value.val.as_ref().filter(|_| value.val_type == "Tensor") else {
            return Ok(None);
        };
        let Some(allocation) = &val.allocation_info else {
            return Ok(None);
        };
        let place = || self.value_name(index);
        let word = |given: i64, what| number(given.into(), u32::MAX.into(), what, place);
        let memory = word(allocation.memory_id, "memory_id")?;
        let low = word(allocation.memory_offset_low, "memory_offset_low")?;
        let high = word(allocation.memory_offset_high, "memory_offset_high")?;
        let offset = (high << 32 | low).into();
        let element_bytes = val.element_bytes(place)?;
        let mut size: i128 = element_bytes.into();
        for &dimension in &val.sizes {
            let dimension = number(dimension.into(), MAX_TOTAL_BYTES, "a dimension", place)?;
            size *= i128::from(dimension);
            size = number(size, MAX_TOTAL_BYTES, "its size in bytes", place)?.into();
        }
        if size == 0 {
            return Ok(None);
        }
        let named = val.extra_tensor_info.as_ref();
        let named = named.is_some_and(|extra| extra.fully_qualified_name.is_some());
        Ok(Some(Tensor {
            memory,
            offset: number(offset, MAX_TOTAL_BYTES, "its offset", place)?,
            size_bytes: size as u64,
            element_bytes,
            is_state: named || val.data_buffer_idx > 0,
        }))
    }

    /// The values of a list of tensors, or the value itself.
    pub fn members(&self, value: i64, place: &str) -> Result<Vec<usize>, ForeignError> {
        let index = self.value(value, place)?;
        let value = &self.values[index];
        let mut members = vec![index];
        if let ("TensorList" | "OptionalTensorList", Some(val)) = (&*value.val_type, &value.val) {
            for item in &val.items {
                // -1 stands for none.
                if let Item::Index(item @ 0..) = item {
                    members.push(self.value(*item, place)?);
                }
            }
        }
        Ok(members)
    }

    /// A value that there is.
    pub fn value(&self, value: i64, place: &str) -> Result<usize, ForeignError> {
        let index = usize::try_from(value).ok();
        let index = index.filter(|&index| index < self.values.len());
        index.ok_or_else(|| ForeignError::NoSuch {
            place: format!("{} {place}", self.name),
            what: "value",
            given: value,
            count: self.values.len(),
        })
    }

    /// Values that have a place in a memory, and no bytes.
    pub fn empty_values(&self, memory: u64) -> Result<Vec<usize>, ForeignError> {
        let mut empty = Vec::new();
        for (index, value) in self.values.iter().enumerate() {
            let place = value
                .val
                .as_ref()
                .and_then(|val| val.allocation_info.as_ref());
            let is_there = place.is_some_and(|place| u64::try_from(place.memory_id) == Ok(memory));
            if is_there && value.val_type == "Tensor" && self.tensor(index, value)?.is_none() {
                empty.push(index);
            }
        }
        Ok(empty)
    }

    /// How large the method's file says that this memory is. The first one is of constants.
    pub fn memory_bytes(&self, id: u64) -> Result<u64, ForeignError> {
        let bytes = usize::try_from(id).ok().filter(|&index| index > 0);
        let bytes = bytes.and_then(|index| self.non_const_buffer_sizes.get(index));
        let place = || format!("{} memory {id}", self.name);
        let Some(&bytes) = bytes else {
            return Err(ForeignError::NoMemory {
                place: place(),
                count: self.non_const_buffer_sizes.len().saturating_sub(1),
            });
        };
        number(bytes.into(), u64::MAX >> 1, "non_const_buffer_sizes", place)
    }

    /// What messages call a value.
    pub fn value_name(&self, value: usize) -> String {
        format!("{} value {value}", self.name)
    }
}

impl Val {
    fn element_bytes(&self, place: impl Fn() -> String) -> Result<u64, ForeignError> {
        // The default of the schema is number 0.
        let known = ELEMENTS
            .iter()
            .find(|(name, number, _)| match &self.scalar_type {
                // The default of the schema.
                None => *number == 0,
                Some(ScalarType::Name(given)) => given == name,
                Some(ScalarType::Number(given)) => given == number,
            });
        let given = || match &self.scalar_type {
            Some(ScalarType::Name(name)) => format!("{name:?}"),
            Some(ScalarType::Number(number)) => number.to_string(),
            None => String::new(),
        };
        let known = known.ok_or_else(|| ForeignError::ElementType {
            place: place(),
            given: given(),
        });
        Ok(known?.2)
    }
}
