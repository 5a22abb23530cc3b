//! Progress of long work: on a terminal, and none in a pipe.

use super::output;
use dmo_analysis::wording::grouped;
use dmo_trace::study::session::{Progress, State, Work};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

/// A line that says what is going on.
fn spinner(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {prefix}: {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner()
        .with_style(style)
        .with_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar that fills; its length is set as soon as it is known.
pub fn bar(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} [{bar:32}] {pos}/{len} {msg}");
    ProgressBar::new(0)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_prefix(what)
}

/// Shows the progress of studies.
#[derive(Default)]
pub struct Bars {
    bar: Mutex<Option<ProgressBar>>,
}

impl Bars {
    /// For a session.
    pub fn boxed() -> Box<dyn Progress> {
        Box::new(Self::default())
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
        self.with(|shown| {
            *shown = Some(match work {
                Work::Planning => spinner("planning"),
                Work::Splitting => spinner("splitting"),
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
