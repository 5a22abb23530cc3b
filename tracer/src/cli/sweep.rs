//! `dmo-trace sweep`: a grid of operators and shapes over all cores, one row a case.

use super::library::LibraryArguments;
use super::operator::OperatorArguments;
use super::{Verdict, output};
use anyhow::{Context, bail, ensure};
use clap::Parser;
use dmo_trace::call::Library;
use dmo_trace::kernels::Case;
use dmo_trace::machine::Limits;
use dmo_trace::measure::{Measurement, measure};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Arguments of `dmo-trace sweep`.
#[derive(clap::Args)]
#[command(after_help = GRID_HELP)]
pub struct Arguments {
    /// The grid, a TOML file
    grid: PathBuf,
    #[command(flatten)]
    library: LibraryArguments,
    /// Only the formulas, no machine code
    #[arg(long)]
    formulas: bool,
    /// Runs each kernel on so many different inputs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1000))]
    inputs: u64,
    /// Where the rows go: .csv, or .jsonl for one JSON object a line. A file that an earlier
    /// call has left unfinished is gone on with
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Only each N-th case, from the I-th: for the I-th of N jobs, counted from 1
    #[arg(long, value_name = "I/N", value_parser = parse_shard, default_value = "1/1")]
    shard: (usize, usize),
}

const GRID_HELP: &str = "The grid holds [[grid]] tables. `operator` names it, every other key is an option of `dmo-trace\noverlap` with a list of values; all combinations are run:\n\n  [[grid]]\n  operator = \"conv2d\"\n  input = [\"1x16x16x8\", \"1x15x15x8\"]\n  filter = [\"16x3x3x8\"]\n  stride = [\"1\", \"2\"]\n  padding = [\"same\", \"valid\"]\n\nExit code 1 when a row has a finding.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GridFile {
    grid: Vec<Grid>,
}

#[derive(Deserialize)]
struct Grid {
    operator: String,
    #[serde(flatten)]
    options: BTreeMap<String, Vec<String>>,
}

/// An operator on the command line, without the program's name.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    operator: OperatorArguments,
}

/// One case of the grid.
struct Entry {
    words: Vec<String>,
    case: Case,
}

/// One row of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    case: String,
    cpu: String,
    kernel: String,
    input: usize,
    output: usize,
    published_bytes: Option<f64>,
    published_is_unsafe: bool,
    closed_bytes: u32,
    algorithmic_bytes: u32,
    traced_bytes: Option<u32>,
    equal_at_overlap: Option<bool>,
    differs_beyond: Option<bool>,
    instructions: Option<u64>,
    finding: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let entries = entries(arguments)?;
    let library = match arguments.formulas {
        true => None,
        false => Some(arguments.library.load()?),
    };
    let mut table = Table::open(&arguments.out)?;
    let done = table.done.len();
    ensure!(
        done <= entries.len()
            && table
                .done
                .iter()
                .zip(&entries)
                .all(|(done, entry)| *done == entry.words.join(" ")),
        "{}: its rows are not the first ones of this grid\n  hint: another --out",
        arguments.out.display()
    );
    let progress = progress_bar(entries.len(), done);
    let mut findings = table.findings;
    on_all_cores(
        &entries[done..],
        |entry| rows(entry, library.as_ref(), arguments.inputs),
        |rows| {
            findings += rows.iter().filter(|row| !row.finding.is_empty()).count();
            progress.inc(1);
            table.append(&rows)
        },
    )?;
    progress.finish_and_clear();
    table.finish()?;
    output::print(&format!(
        "{} cases ({done} of them from an earlier call), {findings} rows with a finding: {}\n",
        entries.len(),
        arguments.out.display()
    ))?;
    Ok(if findings == 0 {
        Verdict::Holds
    } else {
        Verdict::Fails
    })
}

/// The cases of this shard, in the grid's order.
fn entries(arguments: &Arguments) -> anyhow::Result<Vec<Entry>> {
    let path = arguments.grid.display();
    let text =
        std::fs::read_to_string(&arguments.grid).with_context(|| format!("cannot read {path}"))?;
    let file: GridFile = toml::from_str(&text).with_context(|| path.to_string())?;
    let mut entries = Vec::new();
    let mut impossible = Vec::new();
    for grid in &file.grid {
        for words in combinations(grid).with_context(|| path.to_string())? {
            let line = Line::try_parse_from(&words)
                .with_context(|| format!("{path}: {}", words.join(" ")))?;
            let case = line.operator.case().and_then(|case| {
                case.operator.buffers()?;
                Ok(case)
            });
            match case {
                Ok(case) => entries.push(Entry { words, case }),
                Err(error) => impossible.push(format!("{}: {error:#}", words.join(" "))),
            }
        }
    }
    if let Some(first) = impossible.first() {
        eprintln!(
            "{path}: {} combinations make no sense and are left out, the first: {first}",
            impossible.len()
        );
    }
    let (shard, shards) = arguments.shard;
    Ok(entries
        .into_iter()
        .skip(shard - 1)
        .step_by(shards)
        .collect())
}

