//! A tensor as a file has it.

use super::schema::{self, operator, quantization, subgraph, tensor};
use super::view::Table;
use super::{Contents, TfliteError};
use crate::graph::{Graph, GraphTensor, Storage, TensorId, TensorType};
use std::ops::Range;

/// A tensor as the file has it.
pub(super) struct Draft {
    name: String,
    pub shape: Vec<i32>,
    pub signature: Vec<i32>,
    pub element_type: TensorType,
    pub storage: Storage,
    pub data: Option<Range<usize>>,
    /// How many scales it is quantised with: 0 if it is not.
    pub scales: usize,
    /// Not all of its elements are in the data.
    pub is_sparse: bool,
}

impl Draft {
    /// The tensors of a subgraph.
    pub(super) fn all(
        contents: &Contents,
        table: &Table,
        subgraph: usize,
    ) -> Result<Vec<Self>, TfliteError> {
        let tensors = table.tables(subgraph::TENSORS)?.enumerate();
        let tensors = tensors.map(|(number, entry)| {
            let place = || format!("tensor {number} of subgraph {subgraph}");
            Self::read(contents, &entry?, place)
        });
        let mut drafts = tensors.collect::<Result<Vec<_>, _>>()?;
        find_empty_constants(&mut drafts, table)?;
        Ok(drafts)
    }

    pub(super) fn read(
        contents: &Contents,
        table: &Table,
        place: impl FnOnce() -> String,
    ) -> Result<Self, TfliteError> {
        let buffer = table.number::<u32>(tensor::BUFFER, 0)?;
        let data = contents.buffer(buffer, place)?;
        let storage = if table.number(tensor::IS_VARIABLE, false)? {
            Storage::Variable
        } else if data.is_some() {
            Storage::Constant
        } else {
            Storage::Arena
        };
        Ok(Self {
            name: table.text(tensor::NAME)?,
            shape: table.integers(tensor::SHAPE)?,
            signature: table.integers(tensor::SHAPE_SIGNATURE)?,
            element_type: TensorType::of_code(table.number(tensor::TYPE, 0)?),
            storage,
            data,
            scales: scales(table)?,
            is_sparse: table.place(tensor::SPARSITY)?.is_some(),
        })
    }

    pub(super) fn extents(&self) -> Option<Vec<u32>> {
        let extents = self.shape.iter().map(|&extent| u32::try_from(extent).ok());
        extents.collect()
    }

    /// By shape and type. In the arena every element has a byte of its own at least: there
    /// TensorFlow Lite Micro does not pack them.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        let packed = self.element_type.bits()?;
        let bits = match self.storage {
            Storage::Constant => packed,
            Storage::Arena | Storage::Variable | Storage::Application => packed.max(8),
        };
        schema::size_bytes(bits, &self.extents()?)
    }

    /// A size that is not known counts as that of the data, 0 where there are none; what
    /// is computed is checked where it is known to be used.
    pub(super) fn tensor(&self) -> GraphTensor {
        let data = self.data.as_ref().map_or(0, |data| data.len() as u64);
        GraphTensor {
            name: self.name.clone(),
            shape: self.extents().unwrap_or_default(),
            element_type: self.element_type,
            size_bytes: self.size_bytes().unwrap_or(data),
            storage: self.storage,
        }
    }

    /// The batch is open: it has 1 as its extent in the file, and any when the model runs.
    pub(super) fn has_open_batch(&self) -> bool {
        self.signature.first().is_some_and(|&extent| extent < 1)
    }

    /// Its shape in the file, or that which it may have, if an extent of these is not known.
    pub(super) fn dynamic_shape(&self) -> Option<&[i32]> {
        // Converters leave the batch open, with 1 as its extent.
        let further = self.signature.get(1..).unwrap_or_default();
        [(&self.shape, &self.shape[..]), (&self.signature, further)]
            .into_iter()
            .find(|(_, extents)| extents.iter().any(|&extent| extent < 1))
            .map(|(shape, _)| &shape[..])
    }
}

/// What has no elements has no data in a file. It is a constant where the subgraph does not take or
/// compute it, such as the axes of a reduction along none.
pub(super) fn find_empty_constants<'a>(
    drafts: impl IntoIterator<Item = &'a mut Draft>,
    table: &Table,
) -> Result<(), TfliteError> {
    let mut drafts: Vec<&mut Draft> = drafts.into_iter().collect();
    let is_empty = |draft: &Draft| draft.storage == Storage::Arena && draft.size_bytes() == Some(0);
    if !drafts.iter().any(|draft| is_empty(draft)) {
        return Ok(());
    }
    let mut is_stored = vec![false; drafts.len()];
    // Indices that no tensor has are refused where operators are read.
    let mut mark = |indices: Vec<i32>| {
        for index in indices
            .into_iter()
            .filter_map(|index| usize::try_from(index).ok())
        {
            if let Some(is_stored) = is_stored.get_mut(index) {
                *is_stored = true;
            }
        }
    };
    mark(table.integers(subgraph::INPUTS)?);
    for entry in table.tables(subgraph::OPERATORS)? {
        mark(entry?.integers(operator::OUTPUTS)?);
    }
    for (draft, is_stored) in drafts.iter_mut().zip(is_stored) {
        if is_empty(draft) && !is_stored {
            draft.storage = Storage::Constant;
            draft.data = Some(0..0);
        }
    }
    Ok(())
}

/// Scales that TensorFlow Lite Micro takes: those of a tensor that has zero points too.
fn scales(table: &Table) -> Result<usize, TfliteError> {
    let Some(table) = table.table(tensor::QUANTIZATION)? else {
        return Ok(0);
    };
    let count = |field, stride| {
        Ok::<_, TfliteError>(table.span(field, stride)?.map_or(0, |span| span.count))
    };
    let scales = count(quantization::SCALE, 4)?;
    Ok(if count(quantization::ZERO_POINT, 8)? > 0 {
        scales
    } else {
        0
    })
}

/// What messages call a tensor.
pub(super) fn tensor_name(graph: &Graph, id: TensorId, subgraph: usize) -> String {
    let name = &graph.tensor(id).name;
    format!("tensor {} \"{name}\" of subgraph {subgraph}", id.0)
}
