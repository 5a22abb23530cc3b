//! Which engine executes the code.

use std::str::FromStr;
use std::sync::OnceLock;

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineKind {
    /// The one that the process has chosen, else the best one.
    #[default]
    Auto,
    /// Our own, which translates what is executed often.
    Translator,
    /// Our own, one instruction after the other.
    Interpreter,
    /// Unicorn.
    #[cfg(feature = "unicorn")]
    Unicorn,
}

/// No engine has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine '{given}'\n  hint: one of {}", names())]
pub struct UnknownEngine {
    given: String,
}

static OF_PROCESS: OnceLock<EngineKind> = OnceLock::new();

impl EngineKind {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Auto,
        Self::Translator,
        Self::Interpreter,
        #[cfg(feature = "unicorn")]
        Self::Unicorn,
    ];
    /// The best one.
    const BEST: Self = Self::Translator;

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Translator => "translator",
            Self::Interpreter => "interpreter",
            #[cfg(feature = "unicorn")]
            Self::Unicorn => "unicorn",
        }
    }

    /// Chooses what [`EngineKind::Auto`] is in this process: once, before the first machine.
    pub fn choose_for_process(self) {
        // The first choice stays.
        let _ = OF_PROCESS.set(self);
    }

    /// The one that the self-check observes where this one was chosen: of ours, the one that
    /// executes one instruction after the other.
    pub(super) fn checked(self) -> Self {
        match self.resolved() {
            #[cfg(feature = "unicorn")]
            Self::Unicorn => Self::Unicorn,
            _ => Self::Interpreter,
        }
    }

    /// One that is an engine.
    pub(super) fn resolved(self) -> Self {
        let of_process = || OF_PROCESS.get().copied().unwrap_or_default();
        match self {
            Self::Auto if of_process() == Self::Auto => Self::BEST,
            Self::Auto => of_process(),
            kind => kind,
        }
    }
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        let mut all = Self::ALL.iter().copied();
        all.find(|engine| engine.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownEngine {
                given: name.to_owned(),
            })
    }
}

fn names() -> String {
    let names: Vec<&str> = EngineKind::ALL.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}
