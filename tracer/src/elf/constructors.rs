//! Functions that start-up code calls before all else, such as constructors of C++ objects.

use super::image::{Image, Segment};
use dmo_analysis::trace::Address;
use std::ops::Range;

/// Sections with their addresses.
const SECTIONS: [&str; 3] = [".preinit_array", ".init_array", ".ctors"];

/// Symbols at the start and the end of the same, by the name that linker scripts give them.
const BOUNDS: [[&str; 2]; 2] = [
    ["__preinit_array_start", "__preinit_array_end"],
    ["__init_array_start", "__init_array_end"],
];

/// How compilers name the functions that construct the objects of a file, wherever their addresses are.
const COMPILED: [&str; 2] = ["_GLOBAL__sub_I_", "__cxx_global_"];

/// Those of the compiler and of newlib, which set up nothing that a kernel could see.
const HARMLESS: [&str; 2] = ["frame_dummy", "register_fini"];

/// Whether a section holds the addresses of such functions.
pub fn is_of_constructors(section: &str) -> bool {
    SECTIONS.iter().any(|name| section.starts_with(name))
}

impl Image {
    /// The functions that start-up code of this program calls, by address without the Thumb bit.
    pub fn constructors(&self) -> Vec<Address> {
        let sections = self.sections.iter();
        let sections = sections.filter(|section| is_of_constructors(&section.name));
        let named = |name| Some(u64::from(self.symbols.named(name)?.address));
        let bounded = BOUNDS
            .iter()
            .filter_map(|[start, end]| Some(named(start)?..named(end)?));
        let ranges = sections.map(|section| section.range.clone()).chain(bounded);
        let listed = ranges
            .flat_map(|range| self.words(&range))
            .filter(|&word| word != 0 && word != u32::MAX)
            .map(|word| Address(word & !1))
            .filter(|&address| !self.is_harmless(address));
        let is_compiled = |name: &str| COMPILED.iter().any(|start| name.starts_with(start));
        let functions = self.symbols.functions();
        let compiled = functions.filter(|function| is_compiled(&function.name));
        let compiled = compiled.map(|function| Address(function.address));
        let mut found: Vec<Address> = listed.chain(compiled).collect();
        found.sort();
        found.dedup();
        found
    }

    fn is_harmless(&self, address: Address) -> bool {
        let function = self.symbols.function_at(address.0);
        function.is_some_and(|(function, offset)| {
            offset == 0 && HARMLESS.contains(&function.name.as_str())
        })
    }

    /// The words at these addresses of the running program, as far as the file has them.
    fn words(&self, range: &Range<u64>) -> Vec<u32> {
        let words = |segment: &Segment| -> Option<Vec<u32>> {
            let start = range.start.checked_sub(segment.run_address.into())?;
            let end = range.end.checked_sub(segment.run_address.into())?;
            let bytes = segment.content.get(start as usize..end as usize)?;
            let words = bytes.as_chunks().0.iter();
            Some(words.map(|&word| u32::from_le_bytes(word)).collect())
        };
        self.segments.iter().find_map(words).unwrap_or_default()
    }
}
