//! A model whose operators run tile by tile, for TensorFlow Lite Micro as it is.

use super::rewrite;
use crate::graph::tflite::{self, TfliteError};
use crate::transform::standard::{Standard, standard};
use crate::transform::{Recipe, TransformError};

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
    Ok(TiledModel {
        file: rewrite(file, &standard)?,
        standard,
    })
}
