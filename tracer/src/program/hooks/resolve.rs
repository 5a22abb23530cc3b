//! From names to addresses.

use super::{Function, LayerHook, SymbolValue};
use crate::elf::image::Image;
use crate::elf::symbols::{Symbol, nearest};
use crate::mcu::memory::MemoryMap;
use dmo_analysis::trace::Address;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Why hooks do not fit a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ResolveError {
    #[error(
        "layer '{layer}': the program has no symbols, so that no function is called '{name}'\n  hint: give the function's address, as the program before it was stripped has it"
    )]
    NoSymbols { layer: String, name: String },
    #[error(
        "layer '{layer}': the program has no function '{name}'{}\n  hint: the compiler may have inlined it: compile it with __attribute__((noinline)), or hook what it was inlined into",
        nearest(.similar)
    )]
    NoFunction {
        layer: String,
        name: String,
        similar: Vec<String>,
    },
    #[error(
        "layer '{layer}': '{name}' is not a function by its symbol\n  hint: give its address, {address}, if it is one nevertheless"
    )]
    NoCode {
        layer: String,
        name: String,
        address: Address,
    },
    #[error(
        "layer '{layer}': several functions are named '{name}'\n  hint: give one by its whole name in quotes or by its address: {}",
        .candidates.join(", ")
    )]
    SeveralFunctions {
        layer: String,
        name: String,
        candidates: Vec<String>,
    },
    #[error("layer '{layer}': its function at {address} is outside code: {map}")]
    OutsideCode {
        layer: String,
        address: Address,
        map: MemoryMap,
    },
    #[error("the function at {address} is given as layer '{first}' and as layer '{second}'")]
    Twice {
        address: Address,
        first: String,
        second: String,
    },
    #[error(
        "{place}: the program has no object '{name}'{}", nearest(.similar)
    )]
    NoObject {
        place: String,
        name: String,
        similar: Vec<String>,
    },
    #[error(
        "{place}: several objects are named '{name}'\n  hint: give a number instead: {}",
        .candidates.join(", ")
    )]
    SeveralObjects {
        place: String,
        name: String,
        candidates: Vec<String>,
    },
    #[error("{place}: the program does not say the size of '{name}'")]
    NoSize { place: String, name: String },
    #[error("the program has none of the functions of the set '{set}'")]
    NothingOfSet { set: String },
}

/// The hooked functions of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    by_address: BTreeMap<u32, Hook>,
    /// Functions of a library that a set hooks some functions of: name by address.
    of_library: BTreeMap<u32, String>,
}

/// A hooked function: no symbols are left in its expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) layer: LayerHook,
    /// Name of the function in the program, as its symbol has it.
    pub(super) function: String,
}

impl Hooks {
    /// Adds a hook that the user has written.
    ///
    /// # Errors
    /// When the program has not what it names, or its function is hooked already.
    pub fn add(
        &mut self,
        layer: LayerHook,
        image: &Image,
        map: &MemoryMap,
    ) -> Result<(), ResolveError> {
        let (address, function) = find_function(&layer, image, map)?;
        let hook = resolve(layer, function, image)?;
        if let Some(first) = self.by_address.get(&address) {
            return Err(ResolveError::Twice {
                address: Address(address),
                first: first.layer.name.clone(),
                second: hook.layer.name,
            });
        }
        self.by_address.insert(address, hook);
        Ok(())
    }

    /// Adds those hooks of a set whose function the program has and that is not hooked yet. The set
    /// is one of the CMSIS-NN interface: which other functions of it are called is noted.
    ///
    /// # Errors
    /// When the program has none of the functions, or more than one of a name.
    pub fn add_set(
        &mut self,
        set: &str,
        layers: Vec<LayerHook>,
        image: &Image,
        map: &MemoryMap,
    ) -> Result<(), ResolveError> {
        let mut found = false;
        for layer in layers {
            let (address, function) = match find_function(&layer, image, map) {
                Err(ResolveError::NoFunction { .. }) => continue,
                other => other?,
            };
            found = true;
            if let Entry::Vacant(place) = self.by_address.entry(address) {
                place.insert(resolve(layer, function, image)?);
            }
        }
        let of_library = image.symbols.functions().filter(is_operator);
        let of_library = of_library.map(|function| (function.address, function.name.clone()));
        self.of_library.extend(of_library);
        if found {
            Ok(())
        } else {
            Err(ResolveError::NothingOfSet {
                set: set.to_owned(),
            })
        }
    }

    /// Entries of the hooked functions.
    pub fn addresses(&self) -> Vec<u32> {
        self.by_address.keys().copied().collect()
    }

