//! How a program opens a file.

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
