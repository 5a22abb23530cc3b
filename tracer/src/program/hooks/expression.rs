//! Expressions over the registers and the memory of a function that is being called: where
//! a buffer is, and how long.
//!
//! Values are unsigned 32-bit numbers, as addresses and sizes are. What does not fit is an
//! error and never wraps: a size that came out too small would make an overlap look safe.

use std::ops::Range;

/// When a register or a word of memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPhase {
    /// Before the function's first instruction.
    Entry,
    /// When it has returned.
    Return,
}

/// The registers and the memory that an expression may read.
pub trait CallState {
    /// Register r0 to r15.
    fn register(&self, index: usize) -> u32;
    /// Up to four bytes of memory, little-endian; `None` if none is mapped there.
    fn load(&self, address: u32, size_bytes: u32) -> Option<u32>;
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvaluationError {
    #[error("'{expression}' is {left:#x} {operator} {right:#x}, which is not a 32-bit number")]
    Overflow {
        expression: String,
        left: u32,
        operator: &'static str,
        right: u32,
    },
    #[error("'{expression}' is {left:#x} {operator} 0")]
    DivisionByZero {
        expression: String,
        left: u32,
        operator: &'static str,
    },
    #[error("'{expression}' reads {size_bytes} bytes at {address:#010x}, where no memory is")]
    Unreadable {
        expression: String,
        address: u32,
        size_bytes: u32,
    },
    #[error("'{expression}' is {value}, and no value can be negative")]
    Negative { expression: String, value: i32 },
    #[error("'{expression}' is known only when the function has returned")]
    NotYet { expression: String },
}

/// The property of a symbol that an expression uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolValue {
    /// `&name`
    Address,
    /// `sizeof(name)`
    Size,
}

/// An expression as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    text: String,
    root: Node,
}

/// A part of an expression, and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Number(u32),
    Register(usize, CallPhase),
    Load(Box<Node>, Width, CallPhase),
    Symbol(SymbolValue, String),
    Binary(Operator, Box<Node>, Box<Node>),
}

/// Width and signedness of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Word,
    U8,
    I8,
    U16,
    I16,
}

impl Width {
    fn size_bytes(self) -> u32 {
        match self {
            Self::Word => 4,
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    CeilDivide,
    Maximum,
    Minimum,
}

impl Operator {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::CeilDivide => "ceil_div",
            Self::Maximum => "max",
            Self::Minimum => "min",
        }
    }

    /// `None` if the result does not fit into 32 bits unsigned.
    fn apply(self, left: u32, right: u32) -> Option<u32> {
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            Self::CeilDivide => (right > 0).then(|| left.div_ceil(right)),
            Self::Maximum => Some(left.max(right)),
            Self::Minimum => Some(left.min(right)),
        }
    }
}

