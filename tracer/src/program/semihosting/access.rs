//! How a program opens files, and how many, of which size.

/// Files that may be open at the same time.
pub const MAX_OPEN_FILES: usize = 32;
/// Files that a program may make in one run.
pub const MAX_NEW_FILES: usize = 256;
/// Bytes that it may write to files in one run, and the largest size of a file that it writes.
pub const MAX_FILE_BYTES: u64 = 64 << 20;
/// Longer names are refused.
pub const MAX_NAME_BYTES: u32 = 1024;

/// The access mode of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub read: bool,
    pub write: bool,
    /// The file is made where there is none.
    pub make: bool,
    /// Truncates the file.
    pub truncate: bool,
    pub append: bool,
}

impl Access {
    /// That of `fopen`: r, w, a, with b after each, and before that with `+`, from 0 on.
    pub fn of_mode(mode: u32) -> Option<Self> {
        let both = mode & 2 != 0;
        let (write, append) = match mode / 4 {
            0 => (false, false),
            1 => (true, false),
            2 => (true, true),
            _ => return None,
        };
        Some(Self {
            read: both || !write,
            write: both || write,
            make: write,
            truncate: write && !append,
            append,
        })
    }
}
