//! A planned model in several memories.

use crate::error::{raised, wrong};
use crate::interruptible::interruptible;
use crate::options;
use crate::plan::{Inner, PlannedModel};
use crate::values::{to_python, value};
use dmo_analysis::handover::PlanFile;
use dmo_trace::study::error::EmitReason;
use dmo_trace::study::placed::PlacedModel;
use dmo_trace::study::region_words::{parse_pin, parse_region};
use dmo_trace::study::regions::{RegionRequest, place_model};
use dmo_trace::words::region_plan::RegionReport;
use dmo_trace::words::regions::no_room;
use dmo_trace::words::report::Report;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The options `--region` and `--pin`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PlaceOptions {
    region: Vec<String>,
    pin: Vec<String>,
    time: f64,
}

impl PlaceOptions {
    fn request(&self) -> PyResult<RegionRequest> {
        if self.region.is_empty() {
            return Err(wrong(
                "no memory is given\n  hint: place([\"tcm=64K@1\", \"sram=256K@2\"])",
            ));
        }
        let regions = self.region.iter().map(|text| parse_region(text));
        let pins = self.pin.iter().map(|text| parse_pin(text));
        Ok(RegionRequest {
            regions: regions.collect::<Result<_, _>>().map_err(wrong)?,
            pins: pins.collect::<Result<_, _>>().map_err(wrong)?,
            time: options::seconds("time", self.time)?,
        })
    }
}

/// What was placed, and what is said of it.
pub struct Placed {
    /// The model, and its plan in one arena.
    pub inner: Arc<Inner>,
    found: PlacedModel,
    /// The plan as one of the arena that the memories make.
    pub file: PlanFile,
    report: Value,
}

/// A planned model in several memories.
#[pyclass(frozen, name = "Placement", module = "dmo_trace._native")]
pub struct NativePlacement(pub Arc<Placed>);

/// Places a planned model.
#[pyfunction]
pub fn place(
    py: Python<'_>,
    plan: &PlannedModel,
    options: PlaceOptions,
) -> PyResult<NativePlacement> {
    let (inner, request) = (Arc::clone(&plan.0), options.request()?);
    let placed = interruptible(py, move || placed(inner, &request))?;
    Ok(NativePlacement(Arc::new(placed.map_err(raised)?)))
}

fn placed(inner: Arc<Inner>, request: &RegionRequest) -> Result<Placed, anyhow::Error> {
    let Inner {
        source, planned, ..
    } = &*inner;
    let found = place_model(source, planned, request, None)?
        .map_err(|error| anyhow::Error::msg(no_room(&source.name, &error)))?;
    let file = found.in_one_arena(planned.task(), planned.file.clone());
    let report = value(&RegionReport::new(source, planned, &found))?;
    Ok(Placed {
        found,
        file,
        report,
        inner,
    })
}

#[pymethods]
impl NativePlacement {
    /// What `dmo-trace plan --region --json` prints.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.report)
    }

    /// The content of a file of this name: .json or .h.
    fn content<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
        let Placed { inner, found, .. } = &*self.0;
        let report = RegionReport::new(&inner.source, &inner.planned, found);
        let content = match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => report.json().map_err(raised)?,
            Some("h") if inner.source.is_changed() => {
                let error = EmitReason::ChangedAsHeader.of(&path);
                return Err(raised(error));
            }
            Some("h") => report.header(&inner.planned, found),
            _ => return Err(raised(EmitReason::Regions.of(&path))),
        };
        Ok(PyBytes::new(py, content.as_bytes()))
    }
}