    /// Functions that the sets do not know, of the library that they are for: entries and names.
    pub fn not_hooked(&self) -> impl Iterator<Item = (u32, &str)> {
        let functions = self.of_library.iter();
        functions
            .filter(|(address, _)| !self.by_address.contains_key(address))
            .map(|(&address, name)| (address, name.as_str()))
    }

    /// Names of the hooked functions.
    pub fn functions(&self) -> Vec<String> {
        let hooks = self.by_address.values();
        hooks.map(|hook| hook.function.clone()).collect()
    }

    /// Whether a buffer is known only when its function has returned.
    pub fn need_return(&self) -> bool {
        let buffers = self
            .by_address
            .values()
            .flat_map(|hook| &hook.layer.buffers);
        buffers
            .flat_map(|buffer| [&buffer.address, &buffer.size_bytes])
            .any(super::Expression::needs_return)
    }

    pub(super) fn at(&self, address: Address) -> Option<&Hook> {
        self.by_address.get(&address.0)
    }
}

/// Whether a function computes an operator, by its name; those that say how much scratch memory
/// another one needs do not.
fn is_operator(function: &&Symbol) -> bool {
    is_of_library(&function.name) && !function.name.contains("_get_buffer_size")
}

/// Whether this is a name of CMSIS-NN.
pub fn is_of_library(function: &str) -> bool {
    function.starts_with("arm_")
}

/// Address and name of a hook's function.
fn find_function(
    layer: &LayerHook,
    image: &Image,
    map: &MemoryMap,
) -> Result<(u32, String), ResolveError> {
    let symbols = &image.symbols;
    let name = match &layer.function {
        Function::Address(address) => {
            let address = address & !1;
            if !map.is_code(Address(address)) {
                return Err(ResolveError::OutsideCode {
                    layer: layer.name.clone(),
                    address: Address(address),
                    map: map.clone(),
                });
            }
            let function = match symbols.function_at(address) {
                Some((symbol, 0)) => symbol.name.clone(),
                Some((symbol, offset)) => format!("{}+{offset:#x}", symbol.name),
                None => Address(address).to_string(),
            };
            return Ok((address, function));
        }
        Function::Name(name) => name,
    };
    match symbols.functions_named(name).as_slice() {
        [function] => Ok((function.address, function.name.clone())),
        [] => Err(match symbols.objects_named(name).first() {
            Some(label) => ResolveError::NoCode {
                layer: layer.name.clone(),
                name: name.clone(),
                address: Address(label.address),
            },
            None if symbols.functions().next().is_none() => ResolveError::NoSymbols {
                layer: layer.name.clone(),
                name: name.clone(),
            },
            None => ResolveError::NoFunction {
                layer: layer.name.clone(),
                name: name.clone(),
                similar: symbols.similar(name),
            },
        }),
        several => Err(ResolveError::SeveralFunctions {
            layer: layer.name.clone(),
            name: name.clone(),
            candidates: candidates(several, image),
        }),
    }
}

fn resolve(mut layer: LayerHook, function: String, image: &Image) -> Result<Hook, ResolveError> {
    for buffer in &mut layer.buffers {
        for expression in [&mut buffer.address, &mut buffer.size_bytes] {
            let place = format!(
                "layer '{}', buffer '{}', '{expression}'",
                layer.name, buffer.name
            );
            expression.resolve(&mut |what, name| value_of(what, name, &place, image))?;
        }
    }
    Ok(Hook { layer, function })
}

fn value_of(
    what: SymbolValue,
    name: &str,
    place: &str,
    image: &Image,
) -> Result<u32, ResolveError> {
    let (place, name) = (place.to_owned(), name.to_owned());
    let symbols = &image.symbols;
    match (symbols.objects_named(&name).as_slice(), what) {
        ([object], SymbolValue::Address) => Ok(object.address),
        ([object], SymbolValue::Size) if object.size_bytes > 0 => Ok(object.size_bytes),
        ([_], SymbolValue::Size) => Err(ResolveError::NoSize { place, name }),
        ([], _) => Err(ResolveError::NoObject {
            similar: symbols.similar_objects(&name),
            place,
            name,
        }),
        (several, _) => Err(ResolveError::SeveralObjects {
            place,
            name,
            candidates: candidates(several, image),
        }),
    }
}

/// Names, addresses and, where known, source files; a few.
fn candidates(symbols: &[&Symbol], image: &Image) -> Vec<String> {
    const MOST: usize = 8;
    let one = |symbol: &&Symbol| {
        let place = match image.lines.at(symbol.address) {
            Some((file, Some(line))) if symbol.function => format!(" ({file}:{line})"),
            _ => String::new(),
        };
        format!("{:#010x} \"{}\"{place}", symbol.address, symbol.name)
    };
    let more = symbols.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("and {more} more"));
    symbols.iter().take(MOST).map(one).chain(more).collect()
}
