//! The C sources of our kernels, and which of them some functions need.

use super::c_interface::CInterface;
use crate::mcu::cpu::Cpu;
use dmo_kernels::SOURCES as FILES;
use std::collections::{BTreeMap, BTreeSet};

/// The text of a file below `kernels-c/`; `None` if there is no such file.
pub fn text(path: &str) -> Option<&'static str> {
    let file = FILES.iter().find(|(name, _)| *name == path)?;
    Some(file.1)
}

/// The functions and structures that the kernels' headers declare.
pub fn interface() -> CInterface {
    CInterface::of_headers(
        FILES
            .iter()
            .copied()
            .filter(|(path, _)| path.starts_with("include/") && path.ends_with(".h")),
    )
}

/// The set of kernels for the DSP extension, with weights as the model has them.
pub const DSP: &str = "dsp";

/// The set of kernels for cores without the DSP extension.
pub const PLAIN: &str = "plain";

/// The sources that define functions which several folders have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Those for the DSP extension.
    Dsp,
    /// Those for cores without it.
    Plain,
}

impl Family {
    /// That of a set of kernels.
    pub fn of_set(set: &str) -> Self {
        if set == PLAIN { Self::Plain } else { Self::Dsp }
    }

    /// That for a CPU.
    pub fn of_cpu(cpu: &Cpu) -> Self {
        if cpu.features.dsp {
            Self::Dsp
        } else {
            Self::Plain
        }
    }

    /// The set of kernels that it is.
    pub fn set(self) -> &'static str {
        match self {
            Self::Dsp => DSP,
            Self::Plain => PLAIN,
        }
    }

    /// Whether its functions may be defined in the file.
    fn has(self, path: &str) -> bool {
        let Some((folder, name)) = path.split_once('/') else {
            return false;
        };
        match (self, folder) {
            (_, "reference") | (Self::Dsp, "dsp") | (Self::Plain, "plain") => true,
            // Those of plain take the place of those of their name.
            (Self::Plain, "dsp") => text(&format!("plain/{name}")).is_none(),
            _ => false,
        }
    }
}

/// A file of a library, without its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// The sources that define some functions, with all that they call and include, and every name
/// that the linker sees prefixed. All files lie in one folder.
///
/// # Errors
/// The first function that no source defines.
pub fn closure<'a>(
    functions: impl IntoIterator<Item = &'a str>,
    family: Family,
    prefix: &str,
) -> Result<Vec<SourceFile>, String> {
    let index = Index::new(family);
    let mut needed = BTreeSet::new();
    for function in functions {
        let path = index.defined_in.get(function);
        needed.insert(*path.ok_or_else(|| function.to_owned())?);
    }
    let mut unread: Vec<&str> = needed.iter().copied().collect();
    while let Some(path) = unread.pop() {
        for word in words(text(path).unwrap_or_default()) {
            let file = index.defined_in.get(word).or(index.headers.get(word));
            if let Some(&file) = file.filter(|file| !needed.contains(*file)) {
                // A header declares more functions than its includer calls.
                let is_called =
                    !path.ends_with(".h") || file.ends_with(".h") || is_inline(path, word);
                if is_called {
                    needed.insert(file);
                    unread.push(file);
                }
            }
        }
    }
    let exported: BTreeSet<&str> = index.defined_in.keys().copied().collect();
    let files = needed.into_iter().map(|path| SourceFile {
        name: file_name(path).to_owned(),
        text: with_moves(
            path,
            prefixed(text(path).unwrap_or_default(), &exported, prefix),
        ),
    });
    Ok(files.collect())
}

/// The text of a source with `memmove` for `memcpy`: a plan may let input and output overlap, and in
/// which order `memcpy` copies is its C library's choice. Headers copy single elements and words only.
fn with_moves(path: &str, text: String) -> String {
    if path.ends_with(".c") {
        text.replace("memcpy(", "memmove(")
    } else {
        text
    }
}

/// Where names are defined.
struct Index {
    /// The file of each function and table.
    defined_in: BTreeMap<&'static str, &'static str>,
    /// The file of each header's name, dots as underscores, as [`words`] has them.
    headers: BTreeMap<&'static str, &'static str>,
}

