//! A model without the channels that make no difference.

use super::error::{About, PlanError, StudyError};
use crate::elf::image::sha256;
use dmo_analysis::graph::Graph;
use dmo_analysis::transform::prune::{PruneReport, prune};

/// What was made of a model's file before anything else, and the file as it was given.
pub struct Pruning {
    /// The file as it was given.
    pub given: Vec<u8>,
    /// Its first graph.
    pub graph: Graph,
    /// SHA-256 of what was made of it; `None` where nothing was removed.
    pub sha256: Option<String>,
    /// What was done.
    pub report: PruneReport,
}

impl Pruning {
    /// Prunes a model's file, and gives the new one.
    ///
    /// # Errors
    /// When there is no file, or none that can be pruned.
    pub(super) fn of(
        name: &str,
        file: Option<&[u8]>,
        graph: &Graph,
    ) -> Result<(Self, Vec<u8>), StudyError> {
        let given = file.ok_or_else(|| PlanError::NothingToPrune {
            model: name.to_owned(),
        })?;
        let pruned = prune(given).about(format_args!("{name}: --allow prune"))?;
        let changed = !pruned.report.tensors.is_empty();
        let pruning = Self {
            given: given.to_vec(),
            graph: graph.clone(),
            sha256: changed.then(|| sha256(&pruned.file)),
            report: pruned.report,
        };
        Ok((pruning, pruned.file))
    }
}