impl std::fmt::Display for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    pub(super) fn new(text: &str, mut root: Node) -> Self {
        let span = root.span.clone();
        root.shift(span.start);
        Self {
            text: text[span].to_owned(),
            root,
        }
    }

    /// Puts numbers in the place of symbols.
    ///
    /// # Errors
    /// Those of `lookup`.
    pub fn resolve<E>(
        &mut self,
        lookup: &mut impl FnMut(SymbolValue, &str) -> Result<u32, E>,
    ) -> Result<(), E> {
        self.root.resolve(lookup)
    }

    /// The expression with all that is known at the function's entry put in.
    ///
    /// # Errors
    /// When a part has no value.
    pub fn at_entry(&self, state: &dyn CallState) -> Result<Self, EvaluationError> {
        self.at(state, CallPhase::Entry)
    }

    /// Its value when the function has returned. `self` comes from [`Self::at_entry`].
    ///
    /// # Errors
    /// When a part has no value.
    pub fn at_return(&self, state: &dyn CallState) -> Result<u32, EvaluationError> {
        let value = self.at(state, CallPhase::Return)?;
        value.value().ok_or_else(|| EvaluationError::NotYet {
            expression: self.text.clone(),
        })
    }

    /// The value; `None` while some of it is known only at the return.
    pub fn value(&self) -> Option<u32> {
        match self.root.kind {
            Kind::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Returns `true` if a part of the expression is known only when the function has returned.
    pub fn needs_return(&self) -> bool {
        self.root.needs_return()
    }

    fn at(&self, state: &dyn CallState, now: CallPhase) -> Result<Self, EvaluationError> {
        let view = Evaluator {
            text: &self.text,
            state,
            now,
        };
        Ok(Self {
            text: self.text.clone(),
            root: view.fold(&self.root)?,
        })
    }
}

impl Node {
    fn shift(&mut self, by: usize) {
        self.span = self.span.start - by..self.span.end - by;
        match &mut self.kind {
            Kind::Number(_) | Kind::Register(..) | Kind::Symbol(..) => {}
            Kind::Load(address, ..) => address.shift(by),
            Kind::Binary(_, left, right) => {
                left.shift(by);
                right.shift(by);
            }
        }
    }

    fn resolve<E>(
        &mut self,
        lookup: &mut impl FnMut(SymbolValue, &str) -> Result<u32, E>,
    ) -> Result<(), E> {
        match &mut self.kind {
            Kind::Number(_) | Kind::Register(..) => Ok(()),
            Kind::Load(address, ..) => address.resolve(lookup),
            Kind::Binary(_, left, right) => {
                left.resolve(lookup)?;
                right.resolve(lookup)
            }
            Kind::Symbol(what, name) => {
                self.kind = Kind::Number(lookup(*what, name)?);
                Ok(())
            }
        }
    }

    fn needs_return(&self) -> bool {
        match &self.kind {
            Kind::Number(_) | Kind::Symbol(..) => false,
            Kind::Register(_, phase) => *phase == CallPhase::Return,
            Kind::Load(address, _, phase) => *phase == CallPhase::Return || address.needs_return(),
            Kind::Binary(_, left, right) => left.needs_return() || right.needs_return(),
        }
    }
}

/// Evaluates an expression as far as its values are known in this phase of the call.
struct Evaluator<'a> {
    text: &'a str,
    state: &'a dyn CallState,
    now: CallPhase,
}

impl Evaluator<'_> {
    fn fold(&self, node: &Node) -> Result<Node, EvaluationError> {
        let kind = match &node.kind {
            Kind::Register(index, phase) if *phase == self.now => {
                Kind::Number(self.state.register(*index))
            }
            Kind::Load(address, width, phase) => {
                let address = self.fold(address)?;
                match address.kind {
                    // An address that is known late is read late.
                    Kind::Number(at) if *phase == self.now || self.now == CallPhase::Return => {
                        Kind::Number(self.load(node, at, *width)?)
                    }
                    _ => Kind::Load(Box::new(address), *width, *phase),
                }
            }
            Kind::Binary(operator, left, right) => {
                let (left, right) = (self.fold(left)?, self.fold(right)?);
                match (&left.kind, &right.kind) {
                    (&Kind::Number(a), &Kind::Number(b)) => {
                        Kind::Number(self.apply(node, *operator, a, b)?)
                    }
                    _ => Kind::Binary(*operator, Box::new(left), Box::new(right)),
                }
            }
            other => other.clone(),
        };
        Ok(Node {
            span: node.span.clone(),
            kind,
        })
    }

    fn load(&self, node: &Node, address: u32, width: Width) -> Result<u32, EvaluationError> {
        let size_bytes = width.size_bytes();
        let bits =
            self.state
                .load(address, size_bytes)
                .ok_or_else(|| EvaluationError::Unreadable {
                    expression: self.text_of(node),
                    address,
                    size_bytes,
                })?;
        let signed = match width {
            Width::I8 => i32::from(bits as u8 as i8),
            Width::I16 => i32::from(bits as u16 as i16),
            Width::Word | Width::U8 | Width::U16 => return Ok(bits),
        };
        u32::try_from(signed).map_err(|_| EvaluationError::Negative {
            expression: self.text_of(node),
            value: signed,
        })
    }

    fn apply(
        &self,
        node: &Node,
        operator: Operator,
        left: u32,
        right: u32,
    ) -> Result<u32, EvaluationError> {
        let divides = matches!(operator, Operator::Divide | Operator::CeilDivide);
        operator.apply(left, right).ok_or_else(|| {
            let expression = self.text_of(node);
            let operator = operator.name();
            if divides {
                EvaluationError::DivisionByZero {
                    expression,
                    left,
                    operator,
                }
            } else {
                EvaluationError::Overflow {
                    expression,
                    left,
                    operator,
                    right,
                }
            }
        })
    }

    fn text_of(&self, node: &Node) -> String {
        self.text
            .get(node.span.clone())
            .unwrap_or_default()
            .to_owned()
    }
}
