//! What an operator is to the reference kernels: its loops and shapes, where they are
//! exactly those of `docs/formulas.md`, otherwise nothing.
//!
//! The kernels meant are the reference kernels of TensorFlow Lite Micro. Where they do
//! something else than the formula, or did in some version, there is no kernel:
//!
//! | kinds | why not |
//! |---|---|
//! | `SELECT_V2` whose condition is broadcast | copies runs by `memcpy` (`select.h`) |
//! | products with weights of another kind of type, floating point by integer | converts its input first |
//!
//! | file | kinds |
//! |---|---|
//! | `lower/windows.rs` | convolutions, pooling |
//! | `lower/products.rs` | products of matrices, sequences |
//! | `lower/elements.rs` | element by element, softmax, reductions |
//! | `lower/moves.rs` | what only moves elements |
//! | `lower/slices.rs` | slices |
//! | `lower/gathers.rs` | elements at indices |
//! | `lower/extents.rs` | shapes as data, zeros, parts of tensors at indices |
//! | `lower/axes.rs` | along one axis, stacks and blocks |
//! | `lower/signal.rs` | the signal library |
//! | `lower/detection.rs` | detections from boxes and scores |
//!
//! What has no kernel in any shape says why in the catalogue (`apart.rs`).

pub(super) mod axes;
pub(super) mod detection;
pub(super) mod elements;
pub(super) mod extents;
pub(super) mod gathers;
pub(super) mod moves;
pub(super) mod products;
pub(crate) mod signal;
pub(super) mod slices;
pub(super) mod windows;

use super::schema::{Field, batch_matmul};
use super::view::Table;
use crate::graph::{GraphTensor, Kernel, Kind, TensorId, TensorType};
use crate::operator::{Operator, Shape};
use planus::TableRead;

/// An operator of the file, and what it stands among.
pub(crate) struct FileNode<'a> {
    pub kind: &'a Kind,
    /// The tensors of its subgraph.
    pub tensors: &'a [GraphTensor],
    /// Its inputs; `None` where an optional one is absent.
    pub inputs: &'a [Option<TensorId>],
    pub outputs: &'a [TensorId],
    /// How many scales a tensor is quantised with: 0 if it is not.
    pub scales: &'a dyn Fn(TensorId) -> usize,
    /// The data of a constant.
    pub data: &'a dyn Fn(TensorId) -> Option<&'a [u8]>,
    /// Its options, if they are those of its kind.
    pub options: Option<Table<'a>>,
    /// The options of a custom operator.
    pub custom_options: Option<&'a [u8]>,
}

/// More inputs or outputs are taken for damage: the formulas go through all of them for each.
const PARTS: usize = 1024;

/// An operator and which of its inputs stand for the formula's. All outputs do.
pub(super) type Lowered = (Operator, Vec<usize>);

/// Finds an operator's loops and shapes.
pub(super) type Lower = fn(&FileNode) -> Option<Lowered>;

/// What the operator is to the reference kernels, as its kind's function in the catalogue says.
pub(super) fn kernel(node: &FileNode, lower: Lower) -> Option<Kernel> {
    let (operator, inputs) = lower(node)?;
    let inputs: Option<Vec<TensorId>> = inputs
        .into_iter()
        .map(|index| node.inputs.get(index).copied().flatten())
        .collect();
    let kernel = Kernel {
        operator,
        inputs: inputs?,
        outputs: node.outputs.to_vec(),
    };
    sizes_agree(node, &kernel).then_some(kernel)
}

/// Whether the formula's buffers are as large as the tensors.
fn sizes_agree(node: &FileNode, kernel: &Kernel) -> bool {
    let Ok(buffers) = kernel.operator.buffers() else {
        return false;
    };
    let agree = |buffers: &[crate::operator::Buffer], ids: &[TensorId]| {
        let sizes = buffers.iter().map(|buffer| u64::from(buffer.size_bytes()));
        sizes.eq(ids.iter().map(|id| node.tensors[id.0].size_bytes))
    };
    agree(&buffers.inputs, &kernel.inputs) && agree(&buffers.outputs, &kernel.outputs)
}

