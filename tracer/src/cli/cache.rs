//! Measurements that were made before, in the user's cache folder: a file each, under a key of
//! all that decides them.

use super::input;
use dmo_trace::model::overlaps::{KernelOverlaps, Store};
use std::path::PathBuf;

/// Where measurements are kept.
#[derive(clap::Args, Clone)]
pub struct CacheArguments {
    /// Folder for measured overlaps, which later runs reuse [default: dmo-trace in the user's cache
    /// folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Measure everything again, and keep nothing
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

/// A measurement has fewer bytes.
const MOST_BYTES: u64 = 1 << 20;

/// A folder of measurements; none keeps nothing.
pub struct Cache(Option<PathBuf>);

impl CacheArguments {
    /// The folder, where there is one.
    pub fn cache(&self) -> Cache {
        Cache(match (&self.cache, self.no_cache) {
            (_, true) => None,
            (Some(folder), false) => Some(folder.clone()),
            (None, false) => users_folder(),
        })
    }
}

fn users_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let caches = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(caches.join("dmo-trace"))
}

impl Store for Cache {
    /// A file that cannot be read, or is none of ours, is as good as none.
    fn load(&self, key: &str) -> Option<KernelOverlaps> {
        let text = input::read(&self.0.as_ref()?.join(key), MOST_BYTES).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Without it the next run takes longer, and nothing else is lost.
    fn save(&self, key: &str, overlaps: &KernelOverlaps) {
        let Some(folder) = &self.0 else {
            return;
        };
        let write = || {
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&mut file, overlaps)?;
            file.persist(folder.join(key))?;
            std::io::Result::Ok(())
        };
        let _ = write();
    }
}
