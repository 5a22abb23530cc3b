//! The first input and the first output: the whole story of an operator that has one of each.

use dmo_analysis::operator::{Operator, ShapeError};

pub trait FirstPair {
    /// Sizes of both in bytes.
    fn buffer_bytes(&self) -> Result<(u32, u32), ShapeError>;
    /// O_s in bytes by formula.
    fn safe_overlap(&self) -> Result<u32, ShapeError>;
    /// O_s in bytes from the accesses one by one.
    fn traced_overlap(&self) -> Result<u32, ShapeError>;
    /// The least safe displacement in bytes by formula.
    fn displacement(&self) -> Result<Option<u32>, ShapeError>;
    /// The published formula's O_s in bytes.
    fn published(&self) -> Result<Option<f64>, ShapeError>;
    fn published_is_unsafe(&self) -> Result<bool, ShapeError>;
}

impl FirstPair for Operator {
    fn buffer_bytes(&self) -> Result<(u32, u32), ShapeError> {
        self.overlap(0, 0)?;
        let buffers = self.buffers()?;
        Ok((
            buffers.inputs[0].size_bytes(),
            buffers.outputs[0].size_bytes(),
        ))
    }

    fn safe_overlap(&self) -> Result<u32, ShapeError> {
        Ok(self.overlap(0, 0)?.bytes)
    }

    fn traced_overlap(&self) -> Result<u32, ShapeError> {
        self.overlap(0, 0)?;
        Ok(self.traced_overlaps()?[0].bytes)
    }

    fn displacement(&self) -> Result<Option<u32>, ShapeError> {
        self.displacement_of(0, 0)
    }

    fn published(&self) -> Result<Option<f64>, ShapeError> {
        Ok(self.overlap(0, 0)?.published_bytes)
    }

    fn published_is_unsafe(&self) -> Result<bool, ShapeError> {
        Ok(self.overlap(0, 0)?.published_is_unsafe)
    }
}
