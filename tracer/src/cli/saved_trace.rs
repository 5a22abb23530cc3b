//! Traces that were saved.

use anyhow::Context;
use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::TraceReader;
use dmo_analysis::trace::{Ending, Program};
use dmo_trace::study::input;
use std::path::Path;

/// Reads a saved trace to its end, as the run saw it.
pub fn read(path: &Path) -> anyhow::Result<(Program, Profile, Ending)> {
    let whole = || -> anyhow::Result<_> {
        let reader = TraceReader::open(input::open(path)?)?;
        let program = reader.program().clone();
        let mut profiler = Profiler::<()>::default();
        let ending = reader.read_into(&mut profiler)?;
        let (mut profile, ()) = profiler.finish();
        profile.set_data_dependent(&ending.data_dependent);
        Ok((program, profile, ending))
    };
    whole().with_context(|| path.display().to_string())
}