/// The grid may not be larger.
const MAX_CASES: usize = 10_000_000;

/// All combinations of a grid's options as words of a command line. Values with commas give
/// an option several times: the inputs of concat.
fn combinations(grid: &Grid) -> anyhow::Result<Vec<Vec<String>>> {
    let mut lines = vec![vec![grid.operator.clone()]];
    for (option, values) in &grid.options {
        let total = lines.len().saturating_mul(values.len());
        if total > MAX_CASES {
            bail!("the grid has more than {MAX_CASES} cases");
        }
        lines = lines
            .iter()
            .flat_map(|line| {
                values.iter().map(move |value| {
                    let mut line = line.clone();
                    for value in value.split(',') {
                        line.push(format!("--{option}"));
                        line.push(value.to_owned());
                    }
                    line
                })
            })
            .collect();
    }
    Ok(lines)
}

const LIMITS: Limits = Limits {
    max_instructions: 20_000_000_000,
    timeout: Duration::from_secs(600),
};

fn rows(entry: &Entry, library: Option<&Library>, inputs: u64) -> anyhow::Result<Vec<Row>> {
    let operator = &entry.case.operator;
    let (closed, algorithmic) = (operator.overlaps()?, operator.traced_overlaps()?);
    let measured = library.map(|library| measure(library, &entry.case, inputs, LIMITS));
    let (measured, failure) = match measured {
        Some(Ok(measured)) => (Some(measured), None),
        // The first line is enough for a row.
        Some(Err(error)) => (None, error.to_string().lines().next().map(str::to_owned)),
        None => (None, None),
    };
    let pairs = closed.iter().zip(&algorithmic).enumerate();
    Ok(pairs
        .map(|(index, (closed, algorithmic))| {
            let pair = measured
                .as_ref()
                .map(|measured| &measured.layer.pairs[index]);
            let proof = measured.as_ref().map(|measured| measured.proofs[index]);
            let mut row = Row {
                case: entry.words.join(" "),
                cpu: library.map_or(String::new(), |library| library.cpu().name.to_owned()),
                kernel: measured.as_ref().map_or("", function).to_owned(),
                input: closed.input + 1,
                output: closed.output + 1,
                published_bytes: closed.published_bytes,
                published_is_unsafe: closed.published_is_unsafe,
                closed_bytes: closed.bytes,
                algorithmic_bytes: algorithmic.bytes,
                traced_bytes: pair.map(|pair| pair.safe_overlap_bytes),
                equal_at_overlap: proof.map(|proof| proof.equal_at_overlap),
                differs_beyond: proof.and_then(|proof| proof.differs_beyond),
                instructions: measured
                    .as_ref()
                    .map(|measured| measured.layer.instructions()),
                finding: String::new(),
            };
            let reference = measured.as_ref().is_some_and(Measurement::is_reference);
            row.finding = failure.clone().unwrap_or_else(|| finding(&row, reference));
            row
        })
        .collect())
}

fn function(measured: &Measurement) -> &'static str {
    measured.function
}

/// What is wrong with a row. The formulas are of the reference kernels only.
fn finding(row: &Row, reference: bool) -> String {
    let other_loops = row
        .traced_bytes
        .is_some_and(|traced| traced != row.algorithmic_bytes);
    let mut findings = Vec::new();
    if row.closed_bytes != row.algorithmic_bytes {
        findings.push("the closed form is not the algorithm's");
    }
    if reference && other_loops {
        findings.push("the machine code is not what the algorithm says");
    }
    if row.equal_at_overlap == Some(false) {
        findings.push("another output at O_s");
    }
    findings.join("; ")
}

