//! Tensors, and how they are cut.

use super::{Cut, TensorEdit, Writer, unknown};
use crate::graph::tflite::TfliteError;
use crate::graph::tflite::layout::Value;
use crate::graph::tflite::schema::{quantization, subgraph, tensor};
use crate::graph::tflite::view::Table;
use crate::graph::{TensorId, TensorType};

impl Writer<'_> {
    pub(super) fn tensors(&mut self, place: usize) -> Result<(), TfliteError> {
        let old: Vec<Table> = self
            .graph
            .tables(subgraph::TENSORS)?
            .collect::<Result<_, _>>()?;
        let edits = self.edits;
        let places = self.layout.references(
            place,
            old.len() + edits.operands.len() + edits.buffers.len(),
        )?;
        let own = (0..old.len()).map(|index| (index, edits.tensors.get(&TensorId(index))));
        let further = edits.operands.values();
        let further = further.map(|(of, edit)| (of.0, Some(edit)));
        let mut places = places.into_iter();
        for ((index, edit), place) in own.chain(further).zip(&mut places) {
            let table = old.get(index).ok_or_else(misfit)?;
            self.tensor(place, *table, index, edit)?;
        }
        for (buffer, place) in edits.buffers.iter().zip(places) {
            let table = old.get(buffer.of.0).ok_or_else(misfit)?;
            self.buffer_of_rows(place, *table, &buffer.cut)?;
        }
        Ok(())
    }

    /// A variable with some rows of a tensor.
    fn buffer_of_rows(
        &mut self,
        place: usize,
        table: Table<'_>,
        cut: &Cut,
    ) -> Result<(), TfliteError> {
        let fields = [
            (tensor::TYPE, Value::Byte(table.number(tensor::TYPE, 0)?)),
            (tensor::BUFFER, Value::Word(0)),
            (tensor::IS_VARIABLE, Value::Byte(1)),
            (tensor::SHAPE, Value::Reference),
            (tensor::NAME, Value::Reference),
            (tensor::QUANTIZATION, Value::Reference),
        ];
        let is_quantised = table.place(tensor::QUANTIZATION)?.is_some();
        let fields = &fields[..fields.len() - usize::from(!is_quantised)];
        let places = self.layout.table(place, fields)?;
        let mut shape = table.integers(tensor::SHAPE)?;
        let extent = shape.get_mut(cut.axis).ok_or_else(misfit)?;
        *extent = cut.kept.len() as i32;
        self.layout.integers(places[3], &shape)?;
        let name = format!("{}/last_rows", table.text(tensor::NAME)?);
        self.layout.text(places[4], &name)?;
        match places.get(5) {
            Some(&place) => self.quantization(place, table, &shape, &[]),
            None => Ok(()),
        }
    }

    fn tensor(
        &mut self,
        place: usize,
        table: Table<'_>,
        index: usize,
        edit: Option<&TensorEdit>,
    ) -> Result<(), TfliteError> {
        let name = format!("tensor {index}");
        if table.place(tensor::SPARSITY)?.is_some() {
            return Err(unknown(&name, tensor::SPARSITY.number));
        }
        if let Some(number) = table.unknown_field(tensor::HAS_RANK.number + 1)? {
            return Err(unknown(&name, number));
        }
        let shape = table.integers(tensor::SHAPE)?;
        let cuts = edit.map_or(&[][..], |edit| &edit.cuts);
        let buffer = self.data_of(table, &shape, edit)?;
        let mut fields = vec![
            (tensor::TYPE, Value::Byte(table.number(tensor::TYPE, 0)?)),
            (tensor::BUFFER, Value::Word(buffer)),
        ];
        for field in [tensor::IS_VARIABLE, tensor::HAS_RANK] {
            if table.place(field)?.is_some() {
                fields.push((field, Value::Byte(table.number(field, 0u8)?)));
            }
        }
        let plain = fields.len();
        let references = [
            tensor::SHAPE,
            tensor::NAME,
            tensor::QUANTIZATION,
            tensor::SHAPE_SIGNATURE,
        ];
        // What is no end any more is used by nothing.
        let is_unused = self.edits.ends.contains_key(&TensorId(index));
        for field in references {
            let is_dropped = is_unused && field.number == tensor::QUANTIZATION.number;
            if table.place(field)?.is_some() && !is_dropped {
                fields.push((field, Value::Reference));
            }
        }
        let places = self.layout.table(place, &fields)?;
        for ((field, _), place) in fields.into_iter().zip(places).skip(plain) {
            match field.number {
                number if number == tensor::NAME.number => self.text(place, table, field)?,
                number if number == tensor::QUANTIZATION.number => {
                    self.quantization(place, table, &shape, cuts)?;
                }
                _ => {
                    let mut extents = table.integers(field)?;
                    for cut in cuts {
                        // What is not known before the model runs stays so.
                        let extent = extents.get_mut(cut.axis).filter(|extent| **extent >= 0);
                        if let Some(extent) = extent {
                            *extent = cut.kept.len() as i32;
                        }
                    }
                    self.layout.integers(place, &extents)?;
                }
            }
        }
        Ok(())
    }

    /// The tensor's buffer: the old one where its data stay.
    fn data_of(
        &mut self,
        table: Table<'_>,
        shape: &[i32],
        edit: Option<&TensorEdit>,
    ) -> Result<u32, TfliteError> {
        let buffer = table.number::<u32>(tensor::BUFFER, 0)?;
        let place = || "a tensor".to_owned();
        let old = self.contents.buffer(buffer, place)?;
        // An edit may give data to a tensor that has none.
        let data = edit.and_then(|edit| match (&edit.data, old) {
            (Some(data), _) => Some((edit, data.clone())),
            (None, Some(old)) => Some((edit, self.file[old].to_vec())),
            (None, None) => None,
        });
        let Some((edit, mut data)) = data else {
            self.used.insert(buffer as usize);
            return Ok(buffer);
        };
        let kind = TensorType::of_code(table.number(tensor::TYPE, 0)?);
        let bits = kind.bits().filter(|bits| bits.is_multiple_of(8));
        let size = bits.ok_or_else(misfit)? as usize / 8;
        let mut extents: Vec<usize> = shape.iter().map(|&extent| extent.max(0) as usize).collect();
        for cut in &edit.cuts {
            data = cut_data(&data, &mut extents, cut, size)?;
        }
        Ok(self.further(data))
    }

    fn quantization(
        &mut self,
        place: usize,
        table: Table<'_>,
        shape: &[i32],
        cuts: &[Cut],
    ) -> Result<(), TfliteError> {
        let Some(table) = table.table(tensor::QUANTIZATION)? else {
            return Ok(());
        };
        if table.number(quantization::DETAILS_TYPE, 0u8)? != 0 {
            return Err(unknown(
                "a tensor's quantization",
                quantization::DETAILS_TYPE.number,
            ));
        }
        if let Some(number) = table.unknown_field(quantization::QUANTIZED_DIMENSION.number + 1)? {
            return Err(unknown("a tensor's quantization", number));
        }
        let dimension = table.number(quantization::QUANTIZED_DIMENSION, 0i32)?;
        let axis = match shape.len() {
            1 => 0,
            _ => usize::try_from(dimension).map_err(|_| misfit())?,
        };
        let extent = shape.get(axis).copied().unwrap_or(0).max(0) as usize;
        let cut = cuts.iter().find(|cut| cut.axis == axis && extent > 1);
        let mut fields = vec![(
            quantization::QUANTIZED_DIMENSION,
            Value::Word(dimension.cast_unsigned()),
        )];
        let vectors = [
            quantization::MIN,
            quantization::MAX,
            quantization::SCALE,
            quantization::ZERO_POINT,
        ];
        for field in vectors {
            if table.place(field)?.is_some() {
                fields.push((field, Value::Reference));
            }
        }
        let places = self.layout.table(place, &fields)?;
        for ((field, _), place) in fields.into_iter().zip(places).skip(1) {
            let (bytes, size): (Vec<u8>, usize) = if field.number == quantization::ZERO_POINT.number
            {
                let values = table.long_integers(field)?.into_iter();
                (values.flat_map(i64::to_le_bytes).collect(), 8)
            } else {
                let values = table.floats(field)?.into_iter();
                (values.flat_map(f32::to_le_bytes).collect(), 4)
            };
            // One number stands for all channels.
            let bytes = match cut.filter(|_| bytes.len() == extent * size) {
                Some(cut) => cut_data(&bytes, &mut [extent], cut, size)?,
                None => bytes,
            };
            self.layout
                .vector(place, bytes.len() / size, &bytes, size)?;
        }
        Ok(())
    }
}

/// What stays of row-major elements of `size` bytes.
fn cut_data(
    data: &[u8],
    extents: &mut [usize],
    cut: &Cut,
    size: usize,
) -> Result<Vec<u8>, TfliteError> {
    // Data of one axis have no other, whatever the number of the axis.
    let axis = if extents.len() == 1 { 0 } else { cut.axis };
    let (Some(&extent), Some(inner)) = (extents.get(axis), extents.get(axis + 1..)) else {
        return Err(misfit());
    };
    let run = inner.iter().product::<usize>() * size;
    let expected = extents.iter().product::<usize>() * size;
    let inside = cut.kept.iter().all(|&index| (index as usize) < extent);
    if data.len() != expected || run == 0 || !inside {
        return Err(misfit());
    }
    let rows = data.chunks_exact(run * extent);
    let kept = rows.flat_map(|row| {
        let indices = cut.kept.iter().map(|&index| index as usize);
        indices.flat_map(move |index| &row[index * run..(index + 1) * run])
    });
    let kept: Vec<u8> = kept.copied().collect();
    extents[axis] = cut.kept.len();
    Ok(kept)
}

fn misfit() -> TfliteError {
    TfliteError::Plan("what is to be cut does not fit the tensor".to_owned())
}
