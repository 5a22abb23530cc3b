//! The smallest arena of a model.

use crate::error::{raised, wrong};
use crate::interruptible::interruptible;
use crate::model::Model;
use crate::options::{self, CacheChoice, one_of};
use crate::values::{to_python, value};
use dmo_analysis::arena::Layout;
use dmo_analysis::graph::TensorId;
use dmo_analysis::schedule::CountedEnds;
use dmo_plot::{Figure, PlanPicture, draw_plan, step_names};
use dmo_trace::study::Session;
use dmo_trace::study::change::ChangeRequest;
use dmo_trace::study::emit::Emission;
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::plan::{self as study, OrderKind, PlanRequest, Planned};
use dmo_trace::study::source::Source;
use dmo_trace::words::plan::PlanReport;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `dmo-trace plan`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PlanOptions {
    overlap: Option<String>,
    kernels: Vec<String>,
    cpu: Option<String>,
    cmsis_nn_version: Option<u8>,
    inputs: Option<u64>,
    order: String,
    align: u64,
    exclude_inputs: bool,
    exclude_outputs: bool,
    keep_inputs: bool,
    exclude_scratch: bool,
    allow: Vec<String>,
    max_recompute: Option<f64>,
    integer_io: bool,
    slices: bool,
    fix: Vec<(usize, u64)>,
    time: f64,
    cache: Option<CacheChoice>,
}

/// Offsets are multiples of at most this many bytes.
const MOST_ALIGNMENT: u64 = 1 << 20;

impl PlanOptions {
    fn request(&self) -> PyResult<PlanRequest> {
        let kind = self.overlap.as_deref();
        let kind = kind.map(|name| one_of("overlap", name, &OverlapKind::ALL, OverlapKind::name));
        let inputs = self.inputs.map(options::inputs).transpose()?;
        Ok(PlanRequest {
            overlap: OverlapRequest::of_options(
                kind.transpose()?,
                &self.kernels,
                self.cpu.clone(),
                self.cmsis_nn_version,
                inputs,
            ),
            layout: self.layout()?,
            order: one_of("order", &self.order, &OrderKind::ALL, OrderKind::name)?,
            fixed: self
                .fix
                .iter()
                .map(|&(tensor, offset)| (TensorId(tensor), offset))
                .collect(),
            changes: changes(&self.allow, self.max_recompute, self.slices)?,
            time: options::seconds("time", self.time)?,
        })
    }

    fn layout(&self) -> PyResult<Layout> {
        if !(1..=MOST_ALIGNMENT).contains(&self.align) {
            return Err(wrong(format!(
                "align {}: expected 1 to {MOST_ALIGNMENT} bytes",
                self.align
            )));
        }
        if self.keep_inputs && self.exclude_inputs {
            return Err(wrong(
                "keep_inputs and exclude_inputs: inputs outside the arena are kept anyway",
            ));
        }
        Ok(Layout {
            alignment: self.align,
            round_sizes: true,
            counted: CountedEnds {
                count_graph_inputs: !self.exclude_inputs,
                count_graph_outputs: !self.exclude_outputs,
            },
            keep_inputs: self.keep_inputs,
            scratch: !self.exclude_scratch,
        })
    }
}

/// What may be changed of the work.
fn changes(allow: &[String], max_recompute: Option<f64>, slices: bool) -> PyResult<ChangeRequest> {
    let mut changes = ChangeRequest::default();
    for given in allow {
        let allowed = match given.as_str() {
            "inplace" => &mut changes.in_place,
            "accumulate" => &mut changes.accumulate,
            "prune" => &mut changes.prune,
            "remove" => &mut changes.remove,
            "split" => &mut changes.split,
            "patch" => &mut changes.patch,
            "cache" => &mut changes.cache,
            _ => {
                return Err(wrong(format!(
                    "allow '{given}': expected inplace, accumulate, prune, remove, split, patch or cache"
                )));
            }
        };
        *allowed = true;
    }
    if slices {
        changes = changes.in_rows();
    }
    if let Some(percent) = max_recompute {
        if !changes.allows_tiles() {
            return Err(wrong(
                "max_recompute limits what tiles compute again, and no tiles are allowed\n  hint: allow=[\"split\", \"patch\", \"cache\"]",
            ));
        }
        if !(0.0..=10_000.0).contains(&percent) {
            return Err(wrong(format!(
                "max_recompute {percent}: expected a percentage from 0 to 10000"
            )));
        }
        changes.most_recomputed_percent = percent;
    }
    Ok(changes)
}

/// A planned model, its report and what belongs to it.
pub struct Inner {
    /// The model as it is planned.
    pub source: Source,
    /// Its plan.
    pub planned: Planned,
    report: Value,
}

/// A planned model.
#[pyclass(frozen, module = "dmo_trace._native")]
pub struct PlannedModel(pub Arc<Inner>);

/// Plans a model.
#[pyfunction]
pub fn plan(
    py: Python<'_>,
    model: &Bound<'_, PyAny>,
    options: PlanOptions,
) -> PyResult<PlannedModel> {
    let (model, request) = (Model::of(model)?, options.request()?);
    let found = interruptible(py, move || {
        planned(model, &request, options.integer_io, options.cache)
    })?;
    Ok(PlannedModel(Arc::new(found.map_err(raised)?)))
}

fn planned(
    model: Model,
    request: &PlanRequest,
    integer_io: bool,
    cache: Option<CacheChoice>,
) -> Result<Inner, anyhow::Error> {
    let session = CacheChoice::session(cache);
    let mut source = model.load()?;
    if integer_io {
        source.take_integers()?;
    }
    let planned = study::plan(&mut source, request, &session)?;
    let report = PlanReport::new(&source, &planned, request.overlap.inputs, &session)?;
    let report = value(&report)?;
    Ok(Inner {
        source,
        planned,
        report,
    })
}

#[pymethods]
impl PlannedModel {
    /// What `dmo-trace plan --json` prints.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.report)
    }

    /// The content of a file of this name: .tflite, .json or .h.
    fn content<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
        let inner = Arc::clone(&self.0);
        let content = interruptible(py, move || {
            let alignment = inner.planned.file.layout.alignment;
            let emission = Emission::new(&path, &inner.source, alignment)?;
            let emitted = emission.of_plan(&inner.source, &inner.planned, &Session::default())?;
            Ok::<_, anyhow::Error>(emitted.content)
        })?;
        Ok(PyBytes::new(py, &content.map_err(raised)?))
    }

    /// The picture of the plan as SVG.
    fn svg(&self) -> PyResult<String> {
        Ok(self.figure()?.svg)
    }

    /// The same as PNG.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png = self.figure()?.png().map_err(raised)?;
        Ok(PyBytes::new(py, &png))
    }
}

impl PlannedModel {
    fn figure(&self) -> PyResult<Figure> {
        let Inner {
            source, planned, ..
        } = &*self.0;
        let steps = step_names(&planned.overlaps.graph, &planned.plan.order);
        let picture = PlanPicture {
            title: &format!("{}: planned", source.name),
            problem: &planned.plan.arena.problem,
            plan: &planned.plan.plan,
            steps: &steps,
        };
        draw_plan(&picture).map_err(raised)
    }
}
