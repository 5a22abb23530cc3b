//! `dmo-trace check`: whether the arenas of all models are as small as they were, and their
//! layouts safe. For continuous integration.

mod baseline;
mod case;
mod examine;
mod judge;
mod junit;
pub(super) mod report;
mod update;

use super::options::cache::CacheArguments;
use super::progress::Bars;
use super::{Verdict, distinct_files, output};
use anyhow::ensure;
use baseline::{Baseline, Model};
use dmo_analysis::wording::first_names;
use examine::Examined;
use judge::{Judged, Update};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = BASELINE_HELP)]
pub struct Arguments {
    /// TOML file with the models and the sizes of their arenas (docs/ci.md)
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Check only the model of this name; repeatable
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Record the present arena sizes as `arena_bytes`, provided that all layouts are safe
    #[arg(long)]
    update: bool,
    /// Write a JUnit report with one suite per model
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print JSON (docs/json.md) instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cache: CacheArguments,
}

const BASELINE_HELP: &str = "\
The baseline has one [[model]] table per model; only `file` is required:

  schema = \"dmo-trace/baseline/1\"

  [[model]]
  file = \"models/person_detect.tflite\"
  kernels = \"dsp\"
  arena_bytes = 36864  # written by --update

Exit code 1 if an arena has grown, is not recorded or exceeds its capacity, or if a layout is
unsafe, or not shown to be safe on every input where that is asked for; 2 if a model could not be checked.

Examples:
  dmo-trace check --baseline arenas.toml --junit arenas.xml
  dmo-trace check --baseline arenas.toml --update --only person_detect";

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let baseline = Baseline::read(&arguments.baseline)?;
    let chosen = chosen(&baseline, &arguments.only)?;
    // Told before the work is done.
    let written = arguments
        .update
        .then(|| baseline.written_path())
        .transpose()?;
    for path in written.iter().chain(&arguments.junit) {
        output::unfinished(path)?;
    }
    if let Some(path) = &arguments.junit {
        for model in &chosen {
            let read = [Path::new(&model.request.model)].into_iter();
            let read = read.chain(model.request.plan.file());
            distinct_files::ensure_kept("junit", path, read)?;
        }
    }
    let session = Bars::session(arguments.cache.cache());
    let examined: Vec<(&Model, Examined)> = chosen
        .into_iter()
        .map(|model| (model, Examined::of(model, &session)))
        .collect();
    for (model, examined) in &examined {
        if let Err(error) = &examined.findings {
            let place = format!("{}: {}", arguments.baseline.display(), model.name);
            output::message(&format!("dmo-trace: {place}: {error}"));
        }
    }
    let update = match arguments.update {
        false => Update::NotAsked,
        true if update::record(&baseline, &examined)? => Update::Recorded,
        true => Update::Refused,
    };
    let judged = examined
        .iter()
        .map(|(model, examined)| Judged::new(model, examined, update));
    let report = report::CheckReport::new(
        &arguments.baseline,
        update == Update::Recorded,
        judged.collect(),
    );
    if let Some(path) = &arguments.junit {
        output::write(path, junit::text(&report)?.as_bytes())?;
    }
    output::report(&report, arguments.json)?;
    if update == Update::Refused {
        output::message(
            "dmo-trace: nothing is recorded: only what is safe is, and all of it or nothing\n  hint: \
             --update --only NAME records some of the models",
        );
    }
    Ok(report.verdict())
}

/// At most this many models of a baseline are named.
const MOST_NAMES: usize = 12;

fn chosen<'a>(baseline: &'a Baseline, only: &[String]) -> anyhow::Result<Vec<&'a Model>> {
    let models = &baseline.models;
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    for name in only {
        ensure!(
            names.contains(name),
            "--only {name}: {} has no such model, but {}",
            baseline.path.display(),
            first_names(&names, MOST_NAMES)
        );
    }
    let is_chosen = |model: &&Model| only.is_empty() || only.contains(&model.name);
    Ok(models.iter().filter(is_chosen).collect())
}
