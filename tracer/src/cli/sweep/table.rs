//! The file of a sweep's rows, appended to as they come, so that an interrupt loses none.

use super::super::comparison::Pair;
use super::grid::Entry;
use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// One row of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub case: String,
    pub kernels: String,
    pub cpu: String,
    pub kernel: String,
    /// Input and output counted from 1.
    #[serde(flatten)]
    pub pair: Pair,
    pub instructions: Option<u64>,
    pub finding: String,
}

/// The file, open behind its last complete case.
pub struct Table {
    writer: BufWriter<File>,
    json: bool,
    /// Cases that were there already, all their rows.
    pub done: usize,
    /// Rows among them with a finding.
    pub findings: usize,
}

const COLUMNS: &str = "case,kernels,cpu,kernel,input,output,published_bytes,published_is_unsafe,closed_bytes,algorithmic_bytes,traced_bytes,equal_at_overlap,differs_beyond,instructions,finding";

impl Table {
    /// Opens the file for the rows of `entries`, of which it may hold the first.
    pub fn open(path: &Path, entries: &[&Entry]) -> anyhow::Result<Self> {
        let json = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("jsonl") => true,
            _ => bail!("expected a name ending in .csv or .jsonl"),
        };
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .context("cannot be written")?;
        let mut table = Self {
            writer: BufWriter::new(file.try_clone().context("cannot be written")?),
            json,
            done: 0,
            findings: 0,
        };
        let kept = table.read(BufReader::new(&file), entries)?;
        file.set_len(kept).context("cannot be written")?;
        if kept == 0 && !json {
            writeln!(table.writer, "{COLUMNS}")?;
        }
        Ok(table)
    }

    /// Reads the rows that are there; gives the length of the complete cases. Whatever is no
    /// row of these entries is an error, not a reason to cut the file.
    fn read(&mut self, mut reader: impl BufRead, entries: &[&Entry]) -> anyhow::Result<u64> {
        let (mut kept, mut length) = (0, 0);
        let (mut rows, mut findings) = (0, 0);
        let mut expected = entries.iter();
        let mut entry = expected.next();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            length += reader.read_until(b'\n', &mut line)? as u64;
            let Some((b'\n', complete)) = line.split_last() else {
                self.check_cut(&line, number, kept)?;
                break;
            };
            let text = std::str::from_utf8(complete)
                .with_context(|| format!("line {number} is not text"))?;
            if number == 1 && !self.json {
                ensure!(text == COLUMNS, "its columns are not those of a sweep");
                kept = length;
                continue;
            }
            let row = self
                .parse(text)
                .with_context(|| format!("line {number} is no row of a sweep"))?;
            let Some(wanted) = entry.filter(|entry| row.is_of(entry)) else {
                bail!(
                    "line {number} is not the row that this grid has there\n  hint: another --out"
                );
            };
            rows += 1;
            findings += usize::from(row.has_finding);
            if rows == wanted.rows {
                self.done += 1;
                self.findings += std::mem::take(&mut findings);
                (kept, rows) = (length, 0);
                entry = expected.next();
            }
        }
        Ok(kept)
    }

    /// A last line without its end is what an interrupt leaves of a row.
    fn check_cut(&self, line: &[u8], number: u32, kept: u64) -> anyhow::Result<()> {
        let start = match (self.json, kept) {
            (true, _) => "{\"case\":",
            (false, 0) => COLUMNS,
            (false, _) => return Ok(()),
        };
        let common = line.len().min(start.len());
        ensure!(
            line[..common] == start.as_bytes()[..common],
            "line {number} is no row of a sweep"
        );
        Ok(())
    }

    fn parse(&self, text: &str) -> Option<Known> {
        if self.json {
            let row: Row = serde_json::from_str(text).ok()?;
            return Some(Known {
                case: row.case,
                kernels: row.kernels,
                cpu: row.cpu,
                has_finding: !row.finding.is_empty(),
            });
        }
        let fields: Vec<&str> = text.split(',').collect();
        match fields[..] {
            [case, kernels, cpu, .., finding] if fields.len() == COLUMNS.split(',').count() => {
                Some(Known {
                    case: case.to_owned(),
                    kernels: kernels.to_owned(),
                    cpu: cpu.to_owned(),
                    has_finding: !finding.is_empty(),
                })
            }
            _ => None,
        }
    }

    /// Appends the rows of one case.
    pub fn append(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        for row in rows {
            if self.json {
                writeln!(self.writer, "{}", serde_json::to_string(row)?)?;
            } else {
                writeln!(self.writer, "{}", csv(row))?;
            }
        }
        Ok(self.writer.flush()?)
    }
}

/// What tells a row that is there from others.
struct Known {
    case: String,
    kernels: String,
    cpu: String,
    has_finding: bool,
}

impl Known {
    fn is_of(&self, entry: &Entry) -> bool {
        self.case == entry.words.join(" ")
            && self.kernels == entry.kernels()
            && self.cpu == entry.cpu()
    }
}

/// No field has a comma: cases give several inputs as several options.
fn csv(row: &Row) -> String {
    let option = |value: Option<String>| value.unwrap_or_default();
    let pair = &row.pair;
    [
        row.case.clone(),
        row.kernels.clone(),
        row.cpu.clone(),
        row.kernel.clone(),
        pair.input.to_string(),
        pair.output.to_string(),
        option(pair.published_bytes.map(|bytes| format!("{bytes:.2}"))),
        pair.published_is_unsafe.to_string(),
        pair.closed_bytes.to_string(),
        pair.algorithmic_bytes.to_string(),
        option(pair.traced_bytes.map(|bytes| bytes.to_string())),
        option(pair.equal_at_overlap.map(|equal| equal.to_string())),
        option(pair.differs_beyond.map(|differs| differs.to_string())),
        option(row.instructions.map(|count| count.to_string())),
        row.finding.replace([',', '\n'], ";"),
    ]
    .join(",")
}
