//! Which overlaps a plan may use, and where they come from: nowhere, formulas, or the machine code
//! of given kernels.

use super::error::{About, PlanError, StudyError};
use super::kernel_request::{KernelRequest, ModelKernels, REFERENCE};
use super::runtime_scratch::{is_for_cmsis_nn, with_runtime_scratch};
use super::session::{Session, Work};
use super::source::Source;
use super::{INPUTS, KERNEL_LIMITS};
use crate::model::overlaps::{KernelOverlaps, measured, of_tensors};
use crate::model::{Deployment, Step};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::handover::{FurtherKernels, PlannedKernels};

/// Where overlaps come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverlapKind {
    /// Nothing overlaps.
    None,
    /// What TensorFlow Lite's reference kernels allow, by formula.
    #[default]
    Analytic,
    /// What the machine code of kernels allows, measured.
    Traced,
}

impl OverlapKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Analytic, Self::Traced];

    /// As in plans, in baselines and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Analytic => "analytic",
            Self::Traced => "traced",
        }
    }

    /// The overlaps of a graph; `None` where they have to be measured.
    pub fn of(self, graph: &Graph) -> Option<Overlaps> {
        match self {
            Self::None => Some(overlaps::none(graph)),
            Self::Analytic => Some(overlaps::analytic(graph)),
            Self::Traced => None,
        }
    }
}

/// Which overlaps a plan may use. The default is those by formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverlapRequest {
    /// Where they come from.
    pub kind: OverlapKind,
    /// The kernels that are measured, by default the reference kernels; without overlaps those
    /// whose scratch memory is planned. They do not go with formulas.
    pub kernels: Option<KernelRequest>,
    /// On how many different inputs each kernel is measured.
    pub inputs: u64,
}

impl Default for OverlapRequest {
    fn default() -> Self {
        Self {
            kind: OverlapKind::default(),
            kernels: None,
            inputs: INPUTS,
        }
    }
}

impl OverlapRequest {
    /// What is asked for by options, each `None` or empty if it is not given: kernels are measured
    /// where some are named, in whatever way.
    pub fn of_options(
        kind: Option<OverlapKind>,
        kernels: &[String],
        cpu: Option<String>,
        cmsis_nn_version: Option<u8>,
        inputs: Option<u64>,
    ) -> Self {
        let names_kernels =
            !kernels.is_empty() || cpu.is_some() || cmsis_nn_version.is_some() || inputs.is_some();
        let by_default = if names_kernels {
            OverlapKind::Traced
        } else {
            OverlapKind::Analytic
        };
        let kind = kind.unwrap_or(by_default);
        let named = match kind {
            OverlapKind::None => !kernels.is_empty(),
            OverlapKind::Analytic | OverlapKind::Traced => names_kernels,
        };
        Self {
            kind,
            kernels: named.then(|| KernelRequest::of_model(kernels, cpu, cmsis_nn_version)),
            inputs: inputs.unwrap_or(INPUTS),
        }
    }

    /// Whether kernels are measured, or asked for their scratch memory.
    pub fn names_kernels(&self) -> bool {
        self.kernels.is_some() || self.kind == OverlapKind::Traced
    }

    /// For a plan that is to run on given kernels, as far as they have a say.
    pub fn on(kind: OverlapKind, kernels: &KernelRequest) -> Self {
        // Without overlaps kernels still want their scratch memory.
        let named = match kind {
            OverlapKind::Traced => true,
            OverlapKind::None => kernels.kernels != REFERENCE,
            OverlapKind::Analytic => false,
        };
        Self {
            kind,
            kernels: named.then(|| kernels.clone()),
            ..Self::default()
        }
    }
}

/// A model and what its operators' outputs may overlap.
pub struct OverlapSource {
    /// Where the overlaps come from.
    pub kind: OverlapKind,
    /// The model; where kernels are named, with the scratch memory that these want.
    pub graph: Graph,
    /// What may overlap.
    pub overlaps: Overlaps,
    /// Without overlaps but for element-wise operators.
    pub accumulates: bool,
    /// The kernels that are named.
    pub measured: Option<Measured>,
}

/// Kernels that a plan is for.
pub struct Measured {
    /// Where they come from.
    pub request: KernelRequest,
    /// On how many different inputs each was measured.
    pub inputs: u64,
    /// For the plan.
    pub planned: PlannedKernels,
    /// Whether TensorFlow Lite Micro has to be built for CMSIS-NN to call these.
    pub is_for_cmsis_nn: bool,
    /// The model with the scratch buffers that TensorFlow Lite Micro asks for where its kernels call
    /// these.
    pub on_device: Graph,
    /// What each allows, in the file's order; empty for a plan without overlaps.
    pub layers: Vec<KernelOverlaps>,
    /// The operators that no kernel can be called for, and why: nothing overlaps there.
    pub not_executed: Vec<(OperatorId, String)>,
}

