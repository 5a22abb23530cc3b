//! A C library that computes a model in its planned arena.

use super::change::ChangeRequest;
use super::error::{About, BuildError, StudyError};
use super::form::{Form, Forms, MemoryLimits, OutOfReach};
use super::forms::{follow, forms};
use super::kernel_request::{KernelRequest, ModelKernels, REFERENCE};
use super::overlap_source::{OverlapKind, OverlapRequest};
use super::plan::{PlanRequest, Planned, plan, plan_as_it_is};
use super::plan_to_check::PlanToCheck;
use super::prove::{Proof, Provable, prove};
use super::recording::{RecordedLayout, record};
use super::region_plan::{memories, plan_in_regions, region_sentence, region_uses, with_states};
use super::region_use::RegionUse;
use super::regions::RegionRequest;
use super::session::Session;
use super::source::Source;
use super::verify::{Verified, VerifyRequest, verify};
use super::windows::{Windows, compare_windows};
use super::{INPUTS, SEARCH_TIME};
use crate::codegen::compilation::Compiler;
use crate::codegen::description::{
    Description, EndpointDescription, RowsDescription, StreamDescription, identifier,
};
use crate::codegen::kernel_sources::{self, DSP, Family, PLAIN};
use crate::codegen::library::{Contents, GeneratedFile, RecordedInference};
use crate::codegen::loops::rolled;
use crate::codegen::network::Network;
use crate::mcu::cpu;
use crate::mcu::cycles::Cycles;
use crate::model::Deployment;
use dmo_analysis::graph::parameters::Affine;
use dmo_analysis::graph::{Graph, Kind, Node, TensorId};
use dmo_analysis::transform::macs;
use std::time::Duration;

/// The kernels for the DSP extension, with weights laid out for them.
pub const PACKED: &str = "dsp-packed";

/// The kernels that a library for this CPU is made with unless others are asked for; `None`: the CPU
/// that they were built for.
#[must_use]
pub fn default_kernels(cpu: Option<&str>) -> &'static str {
    let family = cpu.and_then(cpu::named).map(|cpu| Family::of_cpu(&cpu));
    match family {
        Some(Family::Plain) => PLAIN,
        Some(Family::Dsp) | None => PACKED,
    }
}

/// How a library is to be made. By default with the kernels for the DSP extension, without
/// channels that make no difference, and without computing anything twice.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildRequest {
    /// The library's name, a C identifier; `None`: what the file's name becomes.
    pub name: Option<String>,
    /// The kernels, [`PACKED`], [`DSP`], [`PLAIN`] or [`REFERENCE`], and the CPU.
    pub kernels: KernelRequest,
    /// What may be changed of the work.
    pub changes: ChangeRequest,
    /// The model's inputs have to be as they were when an inference has ended.
    pub keep_inputs: bool,
    /// The model takes this many rows of its window over time, the newest ones; `None`: whole
    /// windows.
    pub stream_rows: Option<u32>,
    /// The fastest form is made that keeps to these; where none are given, the one with the smallest
    /// arena that [`Self::changes`] allow.
    pub limits: MemoryLimits,
    /// The memories that it lies in; none: one arena.
    pub regions: RegionRequest,
    /// The search for a plan ends after this time with the best so far.
    pub time: Duration,
    /// The library is compiled with this, and proven as compiled.
    pub prove: Option<Compiler>,
    /// On how many inputs the plan is verified, and how many inferences are recorded for the
    /// library's test.
    pub inputs: u64,
}

impl Default for BuildRequest {
    fn default() -> Self {
        Self {
            name: None,
            kernels: KernelRequest {
                kernels: PACKED.to_owned(),
                further: vec![REFERENCE.to_owned()],
                ..KernelRequest::default()
            },
            changes: ChangeRequest {
                prune: true,
                ..ChangeRequest::default()
            },
            keep_inputs: false,
            stream_rows: None,
            limits: MemoryLimits::default(),
            regions: RegionRequest::default(),
            time: SEARCH_TIME,
            prove: None,
            inputs: INPUTS,
        }
    }
}

