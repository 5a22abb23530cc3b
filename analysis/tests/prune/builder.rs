//! Models of int8 operators with given weights, operator by operator.

use super::tree::{Part, Part::*, write};

const INT32: u8 = 2;
const INT8: u8 = 9;
const FLOAT32: u8 = 0;

/// How a tensor is quantised.
#[derive(Debug, Clone, Copy)]
pub struct Affine {
    pub scale: f32,
    pub zero_point: i64,
}

/// What the activations have that say nothing else.
pub const USUAL: Affine = Affine {
    scale: 0.05,
    zero_point: -20,
};

/// Scale of the weights; with it and as many products as here the outputs vary over their range.
pub const WEIGHT_SCALE: f32 = 0.01;

/// Fused activations.
pub const NONE: u8 = 0;
pub const RELU: u8 = 1;
pub const RELU6: u8 = 3;

/// How a window treats the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    Same,
    Valid,
}

/// A tensor's index.
pub type Id = i32;

#[derive(Clone)]
struct Tensor {
    element_type: u8,
    shape: Vec<i32>,
    scales: Vec<f32>,
    zero_points: Vec<i64>,
    axis: u32,
    buffer: u32,
}

/// A layer with weights.
#[derive(Debug, Clone)]
pub struct Layer {
    pub weights: Vec<i8>,
    pub bias: Option<Vec<i32>>,
    pub kernel: i32,
    /// Taps over columns, where they are others than over rows.
    pub columns: Option<i32>,
    pub stride: i32,
    /// Over rows.
    pub dilation: i32,
    pub border: Border,
    pub activation: u8,
    pub output: Affine,
    /// Each channel has its own scale.
    pub per_channel: bool,
    /// Of a depthwise convolution.
    pub multiplier: i32,
}

impl Layer {
    /// Of one pixel.
    pub fn new(weights: Vec<i8>, bias: Vec<i32>) -> Self {
        Self {
            weights,
            bias: Some(bias),
            kernel: 1,
            columns: None,
            stride: 1,
            dilation: 1,
            border: Border::Valid,
            activation: NONE,
            output: USUAL,
            per_channel: true,
            multiplier: 1,
        }
    }

    pub fn window(self, kernel: i32, border: Border) -> Self {
        Self {
            kernel,
            border,
            ..self
        }
    }

    pub fn activation(self, activation: u8) -> Self {
        Self { activation, ..self }
    }

    fn taps(&self) -> [i32; 2] {
        [self.kernel, self.columns.unwrap_or(self.kernel)]
    }

    /// Rows and columns that a window reaches over.
    fn reach(&self) -> [i32; 2] {
        let [rows, columns] = self.taps();
        [(rows - 1) * self.dilation + 1, columns]
    }
}

/// A model under construction.
#[derive(Default)]
pub struct Net {
    tensors: Vec<Tensor>,
    buffers: Vec<Vec<u8>>,
    operators: Vec<Part>,
    codes: Vec<u32>,
    pub inputs: Vec<Id>,
    pub outputs: Vec<Id>,
    /// Further subgraphs without operators.
    pub further: usize,
    pub is_float: bool,
}

impl Net {
    pub fn input(&mut self, shape: &[i32]) -> Id {
        let id = self.activation(shape, USUAL);
        self.inputs.push(id);
        id
    }

    pub fn activation(&mut self, shape: &[i32], affine: Affine) -> Id {
        let element_type = if self.is_float { FLOAT32 } else { INT8 };
        self.tensor(Tensor {
            element_type,
            shape: shape.to_vec(),
            scales: vec![affine.scale],
            zero_points: vec![affine.zero_point],
            axis: 0,
            buffer: 0,
        })
    }

    fn tensor(&mut self, tensor: Tensor) -> Id {
        self.tensors.push(tensor);
        self.tensors.len() as Id - 1
    }

    pub fn shape(&self, id: Id) -> Vec<i32> {
        self.tensors[id as usize].shape.clone()
    }

    fn channels(&self, id: Id) -> i32 {
        *self.shape(id).last().unwrap()
    }

