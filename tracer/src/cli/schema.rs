//! `dmo-trace schema`: the JSON Schemas of what the commands write as JSON.

use super::check::report::CheckReport;
use super::plan::problem::ProblemReport;
use super::plan::regions::RegionReport;
use super::sweep::key::Key;
use super::{Verdict, audit, dump, output, sweep};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use dmo_analysis::handover::{self, PlanFile};
use dmo_trace::study::sweep::Row;
use dmo_trace::words::build::BuildReport;
use dmo_trace::words::explanation::ExplainReport;
use dmo_trace::words::firmware_verification::FirmwareVerifyReport;
use dmo_trace::words::overlap::OverlapReport;
use dmo_trace::words::plan::PlanReport;
use dmo_trace::words::report::{Report, generator, schema_of};
use dmo_trace::words::run::RunReport;
use dmo_trace::words::savings::SavingsReport;
use dmo_trace::words::streaming::StreamedReport;
use dmo_trace::words::table;
use dmo_trace::words::verification::VerifyReport;
use dmo_trace::words::whole_arena::ArenaReport;
use schemars::{JsonSchema, Schema};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// Name of the form, for example plan; without it, all are listed
    #[arg(value_parser = PossibleValuesParser::new(FORMS.map(|form| form.name)), hide_possible_values = true)]
    name: Option<String>,
    /// Write all schemas into this folder, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    out: Option<PathBuf>,
}

/// A JSON form.
struct Form {
    name: &'static str,
    /// What it is of.
    of: &'static str,
    schema: fn() -> Schema,
}

const fn form(name: &'static str, of: &'static str, schema: fn() -> Schema) -> Form {
    Form { name, of, schema }
}

/// All forms, by name. Where a result names its schema, the name is the middle of that.
const FORMS: [Form; 18] = [
    form("arena", "arena --json", of::<ArenaReport>),
    form("audit", "audit --json", of::<audit::AuditReport>),
    form("build", "build --json", of::<BuildReport>),
    form("check", "check --json", of::<CheckReport>),
    form("dump", "a line of dump --json", || {
        line_of::<dump::Row<'_>>("dmo-trace dump")
    }),
    form(
        "explain",
        "explain run --json, explain overlap --json",
        of::<ExplainReport>,
    ),
    form("overlap", "overlap --json", of::<OverlapReport>),
    form("plan", "plan --json", of::<PlanReport>),
    form("plan-file", "plan --emit plan.json", || {
        schema_of::<PlanFile>(handover::SCHEMA)
    }),
    form(
        "problem",
        "plan problem.csv --json",
        of::<ProblemReport<'_>>,
    ),
    form(
        "regions",
        "plan --region, with --json or --emit",
        of::<RegionReport<'_>>,
    ),
    form("run", "run --json, info --json", of::<RunReport<'_>>),
    form("savings", "savings --json", of::<SavingsReport>),
    form("stream", "stream --json", of::<StreamedReport>),
    form("sweep", "a line of sweep --out rows.jsonl", || {
        line_of::<Row>("dmo-trace sweep")
    }),
    form("sweep-key", "the .key beside the rows of sweep", || {
        schema_of::<Key>(sweep::key::SCHEMA)
    }),
    form("verify", "verify --json", of::<VerifyReport>),
    form(
        "verify-firmware",
        "verify --firmware --json",
        of::<FirmwareVerifyReport>,
    ),
];

/// The schema of what a command reports.
fn of<T: Report>() -> Schema {
    schema_of::<T>(T::SCHEMA)
}

/// The schema of a line that names none itself.
fn line_of<T: JsonSchema>(title: &str) -> Schema {
    let mut schema = generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}

fn text(form: &Form) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(&(form.schema)());
    Ok(text.with_context(|| form.name)? + "\n")
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    if let Some(folder) = &arguments.out {
        output::folder(folder)?;
        let file = |form: &Form| Ok((folder.join(format!("{}.json", form.name)), text(form)?));
        let files = FORMS.iter().map(file).collect::<anyhow::Result<Vec<_>>>()?;
        let files = files.iter();
        output::write_all(files.map(|(path, text)| (path.as_path(), text.as_bytes())))?;
        return Ok(Verdict::Holds);
    }
    let Some(name) = &arguments.name else {
        let rows = FORMS.map(|form| [form.name.to_owned(), form.of.to_owned()]);
        output::print(&(table(["name", "what has this form"], [], rows) + "\n"))?;
        return Ok(Verdict::Holds);
    };
    let form = FORMS.iter().find(|form| form.name == name);
    let form = form.with_context(|| format!("there is no form {name}"))?;
    output::print(&text(form)?)?;
    Ok(Verdict::Holds)
}