/// A library, and what is known of it.
pub struct Built {
    /// All its files.
    pub files: Vec<GeneratedFile>,
    /// What its texts say.
    pub description: Description,
    /// Size of the arena in bytes, states included.
    pub arena_bytes: u32,
    /// Bytes of it that persist from one inference to the next.
    pub state_bytes: u32,
    /// Bytes of weights and tables.
    pub weights_bytes: u64,
    /// Calls of kernels in an inference.
    pub calls: usize,
    /// Instructions of an inference.
    pub instructions: u64,
    /// Estimated cycles of an inference; `None` if they are not known.
    pub cycles: Option<Cycles>,
    /// The plan.
    pub planned: Planned,
    /// What it may take.
    pub limits: MemoryLimits,
    /// The forms among which the fastest was chosen; none where there was no choice.
    pub forms: Forms,
    /// What of each memory is used, and how often it is accessed; none if it is one arena.
    pub regions: Vec<RegionUse>,
    /// The calls.
    pub network: Network,
    /// What the library's test compares with.
    pub recorded: Vec<RecordedInference>,
    /// The same as compiled, where that was asked for.
    pub proof: Option<Proof>,
    /// How its outputs on newest rows compare with those of the model on whole windows; `None` if it
    /// takes whole windows.
    pub windows: Option<Windows>,
    /// No witness objects to the plan, and the planned calls compute what the model computes.
    pub is_safe: bool,
    /// On how many inputs that was tried.
    pub inputs: u64,
}

impl Built {
    /// Nothing speaks against the library.
    pub fn holds(&self) -> bool {
        self.is_safe && self.proof.as_ref().is_none_or(Proof::holds) && self.fits()
    }

    /// It is the library of this form.
    pub fn is_of(&self, form: &Form) -> bool {
        match &self.planned.file.recipe {
            Some(recipe) => *recipe == form.recipe,
            None => !form.recipe.changes(),
        }
    }

    /// As compiled it keeps to the limits.
    pub fn fits(&self) -> bool {
        self.proof.as_ref().is_none_or(|proof| {
            let flash = Some(proof.flash_bytes);
            let pairs = [
                (proof.ram_bytes, self.limits.ram_bytes),
                (flash, self.limits.flash_bytes),
            ];
            let mut pairs = pairs.iter();
            pairs
                .all(|&(taken, limit)| taken.zip(limit).is_none_or(|(taken, limit)| taken <= limit))
        })
    }
}

/// A model that is ready to be planned for a library.
struct Prepared {
    kernels: ModelKernels,
    request: PlanRequest,
    windows: Option<Windows>,
}

/// Prunes the model, and makes it take newest rows, where that is asked for.
fn prepare(
    source: &mut Source,
    request: &BuildRequest,
    session: &Session,
) -> Result<Prepared, StudyError> {
    if source.file.is_none() {
        let model = source.name.clone();
        return Err(BuildError::NoModelFile { model }.into());
    }
    source.keep_variables()?;
    ensure_buildable(source, request)?;
    if let Some(compiler) = &request.prove {
        compiler.ensure_installed()?;
    }
    let kernels = exact(&request.kernels).load()?;
    ensure_executed(source, &kernels)?;
    let mut plan_request = plan_request(request);
    if request.changes.prune
        && let Err(error) = source.prune()
    {
        let note = format!("the model is not pruned: {error}");
        session.progress.note(&note);
        plan_request.changes.prune = false;
    }
    let mut windows = None;
    if let Some(new_rows) = request.stream_rows {
        source.stream(new_rows)?;
        plan_request.changes.prune = false;
        let limits = super::KERNEL_LIMITS;
        windows = Some(compare_windows(source, &kernels, request.inputs, limits)?);
    }
    Ok(Prepared {
        kernels,
        request: plan_request,
        windows,
    })
}

/// The forms of a model among which a library of it could be chosen.
///
/// # Errors
/// As [`build`].
pub fn library_forms(
    source: &mut Source,
    request: &BuildRequest,
    session: &Session,
) -> Result<Forms, StudyError> {
    let prepared = prepare(source, request, session)?;
    let (plan, kernels) = (&prepared.request, &prepared.kernels);
    forms(source, plan, kernels, &request.limits, session)
}

