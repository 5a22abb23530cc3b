//! A plan.json.

use super::error::{About, PlanError, StudyError};
use super::input::{self, InputError};
use super::region_file::{REGIONS_SCHEMA, REGIONS_SCHEMAS, RegionFile};
use dmo_analysis::graph::tflite;
use dmo_analysis::handover::{PlanFile, SCHEMA};
use serde::Deserialize;
use std::path::Path;

/// No plan of a model is larger.
const MOST_BYTES: u64 = 256 << 20;

/// A plan, and what the user calls it.
#[derive(Debug, Clone)]
pub struct NamedPlan {
    /// Its path, or what else messages call it.
    pub name: String,
    /// The plan as it is written: nothing of it is checked.
    pub plan: PlanFile,
}

impl NamedPlan {
    /// Reads a plan.json, one of several memories as one of a single arena.
    ///
    /// # Errors
    /// When it cannot be read or has another form.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let name = path.display().to_string();
        let content = input::read(path, MOST_BYTES).about(format_args!("cannot read {name}"))?;
        if tflite::is_model(&content) {
            return Err(PlanError::PlanIsModel { name }.into());
        }
        let text = String::from_utf8(content).map_err(InputError::from);
        let text = text.about(format_args!("cannot read {name}"))?;
        /// What tells the forms apart.
        #[derive(Deserialize)]
        struct Form {
            schema: String,
        }
        let form = serde_json::from_str(&text).map(|form: Form| form.schema);
        if form.is_ok_and(|schema| REGIONS_SCHEMAS.contains(&&*schema)) {
            let file: RegionFile = serde_json::from_str(&text).about(format_args!(
                "{name} is no plan of the form {REGIONS_SCHEMA}"
            ))?;
            let plan = file.in_one_arena().about(&name)?;
            return Ok(Self { name, plan });
        }
        let plan = serde_json::from_str(&text)
            .about(format_args!("{name} is not a plan of the form {SCHEMA}"))?;
        Ok(Self { name, plan })
    }
}
