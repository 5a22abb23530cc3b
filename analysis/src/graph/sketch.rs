//! A network as shapes and operators, without weights: enough to plan its memory.
//!
//! ```
//! use dmo_analysis::graph::sketch::{Sketch, Step};
//! use dmo_analysis::graph::{Kind, TensorType};
//! use dmo_analysis::operator::{Operator, Pool2d, Window};
//!
//! let mut sketch = Sketch::new("one pool");
//! let image = sketch.input("image", &[1, 8, 8, 3], TensorType::Int8)?;
//! let pool = Operator::Pool2d(Pool2d {
//!     input: [1, 8, 8, 3],
//!     output: [1, 4, 4, 3],
//!     window: Window { kernel: [2, 2], stride: [2, 2], ..Window::default() },
//!     element_bytes: 1,
//! });
//! let pooled = sketch.add(Step {
//!     kind: Kind::MaxPool2d,
//!     operator: pool,
//!     inputs: &[image],
//!     output_type: TensorType::Int8,
//! })?;
//! let graph = sketch.finish(&pooled)?;
//! assert_eq!(graph.naive_bytes(), 192 + 48);
//! # Ok::<(), dmo_analysis::graph::sketch::SketchError>(())
//! ```

mod scratch;

use super::{Graph, GraphTensor, Kernel, Kind, Node, Storage, TensorId, TensorType};
use crate::operator::{Buffer, Operator, ShapeError};
use crate::wording::grouped;
use scratch::scratch_bytes;
use serde::{Deserialize, Serialize};

/// A network under construction. Operators run in the order in which they are added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sketch {
    graph: Graph,
}

/// An operator of the reference kernels, to be added to a sketch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a> {
    /// What it is called.
    pub kind: Kind,
    /// Its loops and shapes.
    pub operator: Operator,
    /// The tensors that it reads, in the operator's order, without weights.
    pub inputs: &'a [TensorId],
    /// Type of the elements of its outputs.
    pub output_type: TensorType,
}

/// Why something cannot be part of a sketch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SketchError {
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("there is no tensor {}, the sketch has {tensors}", tensor.0)]
    NoTensor { tensor: TensorId, tensors: usize },
    #[error("{kind}: {given} inputs given, expected {expected}")]
    InputCount {
        kind: String,
        given: usize,
        expected: usize,
    },
    #[error(
        "{kind}: input {} has {} bytes, expected {} by the operator's shape",
        position + 1,
        grouped(*given),
        grouped(*expected)
    )]
    InputSize {
        kind: String,
        position: usize,
        given: u64,
        expected: u64,
    },
    #[error("{kind}: elements of its output have {given} bytes, and {expected} by their type")]
    OutputType {
        kind: String,
        given: u32,
        expected: u64,
    },
    #[error("tensor {name:?} {shape:?} of {element_type} has no size that fits in 32 bits")]
    Size {
        name: String,
        shape: Vec<u32>,
        element_type: TensorType,
    },
    #[error("the network has no outputs")]
    NoOutputs,
}

