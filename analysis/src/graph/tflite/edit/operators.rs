//! Operators and their options.

use super::{Writer, unknown};
use crate::graph::tflite::layout::Value;
use crate::graph::tflite::schema::{Field, model, operator, options, reshape, squeeze, subgraph};
use crate::graph::tflite::view::Table;
use crate::graph::tflite::{TfliteError, circular_buffer};
use crate::graph::{OperatorId, TensorId};

/// Options that are numbers and truth values only, and how many fields of theirs are known.
const PLAIN: [(u8, usize); 44] = [
    (options::CONV_2D, 7),
    (options::DEPTHWISE_CONV_2D, 7),
    (options::POOL_2D, 6),
    (options::SVDF, 3),
    (options::FULLY_CONNECTED, 5),
    (options::SOFTMAX, 1),
    (options::CONCATENATION, 2),
    (options::ADD, 2),
    (options::L2_NORM, 1),
    (options::RESIZE_BILINEAR, 4),
    (options::CALL, 1),
    (options::SPACE_TO_DEPTH, 1),
    (options::MUL, 1),
    (options::PAD, 0),
    (options::GATHER, 2),
    (options::TRANSPOSE, 0),
    (options::REDUCER, 1),
    (options::SUB, 2),
    (options::DIV, 1),
    (options::STRIDED_SLICE, 6),
    (options::SPLIT, 1),
    (options::CAST, 2),
    (options::ARG_MAX, 1),
    (options::PAD_V2, 0),
    (options::SLICE, 0),
    (options::TRANSPOSE_CONV, 5),
    (options::SHAPE, 1),
    (options::ARG_MIN, 1),
    (options::PACK, 2),
    (options::ONE_HOT, 1),
    (options::UNPACK, 2),
    (options::UNIDIRECTIONAL_SEQUENCE_LSTM, 6),
    (options::RESIZE_NEAREST_NEIGHBOR, 2),
    (options::LEAKY_RELU, 1),
    (options::MIRROR_PAD, 1),
    (options::SPLIT_V, 1),
    (options::REVERSE_SEQUENCE, 2),
    (options::IF, 2),
    (options::WHILE, 2),
    (options::DEPTH_TO_SPACE, 1),
    (options::BATCH_MATMUL, 3),
    (options::CUMSUM, 2),
    (options::CALL_ONCE, 1),
    (options::GELU, 1),
];

/// The vector that is all that options of this kind have.
fn vector(kind: u8) -> Option<Field> {
    match kind {
        options::RESHAPE => Some(reshape::NEW_SHAPE),
        options::SQUEEZE => Some(squeeze::SQUEEZE_DIMS),
        _ => None,
    }
}

/// An operator of the new model.
enum Written<'a> {
    Old(OperatorId, Table<'a>),
    /// A circular buffer, by its position among the edits.
    Buffer(usize),
}

