//! The grammar of hooks (docs/hooks.md).

use super::expression::{CallPhase, Expression, Kind, Node, Operator, SymbolValue, Width};
use super::{BufferHook, Function, LayerHook};
use crate::program::marks::MAX_BUFFERS;
use dmo_analysis::trace::{ElementType, Role};
use std::ops::Range;

/// The longest text of a hook, in bytes.
pub const MAX_TEXT_BYTES: usize = 16 << 10;

/// How deep brackets may nest.
const MAX_DEPTH: u32 = 32;

/// The most operators in one expression.
const MAX_OPERATORS: u32 = 256;

/// A text that is no hook or no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    /// In bytes, at the start of a character or at the end.
    at: usize,
    expected: String,
    found: String,
}

impl std::error::Error for ParseError {}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let column = self.text[..self.at].chars().count();
        writeln!(
            f,
            "expected {}, found {} at character {}",
            self.expected,
            self.found,
            column + 1
        )?;
        // A part of a long text, on one line.
        const BEFORE: usize = 60;
        const BEHIND: usize = 40;
        let start = column.saturating_sub(BEFORE);
        let shown: String = self
            .text
            .chars()
            .skip(start)
            .take(BEFORE + BEHIND)
            .map(|character| {
                if character.is_control() {
                    ' '
                } else {
                    character
                }
            })
            .collect();
        writeln!(f, "  {shown}")?;
        write!(f, "  {:>1$}", '^', column - start + 1)
    }
}

const ROLES: [(&str, Role); 5] = [
    ("in", Role::Input),
    ("out", Role::Output),
    ("scratch", Role::Scratch),
    ("state", Role::State),
    ("const", Role::Constant),
];

const TYPES: [(&str, ElementType); 9] = [
    ("int8", ElementType::Int8),
    ("uint8", ElementType::Uint8),
    ("int16", ElementType::Int16),
    ("int32", ElementType::Int32),
    ("uint32", ElementType::Uint32),
    ("int64", ElementType::Int64),
    ("uint64", ElementType::Uint64),
    ("float32", ElementType::Float32),
    ("bool", ElementType::Bool),
];

/// The role of this name.
pub(super) fn role(name: &str) -> Option<Role> {
    named(&ROLES, name)
}

/// The name that a buffer of this role has by default.
pub(super) fn default_name(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Output => "output",
        Role::Scratch => "scratch",
        Role::State => "state",
        Role::Constant => "constant",
        Role::Unlisted => "memory",
    }
}

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, value)| value)
}

fn names<T>(table: &[(&str, T)]) -> String {
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

impl std::str::FromStr for Expression {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::read_all(text, Parser::expression)
    }
}

impl std::str::FromStr for LayerHook {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::read_all(text, Parser::layer)
    }
}

/// The element type of this name.
pub(super) fn element_type(name: &str) -> Option<ElementType> {
    named(&TYPES, name)
}

/// Reads a text from left to right.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// One past the last character that is no space.
    behind: usize,
    depth: u32,
    operators: u32,
}

