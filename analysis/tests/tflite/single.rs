//! Models of one operator, also such as make no sense.

use super::tree::{Part, Part::*, write};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::graph::tflite::{self, Unsupported};

pub const FLOAT32: u8 = 0;
pub const FLOAT16: u8 = 1;
pub const INT32: u8 = 2;
pub const INT64: u8 = 4;
pub const BOOL: u8 = 6;
pub const INT16: u8 = 7;
pub const INT8: u8 = 9;
pub const INT4: u8 = 17;

/// A tensor of it.
#[derive(Clone)]
pub struct Tensor {
    pub element_type: u8,
    pub shape: Vec<i32>,
    pub scales: Vec<f32>,
    pub zero_points: Vec<i64>,
    /// More fields of the quantisation, by their number.
    pub quantisation: Vec<(usize, u32)>,
    /// More fields of the tensor.
    pub fields: Vec<(usize, u8)>,
    pub sparse: bool,
    /// The shape with -1 where the extent is open.
    pub signature: Vec<i32>,
    pub data: Option<Vec<u8>>,
}

pub fn activation(element_type: u8, shape: &[i32], affine: Option<(f32, i64)>) -> Tensor {
    let (scales, zero_points) = affine.into_iter().unzip();
    Tensor {
        element_type,
        shape: shape.to_vec(),
        scales,
        zero_points,
        quantisation: Vec::new(),
        fields: Vec::new(),
        sparse: false,
        signature: Vec::new(),
        data: None,
    }
}

pub fn constant(
    element_type: u8,
    shape: &[i32],
    affine: Option<(f32, i64)>,
    data: &[u8],
) -> Tensor {
    Tensor {
        data: Some(data.to_vec()),
        ..activation(element_type, shape, affine)
    }
}

/// A model of one operator.
pub struct Model {
    code: u32,
    name: &'static str,
    pub inputs: Vec<i32>,
    /// The last one is the output.
    pub tensors: Vec<Tensor>,
    /// Their number and fields.
    options: Option<(u8, Vec<(usize, Part)>)>,
    /// How often the operator is there.
    pub operators: usize,
}

impl Model {
    pub fn new(code: u32, tensors: Vec<Tensor>) -> Self {
        let inputs = 0..tensors.len() as i32 - 1;
        Self {
            code,
            name: "custom",
            inputs: inputs.collect(),
            tensors,
            options: None,
            operators: 1,
        }
    }

    /// As a custom operator of this name.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub fn options(mut self, number: u8, fields: Vec<(usize, Part)>) -> Self {
        self.options = Some((number, fields));
        self
    }

    pub fn write(self) -> Vec<u8> {
        let mut buffers = vec![Table(vec![])];
        let mut tensors = Vec::new();
        let output = self.tensors.len() as i32 - 1;
        let is_given = |index: &i32| self.tensors[*index as usize].data.is_none();
        let given: Vec<i32> = (0..output).filter(is_given).collect();
        for tensor in self.tensors {
            let mut record = vec![(2, Floats(tensor.scales)), (3, Longs(tensor.zero_points))];
            for (number, value) in tensor.quantisation {
                record.push((number, Word(value)));
            }
            let mut fields = vec![
                (0, Words(tensor.shape)),
                (1, Byte(tensor.element_type)),
                (3, Text("t")),
                (4, Table(record)),
            ];
            for (number, value) in tensor.fields {
                fields.push((number, Byte(value)));
            }
            if tensor.sparse {
                fields.push((6, Table(vec![])));
            }
            if !tensor.signature.is_empty() {
                fields.push((7, Words(tensor.signature)));
            }
            if let Some(data) = tensor.data {
                fields.push((2, Word(buffers.len() as u32)));
                buffers.push(Table(vec![(0, Bytes(data))]));
            }
            tensors.push(Table(fields));
        }
        let mut operator = vec![
            (0, Word(0)),
            (1, Words(self.inputs)),
            (2, Words(vec![output])),
        ];
        if let Some((number, fields)) = self.options {
            operator.push((3, Byte(number)));
            operator.push((4, Table(fields)));
        }
        let mut operators = vec![Table(operator)];
        operators.extend((1..self.operators).map(|_| Again));
        let subgraph = Table(vec![
            (0, Tables(tensors)),
            (1, Words(given)),
            (2, Words(vec![output])),
            (3, Tables(operators)),
        ]);
        let code = Table(vec![
            (0, Byte(self.code.min(127) as u8)),
            (1, Text(self.name)),
            (3, Word(self.code)),
        ]);
        write(&Table(vec![
            (0, Word(3)),
            (1, Tables(vec![code])),
            (2, Tables(vec![subgraph])),
            (4, Tables(buffers)),
        ]))
    }

    /// What is read of its operator.
    pub fn check<T>(self, check: impl FnOnce(&Result<Parameters, Unsupported>) -> T) -> T {
        let file = self.write();
        let parameters = tflite::parameters(&file, 0).unwrap();
        assert_eq!(parameters.len(), 1);
        check(&parameters[0])
    }

    pub fn problem(self) -> Unsupported {
        self.check(|parameters| parameters.clone().unwrap_err())
    }
}
