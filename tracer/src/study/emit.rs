//! A plan as JSON, as C, or within the model.

mod tiles;

pub use tiles::{FormChoice, WrittenForm, has_standard_tiles, is_standard};

use super::error::{About, EmitError, EmitReason, StudyError};
use super::overlap_source::OverlapKind;
use super::plan::Planned;
use super::session::Session;
use super::source::Source;
use super::state_lookup::taken_for_states;
use super::whole_arena::ArenaChange;
use crate::kernels;
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::tflite::RuntimeKernels;
use dmo_analysis::graph::{Graph, Storage, TensorId, tflite};
use dmo_analysis::handover::OnDevice;
use dmo_analysis::tflm::TflmError;
use dmo_analysis::transform::Recipe;
use dmo_planner::minimalloc;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiles::WritableForms;

/// A file that a plan is to be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emission {
    /// The file.
    pub path: PathBuf,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Header,
    Model,
    Table,
}

/// What a file of a plan holds.
pub struct Emitted {
    /// The file's content.
    pub content: Vec<u8>,
    /// What the arena needs in this form, in bytes: for a model, what TensorFlow Lite Micro makes
    /// of it.
    pub arena_bytes: u64,
    /// The whole arena of TensorFlow Lite Micro before and after, for the kernels that the plan is
    /// for; empty of other files than models.
    pub changes: Vec<ArenaChange>,
    /// What was chosen among forms of a model; `None` where there was no choice.
    pub choice: Option<FormChoice>,
    /// The form of the model that was chosen.
    pub form: Option<Box<WrittenForm>>,
    /// The kinds of operators that this form of the model has and the model has not.
    pub added_kinds: BTreeSet<String>,
}

impl Emitted {
    /// Whether it is a model in tiles.
    pub fn is_tiled(&self) -> bool {
        self.form.as_ref().is_some_and(|form| form.is_tiled())
    }
}

