//! `dmo-trace plan`: the smallest arena of a model, with proof, and what others would need.

mod draw;
mod firmware;
pub(super) mod foreign;
mod hint;
pub(super) mod problem;
mod regions;

use super::options::change::ChangeArguments;
use super::options::firmware_kernels::FirmwareKernelArguments;
use super::options::layout::LayoutArguments;
use super::options::named::one_of;
use super::options::numbers::Seconds;
use super::options::overlap::OverlapOptions;
use super::options::page::PageArguments;
use super::options::regions::RegionArguments;
use super::progress::Bars;
use super::{Verdict, output};
use anyhow::Context;
use clap::builder::TypedValueParser;
use dmo_analysis::graph::TensorId;
use dmo_analysis::transform::macs;
use dmo_analysis::wording::{grouped, parse_size};
use dmo_planner::minimalloc;
use dmo_trace::page::Page;
use dmo_trace::page::plan::{Sayings, page, page_of_form};
use dmo_trace::study::emit::{Emission, Emitted, FormChoice, WrittenForm};
use dmo_trace::study::error::{EmitReason, StudyError};
use dmo_trace::study::foreign::is_foreign;
use dmo_trace::study::others::Planner;
use dmo_trace::study::plan::{OrderKind, PlanRequest, Planned, plan};
use dmo_trace::study::problem::is_problem;
use dmo_trace::study::remedies::Remedies;
use dmo_trace::study::source::Source;
use dmo_trace::study::{INPUTS, SEARCH_TIME, Session};
use dmo_trace::words::names::pasted;
use dmo_trace::words::plan::PlanReport;
use dmo_trace::words::plan::node_data::{NodeData, node_data};
use dmo_trace::words::recipe::described;
use dmo_trace::words::whole_arena::changes;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Model: a .tflite file or zoo:NAME (see `dmo-trace zoo`); or a planning problem, a .csv in
    /// MiniMalloc's format; or another tool's plan to be made anew, ExecuTorch's program as .json
    /// or ST's c_info.json
    model: OsString,
    #[command(flatten)]
    overlap: OverlapOptions,
    #[command(flatten)]
    firmware: FirmwareKernelArguments,
    /// Order in which the operators run
    #[arg(long, value_parser = orders(), default_value = OrderKind::default().name())]
    order: OrderKind,
    #[command(flatten)]
    layout: LayoutArguments,
    #[command(flatten)]
    change: ChangeArguments,
    /// Fail (exit code 1) if the planned part of the arena (tensors and scratch buffers) is larger
    /// than this, for example 64K; `dmo-trace arena --capacity` is about kTensorArenaSize, which
    /// counts what the runtime keeps as well
    #[arg(long, value_name = "BYTES", value_parser = parse_size, conflicts_with = "region")]
    capacity: Option<u64>,
    /// Place this tensor, given by its index in the file, at this offset; repeatable
    #[arg(long, value_name = "TENSOR=OFFSET", value_parser = parse_fixed, conflicts_with = "region")]
    fix: Vec<(TensorId, u64)>,
    /// Stop searching after this many seconds and use the best plan found so far
    #[arg(long, value_name = "SECONDS", default_value_t = Seconds(SEARCH_TIME))]
    time: Seconds,
    /// Write the plan: .json (docs/json.md), .h (C array of offsets), .tflite (the model with the
    /// plan embedded, for TensorFlow Lite Micro), or .csv (MiniMalloc's format, of plans without
    /// overlaps); repeatable
    #[arg(long, alias = "emit", value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Write what was planned, without offsets, as a .csv in MiniMalloc's format; nothing may
    /// overlap (--overlap none)
    #[arg(long, value_name = "FILE", conflicts_with = "region")]
    problem: Option<PathBuf>,
    /// Draw the plan, the best plan without overlaps, and the memory in use at each step, as SVG
    /// and PNG into this folder
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write sizes, offsets, O_s and the arena in use, by operator, as node data for Google's Model
    /// Explorer into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "region")]
    node_data: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
    #[command(flatten)]
    regions: RegionArguments,
    /// Compare with published planners, without and with overlaps
    #[arg(long, conflicts_with = "region")]
    compare: bool,
    /// Print JSON (docs/json.md) instead of text
    #[arg(long)]
    json: bool,
}

