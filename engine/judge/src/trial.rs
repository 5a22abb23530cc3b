//! Many cases, and how they went.

use crate::case::{Case, Kind, Ram, draw, of_bytes};
use crate::compare::{Verdict, compare, translation_difference};
use crate::cpu::Cpu;
use crate::layout::RAM_BYTES;
use crate::ours::Ours;
use crate::random::Random;
use crate::theirs::Theirs;
use dmo_engine::memory::MapError;
use std::collections::BTreeMap;
use unicorn_engine::uc_error;

/// Why there is no trial.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Our engine refuses its memory.
    #[error("our engine: {0}")]
    Ours(#[from] MapError),
    /// Unicorn refuses something.
    #[error("Unicorn: {0:?}")]
    Theirs(uc_error),
}

impl From<uc_error> for TrialError {
    fn from(error: uc_error) -> Self {
        Self::Theirs(error)
    }
}

/// How many cases went how.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Both left the same.
    pub same: usize,
    /// Neither could execute it, though the core has it.
    pub both_fault: usize,
    /// Neither could execute it, for it is none of the core's instructions.
    pub both_lack: usize,
    /// The architecture does not say.
    pub undefined: usize,
    /// They differ on purpose, by what it is.
    pub known: BTreeMap<&'static str, usize>,
    /// They differ: reports.
    pub differences: Vec<String>,
    /// Cases that were executed by translated code too.
    pub translated: usize,
    /// Instructions of those cases.
    pub instructions: u64,
    /// Instructions of those cases that translated code has executed.
    pub translated_instructions: u64,
}

impl Tally {
    /// Cases that were judged.
    pub fn judged(&self) -> usize {
        self.same
            + self.both_fault
            + self.both_lack
            + self.known.values().sum::<usize>()
            + self.differences.len()
    }

    /// In a line.
    pub fn summary(&self) -> String {
        let Self {
            same,
            both_fault,
            both_lack,
            undefined,
            known,
            differences,
            translated,
            instructions,
            translated_instructions,
        } = self;
        let differences = differences.len();
        let known: Vec<String> = known
            .iter()
            .map(|(what, count)| format!("\n  {count:>7} {what}"))
            .collect();
        format!(
            "{same} the same, {both_fault} fault, {both_lack} lacking, {undefined} undefined, {differences} differ; {translated} translated, {translated_instructions} of {instructions} instructions{}",
            known.concat()
        )
    }

    /// Adds another's.
    pub fn add(&mut self, other: Self) {
        self.same += other.same;
        self.both_fault += other.both_fault;
        self.both_lack += other.both_lack;
        self.undefined += other.undefined;
        self.translated += other.translated;
        self.instructions += other.instructions;
        self.translated_instructions += other.translated_instructions;
        self.differences.extend(other.differences);
        for (what, count) in other.known {
            *self.known.entry(what).or_default() += count;
        }
    }
}

/// Words to begin a stretch of memory with.
const WORDS: u32 = 1 << 14;

/// The engines of a core.
pub struct Trial {
    cpu: Cpu,
    interpreter: Ours,
    translator: Ours,
    theirs: Theirs,
    words: Vec<u8>,
    code_addresses: Vec<u8>,
    number: usize,
}

impl Trial {
    /// The engines of a core.
    ///
    /// # Errors
    /// When one of them refuses something.
    pub fn new(cpu: Cpu) -> Result<Self, TrialError> {
        let mut random = Random::new(0);
        let words = WORDS + RAM_BYTES / 4;
        let mut bytes = |word: fn(&mut Random) -> u32| -> Vec<u8> {
            (0..words)
                .flat_map(|_| word(&mut random).to_le_bytes())
                .collect()
        };
        Ok(Self {
            cpu,
            interpreter: Ours::interpreting(&cpu)?,
            translator: Ours::translating(&cpu)?,
            theirs: Theirs::new(&cpu)?,
            words: bytes(|random| match random.below(3) {
                0 => random.single(),
                _ => random.word(),
            }),
            code_addresses: bytes(Random::code_address),
            number: 0,
        })
    }

