//! Type and quantisation of a tensor.

use super::super::draft::Draft;
use super::super::error::TensorProblem;
use super::super::schema::{quantization, tensor};
use super::super::view::Table;
use super::super::{Contents, TfliteError};
use crate::graph::parameters::Affine;
use crate::graph::{Storage, TensorType};

/// A tensor and what its elements stand for.
pub(super) struct Tensor {
    pub draft: Draft,
    pub record: Record,
    pub meaning: Result<Meaning, TensorProblem>,
}

/// What the elements of a tensor stand for.
pub(super) struct Meaning {
    pub element_type: TensorType,
    /// One for all of them, one for each index of the axis, or none.
    pub quantisation: Vec<Affine>,
    /// 0 where there are not several.
    pub channel_axis: usize,
}

impl Tensor {
    pub(super) fn read(
        contents: &Contents,
        table: &Table,
        place: impl FnOnce() -> String,
    ) -> Result<Self, TfliteError> {
        let draft = Draft::read(contents, table, place)?;
        let record = Record::read(table)?;
        let meaning = meaning(&draft, &record);
        Ok(Self {
            draft,
            record,
            meaning,
        })
    }
}

fn meaning(draft: &Draft, record: &Record) -> Result<Meaning, TensorProblem> {
    let element_type = draft.element_type;
    // Half precision and other packed integers have to be unpacked first.
    let is_packed_constant = element_type == TensorType::Int4 && draft.storage == Storage::Constant;
    if element_type.element().is_none() && !is_packed_constant {
        return Err(TensorProblem::ElementType { element_type });
    }
    let (quantisation, channel_axis) = match limits(element_type) {
        Some(limits) => record.quantisation(draft, limits)?,
        None => (Vec::new(), 0),
    };
    Ok(Meaning {
        element_type,
        quantisation,
        channel_axis,
    })
}

/// Least and greatest zero point; none of types whose quantisation no kernel looks at.
fn limits(element_type: TensorType) -> Option<[i32; 2]> {
    match element_type {
        TensorType::Int4 => Some([-8, 7]),
        TensorType::Int8 => Some([i8::MIN.into(), i8::MAX.into()]),
        TensorType::Uint8 => Some([0, u8::MAX.into()]),
        TensorType::Int16 => Some([i16::MIN.into(), i16::MAX.into()]),
        TensorType::Int32 | TensorType::Int64 => Some([i32::MIN, i32::MAX]),
        _ => None,
    }
}

/// How a tensor is quantised, as the file has it.
#[derive(Default)]
pub(super) struct Record {
    pub scales: Vec<f32>,
    pub zero_points: Vec<i64>,
    /// Number of the union's member that says more; 0 for none.
    details: u8,
    pub axis: i32,
}

impl Record {
    fn read(table: &Table) -> Result<Self, TfliteError> {
        let Some(table) = table.table(tensor::QUANTIZATION)? else {
            return Ok(Self::default());
        };
        Ok(Self {
            scales: table.floats(quantization::SCALE)?,
            zero_points: table.long_integers(quantization::ZERO_POINT)?,
            details: table.number(quantization::DETAILS_TYPE, 0)?,
            axis: table.number(quantization::QUANTIZED_DIMENSION, 0)?,
        })
    }

    /// The quantisation and the axis along which it differs. Without scales there is none:
    /// converters note ranges only where they know no more. With one, the axis means
    /// nothing.
    fn quantisation(
        &self,
        draft: &Draft,
        [least, greatest]: [i32; 2],
    ) -> Result<(Vec<Affine>, usize), TensorProblem> {
        let scales = self.scales.len();
        if self.details != 0 {
            return Err(TensorProblem::Details {
                given: self.details,
            });
        }
        if scales > 0 && scales != self.zero_points.len() {
            return Err(TensorProblem::Counts {
                scales,
                zero_points: self.zero_points.len(),
            });
        }
        let affine = |(&scale, &given): (&f32, &i64)| {
            if !(scale > 0.0 && scale.is_finite()) {
                return Err(TensorProblem::Scale { given: scale });
            }
            let zero_point = i32::try_from(given).ok();
            let zero_point = zero_point.filter(|given| (least..=greatest).contains(given));
            Ok(Affine {
                scale,
                zero_point: zero_point.ok_or(TensorProblem::ZeroPoint {
                    given,
                    least,
                    greatest,
                })?,
            })
        };
        let pairs = self.scales.iter().zip(&self.zero_points);
        let quantisation = pairs.map(affine).collect::<Result<_, _>>()?;
        let axis = match scales {
            0 | 1 => 0,
            _ => self.channel_axis(draft)?,
        };
        Ok((quantisation, axis))
    }

    /// The axis along which several scales lie. A tensor of one axis has no other, though
    /// converters give a bias the number of its filter's.
    fn channel_axis(&self, draft: &Draft) -> Result<usize, TensorProblem> {
        let scales = self.scales.len();
        if draft.storage != Storage::Constant {
            return Err(TensorProblem::Channels { scales });
        }
        let shape = draft.extents().unwrap_or_default();
        let axis = match shape.len() {
            1 => Some(0),
            _ => usize::try_from(self.axis).ok(),
        };
        let (axis, &extent) =
            axis.and_then(|axis| Some((axis, shape.get(axis)?)))
                .ok_or(TensorProblem::Axis {
                    scales,
                    axis: self.axis,
                    rank: shape.len(),
                })?;
        if u32::try_from(scales) != Ok(extent) {
            return Err(TensorProblem::Extent {
                scales,
                axis: self.axis,
                extent,
            });
        }
        Ok(axis)
    }
}
