//! Weak symbols: which function a name stands for depends on how a firmware is linked.
//!
//! A linker takes from an archive the first member that defines what is missing, be it weak; with all
//! members, a definition that is not weak. What is weak and missing stays so, unless something else of
//! the firmware has it.

use super::ArchiveError;
use goblin::elf::section_header::SHF_GROUP;
use goblin::elf::{Elf, Sym, sym};
use std::collections::BTreeMap;

/// The C++ runtime's own, which no kernel decides anything by: what a pure virtual function is until it
/// is overridden, and the like.
const RUNTIME: [&str; 2] = ["__cxa_", "_ITM_"];

/// The names of an archive that matter.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Which member defines a name first, and whether weakly.
    defined: BTreeMap<String, (String, bool)>,
    /// Which member uses a name only where there is such a one.
    wanted: BTreeMap<String, String>,
}

impl Names {
    /// Adds those of a member.
    ///
    /// # Errors
    /// When it defines what another one defines weakly, or the other way round.
    pub(super) fn add(&mut self, member: &str, elf: &Elf) -> Result<(), ArchiveError> {
        for symbol in elf
            .syms
            .iter()
            .filter(|symbol| symbol.st_bind() != sym::STB_LOCAL)
        {
            let name = elf.strtab.get_at(symbol.st_name).unwrap_or_default();
            let is_weak = symbol.st_bind() == sym::STB_WEAK;
            if symbol.st_shndx == 0 {
                if is_weak && !RUNTIME.iter().any(|start| name.starts_with(start)) {
                    self.wanted.insert(name.to_owned(), member.to_owned());
                }
                continue;
            }
            let defined = self.defined.get(name);
            let Some((other, is_other_weak)) = defined else {
                let definition = (member.to_owned(), is_weak);
                self.defined.insert(name.to_owned(), definition);
                continue;
            };
            let are_alike = is_weak && *is_other_weak && is_one_of_many(elf, &symbol);
            if (is_weak || *is_other_weak) && !are_alike {
                return Err(ArchiveError::Ambiguous {
                    symbol: super::printable(name),
                    members: [other, member].map(super::printable),
                });
            }
        }
        Ok(())
    }

    /// Whether nothing is missing that a firmware may have.
    ///
    /// # Errors
    /// When something is.
    pub(super) fn check(&self) -> Result<(), ArchiveError> {
        let mut wanted = self.wanted.iter();
        match wanted.find(|(name, _)| !self.defined.contains_key(*name)) {
            Some((symbol, member)) => Err(ArchiveError::Wanted {
                symbol: super::printable(symbol),
                member: super::printable(member),
            }),
            None => Ok(()),
        }
    }
}

/// Whether it is the same in each member that has it, as inline functions of C++ are.
fn is_one_of_many(elf: &Elf, symbol: &Sym) -> bool {
    let section = elf.section_headers.get(symbol.st_shndx);
    section.is_some_and(|section| section.sh_flags & u64::from(SHF_GROUP) != 0)
}
