//! `dmo-trace plot`: the pictures of a saved trace.

use super::{Verdict, pictures, saved_trace};
use anyhow::Context;
use dmo_plot::{PLOTS, Plot};
use dmo_trace::study::input;
use dmo_trace::study::plan_file::NamedPlan;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = kinds())]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Folder for the pictures (SVG and PNG)
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Draw only pictures of this kind; repeatable
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    only: Vec<&'static Plot>,
}

fn kinds() -> String {
    let row = |plot: &Plot| format!("  {:8} {}\n", plot.name, plot.description);
    format!(
        "Kinds:\n{}\nExample:\n  dmo-trace plot firmware.dmotrace --only arena --out pictures",
        PLOTS.iter().map(row).collect::<String>()
    )
}

fn parse_kind(name: &str) -> Result<&'static Plot, String> {
    let names: Vec<&str> = PLOTS.iter().map(|plot| plot.name).collect();
    Plot::find(name).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let (_, profile, _) = saved_trace::read(&arguments.trace).map_err(|error| {
        if NamedPlan::read(&arguments.trace).is_err() {
            return error;
        }
        anyhow::anyhow!(
            "{}: a plan, not a saved trace\n  hint: `dmo-trace plan MODEL --plot DIR` draws a plan of one \
             arena, `dmo-trace build MODEL --region ... --report FILE.html` one of several memories",
            arguments.trace.display()
        )
    })?;
    let trace = input::open(&arguments.trace)
        .with_context(|| format!("cannot read {}", arguments.trace.display()))?;
    pictures::draw(trace, &profile, &arguments.out, &arguments.only)?;
    Ok(Verdict::Holds)
}
