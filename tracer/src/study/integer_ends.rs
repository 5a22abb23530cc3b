//! A quantised model that takes and gives the integers that it computes with.

use super::error::{About, PlanError, StudyError};
use crate::elf::image::sha256;
use dmo_analysis::transform::integer_io::{IntegerIo, IntegerIoReport, integer_io};

/// What was made of the ends of a model's file, and the file as it was given.
pub struct IntegerEnds {
    /// The file as it was given.
    pub given: Vec<u8>,
    /// SHA-256 of what was made of it.
    pub sha256: String,
    /// Which ends are integers now, and were floats.
    pub report: IntegerIoReport,
}

impl IntegerEnds {
    /// Leaves out the conversions at the ends of a model's file, and gives the new one.
    ///
    /// # Errors
    /// When there is no file, or no such end.
    pub(super) fn of(name: &str, file: Option<&[u8]>) -> Result<(Self, Vec<u8>), StudyError> {
        let given = file.ok_or_else(|| PlanError::NoEnds {
            model: name.to_owned(),
        })?;
        let made = integer_io(given).about(format_args!("{name}: integer ends"))?;
        let IntegerIo { file, report } = made;
        let ends = Self {
            given: given.to_vec(),
            sha256: sha256(&file),
            report,
        };
        Ok((ends, file))
    }
}