/// Reads in which order operators run.
fn orders() -> impl TypedValueParser<Value = OrderKind> {
    let help = |order: OrderKind| match order {
        OrderKind::File => "The order of the file",
        OrderKind::Best => "The order with the smallest arena",
    };
    one_of(OrderKind::ALL, OrderKind::name, help)
}

fn parse_fixed(text: &str) -> Result<(TensorId, u64), String> {
    let pair = text
        .split_once('=')
        .and_then(|(tensor, offset)| Some((TensorId(tensor.parse().ok()?), offset.parse().ok()?)));
    pair.ok_or_else(|| format!("'{text}' is not TENSOR=OFFSET, two numbers"))
}

impl Arguments {
    fn request(&self) -> anyhow::Result<PlanRequest> {
        Ok(PlanRequest {
            overlap: self.overlap.request(),
            layout: self.layout.layout(),
            order: self.order,
            fixed: self.fix.clone(),
            changes: self.change.request()?,
            time: self.time.0,
        })
    }

    /// The files to write, as far as they can be written of the model as it is.
    fn emissions(&self, source: &Source) -> anyhow::Result<Vec<Emission>> {
        let tells = |path: &&PathBuf| {
            let extension = path.extension();
            extension.is_some_and(|it| it == "json" || it == "csv")
        };
        let mut others = self.out.iter().filter(|path| !tells(path));
        if let Some(other) = others.next().filter(|_| self.change.slices) {
            anyhow::bail!(
                "cannot write {}: with --slices only .json and .csv tell the plan\n  hint: `dmo-trace build --slices` writes C code that follows it",
                other.display()
            );
        }
        let emission = |path: &PathBuf| Emission::new(path, source, self.layout.align);
        Ok(self.out.iter().map(emission).collect::<Result<_, _>>()?)
    }

