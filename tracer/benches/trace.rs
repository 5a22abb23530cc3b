//! What tracing costs, as ratios within one run: the same program under bare Unicorn,
//! traced and analysed, traced and saved as well; and a native build of the same program, alone
//! and under valgrind's lackey, the kind of tool that the method's authors modified.
//!
//! `cargo bench --bench trace`. Fails when a bound of the project is not kept.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a bench may fail loudly"
)]

use dmo_analysis::profile::{Profile, Profiler};
use dmo_analysis::trace::file::TraceWriter;
use dmo_analysis::trace::{Ending, Program};
use dmo_trace::mcu::machine::{EngineKind, Limits, Observation, Pause};
use dmo_trace::program::run::{RunOptions, run};
use dmo_trace::program::semihosting::Host;
use dmo_trace::program::target::{Target, TargetOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits {
    max_instructions: u64::MAX,
    timeout: Duration::from_secs(600),
};

const ROUNDS: usize = 7;

/// Bounds of the project, in multiples of the run under bare Unicorn.
const TRACED_AT_MOST: f64 = 1.5;
const SAVED_AT_MOST: f64 = 2.0;
const EVENT_BYTES_AT_MOST: f64 = 2.0;
const RESIDENT_BYTES_AT_MOST: u64 = 100_000_000;
const RESIDENT_BYTES_PER_BUFFER_BYTE: u64 = 32;

/// Program, and the O_s in bytes that the closed form gives for its layer.
const PROGRAMS: [(&str, u32); 2] = [("bench_conv2d", 100_321), ("bench_depthwise", 397_792)];

fn main() {
    if let Some(name) = std::env::args()
        .skip_while(|argument| argument != "--resident")
        .nth(1)
    {
        // A process of its own for each: the peak is the whole process's.
        traced(&target(&name), Path::new("/dev/null"));
        return println!("{}", peak_resident_bytes());
    }
    let mut kept = true;
    for (name, overlap_bytes) in PROGRAMS {
        kept &= bench(name, overlap_bytes);
        native(name);
    }
    assert!(kept, "a bound is not kept");
}

fn bench(name: &str, overlap_bytes: u32) -> bool {
    let target = target(name);
    let mut unicorn = self::target(name);
    unicorn.engine = EngineKind::Unicorn;
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut rounds = Vec::new();
    let mut profile = Profile::default();
    for _ in 0..ROUNDS {
        let bare = bare(&unicorn);
        let (analysed, _) = analysed(&target);
        let (saved, found) = traced(&target, file.path());
        profile = found;
        rounds.push((bare, analysed, saved));
    }
    let layer = &profile.layers[0];
    assert_eq!(
        layer.pairs[0].safe_overlap_bytes, overlap_bytes,
        "{name}: O_s"
    );
    let events = layer.loads() + layer.stores();
    let buffer_bytes: u64 = layer
        .tensors
        .iter()
        .map(|tensor| u64::from(tensor.tensor.size_bytes))
        .sum();
    let file_bytes = file.as_file().metadata().unwrap().len();
    let event_bytes = file_bytes as f64 / events as f64;
    let resident = resident_bytes(name);
    let resident_at_most = RESIDENT_BYTES_AT_MOST + RESIDENT_BYTES_PER_BUFFER_BYTE * buffer_bytes;
    let bare = median(rounds.iter().map(|round| round.0.as_secs_f64()));
    let analysed = median(
        rounds
            .iter()
            .map(|(bare, analysed, _)| ratio(analysed, bare)),
    );
    let saved = median(rounds.iter().map(|(bare, _, saved)| ratio(saved, bare)));
    println!(
        "{name}: layer of {} instructions, {events} events, {buffer_bytes} buffer bytes\n\
         \x20 bare Unicorn            {:8.1} ms\n\
         \x20 traced and analysed     {analysed:8.2} times (at most {TRACED_AT_MOST})\n\
         \x20 ... and saved           {saved:8.2} times (at most {SAVED_AT_MOST})\n\
         \x20 saved trace             {event_bytes:8.3} bytes an event (at most {EVENT_BYTES_AT_MOST})\n\
         \x20 resident                {:8.1} MB (at most {:.1})",
        layer.instructions(),
        bare * 1e3,
        resident as f64 / 1e6,
        resident_at_most as f64 / 1e6,
    );
    analysed <= TRACED_AT_MOST
        && saved <= SAVED_AT_MOST
        && event_bytes <= EVENT_BYTES_AT_MOST
        && resident <= resident_at_most
}

fn target(name: &str) -> Target {
    let path = repository().join(format!("traces/elf/cortex-m4/{name}.elf"));
    Target::new(&std::fs::read(path).unwrap(), &TargetOptions::default()).unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn bare(unicorn: &Target) -> Duration {
    let mut machine = unicorn.machine(Observation::None, LIMITS).unwrap();
    let start = Instant::now();
    let pause = machine.run();
    let time = start.elapsed();
    assert_eq!(pause, Pause::SoftwareBreakpoint(0xab));
    time
}

const OPTIONS: RunOptions = RunOptions {
    limits: LIMITS,
    self_check: false,
};

fn analysed(target: &Target) -> (Duration, Profile) {
    let start = Instant::now();
    let mut profiler = Profiler::<()>::default();
    run(
        target,
        OPTIONS,
        Host::console(Box::new(|_| ())),
        &mut profiler,
        &mut |_| (),
    )
    .unwrap();
    let (profile, ()) = profiler.finish();
    (start.elapsed(), profile)
}

fn traced(target: &Target, path: &Path) -> (Duration, Profile) {
    let start = Instant::now();
    let program = Program {
        name: "bench".to_owned(),
        sha256: target.image.sha256.clone(),
        cpu: target.cpu.name.to_owned(),
        recorder: "bench".to_owned(),
    };
    let file = std::fs::File::create(path).unwrap();
    let mut profiler = Profiler::<()>::default();
    let mut writer = TraceWriter::new(file, &program).unwrap();
    let mut both = (&mut profiler, &mut writer);
    let outcome = run(
        target,
        OPTIONS,
        Host::console(Box::new(|_| ())),
        &mut both,
        &mut |_| (),
    )
    .unwrap();
    let (profile, ()) = profiler.finish();
    let ending = Ending {
        exit: outcome.exit,
        instructions: outcome.instructions,
        data_dependent: vec![None; profile.layers.len()],
        locations: outcome.locations,
    };
    writer.finish(&ending).unwrap();
    (start.elapsed(), profile)
}

fn ratio(of: &Duration, to: &Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn resident_bytes(name: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--resident", name])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes * 1024
}

/// The same program built for this computer, alone, and under lackey, its trace thrown away.
fn native(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    let built = Command::new("make")
        .args(["-s", "-C"])
        .arg(repository().join("kernels-c"))
        .arg(format!("NATIVE={}", program.display()))
        .arg(format!("native-{name}"))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return println!("  native: skipped, there is no native compiler");
    }
    let target = target(name);
    let runs = (0..ROUNDS).map(|_| {
        let native = timed(&mut Command::new(&program)).unwrap();
        ratio(&analysed(&target).0, &native)
    });
    println!(
        "\x20 native build            {:8.2} times as long when traced and analysed",
        median(runs)
    );
    let mut lackey = Command::new("valgrind");
    lackey
        .args(["--tool=lackey", "--trace-mem=yes", "--log-file=/dev/null"])
        .arg(&program);
    let Some(time) = timed(&mut lackey) else {
        return println!("  lackey: skipped, there is no valgrind");
    };
    println!(
        "\x20 valgrind lackey         {:8.1} s, {:.1} times the traced and analysed run",
        time.as_secs_f64(),
        ratio(&time, &analysed(&target).0),
    );
}

/// How long a command takes; `None` if it does not succeed.
fn timed(command: &mut Command) -> Option<Duration> {
    let start = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| start.elapsed())
}
