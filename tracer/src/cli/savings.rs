//! `dmo-trace savings`: what each way of saving memory does to models.

use super::options::before::FileChangeArguments;
use super::options::flash::FlashArguments;
use super::options::layout::LayoutArguments;
use super::options::numbers::Seconds;
use super::options::page::PageArguments;
use super::{Verdict, output, pictures, progress};
use dmo_analysis::wording::parse_size;
use dmo_plot::draw_front;
use dmo_trace::page::savings::page;
use dmo_trace::study::SEARCH_TIME;
use dmo_trace::study::savings::{Savings, SavingsRequest, savings};
use dmo_trace::study::search_time::STOPPED;
use dmo_trace::study::source::Source;
use dmo_trace::study::whole_arena::whole_arenas;
use dmo_trace::words::pruning::PruneSummary;
use dmo_trace::words::savings::{ModelSavings, SavingsReport};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Models: .tflite files, or zoo:NAME (see `dmo-trace zoo`)
    #[arg(required = true)]
    models: Vec<OsString>,
    #[command(flatten)]
    change: FileChangeArguments,
    #[command(flatten)]
    layout: LayoutArguments,
    /// Seconds for each model's search for runs of operators to tile
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(SEARCH_TIME))]
    time: Seconds,
    /// Also run each row on the reference kernels and count instructions, for models of at most
    /// this many multiply-accumulates
    #[arg(long, value_name = "MACS", value_parser = parse_size)]
    run: Option<u64>,
    #[command(flatten)]
    flash: FlashArguments,
    /// Draw each model's arena size against recomputation as SVG and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON (docs/json.md) instead of tables
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    arguments.page.ensure_writable()?;
    let mut models = Vec::new();
    let mut figures = Vec::new();
    let mut verdict = Verdict::Holds;
    let bar = progress::bar("models");
    bar.set_length(arguments.models.len() as u64);
    for given in &arguments.models {
        let (source, saved) = match saved(given, arguments) {
            Ok(saved) => saved,
            Err(error) => {
                output::message_on(given, &error);
                verdict = Verdict::Unknown;
                continue;
            }
        };
        if arguments.plot.is_some() {
            figures.push(draw_front(&source.name, &saved.front.points, saved.macs)?);
        }
        models.push(ModelSavings {
            // A network that cannot be written to a file is compared all the same.
            whole_arenas: whole_arenas(&source).map_or_else(|_| Vec::new(), Vec::from),
            pruning: source
                .pruning
                .as_ref()
                .map(|it| PruneSummary::new(&it.report)),
            name: source.name,
            given: given.to_string_lossy().into_owned(),
            macs: saved.macs,
            complete: saved.front.complete,
            rows: saved.rows,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(folder) = &arguments.plot {
        pictures::write_all(&figures, folder)?;
    }
    let report = SavingsReport { models };
    write_page(arguments, &report)?;
    output::report(&report, arguments.json)?;
    Ok(verdict)
}

/// A page that lacks a model would pass for the whole.
fn write_page(arguments: &Arguments, report: &SavingsReport) -> anyhow::Result<()> {
    if report.models.len() < arguments.models.len() {
        if let Some(path) = &arguments.page.report {
            let shown = path.display();
            output::message(&format!(
                "dmo-trace: {shown} is not written, as not all models could be planned"
            ));
        }
        return Ok(());
    }
    let page = arguments.page.written(|| Ok(page(report)))?;
    let page = page.iter();
    output::write_all(page.map(|(path, content)| (*path, &content[..])))
}

/// A model that cannot be planned does not keep others from being planned.
fn saved(given: &OsStr, arguments: &Arguments) -> anyhow::Result<(Source, Savings)> {
    let mut source = Source::load(given)?;
    arguments.change.make(&mut source)?;
    let request = SavingsRequest {
        layout: arguments.layout.layout(),
        time: arguments.time.0,
        most_run_macs: arguments.run,
        flash_timing: arguments.flash.timing(),
    };
    let mut saved = savings(&source, &request)?;
    if saved.stopped {
        output::message(&format!("dmo-trace: {}: {STOPPED}", source.name));
    }
    if let Some(error) = saved.not_run.take() {
        let error = anyhow::Error::from(error);
        output::message(&format!("dmo-trace: not run: {error:#}"));
    }
    Ok((source, saved))
}