    /// Judges cases of a kind, and the translator on one in `translate_one_in` of them.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn judge_many(
        &mut self,
        kind: Kind,
        name: &str,
        cases: usize,
        translate_one_in: usize,
        seed: u64,
    ) -> Result<Tally, TrialError> {
        let mut tally = Tally::default();
        let mut seeds = Random::new(seed);
        for index in 0..cases {
            self.number += 1;
            let Some(case) = draw(kind, &self.cpu, seeds.bits(), self.number) else {
                continue;
            };
            match self.judge(&case)? {
                Verdict::Same => tally.same += 1,
                Verdict::BothFault if case.is_on_core() => tally.both_fault += 1,
                Verdict::BothFault => tally.both_lack += 1,
                Verdict::Undefined => tally.undefined += 1,
                Verdict::Known(known) => *tally.known.entry(known.what).or_default() += 1,
                Verdict::Differ(difference) => {
                    tally
                        .differences
                        .push(self.report(name, &case, &difference));
                }
            }
            if index.is_multiple_of(translate_one_in)
                && let Some(difference) = self.translate(&case, &mut tally)
            {
                tally
                    .differences
                    .push(self.report(name, &case, &difference));
            }
        }
        Ok(tally)
    }

    /// Draws a case from any bytes and judges both interpreter and translator on it; gives a report
    /// if they are wrong. `None` too if the bytes are no case.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn judge_bytes(&mut self, bytes: &[u8]) -> Result<Option<String>, TrialError> {
        self.number += 1;
        let Some(case) = of_bytes(bytes, &self.cpu, self.number) else {
            return Ok(None);
        };
        let difference = match self.judge(&case)? {
            Verdict::Differ(difference) => Some(difference),
            _ => self.translate(&case, &mut Tally::default()),
        };
        Ok(difference.map(|difference| self.report("bytes", &case, &difference)))
    }

    /// Judges the interpreter on a case. Where a known difference would explain it, all that came
    /// before the instruction that differs has to be the same.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn judge(&mut self, case: &Case) -> Result<Verdict, TrialError> {
        let verdict = self.judge_whole(case)?;
        if matches!(verdict, Verdict::Same | Verdict::BothFault) {
            return Ok(verdict);
        }
        for count in 1..case.instructions.len() {
            match self.judge_whole(&case.first(count))? {
                Verdict::Same => {}
                first => return Ok(first),
            }
        }
        Ok(verdict)
    }

    fn judge_whole(&mut self, case: &Case) -> Result<Verdict, TrialError> {
        let ram = ram(&self.words, &self.code_addresses, case);
        let (ours, notes) = self.interpreter.step(case, ram);
        let theirs = self.theirs.execute(case, ram)?;
        Ok(compare(case, &ours, &notes, &theirs))
    }

    /// How translated code differs from the interpreter on a case.
    fn translate(&mut self, case: &Case, tally: &mut Tally) -> Option<String> {
        let ram = ram(&self.words, &self.code_addresses, case);
        let before = self.translator.translated_instructions();
        let interpreted = self.interpreter.execute(case, ram);
        let translated = self.translator.execute(case, ram);
        tally.translated += 1;
        tally.instructions += translated.time.unwrap_or_default();
        tally.translated_instructions += self.translator.translated_instructions() - before;
        translation_difference(&translated, &interpreted)
    }

    fn report(&self, name: &str, case: &Case, difference: &str) -> String {
        let registers: Vec<String> = case
            .registers
            .iter()
            .map(|value| format!("{value:08x}"))
            .collect();
        format!(
            "{name} on {}, seed {:#x}, at {:#010x}: {difference}\n{}\n  r0 to r14 {}\n  status {:#010x}, FPSCR {:#010x}",
            self.cpu.name,
            case.seed,
            case.address,
            case.listing(),
            registers.join(" "),
            case.status,
            case.float_status,
        )
    }
}

/// What is in memory at first.
fn ram<'a>(words: &'a [u8], code_addresses: &'a [u8], case: &Case) -> &'a [u8] {
    let (pool, first) = match case.ram {
        Ram::Words(first) => (words, first),
        Ram::CodeAddresses(first) => (code_addresses, first),
    };
    let start = (first % WORDS) as usize * 4;
    &pool[start..start + RAM_BYTES as usize]
}