/// Makes a library of a model. Nothing is written.
///
/// # Errors
/// When an operator has no kernel, the model cannot be planned or verified, or something of it
/// cannot be said in C.
pub fn build(
    source: &mut Source,
    request: &BuildRequest,
    session: &Session,
) -> Result<Built, StudyError> {
    let name = library_name(source, request)?;
    let prepared = prepare(source, request, session)?;
    if request.limits.are_given() {
        return fitting(source, request, &name, &prepared, session);
    }
    let (kernels, plan_request) = (&prepared.kernels, &prepared.request);
    let planned = if request.regions.are_several() {
        plan_in_regions(source, &request.regions, plan_request, kernels, session)?
    } else {
        plan(source, plan_request, session)?
    };
    library(source, request, &name, &prepared, planned, session)
}

/// The fastest form within the limits. Where libraries are compiled it is their size that counts: of
/// the forms near the limits the fastest one whose library keeps to them, or the last that was tried.
fn fitting(
    source: &mut Source,
    request: &BuildRequest,
    name: &str,
    prepared: &Prepared,
    session: &Session,
) -> Result<Built, StudyError> {
    let (limits, plan_request) = (&request.limits, &prepared.request);
    let forms = forms(source, plan_request, &prepared.kernels, limits, session)?;
    let mut to_try = forms.to_try(limits, request.prove.is_some()).peekable();
    while let Some(form) = to_try.next() {
        follow(source, &form.recipe)?;
        let planned = plan_as_it_is(source, plan_request, plan_request.time, session)?;
        let built = library(source, request, name, prepared, planned, session)?;
        if built.fits() || to_try.peek().is_none() {
            return Ok(Built {
                forms: forms.clone(),
                ..built
            });
        }
        session.progress.note(
            "a form that was estimated to be near the limits exceeds them when it is compiled; \
             the next one is tried",
        );
    }
    Err(BuildError::OutOfReach(Box::new(OutOfReach {
        model: source.name.clone(),
        limits: *limits,
        forms: forms.clone(),
    }))
    .into())
}

/// The library of a plan.
fn library(
    source: &Source,
    request: &BuildRequest,
    name: &str,
    prepared: &Prepared,
    planned: Planned,
    session: &Session,
) -> Result<Built, StudyError> {
    let (kernels, windows) = (&prepared.kernels, prepared.windows.clone());
    let to_check = PlanToCheck::of_planned(&planned, source)?;
    let verification = VerifyRequest {
        inputs: request.inputs,
        ..VerifyRequest::default()
    };
    let verified = verify(source, Some(to_check), kernels, verification, session)?;
    let deployment = verified.deployed.model();
    let subject = verified.subject();
    let interface = kernel_sources::interface();
    let (order, placement) = (subject.order, subject.placement);
    let memories = memories(&planned);
    let network = Network::new(deployment, order, placement, &memories, &interface);
    let network = network.about(&source.name)?;
    let limits = verification.limits;
    // Of a stream also those before it has seen a whole window.
    let warm_up = source.streaming.as_ref().map(|it| it.report.warm_up);
    let inferences = request.inputs + u64::from(warm_up.unwrap_or(0));
    let recorded = record(&verified.deployed.original, None, inferences, limits)?;
    let layout = RecordedLayout {
        order,
        placement,
        regions: &memories.regions,
    };
    let in_layout = record(deployment, Some(&layout), inferences, limits)?;
    let counted = with_states(&planned, in_layout.accesses, inferences);
    let regions = region_uses(&planned, &counted, inferences);
    let description = Description {
        stack_bytes: in_layout.stack_bytes,
        ..describe(
            name.to_owned(),
            source,
            &verified,
            &planned,
            network.most_rows,
        )?
    };
    let loops = rolled(&network.calls, |operator| source.origin(operator));
    let contents = Contents {
        description: &description,
        network: &network,
        loops: &loops,
        interface: &interface,
        recorded: &recorded.inferences,
        cpu: kernels.cpu(),
        compiled: None,
    };
    let no_source = |function| BuildError::NoSource { function };
    let files = contents.files().map_err(no_source)?;
    let files_for_proof = contents.files_for_proof().map_err(no_source)?;
    let (state_bytes, weights_bytes) = (contents.state_bytes(), contents.weights_bytes());
    let is_safe = verified.is_safe()
        && recorded.inferences == in_layout.inferences
        && windows.as_ref().is_none_or(Windows::are_equal);
    let mut built = Built {
        files,
        arena_bytes: network.ram_bytes(),
        state_bytes,
        weights_bytes,
        calls: network.calls.len(),
        instructions: in_layout.instructions / inferences.max(1),
        cycles: in_layout.cycles.map(|it| {
            let waits = regions.iter().map(RegionUse::wait_cycles).sum();
            it.of_each(inferences).waiting(waits)
        }),
        regions,
        is_safe,
        inputs: request.inputs,
        description,
        network,
        recorded: recorded.inferences,
        windows,
        planned,
        forms: Forms::default(),
        limits: request.limits,
        proof: None,
    };
    let target = (kernels.cpu(), request.kernels.flash_timing);
    if let Some(compiler) = &request.prove {
        let library = Provable {
            files: &built.files,
            files_for_proof: &files_for_proof,
            description: &built.description,
            network: &built.network,
            recorded: &built.recorded,
            planned: &built.planned,
        };
        let proof = prove(source, &library, compiler, target, session)?;
        let contents = Contents {
            description: &built.description,
            network: &built.network,
            loops: &loops,
            interface: &interface,
            recorded: &built.recorded,
            cpu: kernels.cpu(),
            compiled: Some(proof.sizes()),
        };
        built.files = contents.files().map_err(no_source)?;
        built.proof = Some(proof);
    }
    Ok(built)
}

