//! Results as a page to look at: one HTML file that needs no network and nothing beside it.
//!
//! ```text
//! Planned, Verified --plan, verification--> Page --html--> the file
//! runs, savings -----run, savings----------> |
//!                                            +--json--> the same within the file, for its script
//! ```
//!
//! All that is shown is in the [`Page`], a plain structure. The templates (maud) escape every text,
//! and the numbers for the script are JSON in which no character could end its element, so that a
//! name in a model is never markup. Without a script the page has its pictures and tables.
//!
//! | module | what it holds |
//! |---|---|
//! | `text` | names and numbers as the page has them |
//! | [`map`] | where buffers lie, step by step |
//! | [`layers`] | the model's operators |
//! | [`peak`] | what holds the arena up, and what would lower it |
//! | [`front`] | memory against recomputation |
//! | [`plan`] | the page of a plan |
//! | [`build`] | the page of a C library |
//! | [`verification`] | the page of a verified plan |
//! | [`traced`] | the layers of a program that was run |
//! | [`steps`] | a map whose steps are these layers |
//! | [`memory`] | where their buffers lie |
//! | [`interpreted`] | the arena of an interpreter that was run |
//! | [`run`] | the page of a run |
//! | [`savings`] | the page of what each way of saving memory does |
//! | [`json`] | the page as data within itself |
//! | [`html`] | the page as a file |

pub mod build;
pub mod front;
pub mod html;
pub mod interpreted;
pub mod json;
pub mod layers;
pub mod map;
pub mod memory;
pub mod peak;
pub mod plan;
pub mod run;
pub mod savings;
pub mod steps;
mod text;
pub mod traced;
pub mod verification;

use dmo_analysis::wording::grouped;
use front::FrontChart;
use layers::LayerRow;
use map::ArenaMap;
use peak::Peak;
use savings::SavingsTable;
use serde::Serialize;
use traced::TracedLayer;

/// Name of the form of a page's data, and its version.
pub const SCHEMA: &str = "dmo-trace/page/1";

/// All that a page shows.
#[derive(Debug, Clone, Serialize)]
pub struct Page {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Name of the model, or of the program.
    pub model: String,
    /// The command whose result it is.
    pub command: &'static str,
    /// Whether the plan is safe, where that was asked.
    pub verdict: Option<Verdict>,
    /// The result in few words, first the most important.
    pub facts: Vec<Fact>,
    /// The arena of the result, then the one that it is compared with, if any.
    pub maps: Vec<ArenaMap>,
    /// What holds the arena up; `None` if that is not known.
    pub peak: Option<Peak>,
    /// Memory against recomputation; `None` if nothing was searched.
    pub front: Option<FrontChart>,
    /// The model's operators, in the order in which they run first.
    pub layers: Vec<LayerRow>,
    /// The layers of a program that was run, in the order in which they ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traced: Vec<TracedLayer>,
    /// Models, and what each way of saving memory does to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub savings: Vec<SavingsTable>,
    /// What the witnesses say; empty where they were not asked.
    pub witnesses: Vec<Witness>,
    /// What else the reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// Something that is known of the result.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// What is known.
    pub value: String,
}

/// Whether a plan is safe.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// Nobody objects.
    pub holds: bool,
    /// In words.
    pub text: String,
}

/// What a witness says.
#[derive(Debug, Clone, Serialize)]
pub struct Witness {
    /// Its name.
    pub name: &'static str,
    /// It does not object; `None` if it was not asked.
    pub holds: Option<bool>,
    /// What it did, in a sentence.
    pub examined: String,
    /// What it objects to, in words, with the instructions that do the damage.
    pub objections: Vec<String>,
}

impl Page {
    /// The same with at most this many buffers in each map, and as many layers.
    fn limited(&self, most: usize) -> Self {
        let mut page = self.clone();
        page.maps = self.maps.iter().map(|map| map.limited(most)).collect();
        if let Some(peak) = &mut page.peak {
            peak.buffers.truncate(most);
        }
        if let Some(front) = &mut page.front {
            front.points.truncate(most);
        }
        page.layers.truncate(most);
        page.traced.truncate(most);
        page.savings.truncate(most);
        page.notes.truncate(most);
        for witness in &mut page.witnesses {
            witness.objections.truncate(most);
        }
        let tables = [
            ("layers", self.layers.len() - page.layers.len()),
            ("layers", self.traced.len() - page.traced.len()),
            ("models", self.savings.len() - page.savings.len()),
            ("notes", self.notes.len() - page.notes.len()),
        ];
        let missing = tables.iter().filter(|(_, missing)| *missing > 0);
        let missing = missing.map(|(table, missing)| match *table {
            "notes" => format!("{} further notes are left out.", grouped(*missing as u64)),
            _ => format!("The table of {table} lacks {missing} at its end."),
        });
        page.notes.extend(missing);
        page
    }
}
