//! A generated library in words and as JSON.

use super::cycles;
use super::forms;
use super::integer_io;
use super::pruning::PruneSummary;
use super::regions;
use super::report::Report;
use super::streaming;
use crate::mcu::cycles::Cycles;
use crate::study::build::Built;
use crate::study::form::{Form, INVOKE_STACK_BYTES};
use crate::study::prove::Proof;
use crate::study::region_use::RegionUse;
use crate::study::source::Source;
use crate::study::windows::Windows;
use dmo_analysis::transform::integer_io::IntegerIoReport;
use dmo_analysis::transform::stream::StreamReport;
use dmo_analysis::wording::{bytes, counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// What a library needs, and what was checked of it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BuildReport {
    /// What to do with the library, a sentence without its full stop.
    #[serde(skip)]
    pub next: Option<String>,
    model: String,
    name: String,
    kernels: String,
    cpu: String,
    safe: bool,
    /// As compiled it takes no more RAM than was asked for.
    fits: bool,
    inputs: u64,
    /// All arrays that the application provides.
    arena_bytes: u32,
    state_bytes: u32,
    /// The memories that the arena is made of; none if it is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    regions: Vec<RegionUse>,
    /// The deepest of the kernels as they were measured.
    stack_bytes: Option<u32>,
    weights_bytes: u64,
    macs: u64,
    calls: usize,
    instructions: u64,
    cycles: Option<Cycles>,
    /// Which ends of the model are integers and were floats; absent if they stay as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    integer_io: Option<IntegerIoReport>,
    /// Channels of the model that make no difference and are not computed, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pruning: Option<PruneSummary>,
    /// Forms that none of the others beats in RAM, flash and time, the fastest first.
    forms: Vec<Form>,
    /// Which of them it is, by position; `None` where there was no choice.
    chosen: Option<usize>,
    /// Arena and stack of a faster form that may keep to the limits when it is compiled, in bytes.
    #[serde(skip)]
    passed_over_bytes: Option<u64>,
    /// The forms that others beat.
    beaten: Vec<Form>,
    proof: Option<Proof>,
    /// On newest rows it computes what the model computes on whole windows.
    #[serde(skip)]
    keeps_windows: bool,
    /// How it takes the rows of its window.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamReport>,
    files: Vec<String>,
}

impl BuildReport {
    /// What is known of a library.
    pub fn new(source: &Source, built: &Built) -> Self {
        let description = &built.description;
        let chosen = built.forms.best.iter().position(|form| built.is_of(form));
        Self {
            passed_over_bytes: passed_over(built, chosen),
            next: None,
            model: source.name.clone(),
            name: description.name.clone(),
            kernels: description.kernels.clone(),
            cpu: description.cpu.clone(),
            safe: built.holds(),
            fits: built.fits(),
            inputs: built.inputs,
            arena_bytes: built.arena_bytes,
            state_bytes: built.state_bytes,
            regions: built.regions.clone(),
            stack_bytes: description.stack_bytes,
            weights_bytes: built.weights_bytes,
            macs: description.macs,
            calls: built.calls,
            instructions: built.instructions,
            cycles: built.cycles,
            integer_io: source.integer_io().cloned(),
            pruning: source
                .pruning
                .as_ref()
                .map(|it| PruneSummary::new(&it.report))
                .filter(|it| it.channels_removed > 0),
            forms: built.forms.best.clone(),
            chosen,
            beaten: built.forms.beaten.clone(),
            proof: built.proof.clone(),
            keeps_windows: built.windows.as_ref().is_none_or(Windows::are_equal),
            stream: source.streaming.as_ref().map(|it| it.report.clone()),
            files: built.files.iter().map(|file| file.path.clone()).collect(),
        }
    }

    fn objections(&self) -> String {
        let mut text = format!("{}: UNSAFE; nothing was written.\n", self.model);
        if !self.fits {
            let ram = self.proof.as_ref().and_then(|proof| proof.ram_bytes);
            let flash = self.proof.as_ref().map(|proof| proof.flash_bytes);
            return format!(
                "{}: as compiled it takes {} of RAM and {} of flash, more than was asked for; nothing was \
                 written.\n  hint: flags that take less, such as -O2 or -Os, or smaller limits, which choose \
                 another form\n",
                self.model,
                bytes(ram.unwrap_or(0)),
                bytes(flash.unwrap_or(0))
            );
        }
        if !self.keeps_windows {
            text += "Its outputs on new rows are not the model's on whole windows; please report this.\n";
            return text;
        }
        let Some(proof) = &self.proof else {
            text += "The plan does not hold on the kernels' machine code; please report this.\n";
            return text;
        };
        if !proof.kernels_are_safe {
            text += "  The plan does not hold on the kernels as this compiler makes them.\n";
        }
        if !proof.accesses_are_planned {
            text += "  Inferences do not load and store what the verified calls do.\n";
        }
        if !proof.outputs_are_equal {
            text += "  The outputs are not the model's.\n";
        }
        for stray in &proof.stray {
            text += &format!("  Outside the arena and the stack: {stray}\n");
        }
        text +=
            "  hint: plan for what this compiler makes with fewer overlaps, or use other flags\n";
        text
    }

