//! A model over a window of time that takes only its newest rows.

use super::error::{About, BuildError, StudyError};
use dmo_analysis::graph::Graph;
use dmo_analysis::transform::stream::{StreamReport, stream};

/// What was made of a model's file so that it takes the newest rows, and the file as it was given.
pub struct Streaming {
    /// The file as it was given, which takes a whole window.
    pub given: Vec<u8>,
    /// Its first graph.
    pub graph: Graph,
    /// What was done.
    pub report: StreamReport,
}

impl Streaming {
    /// Makes a model's file take `new_rows` rows, and gives the new one. `given` and `graph` are
    /// the model as it was given, `file` the same or what pruning made of it.
    ///
    /// # Errors
    /// When there is no file, or nothing in it can be reused from one window to the next.
    pub(super) fn of(
        name: &str,
        file: Option<&[u8]>,
        (given, graph): (Option<&[u8]>, &Graph),
        new_rows: u32,
    ) -> Result<(Self, Vec<u8>), StudyError> {
        let (Some(file), Some(given)) = (file, given) else {
            let model = name.to_owned();
            return Err(BuildError::NoModelFile { model }.into());
        };
        let streamed = stream(file, new_rows).about(name)?;
        let streaming = Self {
            given: given.to_vec(),
            graph: graph.clone(),
            report: streamed.report,
        };
        Ok((streaming, streamed.file))
    }
}
