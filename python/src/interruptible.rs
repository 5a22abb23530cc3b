//! Long work that Ctrl-C ends.

use crate::error::wrong;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(50);

/// As deep as the main thread's.
const STACK_BYTES: usize = 8 << 20;

/// Does the work on a thread of its own while other Python threads run. Where a signal raises an
/// exception, such as `KeyboardInterrupt`, that is raised at once; the work goes on to its end and
/// what it finds is dropped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = sync_channel(1);
    let worker = thread::Builder::new()
        .name("dmo-trace".to_owned())
        .stack_size(STACK_BYTES);
    worker.spawn(move || {
        // Nobody listens after an interrupt.
        let _ = sender.send(work());
    })?;
    let receiver = Mutex::new(receiver);
    loop {
        let received = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(TICK)
        });
        match received {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(wrong(
                    "dmo-trace panicked: this is a bug, and what it found is lost",
                ));
            }
        }
    }
}
