//! Data of new constants.

use crate::graph::TensorType;
use crate::graph::tflite::TfliteError;
use crate::transform::standard::TensorSource;

/// The data of a new constant; `None` if a tensor is none.
pub(super) fn data(
    element_type: TensorType,
    source: &TensorSource,
) -> Result<Option<Vec<u8>>, TfliteError> {
    match source {
        TensorSource::Original | TensorSource::Piece(_) => Ok(None),
        TensorSource::Integers(values) => {
            let words = values.iter().flat_map(|value| value.to_le_bytes());
            Ok(Some(words.collect()))
        }
        TensorSource::Lowest(_) => match element_type {
            TensorType::Int8 => Ok(Some(i8::MIN.to_le_bytes().to_vec())),
            TensorType::Uint8 => Ok(Some(u8::MIN.to_le_bytes().to_vec())),
            TensorType::Int16 => Ok(Some(i16::MIN.to_le_bytes().to_vec())),
            TensorType::Float32 => Ok(Some(f32::MIN.to_le_bytes().to_vec())),
            other => Err(TfliteError::Plan(format!(
                "the lowest number of type {other} is not known, expected INT8, UINT8, INT16 or \
                 FLOAT32"
            ))),
        },
    }
}