impl<'a> Parser<'a> {
    /// Reads a text that is one thing and nothing more.
    fn read_all<T>(
        text: &'a str,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let mut parser = Self {
            text,
            at: 0,
            behind: 0,
            depth: 0,
            operators: 0,
        };
        if text.len() > MAX_TEXT_BYTES {
            return Err(ParseError {
                text: String::new(),
                at: 0,
                expected: format!("at most {MAX_TEXT_BYTES} bytes"),
                found: format!("{} bytes", text.len()),
            });
        }
        parser.skip_spaces();
        let found = read(&mut parser)?;
        if parser.rest().is_empty() {
            Ok(found)
        } else {
            Err(parser.error("nothing more"))
        }
    }

    fn layer(&mut self) -> Result<LayerHook, ParseError> {
        let name = self.name("the name of the layer")?;
        let operator = if self.take(":") {
            Some(self.name("the operator")?)
        } else {
            None
        };
        self.require("=")?;
        let function = self.function()?;
        self.require("(")?;
        let mut buffers = Vec::new();
        loop {
            if buffers.len() >= MAX_BUFFERS as usize {
                return Err(self.error(&format!("at most {MAX_BUFFERS} buffers")));
            }
            buffers.push(self.buffer()?);
            if self.take(")") {
                break;
            }
            if !self.take(",") {
                return Err(self.error("'type', ',' or ')'"));
            }
        }
        Ok(LayerHook {
            name,
            operator,
            function,
            buffers,
        })
    }

    fn function(&mut self) -> Result<Function, ParseError> {
        if self.rest().starts_with('"') {
            return Ok(Function::Name(self.quoted()?));
        }
        if self.rest().starts_with(|next: char| next.is_ascii_digit()) {
            return Ok(Function::Address(self.number()?));
        }
        let length = self.rest().find('(').unwrap_or(self.rest().len());
        let name = self.rest()[..length].trim();
        if name.is_empty() || name.contains(char::is_control) {
            return Err(self.error("the name of a function or its address"));
        }
        if two_lists(&self.rest()[length..]) {
            return Err(self.error("a name with parameters in double quotes"));
        }
        let name = name.to_owned();
        self.advance(length);
        Ok(Function::Name(name))
    }

    fn buffer(&mut self) -> Result<BufferHook, ParseError> {
        let expected = format!("the role of a buffer ({})", names(&ROLES));
        let start = self.at;
        let role = self.word().and_then(role);
        let role = role.ok_or_else(|| self.error_at(start, &expected))?;
        let name = if self.rest().starts_with(['?', ':']) {
            default_name(role).to_owned()
        } else {
            self.name("a name, '?' or ':'")?
        };
        let optional = self.take("?");
        self.require(":")?;
        let address = self.expression()?;
        self.require_word("size")?;
        let size_bytes = self.expression()?;
        let element_type = if self.take_word("type") {
            self.element_type()?
        } else {
            ElementType::Int8
        };
        Ok(BufferHook {
            name,
            role,
            element_type,
            address,
            size_bytes,
            optional,
        })
    }

    fn element_type(&mut self) -> Result<ElementType, ParseError> {
        let start = self.at;
        let found = self.word().and_then(element_type);
        found.ok_or_else(|| self.error_at(start, &format!("a type ({})", names(&TYPES))))
    }

    fn expression(&mut self) -> Result<Expression, ParseError> {
        self.operators = 0;
        let root = self.sum()?;
        Ok(Expression::new(self.text, root))
    }

    fn sum(&mut self) -> Result<Node, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(&format!("at most {MAX_DEPTH} brackets in each other")));
        }
        let mut left = self.product()?;
        loop {
            let operator = if self.take("+") {
                Operator::Add
            } else if self.take("-") {
                Operator::Subtract
            } else {
                break;
            };
            let right = self.product()?;
            left = self.binary(operator, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Node, ParseError> {
        let mut left = self.factor()?;
        loop {
            let operator = if self.take("*") {
                Operator::Multiply
            } else if self.take("/") {
                Operator::Divide
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            left = self.binary(operator, left, right)?;
        }
    }

    fn binary(&mut self, operator: Operator, left: Node, right: Node) -> Result<Node, ParseError> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(self.error(&format!("at most {MAX_OPERATORS} operators")));
        }
        Ok(Node {
            span: left.span.start..right.span.end,
            kind: Kind::Binary(operator, Box::new(left), Box::new(right)),
        })
    }

    fn factor(&mut self) -> Result<Node, ParseError> {
        let start = self.at;
        let kind = match self.rest().chars().next() {
            Some('(') => {
                self.require("(")?;
                let kind = self.sum()?.kind;
                self.require(")")?;
                kind
            }
            Some('[') => self.load()?,
            Some('&') => {
                self.require("&")?;
                Kind::Symbol(SymbolValue::Address, self.symbol()?)
            }
            Some('0'..='9') => Kind::Number(self.number()?),
            _ => self.named_factor()?,
        };
        Ok(Node {
            span: start..self.behind,
            kind,
        })
    }

    fn load(&mut self) -> Result<Kind, ParseError> {
        self.require("[")?;
        let address = self.sum()?;
        self.require("]")?;
        let width = if self.take(":") {
            let start = self.at;
            match self.word() {
                Some("u8") => Width::U8,
                Some("i8") => Width::I8,
                Some("u16") => Width::U16,
                Some("i16") => Width::I16,
                _ => return Err(self.error_at(start, "a width (u8, i8, u16, i16)")),
            }
        } else {
            Width::Word
        };
        Ok(Kind::Load(Box::new(address), width, self.phase()?))
    }

    /// `@ret` after a register or a load.
    fn phase(&mut self) -> Result<CallPhase, ParseError> {
        if !self.take("@") {
            return Ok(CallPhase::Entry);
        }
        self.require_word("ret")?;
        Ok(CallPhase::Return)
    }

    fn named_factor(&mut self) -> Result<Kind, ParseError> {
        const EXPECTED: &str =
            "a number, r0 to r12, sp, arg0, arg1, ..., '[', '&', '(', sizeof, max, min or ceil_div";
        let start = self.at;
        let word = self.word().unwrap_or_default();
        let operator = match word {
            "sp" => return Ok(Kind::Register(STACK_POINTER, self.phase()?)),
            "sizeof" => {
                self.require("(")?;
                let name = self.symbol()?;
                self.require(")")?;
                return Ok(Kind::Symbol(SymbolValue::Size, name));
            }
            "max" => Operator::Maximum,
            "min" => Operator::Minimum,
            "ceil_div" => Operator::CeilDivide,
            _ => {
                if let Some(argument) = numbered(word, "arg", MAX_ARGUMENT) {
                    return Ok(self.argument(argument, start..self.behind));
                }
                return match numbered(word, "r", 12) {
                    Some(index) => Ok(Kind::Register(index as usize, self.phase()?)),
                    None => Err(self.error_at(start, EXPECTED)),
                };
            }
        };
        self.require("(")?;
        let left = self.sum()?;
        self.require(",")?;
        let right = self.sum()?;
        self.require(")")?;
        Ok(self.binary(operator, left, right)?.kind)
    }

    /// The first four words of the arguments are in r0 to r3, the others on the stack.
    fn argument(&self, number: u32, span: Range<usize>) -> Kind {
        const IN_REGISTERS: u32 = 4;
        if number < IN_REGISTERS {
            return Kind::Register(number as usize, CallPhase::Entry);
        }
        let node = |kind| {
            Box::new(Node {
                span: span.clone(),
                kind,
            })
        };
        let stack = node(Kind::Register(STACK_POINTER, CallPhase::Entry));
        let offset = node(Kind::Number(4 * (number - IN_REGISTERS)));
        let address = node(Kind::Binary(Operator::Add, stack, offset));
        Kind::Load(address, Width::Word, CallPhase::Entry)
    }

    /// The name of a symbol, in quotes where it has other characters than names in C and
    /// scopes in C++ have.
    fn symbol(&mut self) -> Result<String, ParseError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let is_part = |next: char| next.is_alphanumeric() || "_.$:".contains(next);
        self.run(is_part)
            .map(str::to_owned)
            .ok_or_else(|| self.error("the name of a symbol"))
    }

    /// A name, in quotes where it has spaces or signs of the grammar.
    fn name(&mut self, expected: &str) -> Result<String, ParseError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let is_part = |next: char| next.is_alphanumeric() || "_.-/#$".contains(next);
        self.run(is_part)
            .map(str::to_owned)
            .ok_or_else(|| self.error(expected))
    }

    fn quoted(&mut self) -> Result<String, ParseError> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let end = inside
            .find('"')
            .ok_or_else(|| self.error_at(self.text.len(), "a closing '\"'"))?;
        let name = &inside[..end];
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(self.error("a name without control characters"));
        }
        let name = name.to_owned();
        self.advance(end + 2);
        Ok(name)
    }

    fn number(&mut self) -> Result<u32, ParseError> {
        let start = self.at;
        let digits = self.word().unwrap_or_default();
        number(digits).ok_or_else(|| self.error_at(start, "a number of 32 bits"))
    }

    fn word(&mut self) -> Option<&'a str> {
        self.run(|next| next.is_ascii_alphanumeric() || next == '_')
    }

    /// The next characters that are part of something, at least one of them.
    fn run(&mut self, is_part: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find(|next| !is_part(next)).unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        self.advance(length);
        Some(&rest[..length])
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.behind = self.at;
        self.skip_spaces();
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.advance(sign.len());
        }
        found
    }

    fn require(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.error(&format!("'{sign}'")))
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let before = (self.at, self.behind);
        let found = self.word() == Some(word);
        if !found {
            (self.at, self.behind) = before;
        }
        found
    }

    fn require_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.take_word(word) {
            Ok(())
        } else {
            Err(self.error(&format!("'{word}'")))
        }
    }

    fn error(&self, expected: &str) -> ParseError {
        self.error_at(self.at, expected)
    }

    fn error_at(&self, at: usize, expected: &str) -> ParseError {
        let rest = &self.text[at..];
        let is_word = |next: char| next.is_alphanumeric() || next == '_';
        let word: String = rest.chars().take_while(|&next| is_word(next)).collect();
        let found = match rest.chars().next() {
            None => "the end".to_owned(),
            Some(next) if word.is_empty() => format!("'{}'", next.escape_debug()),
            Some(_) => format!("'{}'", word.chars().take(40).collect::<String>()),
        };
        ParseError {
            text: self.text.to_owned(),
            at,
            expected: expected.to_owned(),
            found,
        }
    }
}

/// Whether a text begins with a list in brackets and a second one: those of a function's
/// parameters and of a layer's buffers.
fn two_lists(text: &str) -> bool {
    let mut depth = 0_usize;
    let end = text.find(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.is_some_and(|end| {
        let behind = text.get(end + 1..).unwrap_or_default();
        behind.trim_start().starts_with('(')
    })
}

const STACK_POINTER: usize = 13;

/// C allows 127 arguments; a structure that is passed by value has more words.
const MAX_ARGUMENT: u32 = 1023;

/// The number after a prefix, without leading zeros.
fn numbered(word: &str, prefix: &str, most: u32) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    let value: u32 = digits.parse().ok()?;
    (value <= most && value.to_string() == digits).then_some(value)
}

/// A number in decimal or, after 0x, in hexadecimal.
pub(super) fn number(digits: &str) -> Option<u32> {
    match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        // from_str_radix would take a sign.
        Some(digits) if digits.starts_with(|next: char| next.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => digits.parse().ok(),
    }
}
