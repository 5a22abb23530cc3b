//! A network built in Python, as shapes and operators.

use crate::error::{raised, wrong};
use dmo_analysis::graph::sketch::Sketch;
use dmo_analysis::graph::{Graph, GraphTensor, TensorId, TensorType};
use dmo_trace::study::case::CaseRequest;
use dmo_trace::study::sketch::add;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A network under construction, or complete.
#[pyclass(name = "Graph", subclass, module = "dmo_trace._native")]
#[derive(Default, Serialize, Deserialize)]
pub struct NativeGraph {
    sketch: Sketch,
    complete: Option<Graph>,
}

/// Each option by its name; padding as TensorFlow writes it, too.
pub fn with_options(
    mut request: CaseRequest,
    words: BTreeMap<String, String>,
) -> PyResult<CaseRequest> {
    for (name, text) in words {
        let Some(option) = request.option(&name) else {
            let options = CaseRequest::OPTIONS.join(", ");
            return Err(wrong(format!(
                "{}: there is no option '{name}'\n  hint: one of {options}",
                request.operator
            )));
        };
        *option = Some(match name.as_str() {
            "padding" => text.to_ascii_lowercase(),
            _ => text,
        });
    }
    Ok(request)
}

fn tensor_type(name: &str) -> PyResult<TensorType> {
    TensorType::try_from(name.to_uppercase()).map_err(|_| {
        wrong(format!(
            "dtype '{name}': expected for instance int8 or float32"
        ))
    })
}

fn ids(tensors: Vec<usize>) -> Vec<TensorId> {
    tensors.into_iter().map(TensorId).collect()
}

fn indices(tensors: Vec<TensorId>) -> Vec<usize> {
    tensors.into_iter().map(|tensor| tensor.0).collect()
}

impl NativeGraph {
    /// The network, where it is complete.
    pub fn graph(&self) -> PyResult<&Graph> {
        self.complete.as_ref().ok_or_else(|| {
            wrong("the graph has no outputs\n  hint: graph.output(TENSOR) names them")
        })
    }

    /// Only a network without outputs can grow.
    fn open(&mut self) -> PyResult<&mut Sketch> {
        if self.complete.is_some() {
            return Err(wrong("the graph has its outputs: nothing can be added"));
        }
        Ok(&mut self.sketch)
    }

    fn tensor(&self, tensor: usize) -> PyResult<&GraphTensor> {
        match &self.complete {
            Some(graph) => graph
                .tensors
                .get(tensor)
                .ok_or_else(|| wrong(format!("there is no tensor {tensor}"))),
            None => self.sketch.get(TensorId(tensor)).map_err(raised),
        }
    }
}

#[pymethods]
impl NativeGraph {
    #[new]
    #[pyo3(signature = (name = "graph"))]
    fn new(name: &str) -> Self {
        Self {
            sketch: Sketch::new(name),
            complete: None,
        }
    }

    fn add_input(&mut self, name: &str, shape: Vec<u32>, dtype: &str) -> PyResult<usize> {
        let tensor = self.open()?.input(name, &shape, tensor_type(dtype)?);
        Ok(tensor.map_err(raised)?.0)
    }

    fn add_constant(&mut self, name: &str, shape: Vec<u32>, dtype: &str) -> PyResult<usize> {
        let tensor = self.open()?.constant(name, &shape, tensor_type(dtype)?);
        Ok(tensor.map_err(raised)?.0)
    }

    fn add_operator(
        &mut self,
        operator: String,
        inputs: Vec<usize>,
        words: BTreeMap<String, String>,
    ) -> PyResult<Vec<usize>> {
        let request = CaseRequest {
            operator,
            ..CaseRequest::default()
        };
        let request = with_options(request, words)?;
        let outputs = add(self.open()?, request, &ids(inputs));
        Ok(indices(outputs.map_err(raised)?))
    }

    fn add_opaque(
        &mut self,
        name: &str,
        inputs: Vec<usize>,
        outputs: Vec<(Vec<u32>, String)>,
        scratch_bytes: Vec<u64>,
    ) -> PyResult<Vec<usize>> {
        let typed = |(shape, dtype): (Vec<u32>, String)| Ok((shape, tensor_type(&dtype)?));
        let outputs = outputs.into_iter().map(typed);
        let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
        let added = self
            .open()?
            .add_opaque(name, &ids(inputs), &outputs, &scratch_bytes);
        Ok(indices(added.map_err(raised)?))
    }

    fn set_outputs(&mut self, tensors: Vec<usize>) -> PyResult<()> {
        let sketch = self.open()?.clone();
        self.complete = Some(sketch.finish(&ids(tensors)).map_err(raised)?);
        Ok(())
    }

    /// Name, shape, type and size of a tensor.
    fn describe(&self, tensor: usize) -> PyResult<(String, Vec<u32>, String, u64)> {
        let tensor = self.tensor(tensor)?;
        Ok((
            tensor.name.clone(),
            tensor.shape.clone(),
            tensor.element_type.to_string().to_lowercase(),
            tensor.size_bytes,
        ))
    }

    /// The name of an operator's kind.
    fn kind(&self, operator: usize) -> PyResult<String> {
        let graph = self.complete.as_ref().unwrap_or(self.sketch.graph());
        let node = graph.operators.get(operator);
        let node = node.ok_or_else(|| wrong(format!("there is no operator {operator}")))?;
        Ok(node.kind.name().to_owned())
    }

    /// All of it as text, for [`Self::restored`].
    fn saved(&self) -> PyResult<String> {
        serde_json::to_string(self).map_err(raised)
    }

    /// A network as it was saved.
    #[staticmethod]
    fn restored(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map_err(raised)
    }

    /// How many tensors and operators it has.
    fn counts(&self) -> (usize, usize) {
        let graph = self.complete.as_ref().unwrap_or(self.sketch.graph());
        (graph.tensors.len(), graph.operators.len())
    }
}