impl Sketch {
    /// An empty network of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            graph: Graph {
                name: name.into(),
                ..Graph::default()
            },
        }
    }

    /// What has been added so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// A tensor that the application stores before an inference.
    ///
    /// # Errors
    /// When its size does not fit in 32 bits, or its elements have no size.
    pub fn input(
        &mut self,
        name: &str,
        shape: &[u32],
        element_type: TensorType,
    ) -> Result<TensorId, SketchError> {
        let id = self.tensor(name.to_owned(), shape, element_type, Storage::Arena)?;
        self.graph.inputs.push(id);
        Ok(id)
    }

    /// A tensor in flash memory, which takes nothing of the arena: the second operand of an
    /// addition, for instance.
    ///
    /// # Errors
    /// As [`Self::input`].
    pub fn constant(
        &mut self,
        name: &str,
        shape: &[u32],
        element_type: TensorType,
    ) -> Result<TensorId, SketchError> {
        self.tensor(name.to_owned(), shape, element_type, Storage::Constant)
    }

    /// Adds an operator, and gives its outputs. It has the scratch memory of TensorFlow Lite
    /// Micro's reference kernels.
    ///
    /// # Errors
    /// When its shapes make no sense, or its tensors do not have them.
    pub fn add(&mut self, step: Step<'_>) -> Result<Vec<TensorId>, SketchError> {
        let Step {
            kind,
            operator,
            inputs,
            output_type,
        } = step;
        let buffers = operator.buffers()?;
        if inputs.len() != buffers.inputs.len() {
            return Err(SketchError::InputCount {
                kind: kind.name().to_owned(),
                given: inputs.len(),
                expected: buffers.inputs.len(),
            });
        }
        for (position, (&id, buffer)) in inputs.iter().zip(&buffers.inputs).enumerate() {
            let (given, expected) = (self.get(id)?.size_bytes, u64::from(buffer.size_bytes()));
            if given != expected {
                let kind = kind.name().to_owned();
                return Err(SketchError::InputSize {
                    kind,
                    position,
                    given,
                    expected,
                });
            }
        }
        let mut outputs = Vec::with_capacity(buffers.outputs.len());
        for buffer in &buffers.outputs {
            outputs.push(self.output(&kind, buffer, output_type)?);
        }
        let scratch_bytes = scratch_bytes(&kind, &operator);
        self.graph.operators.push(Node {
            kind,
            inputs: inputs.to_vec(),
            outputs: outputs.clone(),
            kernel: Some(Kernel {
                operator,
                inputs: inputs.to_vec(),
                outputs: outputs.clone(),
            }),
            scratch_bytes,
        });
        Ok(outputs)
    }

    /// Adds an operator of which nothing is known but its tensors, the shapes of its outputs and
    /// its scratch buffers: nothing overlaps in it.
    ///
    /// # Errors
    /// When an input is none of the sketch's, or an output's size does not fit in 32 bits.
    pub fn add_opaque(
        &mut self,
        name: &str,
        inputs: &[TensorId],
        outputs: &[(Vec<u32>, TensorType)],
        scratch_bytes: &[u64],
    ) -> Result<Vec<TensorId>, SketchError> {
        for &id in inputs {
            self.get(id)?;
        }
        let kind = Kind::custom(name);
        let mut ids = Vec::with_capacity(outputs.len());
        for (shape, element_type) in outputs {
            let name = self.name_of_output(&kind);
            ids.push(self.tensor(name, shape, *element_type, Storage::Arena)?);
        }
        self.graph.operators.push(Node {
            kind,
            inputs: inputs.to_vec(),
            outputs: ids.clone(),
            kernel: None,
            scratch_bytes: scratch_bytes.to_vec(),
        });
        Ok(ids)
    }

    /// The network, whose application reads these tensors after an inference.
    ///
    /// # Errors
    /// When there are none, or one is none of the sketch's.
    pub fn finish(mut self, outputs: &[TensorId]) -> Result<Graph, SketchError> {
        if outputs.is_empty() {
            return Err(SketchError::NoOutputs);
        }
        for &id in outputs {
            self.get(id)?;
        }
        self.graph.outputs = outputs.to_vec();
        Ok(self.graph)
    }

    /// A tensor of the sketch.
    ///
    /// # Errors
    /// When there is no such tensor.
    pub fn get(&self, tensor: TensorId) -> Result<&GraphTensor, SketchError> {
        let tensors = self.graph.tensors.len();
        let found = self.graph.tensors.get(tensor.0);
        found.ok_or(SketchError::NoTensor { tensor, tensors })
    }

    fn output(
        &mut self,
        kind: &Kind,
        buffer: &Buffer,
        element_type: TensorType,
    ) -> Result<TensorId, SketchError> {
        let expected = element_type.bits().unwrap_or(0) / 8;
        if u64::from(buffer.element_bytes) != expected {
            return Err(SketchError::OutputType {
                kind: kind.name().to_owned(),
                given: buffer.element_bytes,
                expected,
            });
        }
        let name = self.name_of_output(kind);
        self.tensor(name, &buffer.shape, element_type, Storage::Arena)
    }

    /// Tensors bear the number of the operator that writes them.
    fn name_of_output(&self, kind: &Kind) -> String {
        format!("{}_{}", kind.name(), self.graph.operators.len())
    }

    fn tensor(
        &mut self,
        name: String,
        shape: &[u32],
        element_type: TensorType,
        storage: Storage,
    ) -> Result<TensorId, SketchError> {
        let elements = shape.iter().try_fold(1u64, |product, &extent| {
            product.checked_mul(u64::from(extent))
        });
        let bits = elements.zip(element_type.bits());
        let bits = bits.and_then(|(elements, bits)| elements.checked_mul(bits));
        let bytes = bits.map(|bits| bits.div_ceil(8));
        let fits = |bytes: &u64| (1..=u64::from(u32::MAX)).contains(bytes);
        let Some(size_bytes) = bytes.filter(fits) else {
            return Err(SketchError::Size {
                name,
                shape: shape.to_vec(),
                element_type,
            });
        };
        self.graph.tensors.push(GraphTensor {
            name,
            shape: shape.to_vec(),
            element_type,
            size_bytes,
            storage,
        });
        Ok(TensorId(self.graph.tensors.len() - 1))
    }
}
