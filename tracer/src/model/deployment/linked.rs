//! All subgraphs of a model, linked: operators on kernels, and what the runtime copies between them.

use super::{DeployError, Deployment, KernelSource, Reason, Step};
use crate::mcu::machine::Limits;
use dmo_analysis::graph::tflite::{self, Linked, Part, Unsupported};
use dmo_analysis::graph::{Graph, Storage, TensorId};

impl<'a> Deployment<'a> {
    /// All subgraphs of a model file on libraries, as far as these have kernels. Each branch of an
    /// `IF`, and condition and body of a `WHILE`, run once, whatever the values say.
    ///
    /// # Errors
    /// When the file's constants make no sense.
    pub fn of_linked_on(
        linked: &Linked,
        file: &'a [u8],
        sources: &[KernelSource<'a>],
        limits: Limits,
    ) -> Result<Self, DeployError> {
        let subgraphs = 0..linked.first_tensors.len();
        let known = subgraphs.map(|subgraph| tflite::parameters(file, subgraph));
        let known = known.collect::<Result<Vec<_>, _>>()?;
        let parameters = linked.steps.iter().map(|step| {
            let first = linked.first_tensors[step.subgraph];
            let known = known[step.subgraph].get(step.operator.0);
            let mut parameters = known.cloned().unwrap_or(Err(Unsupported::Kind))?;
            for tensor in parameters.tensors.iter_mut().flatten() {
                tensor.0 += first;
            }
            Ok(parameters)
        });
        let mut deployment = Self::new(&linked.graph, sources, limits, parameters);
        for (step, of_file) in deployment.steps.iter_mut().zip(&linked.steps) {
            match &of_file.part {
                Part::Whole => {}
                Part::Copy(copies) => step.copy(&linked.graph, copies),
                Part::Opaque(_) => step.kernel = Err(Reason::Shared),
            }
        }
        Ok(deployment)
    }
}

impl Step<'_> {
    /// From now on it is what the runtime copies, unless a constant among that is not known.
    fn copy(&mut self, graph: &Graph, copies: &[(TensorId, TensorId)]) {
        let is_known = |tensor: TensorId| {
            graph.tensor(tensor).storage != Storage::Constant
                || self.parameters.as_ref().is_some_and(|known| {
                    let operands = known.tensors.iter().zip(&known.constants);
                    let mut constants = operands.filter(|(_, constant)| constant.is_some());
                    constants.any(|(operand, _)| *operand == Some(tensor))
                })
        };
        if copies.iter().all(|&(from, _)| is_known(from)) {
            self.inputs = copies.iter().map(|&(from, _)| from).collect();
            self.outputs = copies.iter().map(|&(_, to)| to).collect();
            self.copies = Some(copies.to_vec());
        }
    }
}
