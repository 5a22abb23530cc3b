//! What was made of a model whose constants were packed.

use super::report::Report;
use super::{names, table};
use crate::study::decoding::Decoding;
use dmo_analysis::transform::decode::DecodeReport;
use dmo_analysis::wording::{bytes, counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// A model whose constants are unpacked.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DecodedReport {
    model: String,
    #[serde(flatten)]
    decoded: DecodeReport,
    /// Bytes of the model's file, before and after.
    file_bytes: [u64; 2],
    /// The smallest arena found for stock TensorFlow Lite Micro, before and after, in bytes.
    arena_bytes: [u64; 2],
    /// The file that was written.
    out: Option<String>,
}

impl DecodedReport {
    /// What was done to the model of this name.
    pub fn new(model: &str, decoding: &Decoding, out: Option<&Path>) -> Self {
        Self {
            model: model.to_owned(),
            decoded: decoding.decoded.report.clone(),
            file_bytes: [decoding.given_bytes, decoding.decoded.file.len() as u64],
            arena_bytes: decoding.arena_bytes,
            out: out.map(|path| path.display().to_string()),
        }
    }
}

impl Report for DecodedReport {
    const SCHEMA: &'static str = "dmo-trace/decode/1";

    fn text(&self) -> String {
        let constants = &self.decoded.constants;
        let rows = constants.iter().map(|constant| {
            let name = names::short(&constant.name).escape_debug().to_string();
            let operator = constant.operator.0.to_string();
            vec![operator, name, grouped(constant.size_bytes)]
        });
        let title = ["operator", "constant", "bytes unpacked"];
        let mut text = format!("{}:\n\n{}\n\n", self.model, table(title, [0, 2], rows));
        if !self.decoded.kept.is_empty() {
            let kept = self.decoded.kept.iter().map(|it| it.0.to_string());
            text += &format!(
                "TFLM_DECODE stays where it unpacks outputs of the model: {}\n",
                kept.collect::<Vec<_>>().join(", ")
            );
        }
        let constants = counted(constants.len() as u64, "constant", "constants");
        let [file, arena] = [self.file_bytes, self.arena_bytes]
            .map(|[before, after]| format!("{} -> {}", grouped(before), bytes(after)));
        text += &format!("Unpacked:  {constants}, which no inference unpacks any more\n");
        text += &format!("Model:     {file} of flash\n");
        text += &format!("Arena:     {arena} of RAM, planned for stock TensorFlow Lite Micro\n");
        text += &match &self.out {
            Some(out) => format!(
                "Written:   {out}\nNext: `dmo-trace plan {}` plans it.\n",
                names::pasted(out)
            ),
            None => "Next: `--out FILE` writes the model.\n".to_owned(),
        };
        text
    }
}
