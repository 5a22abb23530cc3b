//! A model under construction, and its file.

use crate::tree::{Part, write};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::random::SplitMix64;

/// Activations are at most this large, in bytes.
const MOST_BYTES: u32 = 8192;

/// `real = scale * (stored - zero_point)`, with a scale for each index of an axis or one for all.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantization {
    pub scales: Vec<f32>,
    pub zero_point: i64,
    pub axis: u32,
}

impl Quantization {
    pub fn new(scale: f32, zero_point: i64) -> Self {
        Self {
            scales: vec![scale],
            zero_point,
            axis: 0,
        }
    }

    pub fn scale(&self) -> f32 {
        self.scales[0]
    }
}

#[derive(Debug, Clone)]
pub struct DraftTensor {
    pub shape: Vec<u32>,
    pub element: TensorType,
    pub quantization: Option<Quantization>,
    /// Of a constant.
    pub data: Option<Vec<u8>>,
    pub is_variable: bool,
}

impl DraftTensor {
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

struct DraftOperator {
    kind: Kind,
    inputs: Vec<i32>,
    outputs: Vec<i32>,
    options: Option<Options>,
}

/// The number of the options in the schema's union, and their fields.
pub type Options = (u8, Vec<(usize, Part)>);

pub struct Draft {
    pub random: SplitMix64,
    pub tensors: Vec<DraftTensor>,
    /// Activations that are stored by now.
    pub known: Vec<usize>,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    operators: Vec<DraftOperator>,
}

impl Draft {
    pub fn new(seed: u64) -> Self {
        Self {
            random: SplitMix64::new(seed),
            tensors: Vec::new(),
            known: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            operators: Vec::new(),
        }
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.random.below(limit as usize) as u32
    }

