//! Source lines of instructions, from DWARF.

use crate::elf::debug::{DebugInfo, Reader};
use std::sync::{Mutex, PoisonError};

/// The line table of a program. Empty where there is no debug information, or none
/// that can be read: lines are a help, never a condition.
pub struct SourceLines {
    /// The lock protects its cache of parsed units.
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
    /// The line table of a program with this debug information.
    pub fn new(debug: &DebugInfo) -> Self {
        Self {
            context: addr2line::Context::from_arc_dwarf(debug.dwarf())
                .ok()
                .map(Mutex::new),
        }
    }

    /// File, without control characters, and line of the instruction at `address`.
    pub fn at(&self, address: u32) -> Option<(String, Option<u32>)> {
        let context = self
            .context
            .as_ref()?
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let location = context.find_location(u64::from(address)).ok()??;
        let file = location.file?.chars();
        let file = file.filter(|char| !char.is_control()).collect();
        Some((file, location.line))
    }
}
