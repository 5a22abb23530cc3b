//! A result as a page to look at.

use crate::cli::output;
use dmo_trace::page::Page;
use dmo_trace::page::html::file;
use std::path::{Path, PathBuf};

/// Where a page is written to.
#[derive(clap::Args)]
pub struct PageArguments {
    /// Write a report to look at: one HTML file with maps, charts and tables, which needs no network
    /// (docs/report.md)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

impl PageArguments {
    /// Refuses a page in a folder that is written as a whole: it would be in the way the next time.
    ///
    /// # Errors
    /// When the page is to lie there.
    pub fn ensure_not_below(&self, folder: &Path) -> anyhow::Result<()> {
        if let Some(report) = self.report.as_ref().filter(|path| path.starts_with(folder)) {
            anyhow::bail!(
                "cannot write the report to {}: {} is replaced as a whole\n  hint: write it beside \
                 the folder",
                report.display(),
                folder.display()
            );
        }
        Ok(())
    }

    /// Refuses a file that cannot be written, before the work that it would be about.
    ///
    /// # Errors
    /// When it cannot.
    pub fn ensure_writable(&self) -> anyhow::Result<()> {
        match &self.report {
            Some(path) => output::unfinished(path).map(drop),
            None => Ok(()),
        }
    }

    /// The file to write, if one was asked for.
    ///
    /// # Errors
    /// When the page cannot be made.
    pub fn written(
        &self,
        page: impl FnOnce() -> anyhow::Result<Page>,
    ) -> anyhow::Result<Option<(&Path, Vec<u8>)>> {
        let Some(path) = &self.report else {
            return Ok(None);
        };
        Ok(Some((path, file(&page()?)?.into_bytes())))
    }
}
