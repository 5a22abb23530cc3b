//! A row of the instruction set: an encoding diagram, who has it, what it refuses, what it does.

use crate::features::{Features, Needs};
use crate::operation::{Operation, Precision};

/// A question about the fields of an instruction.
pub(super) type Test = fn(&Fields) -> bool;

/// A row as it is written down.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    needs: Needs,
    name: &'static str,
    pattern: &'static str,
    operation: fn(&Fields) -> Operation,
    bad: &'static str,
    sp: &'static str,
    pc: &'static str,
    not_pc: &'static str,
    unpredictable: &'static [Test],
    undefined: Option<Test>,
}

/// What an encoding needs, its name, its diagram, and what it does.
///
/// The diagram is that of the manual: `0` and `1` are fixed, `(0)` and `(1)` should be so and are
/// unpredictable otherwise, a letter names a field, whose bits need not be neighbours. With `z`,
/// the bit that tells single from double precision, it is two rows; the tops `D`, `N` and `M` of
/// its registers are 0 for double precision, of which there are 16.
pub(super) const fn entry(
    needs: Needs,
    name: &'static str,
    pattern: &'static str,
    operation: fn(&Fields) -> Operation,
) -> Entry {
    Entry {
        needs,
        name,
        pattern,
        operation,
        bad: "",
        sp: "",
        pc: "",
        not_pc: "",
        unpredictable: &[],
        undefined: None,
    }
}

impl Entry {
    /// With 13 or 15 in one of these fields it is unpredictable.
    pub(super) const fn bad(mut self, fields: &'static str) -> Self {
        self.bad = fields;
        self
    }

    /// With 13 in one of these fields it is unpredictable.
    pub(super) const fn sp(mut self, fields: &'static str) -> Self {
        self.sp = fields;
        self
    }

    /// With 15 in one of these fields it is unpredictable.
    pub(super) const fn pc(mut self, fields: &'static str) -> Self {
        self.pc = fields;
        self
    }

    /// With 15 in this field it is another instruction.
    pub(super) const fn not_pc(mut self, field: &'static str) -> Self {
        self.not_pc = field;
        self
    }

    /// If one of these holds it is unpredictable.
    pub(super) const fn unpredictable(mut self, tests: &'static [Test]) -> Self {
        self.unpredictable = tests;
        self
    }

    /// If this holds it is undefined.
    pub(super) const fn undefined(mut self, test: Test) -> Self {
        self.undefined = Some(test);
        self
    }

    /// Its row, or two for both precisions.
    pub(super) fn rows(&self) -> Vec<Row> {
        let precisions: &[Precision] = if self.pattern.contains('z') {
            &[Precision::Single, Precision::Double]
        } else {
            &[Precision::Single]
        };
        let precisions = precisions.iter();
        precisions
            .map(|&precision| Row::new(*self, precision))
            .collect()
    }
}

/// An encoding of an instruction.
pub struct Row {
    entry: Entry,
    needs: Needs,
    precision: Precision,
    bytes: u8,
    /// The fixed bits; of narrow instructions in the upper half, as all that follow.
    pub(super) mask: u32,
    /// What they are.
    pub(super) value: u32,
    /// Bits of which one is 0.
    not_ones: u32,
    /// Bits that should be as they are in `should_be`.
    should_mask: u32,
    should_be: u32,
    /// The bits of each field.
    fields: [u32; 64],
}

/// Where the bits of a field are kept; letters only.
fn slot(letter: char) -> usize {
    letter as usize & 63
}

impl Row {
    fn new(entry: Entry, precision: Precision) -> Self {
        let is_double = precision == Precision::Double;
        let mut row = Row {
            entry,
            needs: if is_double {
                Needs::Double
            } else {
                entry.needs
            },
            precision,
            bytes: 0,
            mask: 0,
            value: 0,
            not_ones: 0,
            should_mask: 0,
            should_be: 0,
            fields: [0; 64],
        };
        let mut bit = 1 << 31;
        let mut should = false;
        for symbol in entry.pattern.chars() {
            match symbol {
                ' ' => continue,
                '(' | ')' => {
                    should = symbol == '(';
                    continue;
                }
                '0' | '1' if should => {
                    row.should_mask |= bit;
                    row.should_be |= if symbol == '1' { bit } else { 0 };
                }
                '0' | '1' => row.fix(bit, symbol == '1'),
                'z' => row.fix(bit, is_double),
                'D' | 'N' | 'M' if is_double => row.fix(bit, false),
                letter => row.fields[slot(letter)] |= bit,
            }
            bit >>= 1;
        }
        row.bytes = if bit == 0 { 4 } else { 2 };
        let not_pc = entry.not_pc.chars();
        row.not_ones = not_pc.map(|field| row.fields[slot(field)]).sum();
        row
    }

