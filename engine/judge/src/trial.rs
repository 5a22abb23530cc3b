//! Many cases, and how they went.

use crate::case::{Case, Kind, Ram, draw};
use crate::compare::{Verdict, compare};
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
        } = self;
        let differences = differences.len();
        format!(
            "{same} the same, {both_fault} fault, {both_lack} lacking, {undefined} undefined, {known:?}, {differences} differ"
        )
    }

    /// Adds another's.
    pub fn add(&mut self, other: Self) {
        self.same += other.same;
        self.both_fault += other.both_fault;
        self.both_lack += other.both_lack;
        self.undefined += other.undefined;
        self.differences.extend(other.differences);
        for (what, count) in other.known {
            *self.known.entry(what).or_default() += count;
        }
    }
}

/// Words to begin a stretch of memory with.
const WORDS: u32 = 1 << 14;

/// The two emulators of a core.
pub struct Trial {
    cpu: Cpu,
    ours: Ours,
    theirs: Theirs,
    words: Vec<u8>,
    code_addresses: Vec<u8>,
    number: usize,
}

impl Trial {
    /// The two emulators of a core.
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
            ours: Ours::new(&cpu)?,
            theirs: Theirs::new(&cpu)?,
            words: bytes(|random| match random.below(3) {
                0 => random.single(),
                _ => random.word(),
            }),
            code_addresses: bytes(Random::code_address),
            number: 0,
        })
    }

    /// Draws a case and judges it; `None` where there is none.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn judge(&mut self, kind: Kind, seed: u64) -> Result<Option<(Case, Verdict)>, TrialError> {
        self.number += 1;
        let Some(case) = draw(kind, &self.cpu, seed, self.number) else {
            return Ok(None);
        };
        let (pool, first) = match case.ram {
            Ram::Words(first) => (&self.words, first),
            Ram::CodeAddresses(first) => (&self.code_addresses, first),
        };
        let start = (first % WORDS) as usize * 4;
        let ram = &pool[start..start + RAM_BYTES as usize];
        let (ours, notes) = self.ours.execute(&case, ram);
        let theirs = self.theirs.execute(&case, ram)?;
        let verdict = compare(&case, &ours, &notes, &theirs);
        Ok(Some((case, verdict)))
    }

    /// Judges so many cases of a kind.
    ///
    /// # Errors
    /// When Unicorn refuses something.
    pub fn judge_many(
        &mut self,
        kind: Kind,
        name: &str,
        cases: usize,
        seed: u64,
    ) -> Result<Tally, TrialError> {
        let mut tally = Tally::default();
        let mut seeds = Random::new(seed);
        for _ in 0..cases {
            let Some((case, verdict)) = self.judge(kind, seeds.bits())? else {
                continue;
            };
            match verdict {
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
        }
        Ok(tally)
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
