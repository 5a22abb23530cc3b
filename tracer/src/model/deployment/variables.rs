//! Models whose resource variables are tensors.

use super::{DeployError, Deployment, KernelSource, Reason};
use crate::mcu::machine::Limits;
use dmo_analysis::graph::parameters::{Affine, Constant, Parameters};
use dmo_analysis::graph::tflite::{self, WithVariables};
use dmo_analysis::graph::{Kind, Node, TensorId};
use std::borrow::Cow;

impl<'a> Deployment<'a> {
    /// A model file whose resource variables are tensors, on libraries, as far as these have kernels.
    ///
    /// # Errors
    /// When the file's constants make no sense.
    pub fn of_variables_on(
        model: &'a WithVariables,
        file: &'a [u8],
        sources: &[KernelSource<'a>],
        limits: Limits,
    ) -> Result<Self, DeployError> {
        let known = tflite::parameters(file, 0)?;
        let parameters = model.graph.operators.iter().zip(known);
        let parameters = parameters.map(|(node, known)| match node.kind {
            _ if is_silent(node) => Ok(Parameters::default()),
            Kind::ReadVariable | Kind::AssignVariable => Ok(of_copy(model, node)),
            _ => {
                let mut known = known.map_err(Reason::from)?;
                for tensor in known.tensors.iter_mut().flatten() {
                    *tensor = *model.read_in_place.get(tensor).unwrap_or(tensor);
                }
                Ok(known)
            }
        });
        let mut deployment = Self::new(&model.graph, sources, limits, parameters);
        for (step, node) in deployment.steps.iter_mut().zip(&model.graph.operators) {
            if is_silent(node) {
                step.copies = Some(Vec::new());
            }
        }
        Ok(deployment)
    }
}

/// Whether nothing is left for the operator to do: handles are known, and what is stored once is there
/// from the beginning.
fn is_silent(node: &Node) -> bool {
    let of_variables = matches!(
        node.kind,
        Kind::VarHandle | Kind::CallOnce | Kind::ReadVariable
    );
    of_variables && node.inputs.is_empty() && node.outputs.is_empty()
}

/// What the copy from or to a variable computes with: as constant 0 what the variable begins with.
fn of_copy<'a>(model: &'a WithVariables, node: &Node) -> Parameters<'a> {
    let mut tensors = node.inputs.iter().chain(&node.outputs);
    let variable = tensors.find_map(|id| Some((*id, model.initial.get(id)?)));
    let constant = variable.map(|(id, initial)| {
        let tensor = model.graph.tensor(id);
        Constant {
            bytes: Cow::Borrowed(&initial[..]),
            element_type: tensor.element_type,
            shape: tensor.shape.clone(),
            quantisation: Vec::new(),
            channel_axis: 0,
        }
    });
    let value: Option<TensorId> = match node.kind {
        Kind::AssignVariable => node.inputs.first().copied(),
        _ => None,
    };
    Parameters {
        tensors: vec![variable.map(|(id, _)| id), value],
        operands: vec![Affine::PLAIN; 2],
        outputs: vec![Affine::PLAIN],
        constants: vec![constant, None],
        ..Parameters::default()
    }
}
