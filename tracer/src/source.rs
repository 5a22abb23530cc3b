//! Source lines of instructions, from DWARF.

use gimli::{EndianArcSlice, LittleEndian, SectionId};
use std::sync::{Arc, Mutex, PoisonError};

type Reader = EndianArcSlice<LittleEndian>;

/// The line table of a program. Empty where there is no debug information, or none
/// that can be read: lines are a help, never a condition.
pub struct SourceLines {
    /// It caches what it parses, hence the lock.
    context: Option<Mutex<addr2line::Context<Reader>>>,
}

impl std::fmt::Debug for SourceLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceLines")
            .field("present", &self.context.is_some())
            .finish()
    }
}

impl SourceLines {
    /// Reads the debug sections; `section` gives the content of one by name.
    pub fn read<'a>(section: &impl Fn(&str) -> &'a [u8]) -> Self {
        let load = |id: SectionId| -> Result<Reader, gimli::Error> {
            Ok(EndianArcSlice::new(
                Arc::from(section(id.name())),
                LittleEndian,
            ))
        };
        Self {
            context: gimli::Dwarf::load(load)
                .ok()
                .and_then(|dwarf| addr2line::Context::from_dwarf(dwarf).ok())
                .map(Mutex::new),
        }
    }

    /// File and line of the instruction at `address`.
    pub fn at(&self, address: u32) -> Option<(String, Option<u32>)> {
        let context = self
            .context
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let location = context.find_location(u64::from(address)).ok()??;
        Some((location.file?.to_owned(), location.line))
    }
}
