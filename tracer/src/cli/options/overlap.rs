//! Options that say which overlaps a plan may use.

use super::cache::CacheArguments;
use super::kernels::kernels_again;
use super::named::one_of;
use clap::builder::TypedValueParser;
use dmo_trace::study::INPUTS;
use dmo_trace::study::overlap_source::{OverlapKind, OverlapRequest};
use dmo_trace::study::session::Cache;

/// Which kernels a plan is for.
#[derive(clap::Args)]
pub struct OverlapOptions {
    /// Which overlaps the plan may use [default: analytic, or traced with --kernels]
    #[arg(long, value_parser = kinds())]
    overlap: Option<OverlapKind>,
    /// Kernels to plan for: reference, dsp, dsp-packed, plain, dsp-channels-outside, or an ELF file or static library
    /// (.a) with functions of the same names; repeatable: each computes what those before it
    /// cannot, and the reference kernels what none has a function for [default: reference]
    #[arg(long, value_name = "SET|FILE")]
    kernels: Vec<String>,
    /// CPU to emulate [default: the one that the first kernels were built for]
    #[arg(long)]
    cpu: Option<String>,
    /// Version of the CMSIS-NN interface, 4 to 7 [default: deduced from the file's functions]
    #[arg(long, value_name = "N")]
    cmsis_nn_version: Option<u8>,
    /// Number of different inputs to measure each kernel on [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: Option<u64>,
    #[command(flatten)]
    cache: CacheArguments,
}

/// Reads where overlaps come from.
pub fn kinds() -> impl TypedValueParser<Value = OverlapKind> {
    one_of(OverlapKind::ALL, OverlapKind::name, in_words)
}

/// The same, of those that no kernel has to run for.
pub fn kinds_of_geometry() -> impl TypedValueParser<Value = OverlapKind> {
    let kinds = [OverlapKind::None, OverlapKind::Analytic];
    one_of(kinds, OverlapKind::name, in_words)
}

fn in_words(kind: OverlapKind) -> &'static str {
    match kind {
        OverlapKind::None => "No overlaps",
        OverlapKind::Analytic => "Overlaps of TensorFlow Lite's reference kernels, from formulas",
        OverlapKind::Traced => "Overlaps measured on the machine code of --kernels",
    }
}

impl OverlapOptions {
    /// Where measurements are kept.
    pub fn cache(&self) -> Cache {
        self.cache.cache()
    }

    /// The inputs to measure on and the CPU to emulate, for firmware in place of kernels: its
    /// overlaps are measured.
    pub fn of_firmware(&self) -> anyhow::Result<(u64, Option<&String>)> {
        anyhow::ensure!(
            self.overlap.is_none_or(|kind| kind == OverlapKind::Traced),
            "--firmware goes with --overlap traced, which is what it measures"
        );
        Ok((self.inputs.unwrap_or(INPUTS), self.cpu.as_ref()))
    }

    /// The options by which other commands take the same kernels, each after a space.
    pub fn kernels_again(&self) -> String {
        kernels_again(
            self.kernels.iter(),
            self.cpu.as_ref(),
            self.cmsis_nn_version,
        )
    }

    /// What they ask for.
    pub fn request(&self) -> OverlapRequest {
        OverlapRequest::of_options(
            self.overlap,
            &self.kernels,
            self.cpu.clone(),
            self.cmsis_nn_version,
            self.inputs,
        )
    }
}
