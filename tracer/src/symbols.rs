//! Names of functions and objects.

use goblin::elf::{Elf, sym};

/// A function or an object of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// First byte, without the Thumb bit.
    pub address: u32,
    /// Length in bytes, 0 where the compiler does not say.
    pub size_bytes: u32,
    /// Demangled name.
    pub name: String,
    /// Whether it is code.
    pub function: bool,
}

/// All symbols of a program. Empty for a stripped one.
#[derive(Debug, Default)]
pub struct Symbols {
    by_address: Vec<Symbol>,
}

impl Symbols {
    /// Reads the symbol table. Entries without a readable name are left out.
    pub fn read(elf: &Elf) -> Self {
        let mut by_address: Vec<Symbol> = elf
            .syms
            .iter()
            .filter(|entry| entry.st_shndx != 0)
            .filter_map(|entry| {
                let name = elf.strtab.get_at(entry.st_name)?;
                let function = entry.st_type() == sym::STT_FUNC;
                // Names such as $t and $d mark where code and data begin.
                let named = !name.is_empty() && !name.starts_with('$');
                let kind = matches!(
                    entry.st_type(),
                    sym::STT_FUNC | sym::STT_OBJECT | sym::STT_NOTYPE
                );
                (named && kind).then(|| Symbol {
                    address: entry.st_value as u32 & if function { !1 } else { !0 },
                    size_bytes: entry.st_size as u32,
                    name: demangle(name),
                    function,
                })
            })
            .collect();
        by_address.sort_by(|a, b| {
            (a.address, a.size_bytes, &a.name).cmp(&(b.address, b.size_bytes, &b.name))
        });
        Self { by_address }
    }

    /// The function that holds this address, and how far into it the address lies.
    pub fn function_at(&self, address: u32) -> Option<(&Symbol, u32)> {
        let end = self
            .by_address
            .partition_point(|symbol| symbol.address <= address);
        // The nearest one before may be a label inside the function.
        self.by_address[..end]
            .iter()
            .rev()
            .take(64)
            .filter(|symbol| symbol.function)
            .map(|symbol| (symbol, address - symbol.address))
            .find(|(symbol, offset)| *offset < symbol.size_bytes.max(1))
    }

    /// Names of a few functions that share the most of their start with `name`.
    pub fn similar(&self, name: &str) -> Vec<String> {
        const MOST: usize = 4;
        let common = |other: &str| {
            name.bytes()
                .zip(other.bytes())
                .take_while(|(a, b)| a == b)
                .count()
        };
        let mut functions: Vec<&str> = self
            .by_address
            .iter()
            .filter(|symbol| symbol.function && common(&symbol.name) > 3)
            .map(|symbol| symbol.name.as_str())
            .collect();
        functions.sort_by_key(|other| (std::cmp::Reverse(common(other)), *other));
        functions.dedup();
        functions
            .into_iter()
            .take(MOST)
            .map(str::to_owned)
            .collect()
    }

    /// Names of all functions.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.by_address
            .iter()
            .filter(|symbol| symbol.function)
            .map(|symbol| symbol.name.as_str())
    }

    /// The symbol of this name.
    pub fn named(&self, name: &str) -> Option<&Symbol> {
        self.by_address.iter().find(|symbol| symbol.name == name)
    }
}

fn demangle(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}
