//! `dmo-papers`: the papers' tables, with our figures beside them.

use anyhow::Context;
use clap::{Parser, Subcommand};
use comfy_table::{CellAlignment, Table, presets};
use dmo_papers::published::Unit;
use dmo_papers::tables::{COMPARISONS, Comparison, Line};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Reproduces the figures of published papers on memory planning.
#[derive(Parser)]
#[command(name = "dmo-papers", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the tables of the published papers with our figures beside them
    Tables(Arguments),
}

/// Arguments of `dmo-papers tables`.
#[derive(clap::Args)]
struct Arguments {
    /// Names of the tables to print [default: all]
    #[arg(value_name = "NAME", value_parser = named)]
    tables: Vec<&'static Comparison>,
    /// Seconds for each search for an order or a plan
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = parse_seconds)]
    time: f64,
    /// Print JSON (docs/json.md) instead of tables
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let Command::Tables(arguments) = CommandLine::parse().command;
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dmo-papers: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|seconds| (0.0..=1e9).contains(seconds))
        .ok_or_else(|| format!("'{text}' is not a number of seconds"))
}

fn named(name: &str) -> Result<&'static Comparison, String> {
    Comparison::named(name).ok_or_else(|| {
        let names: Vec<&str> = COMPARISONS.iter().map(|table| table.name).collect();
        format!("no table of this name, expected {}", names.join(", "))
    })
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    tables: Vec<Compared>,
}

/// A table with its figures.
#[derive(Serialize)]
struct Compared {
    name: &'static str,
    paper: &'static str,
    number: &'static str,
    title: &'static str,
    /// Of the printed figures.
    unit: Unit,
    lines: Vec<Line>,
    #[serde(skip)]
    comparison: &'static Comparison,
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let all: Vec<&'static Comparison> = COMPARISONS.iter().collect();
    let chosen = if arguments.tables.is_empty() {
        &all
    } else {
        &arguments.tables
    };
    let time = Duration::from_secs_f64(arguments.time);
    let tables = chosen.iter().map(|table| compare(table, time));
    let tables = tables.collect::<anyhow::Result<Vec<Compared>>>()?;
    print(&if arguments.json {
        let schema = "dmo-trace/tables/1";
        serde_json::to_string_pretty(&Document { schema, tables })? + "\n"
    } else {
        let texts: Vec<String> = tables.iter().map(text).collect();
        texts.join("\n")
    })
}

/// A reader that has gone away (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}

fn compare(table: &'static Comparison, time: Duration) -> anyhow::Result<Compared> {
    let bar = spinner(table.name);
    let lines = table.lines(time, &mut |row| bar.set_message(row));
    bar.finish_and_clear();
    Ok(Compared {
        name: table.name,
        paper: table.paper,
        number: table.number,
        title: table.title,
        unit: table.unit,
        lines: lines.with_context(|| table.name)?,
        comparison: table,
    })
}

/// Says on stderr which row is computed; hidden where that is no terminal.
fn spinner(table: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix}: {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner()
        .with_style(style)
        .with_prefix(table)
}

fn text(table: &Compared) -> String {
    let unit = match table.unit {
        Unit::Bytes => "bytes",
        Unit::Kilobytes => "KB of 1000 bytes",
        Unit::Kibibytes => "KB of 1024 bytes",
        Unit::Mebibytes => "MiB",
    };
    let printed = table.lines.iter().filter_map(|line| line.agrees);
    let (count, agree) = printed.fold((0, 0), |(count, agree), agrees| {
        (count + 1, agree + usize::from(agrees))
    });
    let Compared {
        name,
        paper,
        number,
        title,
        ..
    } = table;
    format!(
        "{name}: {paper}, {number}: {title}\n{unit}; {agree} of {count} comparisons agree\n\n{}\n",
        drawn(table)
    )
}

fn drawn(compared: &Compared) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["of", "quantity", "paper", "ours", "", "remark"]);
    let mut previous = "";
    for line in &compared.lines {
        let of = if line.row == previous { "" } else { line.row };
        previous = line.row;
        table.add_row([
            of,
            &line.quantity,
            line.published.as_deref().unwrap_or(""),
            &compared.comparison.figure(line),
            match line.agrees {
                Some(true) => "=",
                Some(false) => "differs",
                None => "",
            },
            &line.remark,
        ]);
    }
    for column in [2, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
