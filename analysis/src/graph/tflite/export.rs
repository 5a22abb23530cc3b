//! Graphs as model files, with random weights.
//!
//! What a graph leaves out is made up: filters and biases of operators that only name
//! their activations, and the constants that say how to pad, permute or reduce. They get
//! tensors after the graph's own, whose indices stay.
//!
//! | file | what it holds |
//! |---|---|
//! | `export/values.rs` | quantisation and random data |

mod values;

use super::layout::{Layout, ROOT, Value};
use super::roles::{self, Role, Roles};
use super::schema::{Field, buffer, model, quantization, subgraph, tensor};
use super::{TfliteError, catalogue};
use crate::graph::{Graph, GraphTensor, Kind, Node, Storage, TensorId, TensorType};

use values::{Quantization, Random};

/// Version of the schema.
const SCHEMA: u32 = 3;

/// A complete model of a graph, with weights drawn from `seed`, that TensorFlow Lite
/// loads: options by each operator's kind, [`Kernel`](crate::graph::Kernel) and shapes,
/// and quantisation where elements are integers.
///
/// # Errors
/// When an operator's kind cannot be exported, lacks the kernel that says its options, or
/// has a padding or inputs that TensorFlow Lite does not have; when an element type has
/// no number, or the file would be too large.
pub fn export(graph: &Graph, seed: u64) -> Result<Vec<u8>, TfliteError> {
    let mut draft = Draft::new(graph);
    for (index, node) in graph.operators.iter().enumerate() {
        draft.add(graph, node).map_err(|problem| {
            TfliteError::Export(format!("operator {index} {}: {problem}", node.kind))
        })?;
    }
    draft.fill(seed)?;
    draft.write(&graph.name, seed)
}

/// A graph with all that its file needs.
struct Draft {
    tensors: Vec<GraphTensor>,
    quantization: Vec<Option<Quantization>>,
    /// Data of constants.
    data: Vec<Option<Vec<u8>>>,
    /// For random data: how many products an output sums up.
    fan_in: Vec<u32>,
    operators: Vec<DraftOperator>,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
}

struct DraftOperator {
    code: usize,
    inputs: Vec<TensorId>,
    outputs: Vec<TensorId>,
    options: Option<(u8, Vec<(Field, Value)>)>,
}

impl Draft {
    fn new(graph: &Graph) -> Self {
        let tensors = graph.tensors.clone();
        Self {
            quantization: tensors.iter().map(values::of_activation).collect(),
            data: vec![None; tensors.len()],
            fan_in: vec![1; tensors.len()],
            tensors,
            operators: Vec::new(),
            inputs: graph.inputs.clone(),
            outputs: graph.outputs.clone(),
        }
    }

    fn add(&mut self, graph: &Graph, node: &Node) -> Result<(), String> {
        let row = catalogue::row(&node.kind);
        let code = node.kind.code().ok_or("this kind cannot be exported")?;
        let Roles { roles, options } = roles::of(graph, node, row.roles)?;
        let inputs = self.inputs_of(node, roles)?;
        if node.kind == Kind::Tanh {
            for id in &node.outputs {
                self.quantization[id.0] = values::of_tanh(&self.tensors[id.0]);
            }
        }
        self.operators.push(DraftOperator {
            code,
            inputs,
            outputs: node.outputs.clone(),
            options: options.map(|fields| (row.options, fields)),
        });
        Ok(())
    }

