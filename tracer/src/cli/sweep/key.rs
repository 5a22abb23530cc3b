//! What the rows of a table depend on beside their cases. It is kept in a file beside the
//! table, `table.csv.key`, so that a later call does not add to rows that no longer hold.

use super::super::output;
use anyhow::{Context, ensure};
use dmo_trace::study::input;
use dmo_trace::study::kernel_request::NamedKernels;
use dmo_trace::study::sweep::Grid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name of the JSON form and its version.
pub const SCHEMA: &str = "dmo-trace/sweep-key/1";

/// The version of this tool, the kernels and how often they run.
#[derive(Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Key {
    schema: String,
    version: String,
    /// `None` if only the formulas are evaluated.
    inputs: Option<u64>,
    /// Overlaps that do not hold on every input are not granted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    every_input: bool,
    kernels: Vec<Kernels>,
}

/// A set of kernels on a CPU.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
struct Kernels {
    /// The set or file.
    name: String,
    cpu: String,
    /// Of the ELF file, in hexadecimal.
    sha256: String,
    /// The version of its interface, where the user has said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cmsis_nn_version: Option<u8>,
}

/// Larger files are no keys.
const MAX_BYTES: u64 = 16 << 20;

const HINT: &str = "\n  hint: another --out, or delete the table";

impl Key {
    /// The key of a grid whose kernels run on this many inputs, and are followed on every one.
    pub fn of(grid: &Grid, cmsis_nn_version: Option<u8>, inputs: u64, every_input: bool) -> Self {
        let kernels = |library: &NamedKernels| Kernels {
            name: library.name.clone(),
            cpu: library.library.cpu().name.to_owned(),
            sha256: library.library.image().sha256.clone(),
            cmsis_nn_version,
        };
        let mut kernels: Vec<_> = grid
            .libraries
            .iter()
            .map(|library| kernels(library))
            .collect();
        kernels.sort_unstable();
        kernels.dedup();
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            inputs: (!kernels.is_empty()).then_some(inputs),
            every_input,
            kernels,
        }
    }

    /// Writes it beside the table.
    pub fn write(&self, table: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        output::write(&path(table), text.as_bytes())
    }

    /// The table's rows depend on the same.
    pub fn ensure_is_of(&self, table: &Path) -> anyhow::Result<()> {
        let path = path(table);
        let shown = path.display();
        let text = input::text(&path, MAX_BYTES)
            .with_context(|| format!("what its rows depend on is not known{HINT}\n  {shown}"))?;
        let known: Self = serde_json::from_str(&text)
            .with_context(|| format!("{shown} is not the key of a sweep{HINT}"))?;
        let difference = self.difference(&known);
        ensure!(
            difference.is_none(),
            "its rows are of another sweep: {}{HINT}",
            difference.unwrap_or_default()
        );
        Ok(())
    }

    fn difference(&self, known: &Self) -> Option<String> {
        if self == known {
            return None;
        }
        if self.version != known.version {
            return Some(format!(
                "dmo-trace {} made them, this is {}",
                known.version, self.version
            ));
        }
        let place = |kernels: &Kernels| format!("{} on {}", kernels.name, kernels.cpu);
        let same_place = |one: &Kernels, other: &Kernels| place(one) == place(other);
        for mine in &self.kernels {
            match known.kernels.iter().find(|other| same_place(mine, other)) {
                Some(other) if other.sha256 == mine.sha256 => {}
                Some(_) => return Some(format!("the kernels {} have changed", place(mine))),
                None => return Some(format!("they are without the kernels {}", place(mine))),
            }
        }
        let is_mine = |other: &&Kernels| self.kernels.iter().any(|mine| same_place(mine, other));
        if let Some(other) = known.kernels.iter().find(|other| !is_mine(other)) {
            return Some(format!("they are with the kernels {}", place(other)));
        }
        Some(match (known.inputs, self.inputs) {
            (Some(theirs), Some(mine)) if theirs != mine => {
                format!("they are of --inputs {theirs}, this is --inputs {mine}")
            }
            _ => "their key has another form".to_owned(),
        })
    }
}

/// `table.csv.key`.
fn path(table: &Path) -> PathBuf {
    let mut path = table.as_os_str().to_owned();
    path.push(".key");
    path.into()
}
