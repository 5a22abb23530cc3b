//! What studies use beside their requests: a place where measurements are kept, and somebody who
//! hears of progress.

use super::input;
use crate::elf::image::sha256;
use crate::model::overlaps::{KernelOverlaps, Store};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What studies use beside their requests; by default nothing is kept and nothing reported.
#[derive(Default)]
pub struct Session {
    /// Where measurements are kept.
    pub cache: Cache,
    /// Who hears of progress.
    pub progress: Box<dyn Progress>,
}

impl Session {
    /// Begins a piece of work, which ends when what is given is dropped.
    pub(super) fn begin(&self, work: Work) -> Running<'_> {
        self.progress.begin(work);
        Running(&*self.progress)
    }
}

/// Measurements that were made before: a file each, under a key of all that decides them. Without
/// a folder nothing is kept.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// Where the files are; it is made where there is none.
    pub folder: Option<PathBuf>,
}

/// A measurement has fewer bytes.
const MOST_BYTES: u64 = 1 << 20;

impl Cache {
    /// In the user's folder for such files, where the environment names one.
    pub fn of_user() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = set("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
            .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))
            // Windows has this one.
            .or_else(|| set("LOCALAPPDATA").map(PathBuf::from));
        Self {
            folder: folder.map(|folder| folder.join("dmo-trace")),
        }
    }
}

/// A measurement as it is kept.
#[derive(JsonSchema, Serialize, Deserialize)]
struct Kept {
    /// Of the key and the measurement: a damaged file must not grant an overlap.
    sha256: String,
    overlaps: KernelOverlaps,
}

impl Kept {
    fn new(key: &str, overlaps: KernelOverlaps) -> serde_json::Result<Self> {
        let text = key.to_owned() + &serde_json::to_string(&overlaps)?;
        let sha256 = sha256(text.as_bytes());
        Ok(Self { sha256, overlaps })
    }
}

impl Store for Cache {
    /// A file that cannot be read, or is none of ours, is as good as no file.
    fn load(&self, key: &str) -> Option<KernelOverlaps> {
        let text = input::read(&self.folder.as_ref()?.join(key), MOST_BYTES).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        let expected = Kept::new(key, kept.overlaps).ok()?;
        (kept.sha256 == expected.sha256).then_some(expected.overlaps)
    }

    fn save(&self, key: &str, overlaps: &KernelOverlaps) {
        let Some(folder) = &self.folder else {
            return;
        };
        let write = || {
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&mut file, &Kept::new(key, overlaps.clone())?)?;
            file.persist(folder.join(key))?;
            std::io::Result::Ok(())
        };
        let _ = write();
    }
}

/// Work that may take a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Searching for the smallest arena.
    Planning,
    /// Searching for what may be changed of the model's work.
    Splitting,
    /// Measuring the overlaps of a model's kernels.
    Measuring,
    /// Planning with other kernels in place of a model's, one after the other.
    OtherKernels,
    /// Running the forms of a model, one after the other.
    Forms,
    /// Running a model in a layout.
    Verifying,
}

/// How far work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Parts of a known number.
    Parts {
        /// How many are done.
        done: usize,
        /// How many there are.
        all: usize,
    },
    /// A search for an arena, and how long it has taken.
    Planning(dmo_analysis::optimise::Progress, Duration),
    /// A search over runs of operators.
    Splitting {
        /// How many runs were tried.
        done: usize,
        /// How many there are.
        all: usize,
        /// The smallest arena so far, in bytes.
        arena_bytes: u64,
    },
}

/// Somebody who hears of progress.
pub trait Progress: Sync {
    /// Work begins; the one before has ended.
    fn begin(&self, _work: Work) {}
    /// The work that has begun is so far.
    fn reach(&self, _state: State) {}
    /// The work that has begun ends, well or not.
    fn end(&self) {}
    /// Something has to be known of what was found, in words.
    fn note(&self, _text: &str) {}
}

/// Nobody.
impl Progress for () {}

impl Default for Box<dyn Progress> {
    fn default() -> Self {
        Box::new(())
    }
}

/// Work that has begun.
pub(super) struct Running<'a>(&'a dyn Progress);

impl Running<'_> {
    pub(super) fn reach(&self, state: State) {
        self.0.reach(state);
    }

    pub(super) fn parts(&self, done: usize, all: usize) {
        self.reach(State::Parts { done, all });
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
