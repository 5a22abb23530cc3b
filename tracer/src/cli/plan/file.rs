//! A plan.json.

use crate::cli::input;
use anyhow::Context;
use dmo_analysis::handover::{PlanFile, SCHEMA};
use std::path::Path;

/// No plan of a model is larger.
const MOST_BYTES: u64 = 256 << 20;

/// A plan.json as it is written.
pub fn read_plan_file(path: &Path) -> anyhow::Result<PlanFile> {
    let shown = path.display();
    let text = input::text(path, MOST_BYTES).with_context(|| format!("cannot read {shown}"))?;
    serde_json::from_str(&text).with_context(|| format!("{shown} is no plan of the form {SCHEMA}"))
}
