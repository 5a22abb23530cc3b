//! What the commands write as JSON: the forms of all of them.

use super::check::report::CheckReport;
use super::plan::foreign::RenewalReport;
use super::plan::problem::ProblemReport;
use super::sweep::key::Key;
use super::{audit, dump, sweep};
use dmo_analysis::handover::{self, PlanFile};
use dmo_trace::study::sweep::Row;
use dmo_trace::words::build::BuildReport;
use dmo_trace::words::decoding::DecodedReport;
use dmo_trace::words::explanation::ExplainReport;
use dmo_trace::words::firmware_verification::FirmwareVerifyReport;
use dmo_trace::words::forms::FormsReport;
use dmo_trace::words::layers::LayersReport;
use dmo_trace::words::overlap::OverlapReport;
use dmo_trace::words::plan::PlanReport;
use dmo_trace::words::region_plan::RegionReport;
use dmo_trace::words::report::{Report, generator, schema_of};
use dmo_trace::words::run::RunReport;
use dmo_trace::words::savings::SavingsReport;
use dmo_trace::words::streaming::StreamedReport;
use dmo_trace::words::verification::VerifyReport;
use dmo_trace::words::whole_arena::ArenaReport;
use schemars::{JsonSchema, Schema};

/// A JSON form.
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// What it is of.
    pub of: &'static str,
    /// Its JSON Schema.
    pub schema: fn() -> Schema,
}

const fn form(name: &'static str, of: &'static str, schema: fn() -> Schema) -> Form {
    Form { name, of, schema }
}

/// All forms, by name. Where a result names its schema, the name is the middle of that.
pub const FORMS: [Form; 22] = [
    form("arena", "arena --json", of::<ArenaReport>),
    form("audit", "audit --json", of::<audit::AuditReport>),
    form("build", "build --json", of::<BuildReport>),
    form(
        "build-forms",
        "build --front --json, build with limits that no form keeps to",
        of::<FormsReport>,
    ),
    form("check", "check --json", of::<CheckReport>),
    form("decode", "decode --json", of::<DecodedReport>),
    form("dump", "a line of dump --json", || {
        line_of::<dump::Row<'_>>("dmo-trace dump")
    }),
    form(
        "explain",
        "explain run --json, explain overlap --json",
        of::<ExplainReport>,
    ),
    form(
        "foreign",
        "plan of another tool's .json, with --json",
        of::<RenewalReport<'_>>,
    ),
    form("layers", "layers --json", of::<LayersReport>),
    form("overlap", "overlap --json", of::<OverlapReport>),
    form("plan", "plan --json", of::<PlanReport>),
    form("plan-file", "plan --out plan.json", || {
        schema_of::<PlanFile>(handover::SCHEMA)
    }),
    form(
        "problem",
        "plan problem.csv --json",
        of::<ProblemReport<'_>>,
    ),
    form(
        "regions",
        "plan --region, with --json or --out",
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
