//! The one folder of the host that a program may use, and what it may do there.
//!
//! A name is followed component by component from the open folder, and no component may be
//! a link: there is no way out of the folder, whoever changes what is in it meanwhile. Only
//! plain files are opened.

use super::access::Access;
pub use super::access::{MAX_FILE_BYTES, MAX_NEW_FILES, MAX_OPEN_FILES};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, renameat, statat, unlinkat,
};
pub(super) use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files and bytes that a [copy](Folder::copy) may have.
const MAX_COPIED_FILES: usize = 4096;
const MAX_COPIED_BYTES: u64 = 1 << 30;
const MAX_COPIED_DEPTH: usize = 32;

/// A folder of the host.
#[derive(Debug)]
pub struct Folder {
    root: OwnedFd,
    files: Vec<Option<OpenFile>>,
    made: usize,
    written_bytes: u64,
    /// Where a copy lies, which goes with it.
    _copy: Option<tempfile::TempDir>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    access: Access,
}

impl Folder {
    /// An existing folder.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self::new(open_folder(path)?, None))
    }

    fn new(root: OwnedFd, copy: Option<tempfile::TempDir>) -> Self {
        Self {
            root,
            files: Vec::new(),
            made: 0,
            written_bytes: 0,
            _copy: copy,
        }
    }

    /// A copy of a folder, for a second run that is not to disturb the first: plain files and
    /// folders, links left out. It vanishes when it is dropped.
    ///
    /// # Errors
    /// When it cannot be copied, or has more than 4096 files, 1 GiB or 32 levels.
    pub fn copy(path: &Path) -> std::io::Result<Self> {
        let copy = tempfile::Builder::new()
            .prefix(&crate::temporary::prefix())
            .tempdir()?;
        let mut left = (MAX_COPIED_FILES, MAX_COPIED_BYTES);
        copy_into(path.to_owned(), copy.path(), MAX_COPIED_DEPTH, &mut left)?;
        Ok(Self::new(open_folder(copy.path())?, Some(copy)))
    }

    /// Opens a file; gives its number.
    pub(super) fn open_file(&mut self, name: &[u8], access: Access) -> Result<usize, Errno> {
        let free = self.files.iter().position(Option::is_none);
        let number = free.unwrap_or(self.files.len());
        if number >= MAX_OPEN_FILES {
            return Err(Errno::MFILE);
        }
        let (folder, last) = self.find(name)?;
        let file = match open_plain(&folder, last, access) {
            Err(Errno::NOENT) if access.make => self.make(&folder, last, access)?,
            opened => opened?,
        };
        if free.is_none() {
            self.files.push(None);
        }
        self.files[number] = Some(OpenFile { file, access });
        Ok(number)
    }

    fn make(&mut self, folder: &OwnedFd, name: &[u8], access: Access) -> Result<File, Errno> {
        if self.made >= MAX_NEW_FILES {
            return Err(Errno::NOSPC);
        }
        let flags = flags(access) | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let file = openat(folder, name, flags, mode)?;
        self.made += 1;
        Ok(File::from(file))
    }

    /// Closes a file.
    pub(super) fn close(&mut self, number: usize) -> Result<(), Errno> {
        let file = self.files.get_mut(number).and_then(Option::take);
        file.map(drop).ok_or(Errno::BADF)
    }

    fn file(&mut self, number: usize) -> Result<&mut OpenFile, Errno> {
        let file = self.files.get_mut(number).and_then(Option::as_mut);
        file.ok_or(Errno::BADF)
    }

    /// Reads at most this many bytes; fewer at the file's end.
    pub(super) fn read(&mut self, number: usize, bytes: u64) -> Result<Vec<u8>, Errno> {
        let OpenFile { file, access } = self.file(number)?;
        if !access.read {
            return Err(Errno::BADF);
        }
        let mut content = Vec::new();
        file.take(bytes).read_to_end(&mut content).map_err(errno)?;
        Ok(content)
    }

    /// Writes all, or as much as is allowed; gives how much.
    pub(super) fn write(&mut self, number: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let left = MAX_FILE_BYTES - self.written_bytes;
        let OpenFile { file, access } = self.file(number)?;
        if !access.write {
            return Err(Errno::BADF);
        }
        let position = if access.append {
            file.seek(SeekFrom::End(0))
        } else {
            file.stream_position()
        };
        let room = MAX_FILE_BYTES.saturating_sub(position.map_err(errno)?);
        let length = bytes.len().min(left.min(room) as usize);
        file.write_all(&bytes[..length]).map_err(errno)?;
        self.written_bytes += length as u64;
        Ok(length)
    }

    /// From the file's start, in bytes.
    pub(super) fn seek(&mut self, number: usize, position: u64) -> Result<(), Errno> {
        let file = &mut self.file(number)?.file;
        file.seek(SeekFrom::Start(position))
            .map(drop)
            .map_err(errno)
    }

    /// Length of an open file in bytes.
    pub(super) fn length(&mut self, number: usize) -> Result<u64, Errno> {
        let file = &self.file(number)?.file;
        file.metadata()
            .map(|metadata| metadata.len())
            .map_err(errno)
    }

    /// Removes a file, or a link.
    pub(super) fn remove(&mut self, name: &[u8]) -> Result<(), Errno> {
        let (folder, last) = self.find(name)?;
        unlinkat(&folder, last, AtFlags::empty())
    }

    /// Renames a file within the folder.
    pub(super) fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let (from, from_last) = self.find(from)?;
        let (to, to_last) = self.find(to)?;
        require_plain(&statat(&from, from_last, AtFlags::SYMLINK_NOFOLLOW)?)?;
        renameat(&from, from_last, &to, to_last)
    }

    /// The folder in which the file of this name is, and the name's last component.
    fn find<'a>(&self, name: &'a [u8]) -> Result<(OwnedFd, &'a [u8]), Errno> {
        let mut components = name
            .split(|&byte| byte == b'/')
            .filter(|part| *part != b".");
        let last = components.next_back().unwrap_or_default();
        let plain = |part: &[u8]| !part.is_empty() && part != b".." && !part.contains(&0);
        let mut folder = self.root.try_clone().map_err(errno)?;
        for part in components {
            if !plain(part) {
                return Err(Errno::ACCESS);
            }
            folder = openat(&folder, part, FOLDER, Mode::empty())?;
        }
        if plain(last) {
            Ok((folder, last))
        } else {
            Err(Errno::ACCESS)
        }
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// A pipe does not block, a terminal does not become ours.
fn flags(access: Access) -> OFlags {
    let direction = match (access.read, access.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    direction | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// Opening alone does something to some devices: what is no plain file is not opened, nor kept
/// where it was put there meanwhile.
fn open_plain(folder: &OwnedFd, name: &[u8], access: Access) -> Result<File, Errno> {
    require_plain(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let file = File::from(openat(folder, name, flags(access), Mode::empty())?);
    require_plain(&fstat(&file)?)?;
    if access.truncate {
        file.set_len(0).map_err(errno)?;
    }
    Ok(file)
}

fn require_plain(found: &Stat) -> Result<(), Errno> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(Errno::ACCESS),
    }
}

fn errno(error: impl Into<std::io::Error>) -> Errno {
    Errno::from_io_error(&error.into()).unwrap_or(Errno::IO)
}

/// A folder of the user, whose name may well be a link.
fn open_folder(path: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn copy_into(
    from: PathBuf,
    to: &Path,
    depth: usize,
    left: &mut (usize, u64),
) -> std::io::Result<()> {
    let too_much = || std::io::Error::other("it holds too much to be copied");
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        left.0 = left.0.checked_sub(1).ok_or_else(too_much)?;
        if kind.is_dir() {
            let depth = depth.checked_sub(1).ok_or_else(too_much)?;
            std::fs::create_dir(&target)?;
            copy_into(entry.path(), &target, depth, left)?;
        } else if kind.is_file() {
            let bytes = entry.metadata()?.len();
            left.1 = left.1.checked_sub(bytes).ok_or_else(too_much)?;
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
