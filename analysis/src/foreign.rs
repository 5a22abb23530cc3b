//! Memory plans that other tools have made, read so that they can be judged and made anew.
//!
//! | module | what it reads |
//! |---|---|
//! | [`executorch`] | a program of ExecuTorch as JSON, and writes it with other offsets |
//! | [`st_edge`] | `c_info.json` of ST Edge AI |
//!
//! Both give a [`ForeignPlan`]: memories, in each of them buffers with their lives and offsets.
//! Nothing is taken for safe because a tool has planned it so: where two buffers share bytes and
//! the tool means them to, the pair is named with its reason, and whether to believe it is left to
//! the reader.

mod error;
pub mod executorch;
mod renewal;
pub mod st_edge;

pub use error::ForeignError;
pub use renewal::Renewal;

use dmo_planner::plan::{Plan, Violation, ViolationKind};
use dmo_planner::problem::Problem;
use std::collections::BTreeMap;

/// A plan of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignPlan {
    /// The tool.
    pub tool: Tool,
    /// The memories that hold buffers.
    pub memories: Vec<Memory>,
}

/// The tools whose plans are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// PyTorch's ExecuTorch.
    ExecuTorch,
    /// ST Edge AI, once X-CUBE-AI.
    StEdgeAi,
}

/// A memory, and what lies in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// What the tool calls it.
    pub name: String,
    /// How many bytes it has, as the file says.
    pub size_bytes: Option<u64>,
    /// The buffers, none of which may overlap another.
    pub problem: Problem,
    /// Where they lie.
    pub plan: Plan,
    /// Pairs that share bytes while both are in use, as the tool means them to.
    pub shared: Vec<SharedPair>,
    /// What the tool's own planner aligns buffers to, in bytes, as far as it is known.
    pub alignment: u64,
}

/// Two buffers that share bytes while both are in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPair {
    /// The two.
    pub buffers: [usize; 2],
    /// Why the tool may have meant it.
    pub reason: SharedReason,
}

/// Why a tool lets two buffers share bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SharedReason {
    /// The operator of this name reads the one for the last time and is the first to store the
    /// other.
    InputDies(String),
    /// Same bytes, same life: two names of one buffer.
    OneBuffer,
}

impl Tool {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExecuTorch => "ExecuTorch",
            Self::StEdgeAi => "ST Edge AI",
        }
    }
}

/// What is wrong in a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Two buffers are in use at the same time and share bytes.
    Shared {
        /// The two.
        buffers: [usize; 2],
        /// What the tool may have meant by it.
        reason: Option<SharedReason>,
    },
    /// A buffer does not lie where its elements can.
    Misaligned {
        /// It.
        buffer: usize,
    },
    /// A buffer ends beyond its memory.
    Beyond {
        /// It.
        buffer: usize,
        /// Its end.
        end: u64,
    },
}

impl ForeignPlan {
    /// Reads the plan of any of the tools.
    ///
    /// # Errors
    /// When the text is of none of them, or something in it is wrong.
    pub fn parse(text: &str) -> Result<Self, ForeignError> {
        match tool_of(text)? {
            Tool::ExecuTorch => executorch::parse(text),
            Tool::StEdgeAi => st_edge::parse(text),
        }
    }
}

/// Whose plan a text is, by what stands at its top.
fn tool_of(text: &str) -> Result<Tool, ForeignError> {
    #[derive(serde::Deserialize)]
    struct Top {
        execution_plan: Option<serde::de::IgnoredAny>,
        memory_pools: Option<serde::de::IgnoredAny>,
    }
    let top: Top = serde_json::from_str(&executorch::with_quoted_infinities(text))?;
    match (top.execution_plan, top.memory_pools) {
        (Some(_), _) => Ok(Tool::ExecuTorch),
        (None, Some(_)) => Ok(Tool::StEdgeAi),
        (None, None) => Err(ForeignError::UnknownForm),
    }
}

impl Memory {
    /// What of the plan is not safe, or not known to be.
    pub fn faults(&self) -> Vec<Fault> {
        let ordered = |[one, other]: [usize; 2]| [one.min(other), one.max(other)];
        let shared = self.shared.iter();
        let shared: BTreeMap<[usize; 2], &SharedReason> = shared
            .map(|pair| (ordered(pair.buffers), &pair.reason))
            .collect();
        let reason = |buffers| shared.get(&ordered(buffers)).copied().cloned();
        let fault = |violation: Violation| match violation.kind {
            ViolationKind::TooClose { other, .. } => {
                let buffers = [violation.buffer, other];
                Some(Fault::Shared {
                    buffers,
                    reason: reason(buffers),
                })
            }
            ViolationKind::Misaligned { .. } => Some(Fault::Misaligned {
                buffer: violation.buffer,
            }),
            ViolationKind::Missing | ViolationKind::Moved { .. } => None,
        };
        let mut faults: Vec<Fault> = self
            .plan
            .check(&self.problem)
            .into_iter()
            .filter_map(fault)
            .collect();
        let ends = self.problem.buffers().iter().zip(&self.plan.offsets);
        let ends = ends.map(|(buffer, offset)| offset.saturating_add(buffer.size_bytes));
        for (buffer, end) in ends.enumerate() {
            if self.size_bytes.is_some_and(|size| end > size) {
                faults.push(Fault::Beyond { buffer, end });
            }
        }
        faults
    }

    /// How many bytes of it the plan needs.
    pub fn used_bytes(&self) -> u64 {
        self.plan.arena_bytes(&self.problem)
    }

    /// A buffer's name.
    pub fn buffer_name(&self, buffer: usize) -> &str {
        &self.problem.buffers()[buffer].name
    }
}