    /// The files for Model Explorer.
    fn node_data(&self, planned: &Planned) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
        let Some(folder) = &self.node_data else {
            return Ok(Vec::new());
        };
        let file = |data: &NodeData| {
            let path = folder.join(format!("{}.json", data.file));
            Ok((path, serde_json::to_vec_pretty(data)?))
        };
        node_data(planned).iter().map(file).collect()
    }

    /// The file of what was planned.
    fn problem(&self, planned: &Planned) -> anyhow::Result<Option<(&Path, String)>> {
        let Some(path) = &self.problem else {
            return Ok(None);
        };
        let table = minimalloc::table(&planned.plan.arena.problem, None);
        let table = table.map_err(|error| EmitReason::Table(Box::new(error)).of(path))?;
        Ok(Some((path, table)))
    }

    fn planners(&self, source: &Source, planned: &Planned) -> anyhow::Result<Option<Vec<Planner>>> {
        let planners = self.compare.then(|| Planner::all(planned.task()));
        planners.transpose().with_context(|| source.name.clone())
    }

    /// What exceeds the capacity: the plan, or what is emitted of it where that needs more.
    fn too_large(
        &self,
        model: &str,
        plan: u64,
        emitted: &[(&Path, &Emitted)],
        session: &Session,
    ) -> Vec<String> {
        let forms = emitted
            .iter()
            .map(|(path, file)| (path.display().to_string(), file.arena_bytes));
        let forms = forms.filter(|(_, bytes)| *bytes != plan);
        let all = [(model.to_owned(), plan)].into_iter().chain(forms);
        let exceeding = |(place, bytes): (String, u64)| {
            let capacity = self.capacity.filter(|capacity| bytes > *capacity)?;
            Some(format!(
                "dmo-trace: {place}: the arena has {} bytes, {} are allowed",
                grouped(bytes),
                grouped(capacity)
            ))
        };
        let mut messages: Vec<String> = all.filter_map(exceeding).collect();
        if let Some(last) = messages.last_mut() {
            *last += &hint::allow_split(self, plan, session);
        }
        messages
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if is_problem(arguments.model.as_ref()) {
        return problem::run(arguments);
    }
    if is_foreign(arguments.model.as_ref()) {
        return foreign::run(arguments);
    }
    let mut source = Source::load(&arguments.model)?;
    arguments.change.take_integers(&mut source)?;
    let emissions = arguments.emissions(&source)?;
    // Before the work, not after it.
    for path in &arguments.out {
        output::unfinished(path)?;
    }
    arguments.page.ensure_writable()?;
    if let Some(folder) = &arguments.plot {
        output::folder(folder)?;
    }
    if let Some(folder) = &arguments.node_data {
        output::folder(folder)?;
    }
    let request = arguments.request()?;
    let session = Bars::session(arguments.overlap.cache());
    let (planned, notes) = match firmware::plan(arguments, &source, &request, &session)? {
        Some(planned) => planned,
        None => (plan(&mut source, &request, &session)?, Vec::new()),
    };
    if !arguments.regions.region.is_empty() {
        return regions::run(arguments, &source, planned);
    }
    let files = emissions
        .iter()
        .map(|emission| emission.of_plan(&source, &planned, &session));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let emitted: Vec<(&Path, &Emitted)> = emissions
        .iter()
        .map(|emission| emission.path.as_path())
        .zip(&files)
        .collect();
    let bytes = planned.file.arena_bytes;
    let too_large = arguments.too_large(&source.name, bytes, &emitted, &session);
    // A form that is written has a plan of its own: that is the one to report and to draw.
    let written_form = files.iter().find_map(|file| file.form.as_deref());
    let headlines = emitted.iter();
    let headlines = headlines.filter_map(|(path, file)| headline(path, file, &source, bytes));
    let report = match written_form {
        Some(form) => of_form(form, &session)?,
        None => PlanReport::new(&source, &planned, request.overlap.inputs, &session)?,
    };
    let report = PlanReport {
        headlines: headlines.collect(),
        written_changes: files.iter().flat_map(|file| file.changes.clone()).collect(),
        written: written(arguments, &emitted),
        capacity_bytes: arguments.capacity,
        fits: arguments.capacity.map(|_| too_large.is_empty()),
        planners: arguments.planners(&source, &planned)?,
        next: if too_large.is_empty() {
            hint::next_steps(arguments, &source, &planned, &emitted)
        } else {
            Vec::new()
        },
        notes: [report.notes.clone(), notes].concat(),
        ..report
    };
    if let Some(folder) = &arguments.plot {
        draw::draw(&source, &planned, written_form, folder)?;
    }
    let page = arguments
        .page
        .written(|| page_of(&source, &planned, written_form, &report, &session))?;
    let files = emitted.iter();
    let files = files.map(|(path, file)| (*path, &file.content[..]));
    let page = page.iter().map(|(path, content)| (*path, &content[..]));
    let nodes = arguments.node_data(&planned)?;
    let nodes = nodes.iter();
    let nodes = nodes.map(|(path, content)| (path.as_path(), &content[..]));
    let table = arguments.problem(&planned)?;
    let table = table.iter();
    let table = table.map(|(path, content)| (*path, content.as_bytes()));
    output::write_all(files.chain(page).chain(nodes).chain(table))?;
    output::report(&report, arguments.json)?;
    for message in &too_large {
        output::message(message);
    }
    if let Some(all) = report
        .arena_changes
        .as_ref()
        .filter(|_| !too_large.is_empty())
    {
        output::message(&format!(
            "dmo-trace: with all that TensorFlow Lite Micro keeps there: {}\n  hint: C code needs no interpreter: \
             `dmo-trace build {} --front` lists how little RAM it needs in all",
            changes(all),
            pasted(&arguments.model.to_string_lossy())
        ));
    }
    Ok(too_large.is_empty().into())
}