/// Which code computes each operator.
pub(super) fn planned_kernels(kernels: &ModelKernels, deployment: &Deployment) -> PlannedKernels {
    let of_step = |step: &Step| step.function().map(str::to_owned);
    let libraries = kernels.libraries.iter().enumerate().skip(1);
    let further = libraries.filter_map(|(position, kernels)| {
        let of_library = |step: &&Step| {
            let kernel = step.kernel.as_ref();
            kernel.is_ok_and(|kernel| kernel.source == position)
        };
        let steps = deployment.steps.iter().filter(of_library);
        let operators: Vec<OperatorId> = steps.map(|step| step.operator).collect();
        (!operators.is_empty()).then(|| FurtherKernels {
            name: kernels.name.clone(),
            code_sha256: kernels.library.image().code_sha256(),
            operators,
        })
    });
    PlannedKernels {
        name: kernels.libraries[0].name.clone(),
        cpu: kernels.cpu().name.to_owned(),
        code_sha256: kernels.libraries[0].library.image().code_sha256(),
        functions: deployment.steps.iter().map(of_step).collect(),
        further: further.collect(),
    }
}

impl OverlapSource {
    /// What TensorFlow Lite's reference kernels allow.
    pub fn analytic(graph: &Graph) -> Self {
        Self::known(OverlapKind::Analytic, graph, overlaps::analytic(graph))
    }

    /// What gives another model's overlaps in the same way.
    pub fn request(&self) -> OverlapRequest {
        let measured = self.measured.as_ref();
        OverlapRequest {
            kind: self.kind,
            kernels: measured.map(|measured| measured.request.clone()),
            inputs: measured.map_or(INPUTS, |measured| measured.inputs),
        }
    }

    fn known(kind: OverlapKind, graph: &Graph, overlaps: Overlaps) -> Self {
        Self {
            kind,
            graph: graph.clone(),
            overlaps,
            accumulates: false,
            measured: None,
        }
    }

    /// Finds out what may overlap in the model as it is now.
    ///
    /// # Errors
    /// When kernels are named for formulas, cannot be read, or cannot run the model.
    pub fn find(
        request: &OverlapRequest,
        source: &Source,
        session: &Session,
    ) -> Result<Self, StudyError> {
        let kind = request.kind;
        if request.kernels.is_some() && kind == OverlapKind::Analytic {
            return Err(PlanError::FormulasOfKernels.into());
        }
        match (&request.kernels, kind.of(source.graph())) {
            (None, Some(overlaps)) => Ok(Self::known(kind, source.graph(), overlaps)),
            (None, None) => Self::on_kernels(request, &KernelRequest::default(), source, session),
            (Some(kernels), _) => Self::on_kernels(request, kernels, source, session),
        }
    }

    /// The model with the scratch memory that the kernels want, and, where they are measured,
    /// what they allow.
    fn on_kernels(
        request: &OverlapRequest,
        named: &KernelRequest,
        source: &Source,
        session: &Session,
    ) -> Result<Self, StudyError> {
        let kernels = named.load()?;
        let deployment = source.deploy(&kernels, KERNEL_LIMITS)?.into_model();
        let (overlaps, layers) = if request.kind == OverlapKind::None {
            (overlaps::none(&deployment.graph), Vec::new())
        } else {
            let running = session.begin(Work::Measuring);
            let all = deployment.steps.len();
            running.parts(0, all);
            let cache = &session.cache;
            let layers = measured(&deployment, request.inputs, KERNEL_LIMITS, cache, &|done| {
                running.parts(done, all);
            });
            let layers = layers.about(&source.name)?;
            (of_tensors(&deployment, &layers), layers)
        };
        let planned = planned_kernels(&kernels, &deployment);
        let not_executed = deployment.not_executed();
        let not_executed = not_executed.map(|(operator, reason)| (operator, reason.to_string()));
        let not_executed = not_executed.collect();
        Ok(Self {
            kind: request.kind,
            overlaps,
            accumulates: false,
            measured: Some(Measured {
                request: named.clone(),
                inputs: request.inputs,
                planned,
                is_for_cmsis_nn: is_for_cmsis_nn(&deployment),
                on_device: with_runtime_scratch(source, &deployment),
                layers,
                not_executed,
            }),
            graph: deployment.model_graph(),
        })
    }
}
