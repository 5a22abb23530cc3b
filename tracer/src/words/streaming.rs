//! What was made of a model so that it takes the newest rows of its window.

use super::report::Report;
use super::{names, table};
use crate::study::source::Source;
use crate::study::windows::Windows;
use dmo_analysis::transform::stream::StreamReport;
use dmo_analysis::wording::{bytes, counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// A model that takes the newest rows, and what was checked of it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StreamedReport {
    model: String,
    /// What the model was given as.
    #[serde(skip)]
    given: String,
    #[serde(flatten)]
    stream: Option<StreamReport>,
    state_bytes: u64,
    /// The outputs are those of the model on each whole window that was tried.
    equal: bool,
    windows: Windows,
    /// The file that was written.
    out: Option<String>,
}

impl StreamedReport {
    /// What is known of a model that was streamed.
    pub fn new(source: &Source, given: &str, windows: &Windows, out: Option<&Path>) -> Self {
        let stream = source.streaming.as_ref().map(|it| it.report.clone());
        Self {
            model: source.name.clone(),
            given: given.to_owned(),
            state_bytes: stream.as_ref().map_or(0, StreamReport::state_bytes),
            stream,
            equal: windows.are_equal(),
            windows: windows.clone(),
            out: out.map(|path| path.display().to_string()),
        }
    }
}

/// What a streamed model takes, in a line or two.
pub fn sentence(report: &StreamReport) -> String {
    format!(
        "Stream:    {} of {} at a time, {} of the last rows kept; {} -> {} multiply-accumulates\n\
         Warm-up:   {}, then the outputs are those of the model on the last {}\n",
        counted(report.new_rows.into(), "row", "rows"),
        report.window_rows,
        bytes(report.state_bytes()),
        grouped(report.macs_before),
        grouped(report.macs_after),
        counted(report.warm_up.into(), "inference", "inferences"),
        counted(report.window_rows.into(), "row", "rows"),
    )
}

impl Report for StreamedReport {
    const SCHEMA: &'static str = "dmo-trace/stream/1";

    fn text(&self) -> String {
        let Some(stream) = &self.stream else {
            return format!("{}: not streamed\n", self.model);
        };
        let rows = stream.buffers.iter().map(|buffer| {
            let name = names::short(&buffer.tensor).escape_debug().to_string();
            vec![name, grouped(buffer.rows.into()), grouped(buffer.bytes)]
        });
        let mut text = format!(
            "{}:\n\n{}\n\n",
            self.model,
            table(
                ["tensor of which rows are kept", "rows", "bytes"],
                1..3,
                rows
            )
        );
        for whole in &stream.whole {
            let (operator, kind) = (whole.operator.0, whole.kind.escape_debug());
            text += &format!(
                "operator {operator} {kind} runs on the whole window: {}\n",
                whole.reason
            );
        }
        text += &sentence(stream);
        text += &format!(
            "Inference: {} -> {} instructions\n",
            grouped(self.windows.instructions),
            grouped(self.windows.new_instructions)
        );
        let windows = counted(self.windows.compared, "window", "windows");
        text += &if self.equal {
            format!("\nEQUAL: all outputs are the model's, on {windows}.\n")
        } else {
            let other = self.windows.different.len();
            format!(
                "\nDIFFERENT: on {other} of {windows} an output is not the model's; nothing was \
                 written, please report this.\n"
            )
        };
        if let (true, Some(out)) = (self.equal, &self.out) {
            text += &format!("Written:   {out}\n");
        }
        if self.equal {
            text += &format!(
                "Next: `dmo-trace build {} --stream {} --out DIR` writes C code that takes the newest {}.\n",
                names::pasted(&self.given),
                stream.new_rows,
                if stream.new_rows == 1 { "row" } else { "rows" },
            );
        }
        text
    }
}
