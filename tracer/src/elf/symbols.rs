//! Names of functions and objects.

use goblin::elf::{Elf, sym};
use std::fmt::Write;

/// A function or an object of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// First byte, without the Thumb bit.
    pub address: u32,
    /// Length in bytes, 0 where the compiler does not say.
    pub size_bytes: u32,
    /// Demangled name.
    pub name: String,
    /// `true` for code.
    pub function: bool,
    /// Other files of its program do not see it by its name.
    pub local: bool,
}

/// A demangled name that is longer stays as it was: a few bytes of a mangled one may stand for
/// more than any memory holds.
const MAX_NAME_BYTES: usize = 4096;

/// Names may have this many times the file's bytes in all; entries that share one are rare.
const TIMES: usize = 8;

/// All symbols of a program. Empty for a stripped one.
#[derive(Debug, Default)]
pub struct Symbols {
    by_address: Vec<Symbol>,
}

impl Symbols {
    /// Reads the symbol table of a file of this many bytes. Names lose their control characters,
    /// entries without a readable name are left out, and what comes when the names take more memory than a real file's.
    pub fn read(elf: &Elf, file_bytes: usize) -> Self {
        let mut left = file_bytes.saturating_mul(TIMES);
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
                if !named || !kind {
                    return None;
                }
                left = left.checked_sub(name.len())?;
                let demangled = demangled(name);
                let mut name = demangled.unwrap_or_else(|| name.to_owned());
                left = left.checked_sub(name.len())?;
                // A line end within a name would be a line of a report.
                name.retain(|char| !char.is_control());
                if name.is_empty() {
                    return None;
                }
                Some(Symbol {
                    address: entry.st_value as u32 & if function { !1 } else { !0 },
                    size_bytes: entry.st_size as u32,
                    name,
                    function,
                    local: entry.st_bind() == sym::STB_LOCAL,
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

    /// The function or object that holds this address.
    pub fn holding(&self, address: u32) -> Option<&Symbol> {
        let end = self
            .by_address
            .partition_point(|symbol| symbol.address <= address);
        let holds = |symbol: &&Symbol| address - symbol.address < symbol.size_bytes;
        self.by_address[..end].iter().rev().take(64).find(holds)
    }

    /// Names of a few functions that share the most of their start with `name`, or contain it.
    pub fn similar(&self, name: &str) -> Vec<String> {
        self.similar_among(name, |symbol| symbol.function)
    }

    /// Names of objects and labels that are similar to this one.
    pub fn similar_objects(&self, name: &str) -> Vec<String> {
        self.similar_among(name, |symbol| !symbol.function)
    }

    fn similar_among(&self, name: &str, wanted: impl Fn(&Symbol) -> bool) -> Vec<String> {
        const MOST: usize = 4;
        let demangled = demangled(name);
        let name = without_result(demangled.as_deref().unwrap_or(name));
        let common = |symbol: &Symbol| {
            let other = if symbol.function {
                without_result(&symbol.name)
            } else {
                // `vtable for ns::box` has no result.
                &symbol.name
            };
            if other.contains(name) {
                return name.len();
            }
            let own = other.rsplit("::").next().unwrap_or(other);
            [other, own]
                .map(|other| common_start(name, other))
                .into_iter()
                .max()
                .unwrap_or(0)
        };
        let mut names: Vec<(usize, &str)> = self
            .by_address
            .iter()
            .filter(|symbol| wanted(symbol))
            .map(|symbol| (common(symbol), symbol.name.as_str()))
            .filter(|&(common, _)| common > 3)
            .collect();
        names.sort_by_key(|&(common, name)| (std::cmp::Reverse(common), name));
        names.dedup();
        let names = names.into_iter().take(MOST);
        names.map(|(_, name)| name.to_owned()).collect()
    }

    /// The functions of this name, one an address. The name is mangled or not, and may lack
    /// the parameters, and a template's the type of its result, too; functions whose whole name it
    /// is come before others. A clone that the compiler has made has other parameters than its
    /// function, so that only its whole name is its own.
    pub fn functions_named(&self, name: &str) -> Vec<&Symbol> {
        self.all_named(name, |symbol| symbol.function)
    }

    /// The objects and labels of this name, one an address.
    pub fn objects_named(&self, name: &str) -> Vec<&Symbol> {
        self.all_named(name, |symbol| !symbol.function)
    }

    fn all_named(&self, name: &str, wanted: impl Fn(&Symbol) -> bool) -> Vec<&Symbol> {
        let demangled = demangled(name);
        let name = demangled.as_deref().unwrap_or(name);
        let found = |has_name: &dyn Fn(&Symbol) -> bool| {
            let mut found: Vec<&Symbol> = self
                .by_address
                .iter()
                .filter(|symbol| wanted(symbol) && has_name(symbol))
                .collect();
            // Of several at one place, the one that says its size is last.
            found.reverse();
            found.dedup_by_key(|symbol| symbol.address);
            found.reverse();
            found
        };
        let whole = found(&|symbol| symbol.name == name);
        if whole.is_empty() {
            found(&|symbol| {
                let short = without_parameters(&symbol.name);
                let named = short == name || without_result(short) == name;
                named && !symbol.name.contains(CLONE)
            })
        } else {
            whole
        }
    }

    /// All functions, by address.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.by_address.iter().filter(|symbol| symbol.function)
    }

    /// The objects and labels of this name in whatever namespace, one an address.
    pub fn objects_in_any_namespace(&self, name: &str) -> Vec<&Symbol> {
        let whole = self.objects_named(name);
        if !whole.is_empty() {
            return whole;
        }
        let inner = |symbol: &Symbol| {
            let outer = symbol.name.strip_suffix(name);
            !symbol.function && outer.is_some_and(|outer| outer.ends_with("::"))
        };
        let mut found: Vec<&Symbol> = self.by_address.iter().filter(|one| inner(one)).collect();
        found.dedup_by_key(|symbol| symbol.address);
        found
    }

    /// The symbol of this name: the one that other files see, else the only one.
    pub fn named(&self, name: &str) -> Option<&Symbol> {
        let found = || self.by_address.iter().filter(|symbol| symbol.name == name);
        let seen = found().find(|symbol| !symbol.local);
        seen.or_else(|| {
            let first = found().next()?;
            found()
                .all(|symbol| symbol.address == first.address)
                .then_some(first)
        })
    }
}

/// What a program has in the place of a name that it has not, as a hint.
pub(crate) fn nearest(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names[..] {
        [] => String::new(),
        _ => format!("\n  hint: it has {}", names.join(", ")),
    }
}

/// How many bytes two names begin with in common.
fn common_start(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(a, b)| a == b).count()
}

/// A Rust or C++ name as its author wrote it.
fn demangled(name: &str) -> Option<String> {
    let mut text = Bounded::default();
    match rustc_demangle::try_demangle(name) {
        Ok(name) => write!(text, "{name:#}").ok()?,
        // A name of C may be that of a type: `f` is float.
        Err(_) if !name.starts_with("_Z") => return None,
        Err(_) => cpp_demangle::Symbol::new(name)
            .ok()?
            .structured_demangle(&mut text, &cpp_demangle::DemangleOptions::new())
            .ok()?,
    }
    Some(text.0)
}

/// Text of at most [`MAX_NAME_BYTES`].
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_NAME_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// What follows a demangled name where the compiler has changed its function's parameters
/// or has split it: `conv(int) [clone .constprop.0]`.
const CLONE: &str = " [clone ";

/// `ns::conv<int>` of `void ns::conv<int>`: the mangled names of templates have the type of the
/// result, too. With the parameters as without.
fn without_result(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, character) in name.char_indices() {
        // The name of an operator may have spaces: `operator unsigned int`, `operator new`.
        let is_operator =
            || name[at..].starts_with("operator") && (at == 0 || name[..at].ends_with([':', ' ']));
        match character {
            '(' if depth == 0 && !name[at..].starts_with("(anonymous namespace)") => break,
            'o' if depth == 0 && is_operator() => break,
            ' ' if depth == 0 => start = at + 1,
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            _ => {}
        }
    }
    &name[start..]
}

