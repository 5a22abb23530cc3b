//! A model that takes the newest rows of a window, held against the model on each whole window.

use super::error::{About, BuildError, StudyError};
use super::kernel_request::ModelKernels;
use super::source::Source;
use crate::mcu::machine::{Limits, Observation};
use crate::measure::MeasureError;
use crate::model::verify::{model_inputs, without_overlaps};
use crate::model::{Deployment, Inference};
use schemars::JsonSchema;
use serde::Serialize;

/// What was compared.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Windows {
    /// How many whole windows the model was run on.
    pub compared: u64,
    /// Instructions of the model on a whole window.
    pub instructions: u64,
    /// Instructions on the newest rows, per inference.
    pub new_instructions: u64,
    /// Windows, by number, with an output of another content.
    pub different: Vec<u64>,
}

impl Windows {
    /// The outputs are those of the model on each window.
    pub fn are_equal(&self) -> bool {
        self.compared > 0 && self.different.is_empty()
    }
}

/// Runs a [streamed](Source::stream) model on rows that follow one another, and the model as it was
/// given on each of the last `windows` windows that they make.
///
/// # Errors
/// When an operator has no kernel, or a kernel fails; when the model is not streamed.
pub fn compare_windows(
    source: &Source,
    kernels: &ModelKernels,
    windows: u64,
    limits: Limits,
) -> Result<Windows, StudyError> {
    let Some(streaming) = &source.streaming else {
        let model = source.name.clone();
        return Err(BuildError::NotStreamed { model }.into());
    };
    let sources = kernels.sources();
    let given = Deployment::of_file_on(&streaming.graph, &streaming.given, &sources, limits)
        .and_then(Deployment::complete)
        .about(&source.name)?;
    let rows = source.deploy(kernels, limits)?.original;
    let rows = rows.complete().about(&source.name)?;
    let mut of_window = runner(&given, limits)?;
    let mut of_rows = runner(&rows, limits)?;
    let report = &streaming.report;
    let window_bytes = given.graph.tensor(report.input).size_bytes as usize;
    let mut stored = Vec::new();
    let mut different = Vec::new();
    let (warm_up, calls) = (
        u64::from(report.warm_up),
        u64::from(report.warm_up) + windows,
    );
    for number in 0..calls {
        let newest = model_inputs(&rows, number);
        stored.extend(newest.iter().flat_map(|(_, bytes)| bytes.iter().copied()));
        of_rows.infer(&newest, &rows.graph.file_order())?;
        if number < warm_up {
            continue;
        }
        let window = stored[stored.len().saturating_sub(window_bytes)..].to_vec();
        of_window.infer(&[(report.input, window)], &given.graph.file_order())?;
        if !same_outputs((&given, &of_window), (&rows, &of_rows))? {
            different.push(number - warm_up);
        }
    }
    Ok(Windows {
        compared: windows,
        instructions: of_window.instructions() / windows.max(1),
        new_instructions: of_rows.instructions() / calls.max(1),
        different,
    })
}

fn runner<'a>(deployment: &'a Deployment<'a>, limits: Limits) -> Result<Inference<'a>, StudyError> {
    const POISON: u8 = 0x96;
    let placement = without_overlaps(deployment, &deployment.graph.file_order())?;
    let watch = Observation::Watch;
    Ok(Inference::new(
        deployment, &placement, POISON, watch, limits,
    )?)
}

/// An output of which only the newest rows are computed is the end of the whole one.
fn same_outputs(
    (given, of_window): (&Deployment, &Inference),
    (rows, of_rows): (&Deployment, &Inference),
) -> Result<bool, MeasureError> {
    let outputs = given.graph.outputs.iter().zip(&rows.graph.outputs);
    for (&whole, &newest) in outputs {
        let (whole, newest) = (of_window.own_bytes(whole)?, of_rows.own_bytes(newest)?);
        if newest.is_empty() || !whole.ends_with(&newest) {
            return Ok(false);
        }
    }
    Ok(true)
}