impl<'a> FileNode<'a> {
    pub(crate) fn input(&self, index: usize) -> Option<&'a GraphTensor> {
        let id = (*self.inputs.get(index)?)?;
        self.tensors.get(id.0)
    }

    pub(crate) fn output(&self, index: usize) -> Option<&'a GraphTensor> {
        self.tensors.get(self.outputs.get(index)?.0)
    }

    /// The only output.
    fn only_output(&self) -> Option<&'a GraphTensor> {
        self.output(0).filter(|_| self.outputs.len() == 1)
    }

    /// An input that is a constant.
    pub(crate) fn constant(&self, index: usize) -> Option<&'a GraphTensor> {
        let id = (*self.inputs.get(index)?)?;
        (self.data)(id).and_then(|_| self.tensors.get(id.0))
    }

    /// Whether an optional input is absent, or a constant.
    fn constant_or_absent(&self, index: usize) -> bool {
        self.absent(index) || self.constant(index).is_some()
    }

    /// Constant weights of a type that the kernel takes together with its input's; with
    /// other ones it would convert the input first.
    fn weights(&self, index: usize, input: &GraphTensor) -> Option<&'a GraphTensor> {
        let weights = self.constant(index)?;
        let types = (input.element_type, weights.element_type);
        let plain = [
            (TensorType::Float32, TensorType::Float32),
            (TensorType::Int8, TensorType::Int8),
            (TensorType::Int8, TensorType::Int4),
            (TensorType::Int16, TensorType::Int8),
            (TensorType::Uint8, TensorType::Uint8),
        ];
        plain.contains(&types).then_some(weights)
    }

    fn absent(&self, index: usize) -> bool {
        self.inputs.get(index).copied().flatten().is_none()
    }

    /// The integers of a constant input of at most eight elements, such as axes are.
    fn integers(&self, index: usize) -> Option<Vec<i64>> {
        let tensor = self.constant(index)?;
        let data = (self.data)((*self.inputs.get(index)?)?)?;
        if data.len() as u64 != tensor.size_bytes || data.len() > 8 * 8 {
            return None;
        }
        match tensor.element_type {
            TensorType::Int32 => Some(
                super::view::integers(data)
                    .into_iter()
                    .map(i64::from)
                    .collect(),
            ),
            TensorType::Int64 => {
                let (words, _) = data.as_chunks();
                Some(words.iter().map(|&word| i64::from_le_bytes(word)).collect())
            }
            _ => None,
        }
    }

    /// Whether a product of matrices takes its left and its right operand transposed.
    pub(crate) fn adjoints(&self) -> Option<[bool; 2]> {
        let options = self.options()?;
        Some([
            options.flag(batch_matmul::ADJ_X)?,
            options.flag(batch_matmul::ADJ_Y)?,
        ])
    }

    fn options(&self) -> Option<ShapeOptions<'a>> {
        self.options.map(ShapeOptions)
    }
}

/// Options that decide which loops an operator has.
struct ShapeOptions<'a>(Table<'a>);

impl<'a> ShapeOptions<'a> {
    /// A number; `None` if the table is damaged.
    fn number<T: TableRead<'a>>(&self, field: Field, default: T) -> Option<T> {
        self.0.number(field, default).ok()
    }

    /// Height and width, which must be positive.
    fn extents(&self, fields: [Field; 2], default: i32) -> Option<[u32; 2]> {
        let extent = |field| {
            let given = self.number::<i32>(field, default)?;
            u32::try_from(given).ok().filter(|&extent| extent > 0)
        };
        Some([extent(fields[0])?, extent(fields[1])?])
    }

    fn flag(&self, field: Field) -> Option<bool> {
        self.number(field, false)
    }
}

/// Bytes per element; none for packed ones.
fn element_bytes(tensor: &GraphTensor) -> Option<u32> {
    let bits = tensor.element_type.bits()?;
    (bits % 8 == 0).then_some((bits / 8) as u32)
}

/// Bytes per element of two tensors of one type.
fn common_element_bytes(one: &GraphTensor, other: &GraphTensor) -> Option<u32> {
    let same = one.element_type == other.element_type;
    element_bytes(one).filter(|_| same)
}

/// A shape of up to four axes, the last ones.
fn four(shape: &[u32]) -> Option<Shape> {
    let before = 4usize.checked_sub(shape.len())?;
    let mut extents = [1; 4];
    extents[before..].copy_from_slice(shape);
    Some(extents)
}

/// A shape of exactly four axes.
fn exactly_four(shape: &[u32]) -> Option<Shape> {
    shape.try_into().ok()
}

/// Number of elements, if it fits.
pub(super) fn elements(shape: &[u32]) -> Option<u32> {
    let mut extents = shape.iter();
    extents.try_fold(1u32, |product, &extent| product.checked_mul(extent))
}

/// An axis that may count from the end.
fn resolve_axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let resolved = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    (0..rank).contains(&resolved).then_some(resolved as usize)
}

/// An axis of a tensor of this rank as one of four.
fn from_the_front(axis: usize, rank: usize) -> Option<u32> {
    let before = 4usize.checked_sub(rank)?;
    u32::try_from(before + axis).ok()
}