/// A library computes what TensorFlow Lite Micro's reference kernels do.
fn exact(kernels: &KernelRequest) -> KernelRequest {
    KernelRequest {
        is_exact: true,
        ..kernels.clone()
    }
}

fn plan_request(request: &BuildRequest) -> PlanRequest {
    let mut plan = PlanRequest {
        overlap: OverlapRequest::on(OverlapKind::Traced, &exact(&request.kernels)),
        changes: request.changes,
        time: request.time,
        ..PlanRequest::default()
    };
    plan.overlap.inputs = request.inputs;
    plan.layout.keep_inputs = request.keep_inputs;
    plan
}

/// Names have at most this many characters: they are in file names.
const MOST_NAME: usize = 48;

fn library_name(source: &Source, request: &BuildRequest) -> Result<String, BuildError> {
    let Some(given) = &request.name else {
        let mut name = identifier(&source.name);
        name.truncate(MOST_NAME);
        return Ok(name);
    };
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let begins = given.starts_with(|first: char| first.is_ascii_alphabetic());
    if begins && given.len() <= MOST_NAME && given.chars().all(is_word) {
        Ok(given.clone())
    } else {
        let given = given.escape_debug().to_string();
        Err(BuildError::Name { given })
    }
}

fn ensure_buildable(source: &Source, request: &BuildRequest) -> Result<(), BuildError> {
    let subgraphs = source.model.graphs.len();
    if source.linked().is_some() {
        let model = source.name.clone();
        return Err(BuildError::Subgraphs { model, subgraphs });
    }
    let kernels = &request.kernels;
    let mut names = std::iter::once(&kernels.kernels).chain(&kernels.further);
    if request.limits.are_given() && request.regions.are_several() {
        return Err(BuildError::LimitsOfRegions);
    }
    match names.find(|&name| ![PACKED, DSP, PLAIN, REFERENCE].contains(&name.as_str())) {
        Some(given) => Err(BuildError::Kernels {
            given: given.escape_debug().to_string(),
        }),
        None => Ok(()),
    }
}

/// Before time is spent on a plan.
fn ensure_executed(source: &Source, kernels: &ModelKernels) -> Result<(), StudyError> {
    let deployed = source.deploy(kernels, super::KERNEL_LIMITS)?;
    let graph = source.graph();
    let operators = deployed.model().not_executed().map(|(operator, reason)| {
        let kind = graph.operators[operator.0].kind.escape_debug().to_string();
        format!("operator {} {kind}: {reason}", operator.0)
    });
    let operators: Vec<String> = operators.collect();
    if operators.is_empty() {
        Ok(())
    } else {
        let is_packed = graph.operators.iter().any(|node| node.kind == Kind::Decode);
        let hint = if is_packed {
            "`dmo-trace decode` unpacks the model's constants, which may be all that is missing"
        } else {
            "docs/operators.md lists the operators and types that there are kernels for"
        };
        let error = StudyError::from(BuildError::NotExecuted { operators, hint });
        Err(error.about(&source.name))
    }
}

