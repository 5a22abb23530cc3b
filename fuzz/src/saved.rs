//! Saved traces.

use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::{MAGIC, TraceReader, VERSION};
use dmo_analysis::trace::{Event, Layer, Time, TraceSink};
use dmo_plot::{Canvas, PLOTS};
use dmo_trace::words::report::Report;
use dmo_trace::words::run::RunReport;

/// Tensors of more bytes in all are not profiled: the profiler keeps a record for each byte,
/// and a trace may rightly name megabytes.
const PROFILED_BYTES: u64 = 64 << 10;

/// For a file whose chunks unfold to this many bytes. The profiler and the pictures have their
/// share whatever the size.
pub fn most_bytes(unfolded_bytes: usize) -> usize {
    (12 << 20) + 32 * unfolded_bytes
}

/// What the chunks of a file say that they unfold to, as far as they are there.
pub fn unfolded_bytes(file: &[u8]) -> usize {
    let mut rest = file.get(12..).unwrap_or_default();
    let mut unfolded = file.len();
    while let Some([_, lengths @ ..]) = rest.first_chunk::<9>() {
        let [stored, raw] = [&lengths[..4], &lengths[4..]].map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | usize::from(byte))
        });
        unfolded += raw.min(16 << 20);
        rest = rest.get(9 + stored + 4..).unwrap_or_default();
    }
    unfolded
}

/// A file as it is. The checksums stop nearly all that is changed in one.
pub fn trace(bytes: &[u8]) {
    let Ok(reader) = TraceReader::open(bytes).map_err(|error| error.to_string()) else {
        return;
    };
    let mut sink = Consumer::default();
    let read = reader.read_into(&mut sink);
    let complete = read.map_err(|error| error.to_string()).is_ok();
    assert!(!complete || sink.layer.is_none());
    let Some(profiler) = sink.profiler.filter(|_| complete) else {
        return;
    };
    let (profile, ()) = profiler.finish();
    // Pictures take a hundred times as long as all else.
    if crc32fast::hash(bytes).is_multiple_of(64) {
        show(bytes, &profile);
    }
}

/// The report and the pictures: no name of the trace becomes a part of a path.
fn show(bytes: &[u8], profile: &Profile) {
    let reader = TraceReader::open(bytes).expect("a trace");
    let program = reader.program().clone();
    let mut profiler = Profiler::with_observer(Canvas::new(profile));
    let ending = reader.read_into(&mut profiler).expect("a trace");
    let (_, canvas) = profiler.finish();
    for plot in PLOTS {
        for figure in plot
            .draw(&canvas, &program, &ending.locations)
            .expect("figures")
        {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            assert!(figure.name.chars().all(plain), "{}", figure.name);
        }
    }
    let report = RunReport {
        program: &program,
        file: None,
        ending: &ending,
        exit: "",
        inputs: None,
        self_checked: None,
        memory: None,
        cycles: None,
        profile,
        decisions: None,
        warnings: Vec::new(),
        ram: None,
        arena: None,
        models: Vec::new(),
    };
    let control = |letter: char| letter.is_control() && letter != '\n';
    assert!(!report.text().contains(control));
    report.json().expect("JSON");
}

/// Chunks without compression and checksums, which are added here: the kind in a byte, the
/// length in four, and the payload.
pub fn chunks(mut bytes: &[u8]) {
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    let mut check = crc32fast::Hasher::new();
    check.update(&file);
    while let Some((header, rest)) = bytes.split_at_checked(5) {
        let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
        let (payload, rest) = rest.split_at(rest.len().min(length as usize));
        let stored = zstd::bulk::compress(payload, 1).expect("compressed");
        let start = file.len();
        file.push(header[0]);
        file.extend((stored.len() as u32).to_le_bytes());
        file.extend((payload.len() as u32).to_le_bytes());
        file.extend(stored);
        check.update(&file[start..]);
        file.extend(check.clone().finalize().to_le_bytes());
        bytes = rest;
    }
    trace(&file);
}

/// Holds what it is given against what [`dmo_analysis::trace`] promises.
struct Consumer {
    layer: Option<Layer>,
    begin: Time,
    time: Time,
    profiler: Option<Profiler<()>>,
}

impl Default for Consumer {
    fn default() -> Self {
        Self {
            layer: None,
            begin: 0,
            time: 0,
            profiler: Some(Profiler::default()),
        }
    }
}

impl TraceSink for Consumer {
    fn begin_layer(&mut self, layer: &Layer, time: Time) {
        assert!(self.layer.is_none() && time >= self.time);
        let sizes = layer
            .tensors
            .iter()
            .map(|tensor| u64::from(tensor.size_bytes));
        if sizes.sum::<u64>() > PROFILED_BYTES {
            self.profiler = None;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.begin_layer(layer, time);
        }
        (self.begin, self.time) = (time, time);
        self.layer = Some(layer.clone());
    }

    fn events(&mut self, events: &[Event]) {
        let layer = self.layer.as_ref().expect("a layer");
        for event in events {
            assert!(event.time > self.begin && event.time >= self.time);
            let tensor = &layer.tensors[usize::from(event.tensor)];
            assert!((1..=8).contains(&event.size_bytes));
            let end = u64::from(event.offset) + u64::from(event.size_bytes);
            assert!(end <= u64::from(tensor.size_bytes));
            self.time = event.time;
        }
        if let Some(profiler) = &mut self.profiler {
            profiler.events(events);
        }
    }

    fn end_layer(&mut self, time: Time) {
        assert!(self.layer.take().is_some() && time >= self.time);
        self.time = time;
        if let Some(profiler) = &mut self.profiler {
            profiler.end_layer(time);
        }
    }
}
