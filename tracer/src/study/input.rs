//! Reading files that the user names: plain ones, of a size that fits into memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum InputError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("it is a folder")]
    Folder,
    #[error("it is not a plain file")]
    NotPlain,
    #[error("it has {given} bytes, which is larger than the limit of {limit} bytes")]
    TooLarge { given: u64, limit: u64 },
    #[error("it is not text")]
    NotText(#[from] std::string::FromUtf8Error),
}

/// A file that is not read at once; a pipe may never be opened, a device is endless.
///
/// # Errors
/// When it cannot be opened or is no plain file.
pub fn open(path: &Path) -> Result<File, InputError> {
    let what = std::fs::metadata(path)?;
    if what.is_dir() {
        return Err(InputError::Folder);
    }
    if !what.is_file() {
        return Err(InputError::NotPlain);
    }
    Ok(File::open(path)?)
}

/// A whole file of at most `limit` bytes; a larger one is not read at all. A pipe may never end, a
/// device is endless.
///
/// # Errors
/// When it cannot be read, is no plain file, or has more bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, InputError> {
    let within = |given: u64| {
        let is_within = given <= limit;
        is_within
            .then_some(())
            .ok_or(InputError::TooLarge { given, limit })
    };
    let file = open(path)?;
    within(file.metadata()?.len())?;
    let mut content = Vec::new();
    // The files of /proc have no size, so that only reading tells.
    file.take(limit + 1).read_to_end(&mut content)?;
    within(content.len() as u64)?;
    Ok(content)
}

/// A [`read`] file that is text.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn text(path: &Path, limit: u64) -> Result<String, InputError> {
    Ok(String::from_utf8(read(path, limit)?)?)
}
