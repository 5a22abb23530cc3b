//! The file of a sweep's rows, appended to as they come, so that an interrupt loses none.

use super::key::Key;
use anyhow::{Context, bail, ensure};
use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use dmo_trace::study::sweep::{Entry, Row};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;

/// The file, positioned after its last complete case.
pub struct Table {
    writer: BufWriter<File>,
    json: bool,
    /// Cases that were there already, all their rows.
    pub done: usize,
    /// Rows among them with a finding.
    pub findings: usize,
}

const COLUMNS: &str = "case,kernels,cpu,kernel,input,output,published_bytes,published_is_unsafe,closed_bytes,algorithmic_bytes,traced_bytes,equal_at_overlap,differs_beyond,instructions,finding";

/// A longer line is no row.
const MAX_LINE: u64 = 1 << 20;

impl Table {
    /// Opens the file for the rows of `entries`, of which it may hold the first where they
    /// have this key.
    pub fn open(path: &Path, entries: &[&Entry], key: &Key) -> anyhow::Result<Self> {
        let json = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("jsonl") => true,
            _ => bail!("expected a name ending in .csv or .jsonl"),
        };
        // A pipe would be waited for, a device be read without an end.
        if let Ok(existing) = std::fs::metadata(path) {
            ensure!(
                existing.is_file(),
                "cannot be written: it is not a plain file"
            );
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .context("cannot be written")?;
        lock(&file)?;
        let mut table = Self {
            writer: BufWriter::new(file.try_clone().context("cannot be written")?),
            json,
            done: 0,
            findings: 0,
        };
        let kept = table.read(BufReader::new(&file), entries)?;
        match table.done {
            0 => key.write(path)?,
            _ => key.ensure_is_of(path)?,
        }
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
            length += reader
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut line)? as u64;
            let Some((b'\n', complete)) = line.split_last() else {
                let is_head = number == 1 && !self.json;
                ensure!(
                    (line.len() as u64) < MAX_LINE && self.may_be_cut(&line, is_head, entry)?,
                    "line {number} is not a row of this sweep\n  hint: another --out"
                );
                break;
            };
            let text = std::str::from_utf8(complete)
                .with_context(|| format!("line {number} is not text"))?;
            if number == 1 && !self.json {
                ensure!(text == COLUMNS, "its columns are not those of a sweep");
                kept = length;
                continue;
            }
            let (row, has_finding) = self
                .parse(text)
                .with_context(|| format!("line {number} is not a row of a sweep"))?;
            let Some(wanted) = entry.filter(|entry| row == start_fields(entry)) else {
                bail!(
                    "line {number} is not the row that this grid has there\n  hint: another --out"
                );
            };
            rows += 1;
            findings += usize::from(has_finding);
            if rows == wanted.rows {
                self.done += 1;
                self.findings += std::mem::take(&mut findings);
                (kept, rows) = (length, 0);
                entry = expected.next();
            }
        }
        Ok(kept)
    }

    /// Whether a last line without its end is what an interrupt leaves of a row of this entry,
    /// or of the columns.
    fn may_be_cut(
        &self,
        line: &[u8],
        is_head: bool,
        entry: Option<&&Entry>,
    ) -> anyhow::Result<bool> {
        let start = match entry {
            _ if is_head => COLUMNS.to_owned(),
            None => return Ok(line.is_empty()),
            Some(entry) => start_of_row(entry, self.json)?,
        };
        let common = line.len().min(start.len());
        let is_longer = line.len() > start.len();
        Ok(line[..common] == start.as_bytes()[..common] && !(is_head && is_longer))
    }

    fn parse(&self, text: &str) -> Option<ParsedRow> {
        if self.json {
            let row: Row = serde_json::from_str(text).ok()?;
            return Some(([row.case, row.kernels, row.cpu], !row.finding.is_empty()));
        }
        let mut fields = StringRecord::new();
        let mut reader = ReaderBuilder::new();
        let mut reader = reader.has_headers(false).from_reader(text.as_bytes());
        reader.read_record(&mut fields).ok()?;
        let complete = fields.len() == COLUMNS.split(',').count();
        // What this program writes, and nothing that is read the same.
        if !complete || line(&fields).ok()? != text {
            return None;
        }
        let finding = fields.get(fields.len() - 1)?;
        Some((
            [0, 1, 2].map(|index| fields[index].to_owned()),
            !finding.is_empty(),
        ))
    }

    /// Appends the rows of one case.
    pub fn append(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        for row in rows {
            if self.json {
                writeln!(self.writer, "{}", serde_json::to_string(row)?)?;
            } else {
                writeln!(self.writer, "{}", line(csv_fields(row))?)?;
            }
        }
        Ok(self.writer.flush()?)
    }
}

/// What tells a row that is there from others: its case, kernels and CPU; and whether it has a
/// finding.
type ParsedRow = ([String; 3], bool);

/// The fields that all rows of an entry start with.
fn start_fields(entry: &Entry) -> [&str; 3] {
    [&entry.line, entry.kernels(), entry.cpu()]
}

/// The text that all rows of an entry start with.
fn start_of_row(entry: &Entry, json: bool) -> anyhow::Result<String> {
    let fields = start_fields(entry);
    if !json {
        return Ok(line(fields)? + ",");
    }
    let fields = fields.map(|field| serde_json::Value::from(field).to_string());
    let [case, kernels, cpu] = fields;
    Ok(format!(
        "{{\"case\":{case},\"kernels\":{kernels},\"cpu\":{cpu},"
    ))
}

/// Fields as a line of CSV, without its end.
fn line(fields: impl IntoIterator<Item: AsRef<[u8]>>) -> anyhow::Result<String> {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(fields)?;
    let mut line = String::from_utf8(writer.into_inner()?)?;
    line.pop();
    Ok(line)
}

/// Nobody else writes to the file until it is closed.
fn lock(file: &File) -> anyhow::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            bail!("another sweep is writing to it\n  hint: another --out, or wait for it")
        }
        // Some file systems have no locks.
        Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
            Err(error).context("cannot be locked")
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn csv_fields(row: &Row) -> [String; 15] {
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
        // A row is a line.
        row.finding.replace(char::is_control, " "),
    ]
}
