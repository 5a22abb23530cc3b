//! What the forms of a model take, and which of them keeps to limits.

use crate::mcu::cycles::Cycles;
use dmo_analysis::transform::Recipe;
use dmo_analysis::wording::grouped;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// A form of a model on kernels.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Form {
    /// What is done to the model; nothing in the form that it has.
    pub recipe: Recipe,
    /// Size of the arena in bytes, states included.
    pub arena_bytes: u64,
    /// The deepest stack of a kernel in bytes; `None` if the engine does not measure it.
    pub stack_bytes: Option<u32>,
    /// Weights, tables and code of an inference in bytes, estimated before it is compiled.
    pub flash_bytes: u64,
    /// Multiply-accumulates of an inference.
    pub macs: u64,
    /// Instructions of an inference.
    pub instructions: u64,
    /// Estimated cycles of an inference; `None` if they are not known.
    pub cycles: Option<Cycles>,
}

/// Where libraries are compiled, they are made of at most this many forms within the limits.
const MOST_WITHIN: u32 = 3;

/// By how much an estimate may be too large, in percent; of RAM at least by what is not known before.
const MOST_TOO_LARGE: u64 = 5;

/// What a library may take; `None`: any amount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MemoryLimits {
    /// Arena and stack in bytes; of what is compiled, variables too.
    pub ram_bytes: Option<u64>,
    /// Weights, tables and code in bytes.
    pub flash_bytes: Option<u64>,
}

impl MemoryLimits {
    /// Whether there are any.
    pub fn are_given(&self) -> bool {
        *self != Self::default()
    }

    /// A form keeps to them, by its estimate.
    pub fn admit(&self, form: &Form) -> bool {
        let is_within = |bytes: u64, limit: Option<u64>| limit.is_none_or(|limit| bytes <= limit);
        is_within(form.ram_bytes(), self.ram_bytes) && is_within(form.flash_bytes, self.flash_bytes)
    }

    /// A form may keep to them when it is compiled.
    pub fn nearly_admit(&self, form: &Form) -> bool {
        let widened = |limit: u64| limit.saturating_add(limit / 100 * MOST_TOO_LARGE);
        let at_least = |limit: u64| widened(limit).max(limit.saturating_add(INVOKE_STACK_BYTES));
        let wider = Self {
            ram_bytes: self.ram_bytes.map(at_least),
            flash_bytes: self.flash_bytes.map(widened),
        };
        wider.admit(form)
    }
}

impl Display for MemoryLimits {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        let limits = [("--ram", self.ram_bytes), ("--flash", self.flash_bytes)];
        let limits = limits
            .iter()
            .filter_map(|(name, bytes)| Some(format!("{name} {}", (*bytes)?)));
        text.write_str(&limits.collect::<Vec<_>>().join(" "))
    }
}

/// The forms of a model that were measured.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Forms {
    /// Those that none of the others beats in RAM, flash and time, the fastest first.
    pub best: Vec<Form>,
    /// The others, the fastest first.
    pub beaten: Vec<Form>,
    /// No search for them ended before it had done its work.
    pub complete: bool,
}

impl Forms {
    /// The fastest within the limits; `None` if none is.
    pub fn fastest_within(&self, limits: &MemoryLimits) -> Option<&Form> {
        self.best.iter().find(|form| limits.admit(form))
    }

    /// The forms to make a library of, the fastest first: the fastest within the limits, or, where
    /// libraries are `measured`, also those near the limits, until some are within.
    pub fn to_try(&self, limits: &MemoryLimits, measured: bool) -> impl Iterator<Item = &Form> {
        let most = if measured { MOST_WITHIN } else { 1 };
        let mut within = 0;
        self.best.iter().filter(move |form| {
            let admitted = limits.admit(form);
            let is_tried = within < most && (admitted || measured && limits.nearly_admit(form));
            within += u32::from(admitted && is_tried);
            is_tried
        })
    }

    /// The least RAM that a form takes, in bytes.
    pub fn least_ram_bytes(&self) -> u64 {
        self.best.iter().map(Form::ram_bytes).min().unwrap_or(0)
    }

    /// The least flash that a form takes, in bytes.
    pub fn least_flash_bytes(&self) -> u64 {
        self.best
            .iter()
            .map(|form| form.flash_bytes)
            .min()
            .unwrap_or(0)
    }

    /// Parts those that another one beats from the rest.
    pub(super) fn of(mut forms: Vec<Form>, complete: bool) -> Self {
        let needs = |form: &Form| [form.time(), form.ram_bytes(), form.flash_bytes];
        forms.sort_by_key(needs);
        let mut sorted = Self {
            complete,
            ..Self::default()
        };
        for form in forms {
            let of_form = needs(&form);
            let beats = |other: &Form| {
                needs(other)
                    .iter()
                    .zip(&of_form)
                    .all(|(its, own)| its <= own)
            };
            if sorted.best.iter().any(beats) {
                sorted.beaten.push(form);
            } else {
                sorted.best.push(form);
            }
        }
        sorted
    }
}

/// Limits that no form of a model keeps to.
#[derive(Debug)]
pub struct OutOfReach {
    /// The model's name.
    pub model: String,
    /// The limits.
    pub limits: MemoryLimits,
    /// The forms.
    pub forms: Forms,
}

impl Display for OutOfReach {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        write!(
            text,
            "{}: no form of {} that was found keeps to it: the least RAM is {} bytes, the least flash \
             about {} bytes",
            self.limits,
            self.model,
            grouped(self.forms.least_ram_bytes()),
            grouped(self.forms.least_flash_bytes())
        )
    }
}

impl std::error::Error for OutOfReach {}

impl Form {
    /// Arena and stack in bytes; of the stack that is above the kernels a bound.
    pub fn ram_bytes(&self) -> u64 {
        self.arena_bytes + u64::from(self.stack_bytes.unwrap_or(0)) + INVOKE_STACK_BYTES
    }

    /// What an inference takes: estimated cycles, or instructions where these are not known.
    pub fn time(&self) -> u64 {
        self.cycles.map_or(self.instructions, |cycles| cycles.total)
    }
}

/// The function that makes the calls has taken at most 130 bytes of stack, as compilers make it at
/// -O1 to -O3 and -Os.
pub const INVOKE_STACK_BYTES: u64 = 160;

#[cfg(test)]
mod tests {
    use super::{Form, Forms, MemoryLimits};
    use dmo_analysis::transform::Recipe;

    /// The first and the second are beyond the limit, the second by less than 5 %.
    #[test]
    fn forms_near_the_limits_are_tried_where_libraries_are_measured() {
        let flash = [106_000, 104_000, 99_000, 98_000, 104_500, 97_000, 96_000];
        let form = |flash_bytes| Form {
            recipe: Recipe::default(),
            arena_bytes: 0,
            stack_bytes: None,
            flash_bytes,
            macs: 0,
            instructions: 0,
            cycles: None,
        };
        let forms = Forms {
            best: flash.map(form).into(),
            beaten: Vec::new(),
            complete: true,
        };
        let limits = MemoryLimits {
            flash_bytes: Some(100_000),
            ..MemoryLimits::default()
        };
        let tried = |measured| {
            let tried = forms.to_try(&limits, measured);
            tried.map(|form| form.flash_bytes).collect::<Vec<u64>>()
        };
        assert_eq!(tried(false), [99_000]);
        assert_eq!(tried(true), [104_000, 99_000, 98_000, 104_500, 97_000]);
    }
}
