//! What the kernels of a deployed model allow: O_s of each operator, traced and proved by
//! execution, so that a plan can rely on it.

use super::deployment::{StepKernel, refused};
use super::{DeployError, Deployment, Step};
use crate::kernels::KernelLibrary;
use crate::mcu::machine::Limits;
use crate::measure::attribution::Attribution;
use crate::measure::{self, FOLLOWED_OF_A_LIBRARY, MeasureError, Measurement};
use dmo_analysis::graph::overlaps::{Overlaps, SafeOverlap, Sharing};
use dmo_analysis::graph::parameters::Parameters;
use dmo_analysis::graph::{Graph, OperatorId, TensorId};
use dmo_analysis::profile::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What data decide is found in operators of at most so many instructions: it takes longer than the
/// rest. The built-in kernels' accesses are known.
const FOLLOWED_INSTRUCTIONS: u64 = 250_000;

/// The overlaps that the kernel of one operator allows.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct KernelOverlaps {
    /// The function; `None` if no kernel can be called: nothing is measured, nothing overlaps.
    pub function: Option<String>,
    /// Which functions did its work.
    #[serde(flatten)]
    pub work: Attribution,
    /// Instructions of one call.
    pub instructions: u64,
    /// It executes too many instructions for what data decide to be found: what it allows is known to
    /// hold on the inputs tried only.
    #[serde(default)]
    pub on_inputs_tried: bool,
    /// One for each input and output.
    pub pairs: Vec<KernelPair>,
}

/// An input and an output of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPair {
    /// Position among the kernel's inputs.
    pub input: usize,
    /// Position among the kernel's outputs.
    pub output: usize,
    /// O_s in bytes.
    pub safe_overlap_bytes: u32,
    /// The least displacement of the input's start from the output's that is safe together with
    /// all greater ones, in bytes; `None` if no overlap is.
    pub displacement_bytes: Option<u32>,
    /// Both may start at the same byte, although greater displacements below
    /// `displacement_bytes` are not safe: traced, and proved by execution there.
    pub in_place: bool,
    /// Why no overlap is granted, empty where one is.
    pub refusals: Vec<String>,
}

/// The measurement of one input and one output in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowed {
    pub input: TensorId,
    pub output: TensorId,
    /// Safe together with all greater ones, in bytes.
    pub displacement_bytes: u64,
    /// Displacement 0 is safe.
    pub in_place: bool,
}

impl Allowed {
    /// What a plan may make use of, where no more than `most` is granted. Both buffers at the
    /// same byte is the greater overlap, where they are of one size.
    fn sharing(self, graph: &Graph, most: Option<Sharing>) -> Option<Sharing> {
        let size = |tensor: TensorId| graph.tensor(tensor).size_bytes;
        let same = self.in_place && size(self.input) == size(self.output);
        let displaced = Sharing::Displaced(self.displacement_bytes);
        match most {
            None | Some(Sharing::Displaced(0)) if same && self.displacement_bytes > 0 => {
                Some(Sharing::Alias)
            }
            None => Some(displaced),
            Some(Sharing::Displaced(least)) => {
                Some(Sharing::Displaced(self.displacement_bytes.max(least)))
            }
            Some(Sharing::Alias) => {
                (same || self.displacement_bytes == 0).then_some(Sharing::Alias)
            }
        }
    }
}

/// Keeps what was measured, so that it need not be measured again.
pub trait Store: Sync {
    /// The measurement kept under this key, if any.
    fn load(&self, key: &str) -> Option<KernelOverlaps>;
    /// Keeps it.
    fn save(&self, key: &str, overlaps: &KernelOverlaps);
}