impl Index {
    fn new(family: Family) -> Self {
        let (mut defined_in, mut headers) = (BTreeMap::new(), BTreeMap::new());
        for &(path, text) in FILES.iter() {
            if path.ends_with(".h") {
                headers.insert(file_name(path), path);
            } else if family.has(path) {
                defined_in.extend(definitions(text).map(|name| (name, path)));
            }
        }
        Self {
            defined_in,
            headers,
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Names of the functions and tables that a source defines and the linker sees: they begin at the left
/// margin, and their declaration may go on over several lines.
fn definitions(text: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = text.lines().filter(|line| {
        line.starts_with(|first: char| first.is_ascii_alphabetic())
            && !line.starts_with("static")
            && !line.starts_with("typedef")
            && !line.starts_with("DSP_INLINE")
            && !line.starts_with("PLAIN_INLINE")
            && !line.contains(" static ")
            && !line.ends_with(';')
    });
    lines.filter_map(|line| {
        let before = line.split_once(['(', '['])?.0;
        before.rsplit([' ', '*']).next()
    })
}

/// Whether the header calls the function, in an inline function, rather than declare it.
fn is_inline(header: &str, function: &str) -> bool {
    let mut lines = text(header).unwrap_or_default().lines();
    lines.any(|line| line.starts_with(' ') && words(line).any(|word| word == function))
}

/// The names in a text, those of included files with their endings.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_.".contains(character);
    text.split(move |character| !is_part(character))
        .filter(|word| !word.is_empty())
}

/// The text with these names prefixed. Strings, comments and names of files stay as they are.
fn prefixed(text: &str, names: &BTreeSet<&str>, prefix: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let code = line.find("//").unwrap_or(line.len());
        let (code, comment) = line.split_at(if line.starts_with("#include") {
            0
        } else {
            code
        });
        let mut rest = code;
        while let Some(start) = rest.find(|character: char| is_word(character)) {
            let (before, after) = rest.split_at(start);
            let end = after.find(|character: char| !is_word(character));
            let (word, after) = after.split_at(end.unwrap_or(after.len()));
            result.push_str(before);
            if names.contains(word) {
                result.push_str(prefix);
            }
            result.push_str(word);
            rest = after;
        }
        result.push_str(rest);
        result.push_str(comment);
    }
    result
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::{FILES, Family, closure, interface};
    use crate::kernels::contracts;
    use std::collections::BTreeSet;

    /// Functions that are called, but for those that only a vendor's library has.
    fn built_in() -> BTreeSet<&'static str> {
        let functions: BTreeSet<&str> = contracts().map(|contract| contract.function).collect();
        let is_ours = |function: &&str| {
            let defined = format!(" {function}(");
            FILES
                .iter()
                .any(|(path, text)| path.ends_with(".c") && text.contains(&defined))
        };
        let ours: BTreeSet<&str> = functions.iter().copied().filter(is_ours).collect();
        let mut others = functions.difference(&ours);
        assert!(others.all(|name| name.starts_with("arm_")), "{others:?}");
        assert!(ours.len() > 200, "{}", ours.len());
        ours
    }

    #[test]
    fn every_kernel_that_is_built_in_has_a_prototype_and_sources() {
        let interface = interface();
        let ours = built_in();
        for function in ours {
            assert!(interface.function(function).is_some(), "{function}");
            for family in [Family::Dsp, Family::Plain] {
                let files = closure([function], family, "p_").unwrap();
                let defined = format!(" p_{function}(");
                let sources = files.iter().filter(|file| file.name.ends_with(".c"));
                let defining = sources.filter(|file| file.text.contains(&defined));
                assert!(defining.count() >= 1, "{function}");
            }
        }
    }

    #[test]
    fn whole_copies_work_where_input_and_output_overlap() {
        let mut moves = 0;
        for file in closure(built_in(), Family::Dsp, "").unwrap() {
            if file.name.ends_with(".c") {
                assert!(!file.text.contains("memcpy("), "{}", file.name);
                moves += file.text.matches("memmove(").count();
            }
        }
        assert!(moves >= 14, "{moves}");
    }

    #[test]
    fn each_family_has_its_own_sources() {
        for (family, inner, other) in [
            (Family::Dsp, "dsp_multiply_pixels.c", "plain_pairs.c"),
            (Family::Plain, "plain_pairs.c", "dsp_multiply_pixels.c"),
        ] {
            let files = closure(["arm_convolve_wrapper_s8"], family, "").unwrap();
            let has = |name: &str| files.iter().any(|file| file.name == name);
            assert!(has(inner) && !has(other), "{family:?}");
        }
    }

    #[test]
    fn an_unknown_function_is_named() {
        assert_eq!(
            closure(["none_such"], Family::Dsp, ""),
            Err("none_such".to_owned())
        );
    }

    #[test]
    fn names_are_prefixed_where_the_linker_sees_them() {
        let files = closure(["arm_softmax_s8"], Family::Dsp, "m_").unwrap();
        let file = files
            .iter()
            .find(|file| file.name == "arm_softmax_s8.c")
            .unwrap();
        assert!(file.text.contains("m_arm_softmax_s8("));
        assert!(file.text.contains("m_dmo_softmax_s8("));
        assert!(file.text.contains("#include \"dmo_softmax.h\""));
        let names: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names.len(), files.len(), "two files of one name");
        assert!(names.contains("dmo_softmax_s8.c") && !names.contains("dmo_softmax_f32.c"));
    }
}