impl Emission {
    /// Sees what can be seen before the work is done: whether such a file can be written of this
    /// model, as it is, in a layout of this alignment.
    ///
    /// # Errors
    /// When it cannot.
    pub fn new(path: &Path, source: &Source, alignment: u64) -> Result<Self, EmitError> {
        let form = match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Form::Json,
            Some("h") => Form::Header,
            Some("tflite") => Form::Model,
            Some("csv") => Form::Table,
            _ => return Err(EmitReason::Form.of(path)),
        };
        if form == Form::Model {
            if let Some(reason) = no_file(source) {
                return Err(reason.of(path));
            }
            if !alignment.is_multiple_of(ALIGNMENT) {
                return Err(EmitReason::Alignment { given: alignment }.of(path));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            form,
        })
    }

    /// The file of a plan.
    ///
    /// # Errors
    /// When the model was changed in a way that the file cannot tell, or the arena is too large
    /// for it.
    pub fn of_plan(
        &self,
        source: &Source,
        planned: &Planned,
        session: &Session,
    ) -> Result<Emitted, StudyError> {
        let plan = &planned.file;
        let refused = |reason: EmitReason| StudyError::from(reason.of(&self.path));
        let mut emitted = Emitted {
            content: Vec::new(),
            arena_bytes: plan.arena_bytes,
            changes: Vec::new(),
            choice: None,
            form: None,
            added_kinds: BTreeSet::new(),
        };
        let is_changed = source.is_changed();
        match (self.form, source.recipe()) {
            (Form::Json, _) => {
                emitted.content = (serde_json::to_string_pretty(plan)? + "\n").into_bytes();
            }
            (Form::Header, _) if is_changed => return Err(refused(EmitReason::ChangedAsHeader)),
            (Form::Header, _) => {
                let arena_bytes = plan.arena_bytes;
                if arena_bytes > i32::MAX as u64 {
                    return Err(refused(EmitReason::HeaderRange { arena_bytes }));
                }
                let tensors = source.graph().tensors.len();
                emitted.content = plan.c_header(tensors).into_bytes();
            }
            (Form::Table, _) => {
                let found = &planned.plan;
                let table = minimalloc::table(&found.arena.problem, Some(&found.plan));
                let table = table.map_err(|error| refused(EmitReason::Table(Box::new(error))))?;
                emitted.content = table.into_bytes();
            }
            (Form::Model, recipe) => {
                let file = source.file.as_deref();
                let file = file.ok_or_else(|| refused(EmitReason::NoModelFile))?;
                let forms = WritableForms {
                    emission: self,
                    source,
                    file,
                    planned,
                };
                return match recipe {
                    Some(recipe) => forms.best(recipe, session),
                    // The kernels of the plan may run other tiles than it was offered.
                    None if has_standard_tiles(planned) => forms.best(&Recipe::default(), session),
                    None => self.planned_model(source, file, planned),
                };
            }
        }
        Ok(emitted)
    }

    /// The model with the plan as its metadata.
    fn planned_model(
        &self,
        source: &Source,
        file: &[u8],
        planned: &Planned,
    ) -> Result<Emitted, StudyError> {
        let (content, arena_bytes) = self.with_plan(source, planned)?;
        let given = source.file_as_read().unwrap_or(file);
        Ok(Emitted {
            changes: whole_arena_changes(source, (given, &content), planned)
                .about(self.refusal())?,
            content,
            arena_bytes,
            choice: None,
            form: None,
            added_kinds: BTreeSet::new(),
        })
    }

    /// The file with the plan as its metadata, and the bytes of the arena that TensorFlow Lite Micro
    /// makes of it.
    fn with_plan(&self, source: &Source, planned: &Planned) -> Result<(Vec<u8>, u64), StudyError> {
        let file = source.file.as_deref();
        let file = file.ok_or_else(|| EmitReason::NoModelFile.of(&self.path))?;
        if is_packed(planned) {
            return Err(EmitReason::Packed.of(&self.path).into());
        }
        let (plan, graph) = (&planned.file, device_graph(planned));
        let offsets = plan.offsets(graph.tensors.len());
        let mut offsets = unreached_at_zero(source, offsets);
        for tensor in taken_for_states(source) {
            // The runtime places it, as the check of the layout knows.
            offsets[tensor.0] = None;
        }
        let device = source.on_device(graph, &plan.order, &offsets, plan.layout.keep_inputs);
        let device = device.about(self.refusal())?;
        self.ensure_apart(&device, plan.layout)?;
        let word = |offset: Option<u64>| match offset {
            Some(offset) => {
                i32::try_from(offset).map_err(|_| EmitReason::ModelRange { offset }.of(&self.path))
            }
            None => Ok(-1),
        };
        let words = offsets.into_iter().map(word);
        let words = words.collect::<Result<Vec<i32>, _>>()?;
        // Of several subgraphs the order is that of the file.
        let order = source.linked().is_none().then_some(&plan.order[..]);
        let content = tflite::with_plan(file, order, &words).about(self.refusal())?;
        Ok((content, device.arena_bytes))
    }

    fn ensure_apart(&self, device: &OnDevice, layout: Layout) -> Result<(), EmitError> {
        let keep_inputs = layout.keep_inputs;
        match device.clash.clone() {
            Some(pair) => Err(EmitReason::Clash { pair, keep_inputs }.of(&self.path)),
            None => Ok(()),
        }
    }

    fn refusal(&self) -> String {
        format!("cannot write {}", self.path.display())
    }
}

/// Whether a plan is for kernels whose weights no runtime lays out for them.
pub fn is_packed(planned: &Planned) -> bool {
    let measured = planned.overlaps.measured.as_ref();
    let functions = measured.into_iter().flat_map(|it| &it.planned.functions);
    functions.flatten().any(|name| kernels::is_packed(name))
}

/// Whether the plan is for measured kernels that are called in place of CMSIS-NN's.
fn calls_cmsis_nn(planned: &Planned) -> bool {
    planned.overlaps.measured.is_some() && runtime_kernels(planned) == [RuntimeKernels::CmsisNn]
}