    /// The inputs in the schema's order. A node may name its activations only, or leave
    /// out the last ones.
    fn inputs_of(&mut self, node: &Node, roles: Vec<Role>) -> Result<Vec<TensorId>, String> {
        let activations = roles.iter().filter(|role| matches!(role, Role::Activation));
        let activations_only = node.inputs.len() == activations.count();
        if node.inputs.len() > roles.len() {
            return Err(format!(
                "{} inputs, expected at most {}",
                node.inputs.len(),
                roles.len()
            ));
        }
        let output = node.outputs.first().ok_or("it has no output")?;
        let computed = self.tensors[output.0].element_type;
        let mut named = node.inputs.iter().copied();
        let mut inputs: Vec<TensorId> = Vec::new();
        // The scales of what is multiplied, which make the bias's.
        let mut factors = [None; 2];
        for role in roles {
            let named = match role {
                Role::Activation => named.next(),
                _ if activations_only => None,
                _ => named.next(),
            };
            let make = |name: &str, element_type: TensorType, shape: &[u32], draft: &mut Self| {
                named.unwrap_or_else(|| draft.constant(name, element_type, shape))
            };
            let id = match role {
                Role::Activation => {
                    let id = named.ok_or("an input is missing")?;
                    factors[0] = factors[0].or(self.quantization[id.0]);
                    id
                }
                Role::Filter { shape, fan_in } => {
                    let id = make("filter", values::filter_type(computed), &shape, self);
                    self.fan_in[id.0] = fan_in;
                    self.quantization[id.0] = values::of_filter(&self.tensors[id.0], fan_in);
                    factors[1] = self.quantization[id.0];
                    id
                }
                Role::Bias(count) => {
                    let id = make("bias", values::bias_type(computed), &[count], self);
                    self.quantization[id.0] = values::of_bias(factors);
                    id
                }
                Role::Integers { values, shape } => {
                    let id = make("parameter", TensorType::Int32, &shape, self);
                    self.set_integers(id, &values)?;
                    id
                }
            };
            inputs.push(id);
        }
        Ok(inputs)
    }

    fn constant(&mut self, name: &str, element_type: TensorType, shape: &[u32]) -> TensorId {
        let id = TensorId(self.tensors.len());
        let bits = element_type.bits().unwrap_or(0);
        self.tensors.push(GraphTensor {
            name: format!("{name}_{}", id.0),
            shape: shape.to_vec(),
            element_type,
            size_bytes: super::schema::size_bytes(bits, shape).unwrap_or(0),
            storage: Storage::Constant,
        });
        self.quantization.push(None);
        self.data.push(None);
        self.fan_in.push(1);
        id
    }

    /// Gives a constant its values, as 32 or 64-bit integers.
    fn set_integers(&mut self, id: TensorId, values: &[i32]) -> Result<(), String> {
        let tensor = &self.tensors[id.0];
        let bytes: Vec<u8> = match tensor.element_type {
            TensorType::Int32 => values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            TensorType::Int64 => {
                let wide = values.iter().map(|&value| i64::from(value));
                wide.flat_map(i64::to_le_bytes).collect()
            }
            other => {
                return Err(format!(
                    "tensor {} has the type {other}, expected INT32",
                    id.0
                ));
            }
        };
        if tensor.storage != Storage::Constant || tensor.size_bytes != bytes.len() as u64 {
            return Err(format!(
                "tensor {} is not a constant of {} integers",
                id.0,
                values.len()
            ));
        }
        self.quantization[id.0] = None;
        self.data[id.0] = Some(bytes);
        Ok(())
    }

    /// Random data for the constants that have none yet.
    fn fill(&mut self, seed: u64) -> Result<(), TfliteError> {
        let mut random = Random::new(seed);
        for (index, tensor) in self.tensors.iter().enumerate() {
            if tensor.storage == Storage::Constant && self.data[index].is_none() {
                let data = random.data(tensor, self.fan_in[index]);
                self.data[index] = Some(data.ok_or_else(|| {
                    TfliteError::Export(format!(
                        "tensor {index} \"{}\": {} bytes of type {} cannot be made up",
                        tensor.name, tensor.size_bytes, tensor.element_type
                    ))
                })?);
            }
        }
        Ok(())
    }

    fn write(&self, name: &str, seed: u64) -> Result<Vec<u8>, TfliteError> {
        let mut layout = Layout::new();
        let root = layout.table(
            ROOT,
            &[
                (model::VERSION, Value::Word(SCHEMA)),
                (model::OPERATOR_CODES, Value::Reference),
                (model::SUBGRAPHS, Value::Reference),
                (model::DESCRIPTION, Value::Reference),
                (model::BUFFERS, Value::Reference),
            ],
        )?;
        let mut codes: Vec<usize> = self
            .operators
            .iter()
            .map(|operator| operator.code)
            .collect();
        codes.sort_unstable();
        codes.dedup();
        for (place, &code) in layout
            .references(root[1], codes.len())?
            .into_iter()
            .zip(&codes)
        {
            layout.operator_code(place, code, 1)?;
        }
        let subgraphs = layout.references(root[2], 1)?;
        self.write_subgraph(&mut layout, subgraphs[0], name, &codes)?;
        layout.text(root[3], &format!("Random weights of seed {seed}."))?;
        // Buffer 0 stands for no data.
        let data: Vec<&Vec<u8>> = self.data.iter().flatten().collect();
        let places = layout.references(root[4], data.len() + 1)?;
        layout.table(places[0], &[])?;
        for (&place, data) in places[1..].iter().zip(data) {
            let place = layout.table(place, &[(buffer::DATA, Value::Reference)])?;
            layout.data(place[0], data)?;
        }
        Ok(layout.bytes)
    }

