//! A plan as JSON, as C, or within the model.

use super::SEARCH_TIME;
use super::error::{About, EmitError, EmitReason, StudyError};
use super::overlap_source::OverlapKind;
use super::plan::Planned;
use super::search_time::within_time;
use super::source::Source;
use dmo_analysis::arena::{ArenaError, Layout};
use dmo_analysis::graph::overlaps::{self, Overlaps};
use dmo_analysis::graph::{Graph, tflite};
use dmo_analysis::handover::{OnDevice, on_device, tiled};
use dmo_analysis::optimise::{Task, optimise};
use dmo_analysis::transform::Recipe;
use dmo_planner::plan::tflm::ALIGNMENT;
use std::path::{Path, PathBuf};

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
}

/// What a file of a plan holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emitted {
    /// The file's content.
    pub content: Vec<u8>,
    /// What the arena needs in this form, in bytes: for a model, what TensorFlow Lite Micro makes
    /// of it.
    pub arena_bytes: u64,
    /// What the arena of a model in tiles of standard operators needs; `None` of other files.
    pub tiles: Option<TiledArena>,
}

/// What TensorFlow Lite Micro needs for a model that tiles are made of by standard operators, and
/// for the model as it is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "said above")]
pub struct TiledArena {
    pub with_tiles: u64,
    pub without: u64,
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
    pub fn of_plan(&self, source: &Source, planned: &Planned) -> Result<Emitted, StudyError> {
        let plan = &planned.file;
        let refused = |reason: EmitReason| StudyError::from(reason.of(&self.path));
        let mut emitted = Emitted {
            content: Vec::new(),
            arena_bytes: plan.arena_bytes,
            tiles: None,
        };
        match (self.form, source.recipe()) {
            (Form::Json, _) => {
                emitted.content = (serde_json::to_string_pretty(plan)? + "\n").into_bytes();
            }
            (Form::Header, Some(_)) => return Err(refused(EmitReason::ChangedAsHeader)),
            (Form::Header, None) => {
                let arena_bytes = plan.arena_bytes;
                if arena_bytes > i32::MAX as u64 {
                    return Err(refused(EmitReason::HeaderRange { arena_bytes }));
                }
                let tensors = source.graph().tensors.len();
                emitted.content = plan.c_header(tensors).into_bytes();
            }
            (Form::Model, recipe) => {
                let file = source.file.as_deref();
                let file = file.ok_or_else(|| refused(EmitReason::NoModelFile))?;
                return match recipe {
                    Some(recipe) => self.standard(source.original(), file, recipe, planned),
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
        let (plan, graph) = (&planned.file, &device_graph(source, planned));
        let offsets = plan.offsets(graph.tensors.len());
        let device = on_device(graph, &plan.order, &offsets, plan.layout.keep_inputs);
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
        Ok(Emitted {
            content: tflite::with_plan(file, Some(&plan.order), &words).about(self.refusal())?,
            arena_bytes: device.arena_bytes,
            tiles: None,
        })
    }

    fn ensure_apart(&self, device: &OnDevice, layout: Layout) -> Result<(), EmitError> {
        let keep_inputs = layout.keep_inputs;
        match device.clash.clone() {
            Some(pair) => Err(EmitReason::Clash { pair, keep_inputs }.of(&self.path)),
            None => Ok(()),
        }
    }

    fn refusal(&self) -> String {
        format!("cannot emit {}", self.path.display())
    }

    /// The model in tiles, of operators that TensorFlow Lite Micro has, with a plan of its own.
    fn standard(
        &self,
        graph: &Graph,
        file: &[u8],
        recipe: &Recipe,
        planned: &Planned,
    ) -> Result<Emitted, StudyError> {
        if !(recipe.in_place.is_empty() && recipe.removed.is_empty()) {
            return Err(EmitReason::NotStandard.of(&self.path).into());
        }
        let (source, layout) = (&planned.overlaps, planned.file.layout);
        // Of kernels that were measured nothing is known of the operators that are added.
        let overlaps = |graph: &Graph| match source.kind {
            OverlapKind::Analytic => overlaps::analytic(graph),
            OverlapKind::None if source.accumulates => overlaps::accumulating(graph),
            OverlapKind::None | OverlapKind::Traced => overlaps::none(graph),
        };
        let tiled = within_time(SEARCH_TIME, |budget| {
            tiled(file, recipe, layout, overlaps, budget, &mut |_| ())
        });
        let tiled = tiled.about(self.refusal())?;
        self.ensure_apart(&tiled.device, layout)?;
        Ok(Emitted {
            arena_bytes: tiled.device.arena_bytes,
            tiles: Some(TiledArena {
                with_tiles: tiled.device.arena_bytes,
                without: plain_bytes(graph, layout, overlaps)?,
            }),
            content: tiled.file,
        })
    }
}

/// The model with the scratch memory that TensorFlow Lite Micro's kernels ask for: those that call
/// CMSIS-NN ask for what its functions want, all others are its reference kernels.
pub(super) fn device_graph(source: &Source, planned: &Planned) -> Graph {
    let mut graph = planned.overlaps.graph.clone();
    if let Some(measured) = &planned.overlaps.measured {
        let operators = graph.operators.iter_mut().zip(&source.graph().operators);
        for ((node, own), function) in operators.zip(&measured.planned.functions) {
            if !function
                .as_ref()
                .is_some_and(|name| name.starts_with("arm_"))
            {
                node.scratch_bytes.clone_from(&own.scratch_bytes);
            }
        }
    }
    graph
}

/// Whether TensorFlow Lite Micro could obey a plan of this model.
pub(super) fn tflm_can_obey(source: &Source) -> bool {
    // It has no kernels for the operators of a changed model.
    source.recipe().is_none() && no_file(source).is_none()
}

/// Why no model file can be written.
fn no_file(source: &Source) -> Option<EmitReason> {
    if source.file.is_none() {
        Some(EmitReason::NoModelFile)
    } else if source.model.graphs.len() > 1 {
        Some(EmitReason::Subgraphs)
    } else {
        None
    }
}

/// What the model needs as it is, with a plan for TensorFlow Lite Micro.
fn plain_bytes(
    graph: &Graph,
    layout: Layout,
    overlaps: impl Fn(&Graph) -> Overlaps,
) -> Result<u64, ArenaError> {
    let task = Task {
        graph,
        overlaps: &overlaps(graph),
        layout,
        reorder: true,
        fixed: &[],
    };
    let planned = within_time(SEARCH_TIME, |budget| optimise(task, budget, &mut |_| ()))?;
    let offsets = planned.arena.tensor_offsets(&planned.plan);
    Ok(on_device(graph, &planned.order, &offsets, layout.keep_inputs)?.arena_bytes)
}