/// `ns::conv` of `ns::conv(int, float*)`.
pub fn without_parameters(name: &str) -> &str {
    const PARTS_OF_NAMES: [&str; 2] = ["(anonymous namespace)", "()("];
    let mut angles = 0_i32;
    let mut skip_to = 0;
    for (at, character) in name.char_indices() {
        match character {
            _ if at < skip_to => {}
            '<' => angles += 1,
            '>' => angles -= 1,
            '(' if angles == 0 => match PARTS_OF_NAMES
                .into_iter()
                .find(|part| name[at..].starts_with(part))
            {
                Some("()(") => skip_to = at + 2,
                Some(part) => skip_to = at + part.len(),
                None => return &name[..at],
            },
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME_BYTES, Symbol, Symbols, demangled, without_parameters, without_result};

    #[test]
    fn templates_without_the_type_of_their_result() {
        let cases = [
            ("_ZN2ns4convIaiEEvPKT_i", "ns::conv<signed char, int>"),
            ("_ZN2ns4convIaEEPKT_i", "ns::conv<signed char>"),
            ("_ZN2ns3boxIiE3getIaEEmv", "ns::box<int>::get<signed char>"),
            (
                "_ZN12_GLOBAL__N_14convIiEEvv",
                "(anonymous namespace)::conv<int>",
            ),
            ("_ZN2ns4convEPKa", "ns::conv"),
            ("_ZN2ns3boxcvjEv", "ns::box::operator unsigned int"),
            ("_ZN2ns3boxclEi", "ns::box::operator()"),
            ("arm_convolve_s8", "arm_convolve_s8"),
        ];
        for (mangled, expected) in cases {
            let name = demangled(mangled).unwrap_or_else(|| mangled.to_owned());
            assert_eq!(
                without_result(without_parameters(&name)),
                expected,
                "{name}"
            );
            assert!(without_result(&name).starts_with(expected), "{name}");
        }
    }

    #[test]
    fn names_as_their_authors_wrote_them() {
        let cases = [
            ("_ZN5space3fooEi", Some("space::foo(int)")),
            (
                "_ZN4core3fmt5write17h0123456789abcdefE",
                Some("core::fmt::write"),
            ),
            ("arm_convolve_s8", None),
            ("f", None),
            ("i", None),
        ];
        for (name, expected) in cases {
            assert_eq!(demangled(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn names_that_are_similar() {
        let object = |name: &str| Symbol {
            address: 0x2000_0000,
            size_bytes: 4,
            name: name.to_owned(),
            function: false,
            local: false,
        };
        let names = [
            "tensor_arena",
            "(anonymous namespace)::tensor_arena_size",
            "model",
            "heap",
        ];
        let symbols = Symbols {
            by_address: names.map(object).to_vec(),
        };
        let cases: [(&str, &[&str]); 4] = [
            ("tensor_arenas", &[names[1], names[0]]),
            ("arena", &[names[1], names[0]]),
            ("model_data", &[names[2]]),
            ("stack", &[]),
        ];
        for (name, expected) in cases {
            assert_eq!(symbols.similar_objects(name), expected, "{name}");
        }
        assert!(symbols.similar("tensor_arena").is_empty(), "no function");
    }

    /// A function of this many arguments, each a pair of the one before.
    fn doubling(arguments: u32) -> String {
        let digit = |number| char::from_digit(number, 36).unwrap_or('_');
        let pairs = (0..arguments).map(|number| {
            let before = match number {
                0..36 => format!("S{}_", digit(number)),
                _ => format!("S1{}_", digit(number - 36)),
            };
            format!("S_I{before}{before}E").to_uppercase()
        });
        format!("_Z1f1PIiiE{}", pairs.collect::<String>())
    }

    /// 2^60 names in a few hundred bytes.
    #[test]
    fn a_name_that_doubles_again_and_again() {
        let lengths = [0, 1, 2, 3, 4, 5, 6].map(|arguments| {
            let name = demangled(&doubling(arguments));
            name.unwrap_or_default().len()
        });
        assert!(
            lengths.is_sorted_by(|shorter, longer| 3 * shorter < 2 * longer),
            "{lengths:?}"
        );
        assert!(lengths[0] > 0 && lengths[6] < MAX_NAME_BYTES);
        assert_eq!(demangled(&doubling(60)), None);
    }
}