    /// What was made of the model's file first.
    fn made(&self) -> String {
        let ends = self.integer_io.as_ref().map(integer_io::sentence);
        let pruned = self.pruning.as_ref().map(PruneSummary::of_code);
        let sentences = ends.into_iter().chain(pruned);
        sentences.map(|sentence| sentence + "\n\n").collect()
    }

    fn choice(&self) -> String {
        if self.forms.is_empty() {
            return String::new();
        }
        let passed_over = self.passed_over_bytes.map(|bytes| {
            format!(
                "A faster form may fit as well, whose estimate is {}: `--prove` compiles it and tells.\n",
                grouped(bytes)
            )
        });
        format!(
            "{}\n{}\n",
            forms::table_of(&self.forms, self.chosen),
            passed_over.unwrap_or_default()
        )
    }

    fn needs(&self) -> String {
        let state = match self.state_bytes {
            0 => String::new(),
            state => format!(", {} of them state", grouped(state.into())),
        };
        let stream = self.stream.as_ref();
        let stream = stream.map(streaming::sentence).unwrap_or_default();
        let stack = match self.stack_bytes {
            Some(stack) => format!(
                "{}, the deepest kernel's on {}, and at most {INVOKE_STACK_BYTES} more for the function that calls it",
                bytes(stack.into()),
                self.cpu
            ),
            None => "not measured".to_owned(),
        };
        let regions = match &self.regions[..] {
            [] => String::new(),
            regions => format!(
                "{}\n\n{}",
                regions::table_of(regions),
                regions::unused(regions).unwrap_or_default()
            ),
        };
        format!(
            "{stream}{regions}Arena:     {}{state}\nStack:     {stack}\nWeights:   {}\nInference: {}, {} \
             multiply-accumulates, {} instructions{}\n",
            bytes(self.arena_bytes.into()),
            bytes(self.weights_bytes),
            counted(self.calls as u64, "call", "calls"),
            grouped(self.macs),
            grouped(self.instructions),
            about_cycles(self.cycles.as_ref()),
        )
    }
}

/// Of the forms that are faster than the chosen one and nearly within the limits, the one that needs
/// least; `None` if what is compiled was measured.
fn passed_over(built: &Built, chosen: Option<usize>) -> Option<u64> {
    if built.proof.is_some() || !built.limits.are_given() {
        return None;
    }
    let faster = built.forms.best.get(..chosen?)?.iter();
    let near = faster.filter(|form| built.limits.nearly_admit(form));
    near.map(Form::ram_bytes).min()
}

fn about_cycles(cycles: Option<&Cycles>) -> String {
    match cycles {
        Some(known) if known.memory_stalls > 0 => format!(", about {}", cycles::sentence(known)),
        Some(known) => format!(", {} cycles", cycles::about(known)),
        None => String::new(),
    }
}

fn proven(proof: &Proof) -> String {
    let stack = proof.stack_bytes.map_or_else(
        || "of a depth that this engine does not measure".to_owned(),
        |depth| bytes(depth.into()),
    );
    let ram = proof.ram_bytes.map_or_else(
        || "not measured".to_owned(),
        |ram| {
            format!(
                "{}: {}, stack {stack}, variables {}",
                bytes(ram),
                regions::sizes(&proof.regions).unwrap_or_else(|| "arena".to_owned()),
                proof.data_bytes
            )
        },
    );
    let accesses = match &proof.regions[..] {
        [] => String::new(),
        regions => format!("Accesses:  {}\n", regions::accesses(regions)),
    };
    format!(
        "\nAs compiled by {} {}:\n\
         RAM:       {ram}\n\
         {accesses}\
         Flash:     {}, weights included\n\
         Inference: {} instructions{}\n",
        proof.compiler,
        proof.flags.join(" "),
        bytes(proof.flash_bytes),
        grouped(proof.instructions),
        about_cycles(proof.cycles.as_ref()),
    )
}

impl Report for BuildReport {
    const SCHEMA: &'static str = "dmo-trace/build/1";

    fn text(&self) -> String {
        if !self.safe {
            return self.objections();
        }
        let inputs = counted(self.inputs, "input", "inputs");
        let files = counted(self.files.len() as u64, "file", "files");
        let verdict = if self.proof.is_some() {
            "SAFE: the compiled kernels keep to the plan, every load and store of an inference lies in \
             the arena or on the stack, and all outputs are the model's"
        } else {
            "SAFE: the plan holds on the kernels' machine code, and all outputs are the model's"
        };
        let next = self.next.iter();
        let next: String = next.map(|next| format!("Next: {next}.\n")).collect();
        format!(
            "{}: C library {} with {} kernels, {files}\n\n{}{}{}{}\n{verdict}, on {inputs}.\n{next}",
            self.model,
            self.name,
            self.kernels,
            self.made(),
            self.choice(),
            self.needs(),
            self.proof.as_ref().map(proven).unwrap_or_default(),
        )
    }
}
