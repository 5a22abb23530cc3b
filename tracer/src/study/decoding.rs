//! A model whose constants are unpacked beforehand, and what that does to its arena.

use super::Session;
use super::error::{About, BuildError, StudyError};
use super::plan::{PlanRequest, plan};
use super::source::Source;
use dmo_analysis::transform::decode::{Decoded, decode};
use std::time::Duration;

/// A search for an arena takes at most this long: the figure is one beside others.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// A model whose constants are unpacked.
pub struct Decoding {
    /// The model, and what was done.
    pub decoded: Decoded,
    /// Bytes of the file as it was given.
    pub given_bytes: u64,
    /// The smallest arena of stock TensorFlow Lite Micro found, before and after, in bytes.
    pub arena_bytes: [u64; 2],
}

/// Unpacks the constants of a model that is as it was given.
///
/// # Errors
/// When the model has no file, nothing that is unpacked for an operator, or packed data that are
/// damaged; when it cannot be planned.
pub fn decode_constants(mut source: Source) -> Result<Decoding, StudyError> {
    let name = source.name.clone();
    let Some(file) = source.file.clone() else {
        return Err(BuildError::NoModelFile { model: name }.into());
    };
    let decoded = decode(&file).about(&name)?;
    let request = PlanRequest {
        time: SEARCH_TIME,
        ..PlanRequest::default()
    };
    let session = Session::default();
    let before = plan(&mut source, &request, &session)?;
    let mut made = Source::of_bytes(&name, decoded.file.clone())?;
    let after = plan(&mut made, &request, &session)?;
    Ok(Decoding {
        decoded,
        given_bytes: file.len() as u64,
        arena_bytes: [before.file.arena_bytes, after.file.arena_bytes],
    })
}
