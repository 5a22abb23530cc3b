//! A model whose operators run tile by tile, for TensorFlow Lite Micro as it is.

use super::rewrite;
use crate::graph::parameters::Constant;
use crate::graph::tflite::{self, TfliteError};
use crate::graph::{Kind, TensorId, TensorType};
use crate::transform::standard::{Standard, standard};
use crate::transform::{Recipe, TransformError};
use std::collections::HashSet;

/// A model of standard operators, without a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledModel {
    /// The model's file, its operators in the recipe's order.
    pub file: Vec<u8>,
    /// Its graph, and where the parts of it come from.
    pub standard: Standard,
}

/// Why a model cannot be handed over in tiles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TiledError {
    #[error(transparent)]
    Transform(#[from] TransformError),
    #[error(transparent)]
    File(#[from] TfliteError),
}

/// The model that follows a recipe in standard operators ([`standard`]). To be planned like any
/// other model, in the order of its file.
///
/// # Errors
/// When the file is no model of one subgraph, or the recipe cannot be followed in standard
/// operators.
pub fn tiled(file: &[u8], recipe: &Recipe) -> Result<TiledModel, TiledError> {
    let model = tflite::read(file)?;
    let graph = model.graphs.first().ok_or(TfliteError::NoSubgraph)?;
    let standard = standard(graph, recipe)?;
    ensure_padding_adds_nothing(file, &standard)?;
    Ok(TiledModel {
        file: rewrite(file, &standard)?,
        standard,
    })
}

/// What stands for 0 is padded where a window reaches beyond the tensor. Of floats that adds nothing only if
/// the weights are finite.
fn ensure_padding_adds_nothing(file: &[u8], standard: &Standard) -> Result<(), TiledError> {
    let operators = &standard.graph.operators;
    let mut padded: HashSet<TensorId> = HashSet::new();
    for (node, origin) in operators.iter().zip(&standard.origins) {
        let is_float =
            |id: &TensorId| standard.graph.tensor(*id).element_type == TensorType::Float32;
        if node.kind == Kind::Pad && origin.is_none() {
            padded.extend(node.outputs.iter().filter(|id| is_float(id)));
        }
    }
    if padded.is_empty() {
        return Ok(());
    }
    let parameters = tflite::parameters(file, 0)?;
    for (node, origin) in operators.iter().zip(&standard.origins) {
        let (Some(origin), true) = (origin, node.inputs.iter().any(|id| padded.contains(id)))
        else {
            continue;
        };
        let operator = origin.operator;
        let known = parameters.get(operator.0).and_then(|it| it.as_ref().ok());
        let weights = known.and_then(|known| known.constant(WEIGHTS));
        if !weights.is_some_and(Constant::has_finite_floats) {
            let reason =
                "has weights that are not known to be finite, and would be padded by zeros";
            return Err(TransformError::Operator { operator, reason }.into());
        }
    }
    Ok(())
}

/// The operand of a convolution that has its weights.
const WEIGHTS: usize = 1;
