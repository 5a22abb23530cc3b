//! `dmo-trace decode`: a model whose packed constants are unpacked beforehand.

use super::{Verdict, output};
use anyhow::ensure;
use dmo_trace::study::decoding::decode_constants;
use dmo_trace::study::source::Source;
use dmo_trace::words::decoding::DecodedReport;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file with TFLM_DECODE operators
    model: OsString,
    /// Write the model without these operators to this .tflite file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(path) = &arguments.out {
        let is_model = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("tflite"));
        ensure!(
            is_model,
            "--out {}: a model's name ends in .tflite",
            path.display()
        );
        output::unfinished(path)?;
    }
    let source = Source::load(&arguments.model)?;
    let name = source.name.clone();
    let decoding = decode_constants(source)?;
    if let Some(path) = &arguments.out {
        output::write(path, &decoding.decoded.file)?;
    }
    let report = DecodedReport::new(&name, &decoding, arguments.out.as_deref());
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}
