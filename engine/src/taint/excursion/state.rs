//! What is known of registers and stack on the ways from a branch, whatever they hold there.

use std::collections::BTreeMap;

/// What a register or a word of the stack holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Value {
    Unknown,
    /// What this register held at the branch.
    Register(u8),
    /// What the word of the stack so many bytes above the stack pointer at the branch held there.
    Word(i32),
    /// A return address.
    Constant(u32),
}

impl Value {
    /// What is known where both ways meet.
    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Unknown }
    }
}

/// All registers but the stack pointer, and the words of the stack that have been stored to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct State {
    registers: [Value; 15],
    stack: BTreeMap<i32, Value>,
}

impl State {
    /// At the branch.
    pub(super) fn at_branch() -> Self {
        Self {
            registers: std::array::from_fn(|index| Value::Register(index as u8)),
            stack: BTreeMap::new(),
        }
    }

    /// What a register holds; r13, which the ways know themselves, and r15 count as unknown.
    pub(in super::super) fn register(&self, index: u8) -> Value {
        let value = self.registers.get(usize::from(index));
        let value = value.filter(|_| index != 13);
        value.copied().unwrap_or(Value::Unknown)
    }

    pub(super) fn set_register(&mut self, index: u8, value: Value) {
        if let Some(register) = self.registers.get_mut(usize::from(index)) {
            *register = value;
        }
    }

    /// What a word of the stack holds.
    pub(super) fn word(&self, place: i32) -> Value {
        let stored = self.stack.get(&place).copied();
        stored.unwrap_or(Value::Word(place))
    }

    pub(super) fn set_word(&mut self, place: i32, value: Value) {
        self.stack.insert(place, value);
    }

    /// The words that have been stored to, and what they hold.
    pub(in super::super) fn words(&self) -> impl Iterator<Item = (i32, Value)> {
        self.stack.iter().map(|(&place, &value)| (place, value))
    }

    /// Joins the state of another way that comes to the same place; whether less is known now.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (mine, theirs) in self.registers.iter_mut().zip(other.registers) {
            *mine = mine.or(theirs);
        }
        let places: Vec<i32> = self
            .stack
            .keys()
            .chain(other.stack.keys())
            .copied()
            .collect();
        for place in places {
            let value = self.word(place).or(other.word(place));
            self.stack.insert(place, value);
        }
        *self != before
    }
}
