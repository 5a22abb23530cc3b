//! The kernels' C interface, read from their headers: structures and functions, as far as our own
//! headers use the language.

use std::collections::BTreeMap;

/// A type of C.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CType {
    /// `void`, a number, or an enumeration.
    Scalar(String),
    /// A structure, by its name.
    Struct(String),
    /// Elements of one type.
    Array(Box<CType>, usize),
    /// A pointer to one or several of these.
    Pointer {
        /// What it points to.
        to: Box<CType>,
        /// Nothing is stored through it.
        is_const: bool,
    },
}

/// A named member of a structure, or a parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ctype: CType,
}

/// A function that a header declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prototype {
    /// The header's path in the table of sources.
    pub header: &'static str,
    /// The name of the type that it returns.
    pub returns: String,
    /// Its parameters, in order.
    pub parameters: Vec<Variable>,
}

/// Size of a number's type; `None` of `void` and of what is no number of a known size.
pub fn scalar_bytes(name: &str) -> Option<usize> {
    match name {
        "int8_t" | "uint8_t" | "bool" => Some(1),
        "int16_t" | "uint16_t" => Some(2),
        "int32_t" | "uint32_t" | "float" => Some(4),
        "int64_t" => Some(8),
        _ => None,
    }
}

/// All structures and functions of some headers.
#[derive(Debug, Clone, Default)]
pub struct CInterface {
    structures: BTreeMap<String, Vec<Variable>>,
    functions: BTreeMap<String, Prototype>,
}

impl CInterface {
    /// Reads headers, given by path and text. What is neither a structure nor a prototype is
    /// skipped.
    pub fn of_headers(headers: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> Self {
        let mut interface = Self::default();
        // A member's structure may be in a header that comes later.
        for (_, text) in headers.clone().chain(headers.clone()) {
            for declaration in declarations(text) {
                interface.take_structure(&declaration);
            }
        }
        for (path, text) in headers {
            for declaration in declarations(text) {
                interface.take_function(path, &declaration);
            }
        }
        interface
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&Prototype> {
        self.functions.get(name)
    }

    /// Names of all functions, in order.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// The members of a structure.
    pub fn members(&self, structure: &str) -> Option<&[Variable]> {
        self.structures.get(structure).map(Vec::as_slice)
    }

    /// Size of a type on the target, where pointers have 4 bytes; `None` of `void` and of what has
    /// no size known here.
    pub fn size_bytes(&self, ctype: &CType) -> Option<usize> {
        match ctype {
            CType::Scalar(name) => scalar_bytes(name),
            CType::Pointer { .. } => Some(4),
            CType::Array(element, count) => Some(self.size_bytes(element)? * count),
            CType::Struct(name) => {
                let end = match self.members_with_offsets(name)?.last() {
                    Some((offset, last)) => offset + self.size_bytes(&last.ctype)?,
                    None => 0,
                };
                Some(end.next_multiple_of(self.alignment(ctype)?))
            }
        }
    }

    /// The members of a structure, each after what it takes to align it.
    pub fn members_with_offsets(&self, structure: &str) -> Option<Vec<(usize, &Variable)>> {
        let mut end = 0_usize;
        let members = self.members(structure)?.iter();
        let placed = members.map(|member| {
            let offset = end.next_multiple_of(self.alignment(&member.ctype)?);
            end = offset + self.size_bytes(&member.ctype)?;
            Some((offset, member))
        });
        placed.collect()
    }

    /// Alignment of a type on the target, in bytes.
    fn alignment(&self, ctype: &CType) -> Option<usize> {
        match ctype {
            CType::Scalar(name) => scalar_bytes(name),
            CType::Pointer { .. } => Some(4),
            CType::Array(element, _) => self.alignment(element),
            CType::Struct(name) => {
                let members = self.members(name)?.iter();
                let alignments = members.map(|member| self.alignment(&member.ctype));
                let alignments = alignments.collect::<Option<Vec<usize>>>()?;
                Some(alignments.into_iter().max().unwrap_or(1))
            }
        }
    }

    fn take_structure(&mut self, declaration: &[&str]) {
        let ["typedef", "struct", "{", members @ .., "}", name, ";"] = declaration else {
            return;
        };
        let members = members.split(|&token| token == ";");
        let members = members.filter(|member| !member.is_empty());
        let members: Option<Vec<Vec<Variable>>> =
            members.map(|member| self.variables(member)).collect();
        if let Some(members) = members {
            self.structures.insert((*name).to_owned(), members.concat());
        }
    }

    fn take_function(&mut self, header: &'static str, declaration: &[&str]) {
        let Some(open) = declaration.iter().position(|&token| token == "(") else {
            return;
        };
        let [returns, name] = declaration[..open] else {
            return;
        };
        let [parameters @ .., ")", ";"] = &declaration[open + 1..] else {
            return;
        };
        let parameters: Option<Vec<Vec<Variable>>> = parameters
            .split(|&token| token == ",")
            .map(|parameter| self.variables(parameter))
            .collect();
        if let Some(parameters) = parameters {
            let prototype = Prototype {
                header,
                returns: returns.to_owned(),
                parameters: parameters.concat(),
            };
            self.functions.insert(name.to_owned(), prototype);
        }
    }

    /// One declaration without its end, of one or several variables.
    fn variables(&self, tokens: &[&str]) -> Option<Vec<Variable>> {
        let (is_const, tokens) = match tokens {
            ["const", rest @ ..] => (true, rest),
            tokens => (false, tokens),
        };
        let (base, declarators) = tokens.split_first()?;
        let base = if self.structures.contains_key(*base) {
            CType::Struct((*base).to_owned())
        } else {
            CType::Scalar((*base).to_owned())
        };
        let declarators = declarators.split(|&token| token == ",");
        declarators
            .map(|it| variable(base.clone(), is_const, it))
            .collect()
    }
}

/// One declarator: stars, a name, and a number of elements.
fn variable(base: CType, is_const: bool, tokens: &[&str]) -> Option<Variable> {
    let (mut ctype, mut is_const) = (base, is_const);
    let mut rest = tokens;
    loop {
        match rest {
            ["*", after @ ..] => {
                ctype = CType::Pointer {
                    to: Box::new(ctype),
                    is_const: std::mem::take(&mut is_const),
                };
                rest = after;
            }
            ["const", after @ ..] => {
                is_const = true;
                rest = after;
            }
            _ => break,
        }
    }
    let (name, ctype) = match rest {
        [name] => (name, ctype),
        [name, "[", count, "]"] => {
            let count = count.parse().ok()?;
            (name, CType::Array(Box::new(ctype), count))
        }
        _ => return None,
    };
    Some(Variable {
        name: (*name).to_owned(),
        ctype,
    })
}

/// The tokens of each declaration at file level, to its semicolon or closing brace.
fn declarations(text: &'static str) -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    let (mut current, mut depth) = (Vec::new(), 0u32);
    for token in text.lines().flat_map(tokens) {
        if token == "{" {
            depth += 1;
        }
        current.push(token);
        if token == "}" {
            depth = depth.saturating_sub(1);
            // The body of an inline function.
            if depth == 0 && current.first() != Some(&"typedef") {
                current.clear();
            }
        }
        if token == ";" && depth == 0 {
            found.push(std::mem::take(&mut current));
        }
    }
    found
}

/// The tokens of a line: names and numbers, and single other characters. Directives, comments and
/// what opens `extern "C"` are skipped.
fn tokens(line: &'static str) -> Vec<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    if code.starts_with('#') || code.starts_with("extern") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let length = if is_word(first) {
            rest.find(|character| !is_word(character))
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after.trim_start();
    }
    found
}
