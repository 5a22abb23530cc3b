//! `dmo-trace plan --region`: a model's tensors in several memories.

use super::draw::draw_memories;
use super::{Arguments, Verdict};
use crate::cli::output;
use anyhow::Context;
use dmo_trace::page::plan::{Sayings, page};
use dmo_trace::study::error::EmitReason;
use dmo_trace::study::plan::Planned;
use dmo_trace::study::regions::place_model;
use dmo_trace::study::remedies::Remedies;
use dmo_trace::study::source::Source;
use dmo_trace::words::names::pasted;
use dmo_trace::words::region_plan::RegionReport;
use dmo_trace::words::regions::no_room;
use dmo_trace::words::report::Report;
use std::path::Path;

/// Places the tensors of a planned order.
pub fn run(arguments: &Arguments, source: &Source, planned: Planned) -> anyhow::Result<Verdict> {
    for path in &arguments.out {
        if !has_ending(path, "json") && !has_ending(path, "h") {
            return Err(EmitReason::Regions.of(path).into());
        }
    }
    let request = arguments.regions.request(arguments.time.0);
    let is_changed = source.is_changed();
    let mut headers = arguments.out.iter().filter(|path| has_ending(path, "h"));
    if let Some(header) = headers.next().filter(|_| is_changed) {
        return Err(EmitReason::ChangedAsHeader.of(header).into());
    }
    let found = match place_model(source, &planned, &request, None)? {
        Ok(found) => found,
        Err(error) => {
            output::message(&format!("dmo-trace: {}", no_room(&source.name, &error)));
            return Ok(Verdict::Fails);
        }
    };
    let planned = planned.in_regions(found);
    let Some(found) = &planned.placed else {
        return Ok(Verdict::Fails);
    };
    let mut report = RegionReport::new(source, &planned, found);
    let written = arguments.out.iter().map(|path| path.display().to_string());
    report.written = written.collect();
    report.next = next_step(arguments, source);
    let mut files = Vec::with_capacity(arguments.out.len());
    for path in &arguments.out {
        let content = if has_ending(path, "h") {
            report.header(&planned, found)
        } else {
            report.json()?
        };
        files.push((path.as_path(), content));
    }
    if let Some(folder) = &arguments.plot {
        draw_memories(&source.name, &planned, found, folder)?;
    }
    let page = arguments.page.written(|| {
        let sayings = Sayings::of_regions(&planned);
        page(source, &planned, sayings, &Remedies::untried()).with_context(|| source.name.clone())
    })?;
    let files = files.iter();
    let files = files.map(|(path, content)| (*path, content.as_bytes()));
    output::write_all(files.chain(page.iter().map(|(path, content)| (*path, &content[..]))))?;
    output::report(&report, arguments.json)?;
    Ok(Verdict::Holds)
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|it| it == ending)
}

/// What to do with the plan; `None` where machine code computes nothing of the model.
fn next_step(arguments: &Arguments, source: &Source) -> Option<String> {
    source.file.as_ref()?;
    let model = arguments.model.to_string_lossy();
    let model = pasted(&model);
    let mut written = arguments.out.iter();
    let plan = written.find(|path| has_ending(path, "json"));
    Some(match plan {
        Some(plan) => format!(
            "`dmo-trace verify {model} --plan {}{}` runs it on the kernels' machine code",
            pasted(&plan.to_string_lossy()),
            arguments.overlap.kernels_again()
        ),
        None => format!(
            "`--out plan.json` writes it for `dmo-trace verify {model} --plan plan.json`; `dmo-trace build` with these \
             regions places the arrays of C code"
        ),
    })
}