    pub fn buffer(&mut self, data: Vec<u8>) -> u32 {
        self.buffers.push(data);
        self.buffers.len() as u32
    }

    /// Weights of their own scales along an axis, or of one.
    pub fn weights(&mut self, shape: &[i32], buffer: u32, scales: Vec<f32>, axis: u32) -> Id {
        self.tensor(Tensor {
            element_type: INT8,
            shape: shape.to_vec(),
            zero_points: vec![0; scales.len()],
            scales,
            axis,
            buffer,
        })
    }

    pub fn integers(&mut self, shape: &[i32], values: &[i32]) -> Id {
        let data = values.iter().flat_map(|value| value.to_le_bytes());
        let buffer = self.buffer(data.collect());
        self.tensor(Tensor {
            element_type: INT32,
            shape: shape.to_vec(),
            scales: Vec::new(),
            zero_points: Vec::new(),
            axis: 0,
            buffer,
        })
    }

    /// An activation that is always the same.
    pub fn constant(&mut self, shape: &[i32], affine: Affine, values: &[i8]) -> Id {
        let id = self.activation(shape, affine);
        let data = values.iter().map(|value| value.cast_unsigned());
        let buffer = self.buffer(data.collect());
        self.tensors[id as usize].buffer = buffer;
        id
    }

    /// Gives a tensor another zero point.
    pub fn set_zero_point(&mut self, id: Id, zero_point: i64) {
        self.tensors[id as usize].zero_points.fill(zero_point);
    }

    /// Lets a tensor have the data of another.
    pub fn share(&mut self, id: Id, other: Id) {
        self.tensors[id as usize].buffer = self.tensors[other as usize].buffer;
    }

    /// An operator by its number, with options by theirs.
    pub fn operator(
        &mut self,
        code: u32,
        inputs: &[Id],
        output: Id,
        options: (u8, Vec<(usize, Part)>),
    ) -> Id {
        let index = self.codes.iter().position(|known| *known == code);
        let index = index.unwrap_or_else(|| {
            self.codes.push(code);
            self.codes.len() - 1
        });
        self.operators.push(Table(vec![
            (0, Word(index as u32)),
            (1, Words(inputs.to_vec())),
            (2, Words(vec![output])),
            (3, Byte(options.0)),
            (4, Table(options.1)),
        ]));
        output
    }

    /// Filter and bias of a layer.
    pub fn parameters(&mut self, layer: &Layer, shape: &[i32], axis: u32) -> Vec<Id> {
        let outputs = shape[axis as usize] as usize;
        assert_eq!(layer.weights.len(), shape.iter().product::<i32>() as usize);
        let data = layer.weights.iter().map(|weight| weight.cast_unsigned());
        let buffer = self.buffer(data.collect());
        let scale = |channel: usize| WEIGHT_SCALE * (1.0 + 0.1 * channel as f32);
        let scales = if layer.per_channel {
            (0..outputs).map(scale).collect()
        } else {
            vec![WEIGHT_SCALE]
        };
        let mut ids = vec![self.weights(shape, buffer, scales, axis)];
        if let Some(bias) = &layer.bias {
            assert_eq!(bias.len(), outputs);
            ids.push(self.integers(&[outputs as i32], bias));
        }
        ids
    }

    fn moved(&self, input: Id, layer: &Layer) -> [i32; 2] {
        let shape = self.shape(input);
        [1, 2].map(|axis| match layer.border {
            Border::Same => (shape[axis] + layer.stride - 1) / layer.stride,
            Border::Valid => (shape[axis] - layer.reach()[axis - 1]) / layer.stride + 1,
        })
    }

    pub fn conv(&mut self, input: Id, outputs: i32, layer: &Layer) -> Id {
        let [rows, columns] = layer.taps();
        let shape = [outputs, rows, columns, self.channels(input)];
        let parameters = self.parameters(layer, &shape, 0);
        self.conv_of(input, outputs, layer, &parameters)
    }

