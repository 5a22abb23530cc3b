//! Where measurements are kept.

use dmo_trace::study::session::Cache;
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

impl CacheArguments {
    /// The folder, where there is one.
    pub fn cache(&self) -> Cache {
        match (&self.cache, self.no_cache) {
            (_, true) => Cache::default(),
            (None, false) => Cache::of_user(),
            (folder, false) => Cache {
                folder: folder.clone(),
            },
        }
    }
}