    fn write_subgraph(
        &self,
        layout: &mut Layout,
        reference: usize,
        name: &str,
        codes: &[usize],
    ) -> Result<(), TfliteError> {
        let places = layout.table(
            reference,
            &[
                (subgraph::TENSORS, Value::Reference),
                (subgraph::INPUTS, Value::Reference),
                (subgraph::OUTPUTS, Value::Reference),
                (subgraph::OPERATORS, Value::Reference),
                (subgraph::NAME, Value::Reference),
            ],
        )?;
        layout.ids(places[1], &self.inputs)?;
        layout.ids(places[2], &self.outputs)?;
        layout.text(places[4], name)?;
        let mut buffers = 0;
        let tensors = layout.references(places[0], self.tensors.len())?;
        for (index, place) in tensors.into_iter().enumerate() {
            let buffer = if self.data[index].is_some() {
                buffers += 1;
                buffers
            } else {
                0
            };
            self.write_tensor(layout, place, index, buffer)?;
        }
        let operators = layout.references(places[3], self.operators.len())?;
        for (operator, place) in self.operators.iter().zip(operators) {
            write_operator(layout, place, operator, codes)?;
        }
        Ok(())
    }

    fn write_tensor(
        &self,
        layout: &mut Layout,
        reference: usize,
        index: usize,
        buffer: u32,
    ) -> Result<(), TfliteError> {
        let tensor = &self.tensors[index];
        let number = tensor
            .element_type
            .code()
            .ok_or_else(|| TfliteError::ElementType {
                tensor: format!("tensor {index} \"{}\"", tensor.name),
                element_type: tensor.element_type,
            })?;
        let shape: Option<Vec<i32>> = tensor
            .shape
            .iter()
            .map(|&extent| i32::try_from(extent).ok())
            .collect();
        let shape = shape.ok_or_else(|| {
            TfliteError::Export(format!(
                "tensor {index} \"{}\" has the shape {:?}, with an extent of more than 31 bits",
                tensor.name, tensor.shape
            ))
        })?;
        let mut fields = vec![
            (tensor::SHAPE, Value::Reference),
            (tensor::TYPE, Value::Byte(number)),
            (tensor::BUFFER, Value::Word(buffer)),
            (tensor::NAME, Value::Reference),
            (
                tensor::IS_VARIABLE,
                Value::Byte(u8::from(tensor.storage == Storage::Variable)),
            ),
        ];
        let quantized = self.quantization[index];
        if quantized.is_some() {
            fields.push((tensor::QUANTIZATION, Value::Reference));
        }
        let places = layout.table(reference, &fields)?;
        layout.integers(places[0], &shape)?;
        layout.text(places[3], &tensor.name)?;
        if let Some(Quantization { scale, zero_point }) = quantized {
            let places = layout.table(
                places[5],
                &[
                    (quantization::SCALE, Value::Reference),
                    (quantization::ZERO_POINT, Value::Reference),
                ],
            )?;
            layout.vector(places[0], 1, &scale.to_le_bytes(), 4)?;
            layout.vector(places[1], 1, &zero_point.to_le_bytes(), 8)?;
        }
        Ok(())
    }
}

fn write_operator(
    layout: &mut Layout,
    reference: usize,
    operator: &DraftOperator,
    codes: &[usize],
) -> Result<(), TfliteError> {
    let index = codes.binary_search(&operator.code).unwrap_or_default();
    let options_type = operator.options.as_ref().map_or(0, |(number, _)| *number);
    let places = layout.operator(reference, index as u32, options_type)?;
    layout.ids(places[1], &operator.inputs)?;
    layout.ids(places[2], &operator.outputs)?;
    if let Some((_, fields)) = &operator.options {
        layout.table(places[4], fields)?;
    }
    Ok(())
}
