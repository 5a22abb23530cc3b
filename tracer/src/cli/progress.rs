//! Progress of long work: a bar on a terminal, and elsewhere a line now and then.

use super::output;
use dmo_analysis::wording::{counted, grouped};
use dmo_trace::study::session::{Cache, Progress, Session, State, Work};
use indicatif::{ProgressBar, ProgressStyle, WeakProgressBar};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Without a terminal a line comes each time that this has passed.
const LINES_APART: Duration = Duration::from_secs(10);

/// `off`: nothing is printed, for logs that are compared.
const SETTING: &str = "DMO_TRACE_PROGRESS";

/// Work that is shown by this template of indicatif on a terminal, and by a few lines elsewhere; its
/// length is set as soon as it is known.
pub fn shown(template: &str, what: impl Into<Cow<'static, str>>) -> ProgressBar {
    let is_off = std::env::var_os(SETTING).is_some_and(|value| value == "off");
    if is_off || !std::io::stderr().is_terminal() {
        let bar = ProgressBar::hidden().with_prefix(what);
        if is_off {
            return bar;
        }
        let shown = bar.downgrade();
        std::thread::spawn(move || print_lines(&shown, LINES_APART, output::message));
        return bar;
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(0)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(what)
}

/// Prints how far the work is, at these intervals, until it has ended.
fn print_lines(shown: &WeakProgressBar, apart: Duration, mut print: impl FnMut(&str)) {
    let begin = Instant::now();
    loop {
        std::thread::sleep(apart);
        match shown.upgrade().filter(|bar| !bar.is_finished()) {
            Some(bar) => print(&line(&bar, begin.elapsed())),
            None => return,
        }
    }
}

/// `verifying: 3 of 12, 60 s, about 180 s left`
fn line(bar: &ProgressBar, elapsed: Duration) -> String {
    let count = match (bar.position(), bar.length()) {
        (position, Some(length)) if length > 0 => format!("{position} of {length}"),
        // What has no known end is a program that is executed.
        (position, _) if position > 0 => counted(position, "instruction", "instructions"),
        _ => String::new(),
    };
    let mut parts = vec![count, bar.message()];
    parts.retain(|part| !part.is_empty());
    parts.push(format!("{} s", elapsed.as_secs()));
    if let (done @ 1.., Some(all)) = (bar.position(), bar.length())
        && let Some(rest) = all.checked_sub(done)
    {
        let left = elapsed.as_secs_f64() * rest as f64 / done as f64;
        parts.push(format!("about {left:.0} s left"));
    }
    format!("dmo-trace: {}: {}", bar.prefix(), parts.join(", "))
}

/// A line that says what is going on, and moves while nothing else does.
pub fn spinner(template: &str, what: impl Into<Cow<'static, str>>) -> ProgressBar {
    let bar = shown(template, what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar that fills.
pub fn bar(what: &'static str) -> ProgressBar {
    shown("{prefix} [{bar:32}] {pos}/{len} {msg}", what)
}

/// Shows the progress of studies.
#[derive(Default)]
pub struct Bars {
    bar: Mutex<Option<ProgressBar>>,
}

impl Bars {
    /// Studies that show their progress here and keep what they measure there.
    pub fn session(cache: Cache) -> Session {
        let progress = Box::new(Self::default());
        Session { cache, progress }
    }

    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        // Whoever holds it panics elsewhere.
        if let Ok(mut bar) = self.bar.lock() {
            act(&mut bar);
        }
    }
}

impl Progress for Bars {
    fn begin(&self, work: Work) {
        let search = |what| spinner("{spinner} {prefix}: {msg}", what);
        self.with(|shown| {
            *shown = Some(match work {
                Work::Planning => search("planning"),
                Work::Splitting => search("splitting"),
                Work::Measuring => bar("measuring"),
                Work::OtherKernels => bar("other kernels"),
                Work::Forms => bar("running the forms of the model"),
                Work::Verifying => bar("verifying"),
            });
        });
    }

    fn reach(&self, state: State) {
        self.with(|shown| {
            let Some(bar) = shown else {
                return;
            };
            match state {
                State::Parts { done, all } => {
                    bar.set_length(all as u64);
                    bar.set_position(done as u64);
                }
                State::Planning(progress, time) => {
                    let arena = match progress.arena_bytes {
                        Some(bytes) => format!("arena {} bytes", grouped(bytes)),
                        None => "no plan yet".to_owned(),
                    };
                    let bound = match progress.bound_bytes {
                        0 => String::new(),
                        bytes => format!(", at least {} needed", grouped(bytes)),
                    };
                    bar.set_message(format!(
                        "{arena}{bound}, {}, {:.0} s",
                        counted(progress.orders, "order", "orders"),
                        time.as_secs_f64()
                    ));
                }
                State::Splitting {
                    done,
                    all,
                    arena_bytes,
                } => bar.set_message(format!(
                    "{done} of {all} runs, arena {} bytes so far",
                    grouped(arena_bytes)
                )),
            }
        });
    }

    fn end(&self) {
        self.with(|shown| {
            if let Some(bar) = shown.take() {
                bar.finish_and_clear();
            }
        });
    }

    fn note(&self, text: &str) {
        output::message(text);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;

    #[test]
    fn lines_come_until_the_work_has_ended() {
        for is_dropped in [false, true] {
            let bar = ProgressBar::hidden().with_prefix("verifying");
            bar.set_length(12);
            let shown = bar.downgrade();
            let mut lines = Vec::new();
            let mut bar = Some(bar);
            print_lines(&shown, Duration::from_millis(1), |line| {
                lines.push(line.to_owned());
                let done = lines.len() as u64;
                if let Some(bar) = bar.as_ref() {
                    bar.set_position(done);
                }
                if done == 3 && is_dropped {
                    bar = None;
                } else if done == 3 {
                    bar.as_ref().unwrap().finish_and_clear();
                }
            });
            let expected = [
                "0 of 12, 0 s",
                "1 of 12, 0 s, about 0 s left",
                "2 of 12, 0 s, about 0 s left",
            ];
            assert_eq!(
                lines,
                expected.map(|it| format!("dmo-trace: verifying: {it}"))
            );
        }
    }

    #[test]
    fn a_line_says_what_is_known() {
        let bar = ProgressBar::hidden().with_prefix("overlap");
        bar.set_message("the kernel runs");
        let minute = Duration::from_secs(60);
        assert_eq!(
            line(&bar, minute),
            "dmo-trace: overlap: the kernel runs, 60 s"
        );
        bar.set_position(12_345);
        bar.set_message("");
        assert_eq!(
            line(&bar, minute),
            "dmo-trace: overlap: 12,345 instructions, 60 s"
        );
        bar.set_length(20_000);
        bar.set_position(5_000);
        assert_eq!(
            line(&bar, minute),
            "dmo-trace: overlap: 5000 of 20000, 60 s, about 180 s left"
        );
    }
}