/// The report of the form that was written: it is what will run, and not the plan for C code.
fn of_form(form: &WrittenForm, session: &Session) -> Result<PlanReport, StudyError> {
    let measured = form.planned.overlaps.measured.as_ref();
    let inputs = measured.map_or(INPUTS, |measured| measured.inputs);
    let report = PlanReport::new(&form.source, &form.planned, inputs, session)?;
    if !form.is_tiled() {
        return Ok(report);
    }
    Ok(PlanReport {
        // Of the model before it was in tiles.
        device: None,
        arena_changes: None,
        ..report
    })
}

/// The page of the plan, or of the form that was written.
fn page_of(
    source: &Source,
    planned: &Planned,
    written: Option<&WrittenForm>,
    report: &PlanReport,
    session: &Session,
) -> anyhow::Result<Page> {
    let sayings = Sayings::of_plan(report);
    let page = match written {
        Some(form) if form.is_tiled() => page_of_form(source, form, sayings),
        _ => {
            let (source, planned) =
                written.map_or((source, planned), |form| (&form.source, &form.planned));
            let tried = Remedies::search(source, planned, session)?;
            page(source, planned, sayings, &tried)
        }
    };
    page.with_context(|| source.name.clone())
}

/// The files that are written beside models, of which more is said.
fn written(arguments: &Arguments, emitted: &[(&Path, &Emitted)]) -> Vec<String> {
    let plain = emitted.iter().filter(|(_, file)| file.changes.is_empty());
    let plain = plain.map(|(path, _)| *path);
    let others = [
        arguments.problem.as_deref(),
        arguments.page.report.as_deref(),
    ];
    let all = plain.chain(others.into_iter().flatten());
    all.map(|path| path.display().to_string()).collect()
}

/// The whole arena of a model that was written, before and after, and what is done to the model; the
/// plan for C code is of `planned_bytes`.
fn headline(path: &Path, file: &Emitted, source: &Source, planned_bytes: u64) -> Option<String> {
    let changes = (!file.changes.is_empty()).then(|| changes(&file.changes))?;
    let mut text = format!("{}: {changes}", path.display());
    match file.choice {
        Some(choice) if choice.is_tiled => {
            text += &format!(
                ". In tiles{}: {} operators, {} bytes planned, the best of {} forms that TensorFlow Lite Micro can run",
                file.form
                    .as_ref()
                    .map_or(String::new(), |form| done_in(form, source)),
                choice.operators,
                grouped(file.arena_bytes),
                choice.forms
            );
            if let Some(bytes) = choice.of_the_plan_bytes
                && file.arena_bytes > planned_bytes
                && file.changes.iter().all(|it| bytes > it.after_bytes)
            {
                text += &format!(
                    ". Smaller tiles, {} bytes planned, are for `dmo-trace build` only: what the runtime keeps for \
                     each operator would make them {} in all",
                    grouped(planned_bytes),
                    grouped(bytes)
                );
            }
        }
        Some(FormChoice {
            of_the_plan_bytes: Some(bytes),
            ..
        }) => {
            text += &format!(
                "; written without tiles: with them it would be up to {} bytes in all",
                grouped(bytes)
            );
        }
        Some(_) | None => (),
    }
    Some(text)
}

/// What a form does to the model, and how much more it computes.
fn done_in(form: &WrittenForm, source: &Source) -> String {
    let macs = [source.original(), form.source.graph()].map(macs::of_graph);
    let more = match macs {
        [before, after] if before > 0 && after > before => format!(
            ", {:.2} % more multiply-accumulates",
            100.0 * (after - before) as f64 / before as f64
        ),
        _ => String::new(),
    };
    format!(" ({}{more})", described(&form.recipe))
}
