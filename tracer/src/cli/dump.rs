//! `dmo-trace dump`: the events of a saved trace as text, one a line.

use super::Verdict;
use anyhow::Context;
use dmo_analysis::trace::file::TraceReader;
use dmo_analysis::trace::{Event, Layer, Span, Time, TraceSink};
use dmo_trace::study::input;
use dmo_trace::words::names::plain;
use std::io::{BufWriter, ErrorKind, StdoutLock, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Each line: time (executed instructions), load or store, tensor, byte range in it, instruction.\n\nExample:\n  dmo-trace dump firmware.dmotrace --layer 1 --limit 100"
)]
pub struct Arguments {
    /// Saved trace
    trace: PathBuf,
    /// Print only this layer, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    layer: Option<u64>,
    /// Stop after this many events
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let path = &arguments.trace;
    let dumped = || -> anyhow::Result<()> {
        let reader = TraceReader::open(input::open(path)?)?;
        let mut dump = Dump {
            out: BufWriter::new(std::io::stdout().lock()),
            wanted: arguments.layer,
            left: arguments.limit.unwrap_or(u64::MAX),
            number: 0,
            layer: None,
            error: None,
        };
        // The file is read to its end even when no more is printed: an altered file is
        // always refused.
        reader.read_into(&mut dump)?;
        if let Some(wanted) = dump.wanted
            && wanted > dump.number
        {
            anyhow::bail!("there is no layer {wanted}: the trace has {}", dump.number);
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
    out: BufWriter<StdoutLock<'static>>,
    wanted: Option<u64>,
    left: u64,
    /// Layers that have begun.
    number: u64,
    /// The layer that is being printed.
    layer: Option<Layer>,
    error: Option<std::io::Error>,
}

impl Dump {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = writeln!(self.out, "{text}").err();
        }
    }
}

impl TraceSink for Dump {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        self.number += u64::from(layer.span == Span::Layer);
        let wanted = match self.wanted {
            Some(wanted) => layer.span == Span::Layer && wanted == self.number,
            None => true,
        };
        if !wanted || self.left == 0 {
            return;
        }
        let number = self.number;
        match layer.span {
            Span::Layer => self.line(format_args!(
                "{time} begin layer {number} '{}' {}",
                plain(&layer.name),
                plain(&layer.operator)
            )),
            Span::Gap => self.line(format_args!("{time} begin gap")),
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
            self.line(format_args!(
                "{} {} {} [{}, {}) {}",
                event.time,
                event.kind.name(),
                plain(&layer.tensors[event.tensor as usize].name),
                event.offset,
                event.end(),
                event.pc
            ));
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