/// Does `work` for each item on all cores, and hands the results over in the items' order.
fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> anyhow::Result<R> + Sync,
    mut take: impl FnMut(R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = sync_channel(4 * cores);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((index, item)) =
                    items.get(next.load(Ordering::Relaxed)).and_then(|_| {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        items.get(index).map(|item| (index, item))
                    })
                {
                    // Nobody listens when an earlier item has failed.
                    if sender.send((index, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&wanted) {
                take(result?)?;
                wanted += 1;
            }
        }
        Ok(())
    })
}

/// The file of rows, appended to as they come, so that an interrupt loses none.
struct Table {
    writer: BufWriter<File>,
    json: bool,
    /// Cases that are there already.
    done: Vec<String>,
    /// Rows among them with a finding.
    findings: usize,
}

const COLUMNS: &str = "case,cpu,kernel,input,output,published_bytes,published_is_unsafe,closed_bytes,algorithmic_bytes,traced_bytes,equal_at_overlap,differs_beyond,instructions,finding";

impl Table {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let json = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("jsonl") => true,
            _ => bail!(
                "{}: expected a name ending in .csv or .jsonl",
                path.display()
            ),
        };
        let context = || format!("cannot write {}", path.display());
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(context)?;
        let mut table = Self {
            writer: BufWriter::new(file.try_clone().with_context(context)?),
            json,
            done: Vec::new(),
            findings: 0,
        };
        let kept = table
            .read(&file)
            .with_context(|| path.display().to_string())?;
        file.set_len(kept).with_context(context)?;
        if kept == 0 && !json {
            writeln!(table.writer, "{COLUMNS}")?;
        }
        Ok(table)
    }

    /// Reads what is there; gives the length of its complete lines. The last case may lack
    /// rows, so it is done again.
    fn read(&mut self, file: &File) -> anyhow::Result<u64> {
        let (mut length, mut case_start) = (0, 0);
        let mut findings_before = 0;
        for (number, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line?;
            let line_length = line.len() as u64 + 1;
            let Ok(text) = String::from_utf8(line) else {
                bail!("line {} is not text", number + 1);
            };
            if number == 0 && !self.json {
                ensure!(text == COLUMNS, "its columns are not those of a sweep");
                length += line_length;
                case_start = length;
                continue;
            }
            let (case, finding) = match self.json {
                true => match serde_json::from_str::<Row>(&text) {
                    Ok(row) => (row.case, !row.finding.is_empty()),
                    Err(_) => break,
                },
                false => match text.split(',').collect::<Vec<_>>()[..] {
                    [case, .., finding]
                        if text.matches(',').count() == COLUMNS.matches(',').count() =>
                    {
                        (case.to_owned(), !finding.is_empty())
                    }
                    _ => break,
                },
            };
            if self.done.last() != Some(&case) {
                case_start = length;
                findings_before = self.findings;
                self.done.push(case);
            }
            self.findings += usize::from(finding);
            length += line_length;
        }
        self.done.pop();
        self.findings = findings_before;
        Ok(case_start)
    }

    fn append(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        for row in rows {
            if self.json {
                writeln!(self.writer, "{}", serde_json::to_string(row)?)?;
            } else {
                writeln!(self.writer, "{}", csv(row))?;
            }
        }
        Ok(self.writer.flush()?)
    }

    fn finish(mut self) -> anyhow::Result<()> {
        Ok(self.writer.flush()?)
    }
}

/// No field has a comma: cases give several inputs as several options.
fn csv(row: &Row) -> String {
    let option = |value: Option<String>| value.unwrap_or_default();
    [
        row.case.clone(),
        row.cpu.clone(),
        row.kernel.clone(),
        row.input.to_string(),
        row.output.to_string(),
        option(row.published_bytes.map(|bytes| format!("{bytes:.2}"))),
        row.published_is_unsafe.to_string(),
        row.closed_bytes.to_string(),
        row.algorithmic_bytes.to_string(),
        option(row.traced_bytes.map(|bytes| bytes.to_string())),
        option(row.equal_at_overlap.map(|equal| equal.to_string())),
        option(row.differs_beyond.map(|differs| differs.to_string())),
        option(row.instructions.map(|count| count.to_string())),
        row.finding.replace(',', ";"),
    ]
    .join(",")
}

fn progress_bar(cases: usize, done: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(cases as u64).with_style(style);
    bar.set_position(done as u64);
    bar
}

fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(shard, shards)| Some((shard.parse().ok()?, shards.parse().ok()?)));
    parsed
        .filter(|&(shard, shards)| (1..=shards).contains(&shard))
        .ok_or_else(|| format!("'{text}': expected I/N with I from 1 to N"))
}
