//! Operator codes, metadata, signatures.

use super::{Writer, unknown};
use crate::graph::tflite::TfliteError;
use crate::graph::tflite::layout::Value;
use crate::graph::tflite::plan;
use crate::graph::tflite::schema::{
    CUSTOM, Field, metadata, model, operator_code, signature_def, tensor_map,
};
use crate::graph::tflite::view::Table;
use crate::graph::{Kind, TensorId};

/// Metadata of which operator waits for which.
const CONTROL_DEPENDENCIES: &str = "model_control_dependencies";

impl Writer<'_> {
    fn renumbers_operators(&self) -> bool {
        !self.edits.left_out.is_empty() || !self.edits.buffers.is_empty()
    }

    pub(super) fn codes(&mut self, place: usize) -> Result<(), TfliteError> {
        let codes = self.root.tables(model::OPERATOR_CODES)?;
        let further = usize::from(!self.edits.buffers.is_empty());
        let places = self.layout.references(place, codes.len() + further)?;
        if let Some(&place) = places.get(codes.len()) {
            self.code_of_buffers(place)?;
        }
        for (place, code) in places.into_iter().zip(codes) {
            let code = code?;
            if let Some(number) = code.unknown_field(operator_code::BUILTIN_CODE.number + 1)? {
                return Err(unknown("an operator code", number));
            }
            let deprecated = code.number(operator_code::DEPRECATED_BUILTIN_CODE, 0u8)?;
            let version = code.number(operator_code::VERSION, 1u32)?;
            let builtin = code.number(operator_code::BUILTIN_CODE, 0u32)?;
            let mut fields = vec![
                (
                    operator_code::DEPRECATED_BUILTIN_CODE,
                    Value::Byte(deprecated),
                ),
                (operator_code::VERSION, Value::Word(version)),
                (operator_code::BUILTIN_CODE, Value::Word(builtin)),
            ];
            let custom = code.place(operator_code::CUSTOM_CODE)?.is_some();
            if custom {
                fields.push((operator_code::CUSTOM_CODE, Value::Reference));
            }
            let places = self.layout.table(place, &fields)?;
            if custom {
                self.text(places[3], code, operator_code::CUSTOM_CODE)?;
            }
        }
        Ok(())
    }

    fn code_of_buffers(&mut self, place: usize) -> Result<(), TfliteError> {
        let fields = [
            (
                operator_code::DEPRECATED_BUILTIN_CODE,
                Value::Byte(CUSTOM as u8),
            ),
            (operator_code::VERSION, Value::Word(1)),
            (operator_code::BUILTIN_CODE, Value::Word(CUSTOM as u32)),
            (operator_code::CUSTOM_CODE, Value::Reference),
        ];
        let places = self.layout.table(place, &fields)?;
        self.layout.text(places[3], Kind::CircularBuffer.name())
    }

    /// All but the plan, and what names operators by numbers that they do not have any more.
    pub(super) fn metadata(&mut self, place: usize) -> Result<(), TfliteError> {
        let mut kept = Vec::new();
        for entry in self.root.tables(model::METADATA)? {
            let entry = entry?;
            let name = entry.text(metadata::NAME)?;
            let is_stale = name == CONTROL_DEPENDENCIES && self.renumbers_operators();
            if name != plan::NAME && !is_stale {
                kept.push(entry);
            }
        }
        let places = self.layout.references(place, kept.len())?;
        for (place, entry) in places.into_iter().zip(kept) {
            let buffer = entry.number::<u32>(metadata::BUFFER, 0)?;
            self.used.insert(buffer as usize);
            let fields = [
                (metadata::NAME, Value::Reference),
                (metadata::BUFFER, Value::Word(buffer)),
            ];
            let places = self.layout.table(place, &fields)?;
            self.text(places[0], entry, metadata::NAME)?;
        }
        Ok(())
    }

    pub(super) fn signatures(&mut self, place: usize) -> Result<(), TfliteError> {
        let signatures = self.root.tables(model::SIGNATURE_DEFS)?;
        let places = self.layout.references(place, signatures.len())?;
        for (place, signature) in places.into_iter().zip(signatures) {
            let signature = signature?;
            if let Some(number) =
                signature.unknown_field(signature_def::SUBGRAPH_INDEX.number + 1)?
            {
                return Err(unknown("a signature", number));
            }
            let index = signature.number(signature_def::SUBGRAPH_INDEX, 0u32)?;
            let mut fields = vec![(signature_def::SUBGRAPH_INDEX, Value::Word(index))];
            let references = [
                signature_def::INPUTS,
                signature_def::OUTPUTS,
                signature_def::SIGNATURE_KEY,
            ];
            for field in references {
                if signature.place(field)?.is_some() {
                    fields.push((field, Value::Reference));
                }
            }
            let places = self.layout.table(place, &fields)?;
            for ((field, _), place) in fields.into_iter().zip(places).skip(1) {
                if field.number == signature_def::SIGNATURE_KEY.number {
                    self.text(place, signature, field)?;
                } else {
                    self.tensor_maps(place, signature, field)?;
                }
            }
        }
        Ok(())
    }

    fn tensor_maps(
        &mut self,
        place: usize,
        signature: Table<'_>,
        field: Field,
    ) -> Result<(), TfliteError> {
        let maps = signature.tables(field)?;
        let places = self.layout.references(place, maps.len())?;
        for (place, map) in places.into_iter().zip(maps) {
            let map = map?;
            let index = map.number(tensor_map::TENSOR_INDEX, 0u32)?;
            let index = self.edits.end(TensorId(index as usize)).0 as u32;
            let fields = [
                (tensor_map::NAME, Value::Reference),
                (tensor_map::TENSOR_INDEX, Value::Word(index)),
            ];
            let places = self.layout.table(place, &fields)?;
            self.text(places[0], map, tensor_map::NAME)?;
        }
        Ok(())
    }
}