/// The whole arena before and after, with the kernels that the plan is for.
fn whole_arena_changes(
    source: &Source,
    (before, after): (&[u8], &[u8]),
    planned: &Planned,
) -> Result<Vec<ArenaChange>, TflmError> {
    if !calls_cmsis_nn(planned) {
        return ArenaChange::all(before, after, runtime_kernels(planned));
    }
    let graph = device_graph(planned);
    // Of the channels that were removed, and of conversions at the ends, the kernels were not asked.
    let is_as_given = source.pruned_sha256().is_none() && source.integer_ends.is_none();
    let scratch_before = is_as_given.then(|| source.scratch_bytes(graph, &graph.file_order()));
    let scratch_after = source.scratch_bytes(graph, &planned.file.order);
    let change = ArenaChange::in_place_of_cmsis_nn(
        (before, scratch_before.as_ref()),
        (after, &scratch_after),
    )?;
    Ok(vec![change])
}

/// The kernels that a plan is for: all, if nothing overlaps.
fn runtime_kernels(planned: &Planned) -> &'static [RuntimeKernels] {
    const ALL: [RuntimeKernels; 2] = [RuntimeKernels::Reference, RuntimeKernels::CmsisNn];
    let [reference, cmsis_nn] = [&ALL[..1], &ALL[1..]];
    let measured = planned.overlaps.measured.as_ref();
    match (planned.overlaps.kind, measured) {
        // Those of a firmware may be either.
        (OverlapKind::None | OverlapKind::Traced, None) => &ALL,
        (OverlapKind::Analytic, _) => reference,
        (_, Some(measured)) if measured.is_for_cmsis_nn => cmsis_nn,
        (_, Some(_)) => reference,
    }
}

/// The model with the scratch buffers that TensorFlow Lite Micro's kernels ask for.
pub(super) fn device_graph(planned: &Planned) -> &Graph {
    let measured = planned.overlaps.measured.as_ref();
    measured.map_or(&planned.overlaps.graph, |measured| &measured.on_device)
}

/// What the whole arena becomes by a plan of the model as it is; `None` where TensorFlow Lite Micro
/// could not use it, or would place scratch memory over what is in use.
pub fn arena_changes(source: &Source, planned: &Planned) -> Option<Vec<ArenaChange>> {
    let file = source.file.as_deref()?;
    if !tflm_can_obey(source, planned) || !planned.file.layout.alignment.is_multiple_of(ALIGNMENT) {
        return None;
    }
    let emission = Emission {
        path: PathBuf::from(&source.name),
        form: Form::Model,
    };
    let emitted = emission.planned_model(source, file, planned).ok()?;
    Some(emitted.changes)
}

/// Whether TensorFlow Lite Micro could obey the plan.
pub(super) fn tflm_can_obey(source: &Source, planned: &Planned) -> bool {
    // It has no kernels for the operators of a changed model.
    source.recipe().is_none() && no_file(source).is_none() && !is_packed(planned)
}

/// Tensors that no inference uses lie at the arena's start. TensorFlow Lite Micro would place those
/// of subgraphs that nothing runs all beside one another. What is used and has no offset is left to
/// the runtime.
fn unreached_at_zero(source: &Source, mut offsets: Vec<Option<u64>>) -> Vec<Option<u64>> {
    if source.linked().is_none() {
        return offsets;
    }
    let graph = source.graph();
    let nodes = graph.operators.iter();
    let operands = nodes.flat_map(|node| node.inputs.iter().chain(&node.outputs));
    let used = operands.chain(&graph.inputs).chain(&graph.outputs);
    let used: BTreeSet<TensorId> = used.copied().collect();
    for (index, (offset, tensor)) in offsets.iter_mut().zip(&graph.tensors).enumerate() {
        let is_unreached = !used.contains(&TensorId(index));
        if is_unreached && tensor.storage == Storage::Arena && tensor.size_bytes > 0 {
            offset.get_or_insert(0);
        }
    }
    offsets
}

/// Why no model file can be written.
fn no_file(source: &Source) -> Option<EmitReason> {
    if source.file.is_none() {
        Some(EmitReason::NoModelFile)
    } else {
        None
    }
}