fn describe(
    name: String,
    source: &Source,
    verified: &Verified,
    planned: &Planned,
    most_rows: Option<u32>,
) -> Result<Description, StudyError> {
    let original = &verified.deployed.original;
    let graph = &original.graph;
    let endpoints = |tensors: &[TensorId], name: &str| {
        let several = tensors.len() > 1;
        let endpoints = tensors.iter().enumerate().map(|(index, &tensor)| {
            let number = if several {
                index.to_string()
            } else {
                String::new()
            };
            endpoint((source, original), tensor, format!("{name}{number}"))
        });
        endpoints.collect::<Result<Vec<_>, BuildError>>()
    };
    let mut inputs = endpoints(&graph.inputs, "input")?;
    let rows = most_rows.and_then(|most| {
        let input = inputs.pop()?;
        Some(RowsDescription { input, most })
    });
    // Pruned, it has the shapes that the calls have.
    let made = source.original();
    let operators = made.operators.iter().map(|node| in_words(made, node));
    let layout = planned.placed.as_ref();
    let layout = layout.map_or_else(String::new, |placed| region_sentence(placed) + "\n\n");
    Ok(Description {
        prefix: format!("{name}_"),
        name,
        model: source.name.clone(),
        sha256: source.sha256.clone().unwrap_or_default(),
        integer_io: source.integer_io().map(ToString::to_string),
        kernels: verified.kernels.name.clone(),
        cpu: verified.kernels.cpu.clone(),
        inputs,
        rows,
        outputs: endpoints(&graph.outputs, "output")?,
        operators: operators.collect(),
        stack_bytes: None,
        macs: macs::of_graph(&planned.overlaps.graph),
        layout,
        keeps_inputs: planned.file.layout.keep_inputs,
        stream: source.streaming.as_ref().map(|it| StreamDescription {
            window_rows: it.report.window_rows,
            new_rows: it.report.new_rows,
            warm_up: it.report.warm_up,
        }),
    })
}

/// An operator's kind and shapes.
fn in_words(graph: &Graph, node: &Node) -> String {
    let tensors = [graph.arena_inputs(node), graph.arena_outputs(node)];
    let [inputs, outputs] = tensors.map(|tensors| graph.extents(&tensors));
    format!("{} {inputs} -> {outputs}", node.kind.escape_debug())
}

fn endpoint(
    (source, deployment): (&Source, &Deployment),
    tensor: TensorId,
    name: String,
) -> Result<EndpointDescription, BuildError> {
    let known = deployment.graph.tensor(tensor);
    let endpoint = EndpointDescription {
        name,
        tensor: known.name.clone(),
        shape: known.shape.clone(),
        element_type: known.element_type,
        quantisation: quantisation(deployment, tensor).or_else(|| of_end(source, tensor)),
    };
    let has_c_type = endpoint.elements().checked_mul(endpoint.element_bytes());
    if has_c_type == Some(known.size_bytes) {
        Ok(endpoint)
    } else {
        Err(BuildError::ElementType {
            tensor: known.name.escape_debug().to_string(),
            given: known.element_type,
        })
    }
}

/// How an end is quantised that no operator reads any more.
fn of_end(source: &Source, tensor: TensorId) -> Option<Affine> {
    let mut ends = source.integer_io()?.ends();
    let end = ends.find(|end| end.integer == tensor)?;
    Some(Affine {
        scale: end.scale as f32,
        zero_point: end.zero_point,
    })
}

/// How a tensor is quantised, by an operator that reads or writes it.
fn quantisation(deployment: &Deployment, tensor: TensorId) -> Option<Affine> {
    let steps = deployment.steps.iter();
    let mut known = steps.filter_map(|step| {
        let parameters = step.parameters.as_ref()?;
        let node = &deployment.graph.operators[step.operator.0];
        let operand = parameters.tensors.iter().position(|&it| it == Some(tensor));
        let output = node.outputs.iter().position(|&it| it == tensor);
        let of_operand = operand.and_then(|index| parameters.operands.get(index));
        let of_output = output.and_then(|index| parameters.outputs.get(index));
        of_operand.or(of_output).copied()
    });
    known.find(|&affine| affine != Affine::PLAIN)
}