    fn fix(&mut self, bit: u32, one: bool) {
        self.mask |= bit;
        self.value |= if one { bit } else { 0 };
    }

    /// The name of the instruction, as in the manual.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The encoding diagram: fixed bits, `(0)` and `(1)` for bits that should be so, letters for
    /// fields. With `z` it is that of both precisions.
    pub fn pattern(&self) -> &'static str {
        self.entry.pattern
    }

    /// What it needs.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// The length of the instruction in bytes, 2 or 4.
    pub fn bytes(&self) -> u8 {
        self.bytes
    }

    /// The fixed bits and what they are. Those of a narrow instruction are in the upper half.
    pub fn fixed(&self) -> (u32, u32) {
        (self.mask, self.value)
    }

    /// An encoding that has these bits in its fields: of a wide instruction the first halfword is
    /// the upper half, of a narrow one there is only the lower half.
    pub fn encoding(&self, random_bits: u32) -> u32 {
        let fixed = self.mask | self.should_mask;
        let mut word = random_bits & !fixed | self.value | self.should_be;
        if self.excludes(word) {
            word ^= self.not_ones & self.not_ones.wrapping_neg();
        }
        word >> if self.bytes == 2 { 16 } else { 0 }
    }

    pub(super) fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value && !self.excludes(word)
    }

    fn excludes(&self, word: u32) -> bool {
        self.not_ones != 0 && word & self.not_ones == self.not_ones
    }

    /// Whether an instruction can be both.
    pub fn overlaps(&self, other: &Row) -> bool {
        let value = self.value | other.value;
        let apart = (self.value ^ other.value) & self.mask & other.mask != 0;
        self.bytes == other.bytes && !apart && !self.excludes(value) && !other.excludes(value)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}`", self.entry.name, self.entry.pattern)
    }
}

/// An instruction seen as a row.
pub(super) struct Fields<'a> {
    row: &'a Row,
    word: u32,
    pub(super) features: &'a Features,
}

impl<'a> Fields<'a> {
    pub(super) fn new(row: &'a Row, word: u32, features: &'a Features) -> Self {
        Fields {
            row,
            word,
            features,
        }
    }

    /// The bits of a field.
    pub(super) fn get(&self, letter: char) -> u32 {
        let mut mask = self.row.fields[slot(letter)];
        let mut value = 0;
        let mut at = 0;
        while mask != 0 {
            let low = mask & mask.wrapping_neg();
            value |= u32::from(self.word & low != 0) << at;
            mask ^= low;
            at += 1;
        }
        value
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, letter: char) -> bool {
        self.row.fields[slot(letter)] != 0
    }

    /// A field that is a register, or as small.
    pub(super) fn reg(&self, letter: char) -> u8 {
        self.get(letter) as u8
    }

    /// A field of one bit.
    pub(super) fn bit(&self, letter: char) -> bool {
        self.get(letter) != 0
    }

    /// A field as a signed number.
    pub(super) fn signed(&self, letter: char) -> i32 {
        let bits = self.row.fields[slot(letter)].count_ones();
        ((self.get(letter) << (32 - bits)) as i32) >> (32 - bits)
    }

    /// Single or double, by `z`.
    pub(super) fn precision(&self) -> Precision {
        self.row.precision
    }

    pub(super) fn is_undefined(&self) -> bool {
        self.row.entry.undefined.is_some_and(|test| test(self))
    }

    pub(super) fn is_unpredictable(&self) -> bool {
        let Entry {
            bad,
            sp,
            pc,
            unpredictable,
            ..
        } = self.row.entry;
        let any = |fields: &str, register| fields.chars().any(|field| self.reg(field) == register);
        (self.word ^ self.row.should_be) & self.row.should_mask != 0
            || any(bad, 13)
            || any(bad, 15)
            || any(sp, 13)
            || any(pc, 15)
            || unpredictable.iter().any(|test| test(self))
    }

    pub(super) fn operation(&self) -> Operation {
        (self.row.entry.operation)(self)
    }
}
