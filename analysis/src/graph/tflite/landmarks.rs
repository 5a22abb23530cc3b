//! Parts of a model file that the runtime's structures point to, by which these are recognised in
//! memory: TensorFlow Lite Micro does not copy shapes and operands, it refers to them.

use super::TfliteError;
use super::schema::{Field, model, operator, subgraph, tensor};
use super::view::{File, Table};

/// Offsets in a model file, in bytes, of what belongs to its first subgraph. A list begins with its
/// number of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmarks {
    /// The shape of each tensor; `None` of one without.
    pub shapes: Vec<Option<usize>>,
    /// The inputs and the outputs of each operator; `None` of one without such.
    pub operators: Vec<Option<[usize; 2]>>,
}

/// Finds them in a file.
///
/// # Errors
/// When the bytes are not a model, or one without subgraphs.
pub fn landmarks(bytes: &[u8]) -> Result<Landmarks, TfliteError> {
    let file = File::new(bytes);
    let root = file.root()?;
    let first = root.tables(model::SUBGRAPHS)?.next();
    let first = first.ok_or_else(|| TfliteError::damaged("it has no subgraph".to_owned()))??;
    let tensors = first.tables(subgraph::TENSORS)?;
    let operators = first.tables(subgraph::OPERATORS)?;
    Ok(Landmarks {
        shapes: tensors
            .map(|tensor| list(&tensor?, tensor::SHAPE))
            .collect::<Result<_, TfliteError>>()?,
        operators: operators
            .map(|entry| {
                let entry = entry?;
                let inputs = list(&entry, operator::INPUTS)?;
                let outputs = list(&entry, operator::OUTPUTS)?;
                Ok(inputs
                    .zip(outputs)
                    .map(|(inputs, outputs)| [inputs, outputs]))
            })
            .collect::<Result<_, TfliteError>>()?,
    })
}

/// Where a list of 32-bit integers begins: its number of elements stands before them.
fn list(table: &Table, field: Field) -> Result<Option<usize>, TfliteError> {
    let span = table.span(field, 4)?;
    Ok(span.and_then(|span| span.start.checked_sub(4)))
}