    /// Both ends included.
    pub fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.random.below(from.len())]
    }

    /// From -1 to 1.
    pub fn uniform(&mut self) -> f32 {
        (self.random.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn tensor(&self, id: usize) -> &DraftTensor {
        &self.tensors[id]
    }

    pub fn shape(&self, id: usize) -> Vec<u32> {
        self.tensors[id].shape.clone()
    }

    pub fn element(&self, id: usize) -> TensorType {
        self.tensors[id].element
    }

    pub fn operator_count(&self) -> usize {
        self.operators.len()
    }

    /// Some activation that an operator could take: mostly one of the newest.
    pub fn source(&mut self, fits: impl Fn(&DraftTensor) -> bool) -> Option<usize> {
        let known = self.known.iter().copied();
        let fitting: Vec<usize> = known.filter(|&id| fits(&self.tensors[id])).collect();
        let newest = fitting.len().min(2);
        if newest == 0 {
            return None;
        }
        Some(if self.once_in(4) {
            self.pick(&fitting)
        } else {
            let newest = &fitting[fitting.len() - newest..];
            self.pick(newest)
        })
    }

    /// A quantisation that many kernels take; none for what is not quantised.
    pub fn any_quantization(&mut self, element: TensorType) -> Option<Quantization> {
        let wide = 1.0 + self.uniform().abs();
        match element {
            TensorType::Int8 => {
                let zero_point = i64::from(self.below(256)) - 128;
                Some(Quantization::new(wide / 64.0, zero_point))
            }
            TensorType::Int16 => Some(Quantization::new(wide / 16_384.0, 0)),
            _ => None,
        }
    }

    /// An activation; `None` where it were empty or too large.
    pub fn activation(
        &mut self,
        shape: &[u32],
        element: TensorType,
        quantization: Option<Quantization>,
    ) -> Option<usize> {
        let bytes = shape
            .iter()
            .try_fold(element.bits()? as u32 / 8, |bytes, &extent| {
                bytes.checked_mul(extent)
            })?;
        if bytes == 0 || bytes > MOST_BYTES {
            return None;
        }
        self.tensors.push(DraftTensor {
            shape: shape.to_vec(),
            element,
            quantization,
            data: None,
            is_variable: false,
        });
        Some(self.tensors.len() - 1)
    }

    /// An activation of the same type and quantisation as another.
    pub fn like(&mut self, other: usize, shape: &[u32]) -> Option<usize> {
        let DraftTensor {
            element,
            quantization,
            ..
        } = self.tensors[other].clone();
        self.activation(shape, element, quantization)
    }

    pub fn variable(
        &mut self,
        shape: &[u32],
        element: TensorType,
        quantization: Option<Quantization>,
    ) -> Option<usize> {
        let id = self.activation(shape, element, quantization)?;
        self.tensors[id].is_variable = true;
        Some(id)
    }

    pub fn constant(
        &mut self,
        shape: &[u32],
        element: TensorType,
        quantization: Option<Quantization>,
        data: Vec<u8>,
    ) -> usize {
        self.tensors.push(DraftTensor {
            shape: shape.to_vec(),
            element,
            quantization,
            data: Some(data),
            is_variable: false,
        });
        self.tensors.len() - 1
    }

    pub fn integers(&mut self, shape: &[u32], values: &[i32]) -> usize {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(shape, TensorType::Int32, None, bytes.collect())
    }

    pub fn vector(&mut self, values: &[i32]) -> usize {
        self.integers(&[values.len() as u32], values)
    }

    pub fn floats(&mut self, shape: &[u32], limit: f32) -> usize {
        let count: u32 = shape.iter().product();
        let bytes: Vec<u8> = (0..count)
            .flat_map(|_| (self.uniform() * limit).to_le_bytes())
            .collect();
        self.constant(shape, TensorType::Float32, None, bytes)
    }

    /// Random bytes; none is -128, which symmetric weights do not have.
    pub fn random_data(
        &mut self,
        shape: &[u32],
        element: TensorType,
        quantization: Option<Quantization>,
    ) -> usize {
        let count: u32 = shape.iter().product();
        let bytes = (u64::from(count) * element.bits().unwrap()).div_ceil(8);
        let data = (0..bytes).map(|_| (self.below(255) as u8).wrapping_add(129));
        let data = data.collect();
        self.constant(shape, element, quantization, data)
    }

    /// Biases: 32 bits for int8, 64 for int16, else floats.
    pub fn biases(&mut self, count: u32, element: TensorType, scales: &[f32]) -> usize {
        let quantization = Some(Quantization {
            scales: scales.to_vec(),
            zero_point: 0,
            axis: 0,
        });
        let small = |draft: &mut Self| (draft.uniform() * 3000.0) as i32;
        match element {
            TensorType::Int8 => {
                let data: Vec<u8> = (0..count).flat_map(|_| small(self).to_le_bytes()).collect();
                self.constant(&[count], TensorType::Int32, quantization, data)
            }
            TensorType::Int16 => {
                let data: Vec<u8> = (0..count)
                    .flat_map(|_| (i64::from(small(self)) * 300).to_le_bytes())
                    .collect();
                self.constant(&[count], TensorType::Int64, quantization, data)
            }
            _ => self.floats(&[count], 0.3),
        }
    }

    /// Adds an operator; -1 stands for an optional input that is absent.
    pub fn add(&mut self, kind: Kind, inputs: &[i32], outputs: &[usize], options: Option<Options>) {
        self.operators.push(DraftOperator {
            kind,
            inputs: inputs.to_vec(),
            outputs: outputs.iter().map(|&id| id as i32).collect(),
            options,
        });
        self.known.extend(outputs);
    }

    /// Adds what `grow` does, or nothing at all where that fails.
    pub fn attempt(&mut self, grow: impl FnOnce(&mut Self) -> Option<()>) -> bool {
        let (tensors, operators) = (self.tensors.len(), self.operators.len());
        let known = self.known.len();
        let grown = grow(self).is_some();
        if !grown {
            self.tensors.truncate(tensors);
            self.operators.truncate(operators);
            self.known.truncate(known);
        }
        grown
    }

    /// Which activations no operator loads.
    pub fn unread(&self) -> Vec<usize> {
        let is_read = |id: usize| {
            let mut operators = self.operators.iter();
            operators.any(|operator| operator.inputs.contains(&(id as i32)))
        };
        let known = self.known.iter().copied();
        known.filter(|&id| !is_read(id)).collect()
    }

    /// The file with what nothing loads as outputs.
    pub fn file_so_far(&mut self) -> Vec<u8> {
        self.outputs = self.unread();
        self.file()
    }

    pub fn file(&self) -> Vec<u8> {
        let mut codes: Vec<usize> = self.operators.iter().map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        let mut buffers = vec![Part::Table(Vec::new())];
        let mut tensors = Vec::new();
        for tensor in &self.tensors {
            let mut buffer = 0;
            if let Some(data) = &tensor.data {
                buffer = buffers.len() as u32;
                buffers.push(Part::Table(vec![(0, Part::Bytes(data.clone()))]));
            }
            tensors.push(tensor_table(tensor, buffer));
        }
        let operators = self.operators.iter().map(|operator| {
            let code = codes.binary_search(&code(operator)).unwrap() as u32;
            operator_table(operator, code)
        });
        let ids = |ids: &[usize]| Part::Words(ids.iter().map(|&id| id as i32).collect());
        let graph = Part::Table(vec![
            (0, Part::Tables(tensors)),
            (1, ids(&self.inputs)),
            (2, ids(&self.outputs)),
            (3, Part::Tables(operators.collect())),
        ]);
        let codes = codes.iter().map(|&code| {
            Part::Table(vec![
                (0, Part::Byte(code.min(127) as u8)),
                (2, Part::Word(1)),
                (3, Part::Word(code as u32)),
            ])
        });
        write(&Part::Table(vec![
            (0, Part::Word(3)),
            (1, Part::Tables(codes.collect())),
            (2, Part::Tables(vec![graph])),
            (4, Part::Tables(buffers)),
        ]))
    }
}

fn code(operator: &DraftOperator) -> usize {
    operator.kind.code().unwrap()
}

fn tensor_table(tensor: &DraftTensor, buffer: u32) -> Part {
    let shape = tensor.shape.iter().map(|&extent| extent as i32);
    let mut fields = vec![
        (0, Part::Words(shape.collect())),
        (1, Part::Byte(tensor.element.code().unwrap())),
        (2, Part::Word(buffer)),
        (3, Part::Text("t")),
    ];
    if let Some(quantization) = &tensor.quantization {
        let zero_points = vec![quantization.zero_point; quantization.scales.len()];
        let mut parameters = vec![
            (2, Part::Floats(quantization.scales.clone())),
            (3, Part::Longs(zero_points)),
        ];
        if quantization.axis > 0 {
            parameters.push((6, Part::Word(quantization.axis)));
        }
        fields.push((4, Part::Table(parameters)));
    }
    if tensor.is_variable {
        fields.push((5, Part::Byte(1)));
    }
    Part::Table(fields)
}

fn operator_table(operator: &DraftOperator, code: u32) -> Part {
    let mut fields = vec![
        (0, Part::Word(code)),
        (1, Part::Words(operator.inputs.clone())),
        (2, Part::Words(operator.outputs.clone())),
    ];
    if let Some((number, options)) = &operator.options {
        fields.push((3, Part::Byte(*number)));
        fields.push((4, Part::Table(options.clone())));
    }
    Part::Table(fields)
}
