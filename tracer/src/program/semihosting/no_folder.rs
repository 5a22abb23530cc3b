//! Hosts on which a program has no access to files: there is no way known to follow a name from an
//! open folder without leaving it.

use super::access::Access;
use std::convert::Infallible;
use std::path::Path;

/// A folder of the host; there is none.
#[derive(Debug)]
pub struct Folder(Infallible);

impl Folder {
    /// Refuses: files of the host are not available here.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &Path) -> std::io::Result<Self> {
        Err(std::io::Error::other(
            "files of the host are not available to programs on this operating system",
        ))
    }

    /// Refuses, as [`open`](Self::open) does.
    ///
    /// # Errors
    /// Always.
    pub fn copy(path: &Path) -> std::io::Result<Self> {
        Self::open(path)
    }

    pub(super) fn open_file(&mut self, _: &[u8], _: Access) -> Result<usize, Errno> {
        match self.0 {}
    }

    pub(super) fn close(&mut self, _: usize) -> Result<(), Errno> {
        match self.0 {}
    }

    pub(super) fn read(&mut self, _: usize, _: u64) -> Result<Vec<u8>, Errno> {
        match self.0 {}
    }

    pub(super) fn write(&mut self, _: usize, _: &[u8]) -> Result<usize, Errno> {
        match self.0 {}
    }

    pub(super) fn seek(&mut self, _: usize, _: u64) -> Result<(), Errno> {
        match self.0 {}
    }

    pub(super) fn length(&mut self, _: usize) -> Result<u64, Errno> {
        match self.0 {}
    }

    pub(super) fn remove(&mut self, _: &[u8]) -> Result<(), Errno> {
        match self.0 {}
    }

    pub(super) fn rename(&mut self, _: &[u8], _: &[u8]) -> Result<(), Errno> {
        match self.0 {}
    }
}

/// What `errno` is in the program: the numbers of Linux.
#[derive(Debug, Clone, Copy)]
pub(super) struct Errno(i32);

impl Errno {
    pub(super) const NOENT: Self = Self(2);
    pub(super) const FAULT: Self = Self(14);
    pub(super) const INVAL: Self = Self(22);
    pub(super) const FBIG: Self = Self(27);
    pub(super) const NAMETOOLONG: Self = Self(36);
    pub(super) const OVERFLOW: Self = Self(75);

    pub(super) fn raw_os_error(self) -> i32 {
        self.0
    }
}
