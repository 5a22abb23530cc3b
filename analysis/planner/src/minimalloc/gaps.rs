//! Steps of a buffer's life at which it is not in use, or a part of it only.
//!
//! A plan is looked for as if there were no gaps, which is safe with them. What is proven, and
//! whether a given plan is valid, is decided of the pieces: each stretch between gaps, and each
//! window of a gap, is a buffer of its own.

use super::Table;
use crate::plan::{Plan, Violation, ViolationKind};
use crate::problem::{Buffer, Problem, ProblemError};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Steps at which a buffer keeps its place and needs less of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Gap {
    /// The steps, half-open, within the buffer's life.
    pub steps: Range<u32>,
    /// The bytes from the buffer's start that are in use; none if there is nothing.
    pub window: Option<Range<u64>>,
}

/// A gap that cannot be read.
pub(super) struct GapError<'a> {
    pub given: &'a str,
    pub expected: &'static str,
}

impl Display for Gap {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.steps.start, self.steps.end)?;
        match &self.window {
            Some(window) => write!(formatter, "@{}:{}", window.start, window.end),
            None => Ok(()),
        }
    }
}

impl Gap {
    /// Reads `first-end` or `first-end@low:high`, several of them with spaces between.
    pub(super) fn parse_all<'a>(
        field: &'a str,
        beyond_end: u32,
        buffer: &Buffer,
    ) -> Result<Vec<Self>, GapError<'a>> {
        let mut gaps: Vec<Self> = Vec::new();
        for given in field.split_ascii_whitespace() {
            let gap = Self::parse(given, beyond_end).ok_or(GapError {
                given,
                expected: "first-end or first-end@low:high is expected, whole numbers from 0 on",
            })?;
            let wrong = |expected| Err(GapError { given, expected });
            let alive = &buffer.alive;
            let after = gaps.last().map_or(alive.start, |before| before.steps.end);
            if gap.steps.is_empty() {
                return wrong("it has no step");
            }
            if gap.steps.start < after || gap.steps.end > alive.end {
                return wrong("it has to lie in its buffer's life, after the gap before it");
            }
            if let Some(window) = &gap.window
                && (window.is_empty() || window.end > buffer.size_bytes)
            {
                return wrong("its window has to be bytes of its buffer, at least one");
            }
            gaps.push(gap);
        }
        Ok(gaps)
    }

    fn parse(given: &str, beyond_end: u32) -> Option<Self> {
        let (steps, window) = match given.split_once('@') {
            Some((steps, window)) => (steps, Some(window)),
            None => (given, None),
        };
        let (first, end) = steps.split_once('-')?;
        let end: u32 = end.parse().ok()?;
        let window = match window {
            Some(window) => {
                let (low, high) = window.split_once(':')?;
                Some(low.parse().ok()?..high.parse().ok()?)
            }
            None => None,
        };
        Some(Self {
            steps: first.parse().ok()?..end.checked_add(beyond_end)?,
            window,
        })
    }
}

impl Table {
    /// Whether some buffer is not in use all its life.
    pub fn has_gaps(&self) -> bool {
        self.gaps.iter().any(|gaps| !gaps.is_empty())
    }

    /// The pieces as buffers that may lie anywhere: no plan of the table is smaller than the best
    /// of theirs.
    ///
    /// # Errors
    /// When there are too many of them.
    pub fn pieces(&self) -> Result<Problem, ProblemError> {
        let pieces = self.places().map(|piece| piece.buffer);
        Problem::new(pieces.collect(), &[])
    }

    /// Every rule that the plan breaks, gaps taken into account; none for a valid plan.
    ///
    /// # Errors
    /// Those of [`Table::pieces`].
    pub fn check(&self, plan: &Plan) -> Result<Vec<Violation>, ProblemError> {
        let mut broken = plan.check(&self.problem);
        if !self.has_gaps() || plan.offsets.len() != self.gaps.len() {
            return Ok(broken);
        }
        let pieces: Vec<Piece> = self.places().collect();
        let offset = |piece: &Piece| plan.offsets[piece.of].saturating_add(piece.above);
        let of_pieces = Plan {
            offsets: pieces.iter().map(offset).collect(),
        };
        broken.retain(|violation| !matches!(violation.kind, ViolationKind::TooClose { .. }));
        for violation in of_pieces.check(&self.pieces()?) {
            let ViolationKind::TooClose {
                other,
                distance,
                needed,
            } = violation.kind
            else {
                continue;
            };
            broken.push(Violation {
                buffer: pieces[violation.buffer].of,
                kind: ViolationKind::TooClose {
                    other: pieces[other].of,
                    distance,
                    needed,
                },
            });
        }
        Ok(broken)
    }

    fn places(&self) -> impl Iterator<Item = Piece> {
        let buffers = self.problem.buffers().iter().zip(&self.gaps).enumerate();
        buffers.flat_map(|(of, (buffer, gaps))| {
            let whole = 0..buffer.size_bytes;
            let piece = |steps: Range<u32>, bytes: &Range<u64>| Piece {
                of,
                above: bytes.start,
                buffer: Buffer {
                    size_bytes: bytes.end - bytes.start,
                    alive: steps,
                    alignment: 1,
                    ..buffer.clone()
                },
            };
            let mut pieces = Vec::new();
            let mut from = buffer.alive.start;
            for gap in gaps {
                pieces.push(piece(from..gap.steps.start, &whole));
                let window = gap.window.iter();
                pieces.extend(window.map(|window| piece(gap.steps.clone(), window)));
                from = gap.steps.end;
            }
            pieces.push(piece(from..buffer.alive.end, &whole));
            pieces.retain(|piece| !piece.buffer.alive.is_empty());
            pieces
        })
    }
}

/// A part of a buffer for a part of its life.
struct Piece {
    /// The table's buffer.
    of: usize,
    /// How far above its start, in bytes.
    above: u64,
    buffer: Buffer,
}
