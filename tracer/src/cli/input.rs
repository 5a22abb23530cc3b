//! Reading files that the user names: plain ones, of a size that fits into memory.

use anyhow::{Context, ensure};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A whole file of at most `limit` bytes. A pipe may never end, a device is endless.
pub fn read(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    ensure!(std::fs::metadata(path)?.is_file(), "it is not a plain file");
    let mut content = Vec::new();
    // The files of /proc have no size, so that only reading tells.
    File::open(path)?
        .take(limit + 1)
        .read_to_end(&mut content)?;
    ensure!(
        content.len() as u64 <= limit,
        "it is larger than the limit of {limit} bytes"
    );
    Ok(content)
}

/// A [`read`] file that is text.
pub fn text(path: &Path, limit: u64) -> anyhow::Result<String> {
    String::from_utf8(read(path, limit)?).context("it is not text")
}