    /// A convolution with filter and bias that are there.
    pub fn conv_of(&mut self, input: Id, outputs: i32, layer: &Layer, parameters: &[Id]) -> Id {
        let [height, width] = self.moved(input, layer);
        let output = self.activation(&[1, height, width, outputs], layer.output);
        let stride = layer.stride as u32;
        let options = vec![
            (0, Byte(u8::from(layer.border == Border::Valid))),
            (1, Word(stride)),
            (2, Word(stride)),
            (3, Byte(layer.activation)),
            (4, Word(1)),
            (5, Word(layer.dilation as u32)),
        ];
        let inputs = [&[input], parameters].concat();
        self.operator(3, &inputs, output, (1, options))
    }

    pub fn depthwise(&mut self, input: Id, layer: &Layer) -> Id {
        let outputs = self.channels(input) * layer.multiplier;
        let [rows, columns] = layer.taps();
        let shape = [1, rows, columns, outputs];
        let parameters = self.parameters(layer, &shape, 3);
        let [height, width] = self.moved(input, layer);
        let output = self.activation(&[1, height, width, outputs], layer.output);
        let stride = layer.stride as u32;
        let options = vec![
            (0, Byte(u8::from(layer.border == Border::Valid))),
            (1, Word(stride)),
            (2, Word(stride)),
            (3, Word(layer.multiplier as u32)),
            (4, Byte(layer.activation)),
            (5, Word(1)),
            (6, Word(layer.dilation as u32)),
        ];
        let inputs = [&[input], &parameters[..]].concat();
        self.operator(4, &inputs, output, (2, options))
    }

    /// Each row of the filter takes `depth` elements; it has one scale.
    pub fn fully_connected(&mut self, input: Id, outputs: i32, depth: i32, layer: &Layer) -> Id {
        let layer = &Layer {
            per_channel: false,
            ..layer.clone()
        };
        let parameters = self.parameters(layer, &[outputs, depth], 0);
        if let Some(&bias) = parameters.get(1) {
            // The runtimes want that of the products.
            let scale = self.tensors[input as usize].scales[0] * WEIGHT_SCALE;
            let bias = &mut self.tensors[bias as usize];
            (bias.scales, bias.zero_points) = (vec![scale], vec![0]);
        }
        let rows = self.shape(input).iter().product::<i32>() / depth;
        let output = self.activation(&[rows, outputs], layer.output);
        let inputs = [&[input], &parameters[..]].concat();
        let options = vec![(0, Byte(layer.activation)), (1, Byte(0)), (2, Byte(0))];
        self.operator(9, &inputs, output, (8, options))
    }

    pub fn add(&mut self, one: Id, other: Id, activation: u8) -> Id {
        let output = self.activation(&self.shape(one), USUAL);
        self.operator(0, &[one, other], output, (11, vec![(0, Byte(activation))]))
    }

    pub fn mul(&mut self, one: Id, other: Id) -> Id {
        let output = self.activation(&self.shape(one), USUAL);
        self.operator(18, &[one, other], output, (21, vec![(0, Byte(NONE))]))
    }

    /// An average, or the largest.
    pub fn pool(&mut self, input: Id, kernel: i32, border: Border, average: bool) -> Id {
        let layer = Layer::new(Vec::new(), Vec::new()).window(kernel, border);
        let [height, width] = self.moved(input, &layer);
        let output = self.activation(&[1, height, width, self.channels(input)], USUAL);
        let options = vec![
            (0, Byte(u8::from(border == Border::Valid))),
            (1, Word(1)),
            (2, Word(1)),
            (3, Word(kernel as u32)),
            (4, Word(kernel as u32)),
            (5, Byte(NONE)),
        ];
        self.operator(if average { 1 } else { 17 }, &[input], output, (5, options))
    }

    /// Over rows and columns.
    pub fn mean(&mut self, input: Id, to: Affine) -> Id {
        let axes = self.integers(&[2], &[1, 2]);
        let output = self.activation(&[1, 1, 1, self.channels(input)], to);
        self.operator(40, &[input, axes], output, (27, vec![(0, Byte(1))]))
    }

    pub fn reshape(&mut self, input: Id, shape: &[i32]) -> Id {
        let named = self.integers(&[shape.len() as i32], shape);
        let output = self.activation(shape, USUAL);
        let options = vec![(0, Words(shape.to_vec()))];
        self.operator(22, &[input, named], output, (17, options))
    }