impl Writer<'_> {
    pub(super) fn operators(&mut self, place: usize) -> Result<(), TfliteError> {
        let operators = self.graph.tables(subgraph::OPERATORS)?;
        let operators = operators.collect::<Result<Vec<Table>, _>>()?;
        let mut written = Vec::new();
        for (index, table) in operators.into_iter().enumerate() {
            let operator = OperatorId(index);
            let buffers = self.edits.buffers.iter().enumerate();
            let in_front = buffers.filter(|(_, buffer)| buffer.before == operator);
            written.extend(in_front.map(|(number, _)| Written::Buffer(number)));
            if !self.edits.left_out.contains(&operator) {
                written.push(Written::Old(operator, table));
            }
        }
        let places = self.layout.references(place, written.len())?;
        for (written, place) in written.into_iter().zip(places) {
            match written {
                Written::Old(operator, table) => self.operator(place, operator, table)?,
                Written::Buffer(number) => self.circular_buffer(place, number)?,
            }
        }
        Ok(())
    }

    fn circular_buffer(&mut self, place: usize, number: usize) -> Result<(), TfliteError> {
        // The one after the old codes.
        let code = self.root.tables(model::OPERATOR_CODES)?.len();
        let of = self.edits.buffers[number].of;
        let fields = [
            (operator::OPCODE_INDEX, Value::Word(code as u32)),
            (operator::INPUTS, Value::Reference),
            (operator::OUTPUTS, Value::Reference),
            (operator::CUSTOM_OPTIONS, Value::Reference),
        ];
        let output = TensorId(self.buffer_tensor(number)?);
        let places = self.layout.table(place, &fields)?;
        self.layout.ids(places[1], &[of])?;
        self.layout.ids(places[2], &[output])?;
        self.layout.data(places[3], circular_buffer::EVERY_TIME)
    }

    fn operator(
        &mut self,
        place: usize,
        id: OperatorId,
        table: Table<'_>,
    ) -> Result<(), TfliteError> {
        let name = || format!("operator {}", id.0);
        let mut fields = Vec::new();
        for number in 0..table.fields {
            let field = Field {
                number,
                ..operator::OPCODE_INDEX
            };
            if table.place(field)?.is_none() {
                continue;
            }
            fields.push(match number {
                _ if number == operator::OPCODE_INDEX.number => {
                    (field, Value::Word(table.number(field, 0)?))
                }
                _ if number == operator::OPTIONS_TYPE.number
                    || number == operator::CUSTOM_OPTIONS_FORMAT.number =>
                {
                    (field, Value::Byte(table.number(field, 0)?))
                }
                _ if number <= operator::INTERMEDIATES.number => (field, Value::Reference),
                _ if number == operator::DEBUG_METADATA_INDEX.number => continue,
                _ => return Err(unknown(&name(), number)),
            });
        }
        let places = self.layout.table(place, &fields)?;
        for ((field, value), place) in fields.into_iter().zip(places) {
            match (field.number, value) {
                (_, Value::Byte(_) | Value::Word(_) | Value::Float(_)) => {}
                (number, _) if number == operator::INPUTS.number => {
                    let ids = self.operands(id, table.integers(field)?)?;
                    self.layout.integers(place, &ids)?;
                }
                (number, _) if number == operator::OPTIONS.number => {
                    self.options(place, id, table)?;
                }
                (number, _)
                    if number == operator::CUSTOM_OPTIONS.number
                        || number == operator::MUTATING_VARIABLE_INPUTS.number =>
                {
                    let bytes = &self.file[table.bytes(field)?.unwrap_or_default()];
                    self.layout.data(place, bytes)?;
                }
                _ => {
                    let ids = table.integers(field)?;
                    self.layout.integers(place, &ids)?;
                }
            }
        }
        Ok(())
    }

    /// Its operands, with those that become tensors of their own after the old ones.
    fn operands(&self, id: OperatorId, mut ids: Vec<i32>) -> Result<Vec<i32>, TfliteError> {
        let old = self.tensors;
        for (index, (operator, slot)) in self.edits.operands.keys().enumerate() {
            if let Some(operand) = ids.get_mut(*slot).filter(|_| *operator == id) {
                *operand = (old + index) as i32;
            }
        }
        for (index, buffer) in self.edits.buffers.iter().enumerate() {
            let tensor = self.buffer_tensor(index)? as i32;
            let of = buffer.of.0 as i32;
            let is_reader = buffer.readers.contains(&id);
            for operand in ids.iter_mut().filter(|it| is_reader && **it == of) {
                *operand = tensor;
            }
        }
        Ok(ids)
    }

    fn options(&mut self, place: usize, id: OperatorId, table: Table) -> Result<(), TfliteError> {
        let kind = table.number::<u8>(operator::OPTIONS_TYPE, 0)?;
        let Some(options) = table.table(operator::OPTIONS)? else {
            return Ok(());
        };
        let vector = vector(kind);
        let known = PLAIN.iter().find(|known| known.0 == kind);
        let known = known.map_or(usize::from(vector.is_some()), |known| known.1);
        if let Some(number) = options.unknown_field(known)? {
            let name = format!("operator {} has options of type {kind}, and that", id.0);
            return Err(unknown(&name, number));
        }
        let Some(field) = vector else {
            let [directory, own] = options.inline()?;
            let (start, file) = (own.start, self.file);
            return self
                .layout
                .inline(place, &file[directory], &file[own], start);
        };
        if options.place(field)?.is_none() {
            return self.layout.table(place, &[]).map(|_| ());
        }
        let places = self.layout.table(place, &[(field, Value::Reference)])?;
        match self
            .edits
            .new_shapes
            .get(&id)
            .filter(|_| kind == options::RESHAPE)
        {
            Some(shape) => self.layout.integers(places[0], shape),
            None => self.layout.integers(places[0], &options.integers(field)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PLAIN, vector};
    use crate::graph::tflite::catalogue;

    #[test]
    fn all_options_that_are_read_can_be_written() {
        let rows = catalogue::rows().iter();
        let read: Vec<u8> = rows.map(|row| row.options).filter(|&it| it != 0).collect();
        assert!(read.len() > 40, "{}", read.len());
        for options in read {
            let is_plain = PLAIN.iter().any(|&(known, _)| known == options);
            assert!(is_plain || vector(options).is_some(), "{options}");
        }
    }
}
