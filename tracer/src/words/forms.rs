//! The forms of a model, and limits that none keeps to, in words and as JSON.

use super::recipe::described;
use super::report::Report;
use super::{cycles, integer_io, table};
use crate::study::change::ChangeRequest;
use crate::study::form::{Form, Forms, MemoryLimits};
use crate::study::forms::has_windows;
use crate::study::source::Source;
use dmo_analysis::graph::Graph;
use dmo_analysis::transform::integer_io::IntegerIoReport;
use dmo_analysis::wording::{bytes, counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// The hint to compute more again proposes so much, in percent.
const MOST_RECOMPUTED: f64 = 300.0;

/// What memory a model takes for what time.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FormsReport {
    model: String,
    /// Which ends of the model are integers and were floats; absent if they stay as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    integer_io: Option<IntegerIoReport>,
    /// What it may take.
    limits: MemoryLimits,
    /// A form keeps to the limits.
    fits: bool,
    /// Forms that none of the others beats in RAM, flash and time, the fastest first.
    forms: Vec<Form>,
    /// Which of them is the fastest within the limits, by position; `None` if none is, or no limits
    /// are given.
    chosen: Option<usize>,
    /// The forms that others beat.
    beaten: Vec<Form>,
    /// No search for forms ended before it had done its work.
    complete: bool,
    /// More may be computed again than was allowed.
    #[serde(skip)]
    may_recompute_more: bool,
    /// The ends of the model are floats, and could be integers.
    #[serde(skip)]
    has_float_ends: bool,
    /// The input is an image that takes half of the smallest arena or more, as a whole.
    #[serde(skip)]
    is_mostly_input: bool,
}

impl FormsReport {
    /// The forms of a model.
    pub fn new(
        source: &Source,
        changes: &ChangeRequest,
        limits: MemoryLimits,
        forms: &Forms,
    ) -> Self {
        let chosen = forms.best.iter().position(|form| limits.admit(form));
        Self {
            model: source.name.clone(),
            integer_io: source.integer_io().cloned(),
            limits,
            fits: chosen.is_some(),
            forms: forms.best.clone(),
            chosen: chosen.filter(|_| limits.are_given()),
            beaten: forms.beaten.clone(),
            complete: forms.complete,
            may_recompute_more: (changes.split || changes.patch)
                && changes.most_recomputed_percent < MOST_RECOMPUTED
                && has_windows(source.original()),
            has_float_ends: source.has_float_ends(),
            is_mostly_input: is_mostly_input(source.original(), forms),
        }
    }

    /// A form keeps to the limits.
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// How far one can go.
    fn shortfall(&self) -> String {
        let least = |measure: fn(&Form) -> u64| self.forms.iter().map(measure).min().unwrap_or(0);
        let (ram, flash) = (least(Form::ram_bytes), least(|form| form.flash_bytes));
        let mut text = if self.complete {
            format!(
                "OUT OF REACH: no form keeps to {}; nothing was written.\n",
                self.limits
            )
        } else {
            format!(
                "NOT FOUND: none of the forms that were found within --time keeps to {}; nothing was written.\n",
                self.limits
            )
        };
        if let Some(limit @ 1..1024) = self.limits.ram_bytes {
            text += &format!("  hint: --ram {limit} is {limit} bytes; {limit}K is {limit} KiB\n");
        } else if self.limits.ram_bytes.is_some_and(|limit| ram > limit) {
            text += &format!(
                "The least arena and stack of a form takes {}.\n",
                bytes(ram)
            );
            let hints = [
                (
                    !self.complete,
                    "--time 60 searches longer, and --allow remove,split,patch gets further, as it tries fewer kinds of changes",
                ),
                (
                    self.has_float_ends,
                    "--integer-io leaves out the floats at the model's ends",
                ),
                (self.is_mostly_input, "--slices takes the image in rows"),
                (
                    self.may_recompute_more,
                    "--max-recompute 300% computes more again",
                ),
            ];
            let hints = hints.iter().filter(|(applies, _)| *applies);
            let hints: Vec<&str> = hints.map(|(_, hint)| *hint).collect();
            if hints.is_empty() {
                text += "Nothing else is known to need less.\n";
            } else {
                text += &format!("  hint: {}\n", hints.join("; "));
            }
        }
        if self.limits.flash_bytes.is_some_and(|limit| flash > limit) {
            text += &format!(
                "The least flash of a form takes about {}.\n  hint: most of it is the model's weights; \
                 of the kernels, --kernels reference has the least code, and takes the longest\n",
                bytes(flash)
            );
        }
        if !text.contains("The least") && !text.contains("hint") {
            text += "Each limit can be kept, but not both at once.\n";
        }
        text
    }
}

impl Report for FormsReport {
    const SCHEMA: &'static str = "dmo-trace/build-forms/1";

    fn text(&self) -> String {
        let forms = counted(self.forms.len() as u64, "form", "forms");
        let others = match self.beaten.len() {
            0 => String::new(),
            beaten => format!(
                "; {}",
                match beaten {
                    1 => "1 more was tried and is beaten".to_owned(),
                    _ => format!("{} more were tried and are beaten", grouped(beaten as u64)),
                }
            ),
        };
        let mut text = format!(
            "{}: {forms} that no other beats in RAM, flash and time at once{others}\n\n{}\n",
            self.model,
            table_of(&self.forms, self.chosen)
        );
        if let Some(ends) = &self.integer_io {
            text += &format!("\n{}\n", integer_io::sentence(ends));
        }
        if !self.fits {
            text += &format!("\n{}", self.shortfall());
        }
        text
    }
}

fn is_mostly_input(graph: &Graph, forms: &Forms) -> bool {
    let least = forms.best.iter().map(|form| form.arena_bytes).min();
    let in_rows = forms.best.iter().any(|form| form.recipe.slices);
    match (&graph.inputs[..], least) {
        (&[input], Some(least)) if !in_rows => {
            let input = graph.tensor(input);
            input.shape.len() == 4 && 2 * input.size_bytes >= least
        }
        _ => false,
    }
}

/// A row for each form, the chosen one marked.
pub fn table_of(forms: &[Form], chosen: Option<usize>) -> String {
    let rows = forms.iter().enumerate().map(|(index, form)| {
        vec![
            if chosen == Some(index) { "*" } else { "" }.to_owned(),
            grouped(form.ram_bytes()),
            grouped(form.arena_bytes),
            grouped(form.flash_bytes),
            cycles::total(form.cycles.as_ref()),
            grouped(form.instructions),
            described(&form.recipe),
        ]
    });
    let header = [
        "",
        "arena and stack",
        "arena",
        "flash",
        "cycles",
        "instructions",
        "form",
    ];
    let table = table(header, 1..6, rows);
    let (mark, planned) = match chosen {
        Some(_) => (
            "; *: chosen",
            " The chosen form is then planned longer, and its arena may come out smaller.",
        ),
        None => ("", ""),
    };
    format!(
        "{table}\n\nThe fastest first{mark}. Flash and stack are estimates, before anything is compiled.{planned}"
    )
}