    /// To the shape of another tensor, which an operator computes.
    pub fn reshape_like(&mut self, input: Id, other: Id) -> Id {
        let shape = self.shape(other);
        let named = self.tensor(Tensor {
            element_type: INT32,
            shape: vec![shape.len() as i32],
            scales: Vec::new(),
            zero_points: Vec::new(),
            axis: 0,
            buffer: 0,
        });
        self.operator(77, &[other], named, (55, vec![(0, Byte(INT32))]));
        let output = self.activation(&shape, USUAL);
        self.operator(22, &[input, named], output, (17, vec![]))
    }

    /// An axis of one element more, before this one.
    pub fn expand_dims(&mut self, input: Id, axis: usize) -> Id {
        let mut shape = self.shape(input);
        shape.insert(axis, 1);
        let named = self.integers(&[1], &[axis as i32]);
        let output = self.activation(&shape, USUAL);
        self.operator(70, &[input, named], output, (52, vec![]))
    }

    /// By one row and column on each side.
    pub fn pad(&mut self, input: Id) -> Id {
        let paddings = self.integers(&[4, 2], &[0, 0, 1, 1, 1, 1, 0, 0]);
        let [_, height, width, channels] = self.shape(input)[..] else {
            panic!("four axes")
        };
        let output = self.activation(&[1, height + 2, width + 2, channels], USUAL);
        self.operator(34, &[input, paddings], output, (22, vec![]))
    }

    pub fn concatenation(&mut self, inputs: &[Id], axis: usize) -> Id {
        let mut shape = self.shape(inputs[0]);
        shape[axis] = inputs.iter().map(|&id| self.shape(id)[axis]).sum();
        let output = self.activation(&shape, USUAL);
        self.operator(2, inputs, output, (10, vec![(0, Word(axis as u32))]))
    }

    /// To another scale.
    pub fn quantize(&mut self, input: Id, to: Affine) -> Id {
        let output = self.activation(&self.shape(input), to);
        self.operator(114, &[input], output, (89, vec![]))
    }

    pub fn relu(&mut self, input: Id) -> Id {
        let output = self.activation(&self.shape(input), USUAL);
        self.operator(19, &[input], output, (0, vec![]))
    }

    /// The model's file, with this output.
    pub fn finish(mut self, output: Id) -> Vec<u8> {
        self.outputs.push(output);
        let tensors = self.tensors.iter().map(|tensor| {
            Table(vec![
                (0, Words(tensor.shape.clone())),
                (1, Byte(tensor.element_type)),
                (2, Word(tensor.buffer)),
                (3, Text("t")),
                (
                    4,
                    Table(vec![
                        (2, Floats(tensor.scales.clone())),
                        (3, Longs(tensor.zero_points.clone())),
                        (6, Word(tensor.axis)),
                    ]),
                ),
            ])
        });
        let subgraph = Table(vec![
            (0, Tables(tensors.collect())),
            (1, Words(self.inputs)),
            (2, Words(self.outputs)),
            (3, Tables(self.operators)),
        ]);
        let mut subgraphs = vec![subgraph];
        subgraphs.extend((0..self.further).map(|_| Table(vec![])));
        let codes = self.codes.iter().map(|&code| {
            Table(vec![
                (0, Byte(code.min(127) as u8)),
                (2, Word(version(code))),
                (3, Word(code)),
            ])
        });
        let mut buffers = vec![Table(vec![])];
        buffers.extend(
            self.buffers
                .into_iter()
                .map(|data| Table(vec![(0, Bytes(data))])),
        );
        write(&Table(vec![
            (0, Word(3)),
            (1, Tables(codes.collect())),
            (2, Tables(subgraphs)),
            (4, Tables(buffers)),
        ]))
    }
}

/// The version of an operator that takes int8.
fn version(code: u32) -> u32 {
    match code {
        3 | 4 => 3,
        9 => 4,
        22 | 114 => 1,
        _ => 2,
    }
}