/// Measures what each operator's kernel allows, on `inputs` different inputs, several operators
/// side by side. `progress` receives how many are done.
///
/// # Errors
/// When a kernel faults.
pub fn measured(
    deployment: &Deployment,
    inputs: u64,
    limits: Limits,
    store: &dyn Store,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<KernelOverlaps>, DeployError> {
    let codes = deployment.sources.iter();
    let codes: Vec<String> = codes
        .map(|source| source.library.image().code_sha256())
        .collect();
    let count = deployment.steps.len();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let found: Mutex<Vec<Option<Result<KernelOverlaps, DeployError>>>> =
        Mutex::new((0..count).map(|_| None).collect());
    let work = || {
        while let Some(step) = deployment.steps.get(next.fetch_add(1, Ordering::Relaxed)) {
            let overlaps = of_step(deployment, step, &codes, inputs, limits, store);
            if let Ok(mut found) = found.lock() {
                found[step.operator.0] = Some(overlaps);
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    // One that is missing must not move the others to operators that are not theirs.
    let found = found.into_inner().unwrap_or_default().into_iter();
    let found = found.zip(&deployment.steps).map(|(found, step)| {
        found.unwrap_or_else(|| Err(failed(deployment, step, MeasureError::Panic)))
    });
    found.collect()
}

fn failed(deployment: &Deployment, step: &Step, error: MeasureError) -> DeployError {
    let node = &deployment.graph.operators[step.operator.0];
    refused(step.operator, node, error.into())
}

fn of_step(
    deployment: &Deployment,
    step: &Step,
    codes: &[String],
    inputs: u64,
    limits: Limits,
    store: &dyn Store,
) -> Result<KernelOverlaps, DeployError> {
    let (Ok(kernel), Some(parameters)) = (&step.kernel, &step.parameters) else {
        return Ok(KernelOverlaps::default());
    };
    let library = deployment.library(kernel);
    let key = key(library, kernel, parameters, &codes[kernel.source], inputs);
    if let Some(known) = store
        .load(&key)
        .filter(|known| known.is_of(&deployment.graph, step))
    {
        return Ok(known);
    }
    let followed = if library.is_built_in() {
        FOLLOWED_INSTRUCTIONS
    } else {
        FOLLOWED_OF_A_LIBRARY
    };
    let measured = measure::measure_with(
        library,
        &kernel.case,
        kernel.contract,
        parameters.clone(),
        (inputs, limits),
        followed,
    );
    let measured = measured.map_err(|error| failed(deployment, step, error))?;
    let overlaps = KernelOverlaps {
        on_inputs_tried: measured.decisions.is_none() && !library.is_built_in(),
        ..KernelOverlaps::of(&measured, step.inputs.len())
    };
    // Another engine may find what data decide.
    let cannot_tell = measured.decisions.is_none() && overlaps.instructions <= followed;
    if !cannot_tell {
        store.save(&key, &overlaps);
    }
    Ok(overlaps)
}

/// All that decides what is measured: the code, the CPU, the function and how it is called, the
/// shapes, the numbers. A kernel may branch on its weights.
fn key(
    library: &KernelLibrary,
    kernel: &StepKernel,
    parameters: &Parameters,
    code: &str,
    inputs: u64,
) -> String {
    /// Counts up when a measurement gives something else than before.
    const VERSION: u32 = 10;
    let all = format!(
        "{VERSION} {code} {} {} {} {:?} {inputs} {:?}",
        library.cpu().name,
        kernel.contract.function,
        kernel.contract.versions,
        kernel.case,
        parameters,
    );
    crate::elf::image::sha256(all.as_bytes())
}

impl KernelPair {
    /// `sizes` are those of the input and the output, in bytes.
    fn is_consistent(&self, [input, output]: [u64; 2]) -> bool {
        let granted = self.displacement_bytes;
        let shared = granted.map_or(0, |bytes| output.saturating_sub(bytes.into()).min(input));
        granted.is_some() == self.refusals.is_empty()
            && (!self.in_place || granted.is_some_and(|bytes| bytes > 0))
            && shared <= self.safe_overlap_bytes.into()
    }
}

impl KernelOverlaps {
    /// Whether it can be what was measured of this step: something else may have been kept.
    fn is_of(&self, graph: &Graph, step: &Step) -> bool {
        let mut pairs: Vec<(usize, usize)> = self
            .pairs
            .iter()
            .map(|pair| (pair.input, pair.output))
            .collect();
        pairs.sort_unstable();
        let outputs = step.outputs.len();
        let all = (0..step.inputs.len())
            .flat_map(|input| (0..outputs).map(move |output| (input, output)));
        step.function()
            .is_some_and(|name| self.function.as_deref() == Some(name))
            && pairs.into_iter().eq(all)
            && self.pairs.iter().all(|pair| {
                let (input, output) = (step.inputs[pair.input], step.outputs[pair.output]);
                let sizes = [input, output].map(|id| graph.tensor(id).size_bytes);
                pair.is_consistent(sizes)
            })
    }

    fn of(measured: &Measurement, inputs: usize) -> Self {
        let layer = &measured.layer;
        let decided = measured.decisions.iter().flatten().next();
        let pairs = layer.pairs.iter().zip(&measured.proofs);
        let pairs = pairs.map(|(pair, proof)| {
            let mut refusals: Vec<String> = pair.refusals.iter().map(ToString::to_string).collect();
            if let (Some(decision), [Refusal::DataDependent]) = (decided, &pair.refusals[..]) {
                refusals = vec![decision.clause()];
            }
            if !proof.equal_at_overlap {
                refusals.push("execution in overlapped buffers gives another output".to_owned());
            }
            let displacement = if proof.misaligned_at_overlap {
                // Where the buffers lie apart by a multiple of this, they are aligned alike.
                pair.displacement_bytes.next_multiple_of(8)
            } else {
                pair.displacement_bytes
            };
            let granted = refusals.is_empty();
            KernelPair {
                input: pair.input,
                output: pair.output - inputs,
                safe_overlap_bytes: if granted { pair.safe_overlap_bytes } else { 0 },
                displacement_bytes: granted.then_some(displacement),
                in_place: granted && proof.equal_in_place == Some(true),
                refusals,
            }
        });
        Self {
            function: Some(measured.function.to_owned()),
            work: measured.work.clone(),
            instructions: layer.instructions(),
            on_inputs_tried: false,
            pairs: pairs.collect(),
        }
    }
}

/// What is allowed, and the addresses of the instructions whose outcomes are known to depend.
pub(super) type EveryOutcome = (Vec<Allowed>, BTreeSet<u32>);

/// What an operator's kernel allows whichever of its conditional stores it makes; `None` if the data
/// decide on more than that, or on nothing, or nothing is measured. With `follows_data` also where no input
/// tried shows it.
pub(super) fn for_every_outcome(
    deployment: &Deployment,
    step: &Step,
    inputs: u64,
    limits: Limits,
    follows_data: bool,
) -> Result<Option<EveryOutcome>, MeasureError> {
    let (Ok(kernel), Some(parameters)) = (&step.kernel, &step.parameters) else {
        return Ok(None);
    };
    let followed = if follows_data {
        u64::MAX
    } else {
        FOLLOWED_INSTRUCTIONS
    };
    let measured = measure::measure_with(
        deployment.library(kernel),
        &kernel.case,
        kernel.contract,
        parameters.clone(),
        (inputs, limits),
        followed,
    )?;
    if !measured.every_outcome {
        return Ok(None);
    }
    let overlaps = KernelOverlaps::of(&measured, step.inputs.len());
    let allowed = of_kernel(&deployment.graph, step, &overlaps);
    Ok(Some((allowed, measured.outcomes)))
}

/// The same in terms of the model's tensors, as far as the deployment grants it.
pub fn of_tensors(deployment: &Deployment, measured: &[KernelOverlaps]) -> Overlaps {
    let of = |(step, kernel): (&Step, &KernelOverlaps)| {
        let found = of_kernel(&deployment.graph, step, kernel);
        granted(deployment, step.operator, found)
    };
    deployment.steps.iter().zip(measured).map(of).collect()
}

/// The measured overlap, or less if the deployment grants less.
pub(super) fn granted(
    deployment: &Deployment,
    operator: OperatorId,
    measured: Vec<Allowed>,
) -> Vec<SafeOverlap> {
    let kernel = deployment.step(operator).kernel.as_ref().ok();
    let most = kernel.and_then(|kernel| kernel.most.as_ref());
    let granted = measured.into_iter().filter_map(|pair| {
        let Allowed { input, output, .. } = pair;
        let same = |other: &&SafeOverlap| (other.input, other.output) == (input, output);
        let most = match most {
            None => None,
            Some(most) => Some(most.iter().find(same)?.sharing),
        };
        let sharing = pair.sharing(&deployment.graph, most)?;
        Some(SafeOverlap {
            input,
            output,
            sharing,
        })
    });
    granted.collect()
}

/// A tensor that the kernel takes twice may be overlapped as far as both readings allow.
fn of_kernel(graph: &Graph, step: &Step, kernel: &KernelOverlaps) -> Vec<Allowed> {
    let mut found: Vec<Allowed> = Vec::new();
    let mut refused = Vec::new();
    for pair in &kernel.pairs {
        let (input, output) = (step.inputs[pair.input], step.outputs[pair.output]);
        if !graph.in_arena(input) || !graph.in_arena(output) {
            continue;
        }
        let Some(displacement) = pair.displacement_bytes else {
            refused.push((input, output));
            continue;
        };
        let displacement_bytes = u64::from(displacement);
        let in_place = pair.in_place || displacement == 0;
        let known = found
            .iter_mut()
            .find(|known| (known.input, known.output) == (input, output));
        match known {
            Some(known) => {
                known.displacement_bytes = displacement_bytes.max(known.displacement_bytes);
                known.in_place &= in_place;
            }
            None => found.push(Allowed {
                input,
                output,
                displacement_bytes,
                in_place,
            }),
        }
    }
    found.retain(|pair| !refused.contains(&(pair.input, pair.output)));
    found
}
