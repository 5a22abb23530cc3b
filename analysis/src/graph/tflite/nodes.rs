//! Subgraphs as the runtime finds them: with optional inputs that are absent, quantisation and
//! options.

use super::draft::Draft;
use super::lower::FileNode;
use super::read::{custom_options_of, options_of, tensor_ids};
use super::schema::{model, operator, subgraph};
use super::view::{File, Table};
use super::{Contents, TfliteError, catalogue};
use crate::graph::{GraphTensor, Kind, TensorId};
use std::ops::Range;

/// A subgraph.
pub(crate) struct RawSubgraph<'a> {
    file: &'a [u8],
    pub tensors: Vec<GraphTensor>,
    /// How many scales each tensor is quantised with: 0 if it is not.
    pub scales: Vec<usize>,
    data: Vec<Option<Range<usize>>>,
    pub inputs: Vec<TensorId>,
    pub outputs: Vec<TensorId>,
    pub operators: Vec<RawOperator<'a>>,
}

/// An operator.
pub(crate) struct RawOperator<'a> {
    pub kind: Kind,
    /// `None` where an optional one is absent.
    pub inputs: Vec<Option<TensorId>>,
    pub outputs: Vec<TensorId>,
    options: Option<(u8, Table<'a>)>,
    custom_options: Option<Range<usize>>,
}

/// What is made of a model's subgraphs.
///
/// # Errors
/// When the bytes are not a model.
pub(crate) fn with_subgraphs<T>(
    bytes: &[u8],
    make: impl FnOnce(&[RawSubgraph]) -> T,
) -> Result<T, TfliteError> {
    let file = File::new(bytes);
    let root = file.root()?;
    let contents = Contents::read(&root)?;
    let subgraphs = root.tables(model::SUBGRAPHS)?.enumerate();
    let subgraphs =
        subgraphs.map(|(index, table)| RawSubgraph::read(bytes, &contents, &table?, index));
    Ok(make(&subgraphs.collect::<Result<Vec<_>, _>>()?))
}

impl<'a> RawSubgraph<'a> {
    fn read(
        file: &'a [u8],
        contents: &Contents,
        table: &Table<'a>,
        index: usize,
    ) -> Result<Self, TfliteError> {
        let (mut tensors, mut scales, mut data) = (Vec::new(), Vec::new(), Vec::new());
        for draft in Draft::all(contents, table, index)? {
            tensors.push(draft.tensor());
            scales.push(draft.scales);
            data.push(draft.data);
        }
        let ids = |table: &Table, field| {
            let place = || format!("subgraph {index}");
            tensor_ids(&table.integers(field)?, tensors.len(), place)
        };
        let present = |ids: Vec<Option<TensorId>>| ids.into_iter().flatten().collect();
        let mut operators = Vec::new();
        for entry in table.tables(subgraph::OPERATORS)? {
            let entry = entry?;
            let code = entry.number::<u32>(operator::OPCODE_INDEX, 0)?;
            let kind = contents.code(code, || format!("subgraph {index}"))?;
            entry.charge(kind.name().len())?;
            operators.push(RawOperator {
                kind: kind.clone(),
                inputs: ids(&entry, operator::INPUTS)?,
                outputs: present(ids(&entry, operator::OUTPUTS)?),
                options: options_of(&entry)?,
                custom_options: custom_options_of(&entry)?,
            });
        }
        Ok(Self {
            file,
            inputs: present(ids(table, subgraph::INPUTS)?),
            outputs: present(ids(table, subgraph::OUTPUTS)?),
            tensors,
            scales,
            data,
            operators,
        })
    }

    /// What is made of an operator and what it stands among.
    pub(crate) fn node<T>(&self, operator: &RawOperator, make: impl FnOnce(&FileNode) -> T) -> T {
        let options = catalogue::row(&operator.kind).options;
        make(&FileNode {
            kind: &operator.kind,
            tensors: &self.tensors,
            inputs: &operator.inputs,
            outputs: &operator.outputs,
            scales: &|id| self.scales[id.0],
            data: &|id| Some(&self.file[self.data[id.0].clone()?]),
            options: operator
                .options
                .filter(|&(number, _)| number == options)
                .map(|(_, table)| table),
            custom_options: (operator.custom_options.clone())
                .and_then(|range| self.file.get(range)),
        })
    }
}
