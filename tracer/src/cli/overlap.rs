//! `dmo-trace overlap`: O_s of an operator on a shape, by formula, by its loops, from its
//! machine code, and by execution.

use super::library::LibraryArguments;
use super::{Verdict, operator, output};
use anyhow::Context;
use comfy_table::{CellAlignment, Table, presets};
use dmo_analysis::operator::Overlap;
use dmo_trace::kernels::Case;
use dmo_trace::machine::Limits;
use dmo_trace::measure::{Measurement, Proof, measure};
use serde::Serialize;
use std::time::Duration;

/// Arguments of `dmo-trace overlap`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    operator: operator::OperatorArguments,
    #[command(flatten)]
    library: LibraryArguments,
    /// Only the formulas, no machine code
    #[arg(long)]
    formulas: bool,
    /// Runs each kernel on so many different inputs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// One pair of an input and an output.
#[derive(Serialize)]
struct Row {
    input: usize,
    output: usize,
    published_bytes: Option<f64>,
    published_is_unsafe: bool,
    closed_bytes: u32,
    algorithmic_bytes: u32,
    traced_bytes: Option<u32>,
    equal_at_overlap: Option<bool>,
    differs_beyond: Option<bool>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    operator: dmo_analysis::operator::Operator,
    kernel: Option<&'static str>,
    instructions: Option<u64>,
    data_dependent: Option<bool>,
    pairs: Vec<Row>,
    disagreements: Vec<String>,
    notes: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let case = arguments.operator.case()?;
    let closed = case.operator.overlaps()?;
    let algorithmic = case.operator.traced_overlaps()?;
    let measured = match arguments.formulas {
        true => None,
        false => Some(measured(arguments, &case)?),
    };
    let report = report(case, &closed, &algorithmic, measured.as_ref());
    output::print(&if arguments.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        text(&report)
    })?;
    Ok(if report.disagreements.is_empty() {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

fn measured(arguments: &Arguments, case: &Case) -> anyhow::Result<Measurement> {
    let limits = Limits {
        max_instructions: 20_000_000_000,
        timeout: Duration::from_secs(600),
    };
    let library = arguments.library.load()?;
    measure(&library, case, arguments.inputs, limits)
        .with_context(|| arguments.library.kernels.clone())
}

fn report(
    case: Case,
    closed: &[Overlap],
    algorithmic: &[Overlap],
    measured: Option<&Measurement>,
) -> Report {
    let mut pairs = Vec::new();
    let (mut disagreements, mut notes) = (Vec::new(), Vec::new());
    for (index, (closed, algorithmic)) in closed.iter().zip(algorithmic).enumerate() {
        let pair = measured.map(|measured| &measured.layer.pairs[index]);
        let proof: Option<Proof> = measured.map(|measured| measured.proofs[index]);
        let row = Row {
            input: closed.input,
            output: closed.output,
            published_bytes: closed.published_bytes,
            published_is_unsafe: closed.published_is_unsafe,
            closed_bytes: closed.bytes,
            algorithmic_bytes: algorithmic.bytes,
            traced_bytes: pair.map(|pair| pair.safe_overlap_bytes),
            equal_at_overlap: proof.map(|proof| proof.equal_at_overlap),
            differs_beyond: proof.and_then(|proof| proof.differs_beyond),
        };
        let place = format!("input {}, output {}", row.input + 1, row.output + 1);
        if row.closed_bytes != row.algorithmic_bytes {
            disagreements.push(format!("{place}: the closed form is not the algorithm's"));
        }
        let other_loops = row
            .traced_bytes
            .is_some_and(|traced| traced != row.algorithmic_bytes);
        if other_loops && measured.is_some_and(Measurement::is_reference) {
            disagreements.push(format!(
                "{place}: the machine code is not what the algorithm says"
            ));
        } else if other_loops {
            notes.push(format!(
                "{place}: the formulas are of the reference kernel; this one has other loops"
            ));
        }
        if row.equal_at_overlap == Some(false) {
            disagreements.push(format!(
                "{place}: at O_s the kernel computes something else"
            ));
        }
        for refusal in pair.iter().flat_map(|pair| &pair.refusals) {
            disagreements.push(format!("{place}: no overlap is granted: {refusal}"));
        }
        pairs.push(row);
    }
    Report {
        schema: "dmo-trace/overlap/1",
        operator: case.operator,
        kernel: measured.map(|measured| measured.function),
        instructions: measured.map(|measured| measured.layer.instructions()),
        data_dependent: measured.and_then(|measured| measured.layer.data_dependent),
        pairs,
        disagreements,
        notes,
    }
}

fn text(report: &Report) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header([
        "input",
        "output",
        "published",
        "closed form",
        "algorithm",
        "machine code",
        "run at O_s",
        "one element more",
    ]);
    for row in &report.pairs {
        let published = match row.published_bytes {
            Some(bytes) if row.published_is_unsafe => format!("{bytes:.1} UNSAFE"),
            Some(bytes) => format!("{bytes:.1}"),
            None => "-".to_owned(),
        };
        table.add_row([
            (row.input + 1).to_string(),
            (row.output + 1).to_string(),
            published,
            row.closed_bytes.to_string(),
            row.algorithmic_bytes.to_string(),
            row.traced_bytes
                .map_or("-".to_owned(), |bytes| bytes.to_string()),
            match row.equal_at_overlap {
                Some(true) => "same output",
                Some(false) => "OTHER OUTPUT",
                None => "-",
            }
            .to_owned(),
            match (row.equal_at_overlap, row.differs_beyond) {
                (None, _) => "-",
                (_, Some(true)) => "other output",
                (_, Some(false)) => "same output by chance",
                (_, None) => "not possible",
            }
            .to_owned(),
        ]);
    }
    for column in 2..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = String::new();
    if let (Some(kernel), Some(instructions)) = (report.kernel, report.instructions) {
        text += &format!("{kernel}: {instructions} instructions\n\n");
    }
    text += &format!("{table}\n");
    for line in report.disagreements.iter().chain(&report.notes) {
        text += &format!("\n{line}\n");
    }
    text
}
