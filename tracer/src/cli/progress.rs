//! Progress of long work: on a terminal, and none in a pipe.

use super::output;
use dmo_analysis::wording::grouped;
use dmo_trace::study::session::{Cache, Progress, Session, State, Work};
use indicatif::{ProgressBar, ProgressStyle};
use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

/// Work that is shown by this template of indicatif, on a terminal only; its length is set as soon
/// as it is known.
pub fn shown(template: &str, what: impl Into<Cow<'static, str>>) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(0)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(what)
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
                        Some(bytes) => format!("arena {bytes} bytes"),
                        None => "no plan yet".to_owned(),
                    };
                    bar.set_message(format!(
                        "{arena}, bound {} bytes, {} orders, {:.0} s",
                        progress.bound_bytes,
                        progress.orders,
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
