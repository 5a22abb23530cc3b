//! `dmo-trace dump`: the events of a saved trace, one a line, as text, JSON or CSV.

use super::Verdict;
use anyhow::Context;
use dmo_analysis::trace::file::TraceReader;
use dmo_analysis::trace::{AccessKind, Address, Event, Layer, Span, Time, TraceSink};
use dmo_trace::study::input;
use dmo_trace::words::names::plain;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Each line: time (executed instructions), load or store, tensor, byte range in it, instruction.\n\nExamples:\n  dmo-trace dump firmware.dmotrace --layer 0 --limit 100\n  dmo-trace dump firmware.dmotrace --csv --limit 100"
)]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Print only this layer, counted from 0
    #[arg(long, value_name = "N")]
    layer: Option<u64>,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Print each access as a JSON object (docs/json.md), one a line
    #[arg(long)]
    json: bool,
    /// Print the accesses as CSV, with the names of the columns first
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// An access, as JSON or CSV.
#[derive(JsonSchema, Serialize)]
pub struct Row<'a> {
    /// Number of the layer, from 0; `None` (empty in CSV) of code between layers.
    layer: Option<u64>,
    /// Name of the layer; empty between layers, as the next.
    name: &'a str,
    /// What it computes.
    operator: &'a str,
    /// When, in executed instructions since the program started.
    time: Time,
    /// Load or store.
    kind: AccessKind,
    /// The buffer.
    tensor: &'a str,
    /// First byte, from the start of the buffer.
    offset: u32,
    /// Number of bytes.
    size_bytes: u8,
    /// Address of the instruction.
    pc: Address,
}

/// What receives the accesses.
enum Form {
    Text(BufWriter<StdoutLock<'static>>),
    Json(BufWriter<StdoutLock<'static>>),
    Csv(Box<csv::Writer<StdoutLock<'static>>>),
}

impl Form {
    fn of(arguments: &Arguments) -> Self {
        let stdout = std::io::stdout().lock();
        match arguments {
            Arguments { csv: true, .. } => Self::Csv(Box::new(csv::Writer::from_writer(stdout))),
            Arguments { json: true, .. } => Self::Json(BufWriter::new(stdout)),
            _ => Self::Text(BufWriter::new(stdout)),
        }
    }

    /// Of what lies between the accesses.
    fn line(&mut self, text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
        match self {
            Self::Text(out) => writeln!(out, "{text}"),
            Self::Json(_) | Self::Csv(_) => Ok(()),
        }
    }

    fn access(&mut self, row: &Row<'_>) -> std::io::Result<()> {
        match self {
            Self::Text(out) => writeln!(
                out,
                "{} {} {} [{}, {}) {}",
                row.time,
                row.kind.name(),
                plain(row.tensor),
                row.offset,
                row.offset + u32::from(row.size_bytes),
                row.pc
            ),
            Self::Json(out) => {
                serde_json::to_writer(&mut *out, row)?;
                writeln!(out)
            }
            Self::Csv(out) => out.serialize(row).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => error,
                other => std::io::Error::other(format!("{other:?}")),
            }),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Text(out) | Self::Json(out) => out.flush(),
            Self::Csv(out) => out.flush(),
        }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let path = &arguments.trace;
    let dumped = || -> anyhow::Result<()> {
        let reader = TraceReader::open(input::open(path)?)?;
        let mut dump = Dump {
            out: Form::of(arguments),
            wanted: arguments.layer,
            left: arguments.limit.unwrap_or(u64::MAX),
            begun: 0,
            layer: None,
            error: None,
        };
        // The file is read to its end even when no more is printed: an altered file is
        // always refused.
        reader.read_into(&mut dump)?;
        if let Some(wanted) = dump.wanted
            && wanted >= dump.begun
        {
            anyhow::bail!(
                "there is no layer {wanted}: the trace has {}, counted from 0",
                dump.begun
            );
        }
        let flushed = dump.out.flush();
        match dump.error.map_or(flushed, Err) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to stdout")
            }
            _ => Ok(()),
        }
    };
    dumped().with_context(|| path.display().to_string())?;
    Ok(Verdict::Holds)
}

struct Dump {
    out: Form,
    wanted: Option<u64>,
    left: u64,
    /// Layers that have begun.
    begun: u64,
    /// The layer that is being printed.
    layer: Option<Layer>,
    error: Option<std::io::Error>,
}

impl Dump {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = self.out.line(text).err();
        }
    }

    /// The number of the layer that has begun last, from 0; none between layers.
    fn number(&self, layer: &Layer) -> Option<u64> {
        match layer.span {
            Span::Layer => self.begun.checked_sub(1),
            Span::Gap => None,
        }
    }
}

impl TraceSink for Dump {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.begun += u64::from(layer.span == Span::Layer);
        let wanted = match self.wanted {
            Some(_) => self.wanted == self.number(layer),
            None => true,
        };
        if !wanted || self.left == 0 {
            return;
        }
        match self.number(layer) {
            Some(number) => self.line(format_args!(
                "{time} begin layer {number} '{}' {}",
                plain(&layer.name),
                plain(&layer.operator)
            )),
            None => self.line(format_args!("{time} begin gap")),
        }
        for tensor in &layer.tensors {
            self.line(format_args!(
                "{time} {:?} '{}' [{}, {:#010x}) {:?}",
                tensor.role,
                plain(&tensor.name),
                tensor.address,
                tensor.end(),
                tensor.element_type
            ));
        }
        self.layer = Some(layer.clone());
    }

    fn events(&mut self, events: &[Event]) {
        let Some(layer) = self.layer.take() else {
            return;
        };
        for event in events
            .iter()
            .take(self.left.try_into().unwrap_or(usize::MAX))
        {
            if self.error.is_some() {
                break;
            }
            let row = Row {
                layer: self.number(&layer),
                name: &layer.name,
                operator: &layer.operator,
                time: event.time,
                kind: event.kind,
                tensor: &layer.tensors[event.tensor as usize].name,
                offset: event.offset,
                size_bytes: event.size_bytes,
                pc: event.pc,
            };
            self.error = self.out.access(&row).err();
        }
        self.left = self.left.saturating_sub(events.len() as u64);
        self.layer = Some(layer);
    }

    fn end_layer(&mut self, time: Time) {
        if self.layer.take().is_some() && self.left > 0 {
            self.line(format_args!("{time} end"));
        }
    }
}
