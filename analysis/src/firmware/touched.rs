//! Which bytes of an arena a program has ever touched.

use rangemap::RangeSet;
use std::ops::Range;

/// Start-up code clears memory: a row of stores that fills the whole arena from its first byte to
/// its last makes it fresh.
#[derive(Debug)]
pub(super) struct Touched {
    arena: Range<u64>,
    /// All of them in the arena.
    touched: RangeSet<u64>,
    /// One past the last byte of a row of stores that began with the arena.
    filled: u64,
}

impl Touched {
    pub fn new(arena: Range<u64>) -> Self {
        Self {
            touched: RangeSet::new(),
            filled: arena.start,
            arena,
        }
    }

    pub fn load(&mut self, bytes: Range<u64>) {
        self.touch(&bytes);
    }

    /// `starting`: no operator has run yet.
    pub fn store(&mut self, bytes: Range<u64>, starting: bool) {
        self.filled = match bytes.start {
            start if start == self.filled => bytes.end,
            start if start <= self.arena.start => bytes.end,
            _ => self.arena.start,
        };
        if starting && self.filled >= self.arena.end {
            self.touched.clear();
            self.filled = self.arena.start;
        } else {
            self.touch(&bytes);
        }
    }

    fn touch(&mut self, bytes: &Range<u64>) {
        let inside = bytes.start.max(self.arena.start)..bytes.end.min(self.arena.end);
        let known = self.touched.get(&inside.start);
        if !inside.is_empty() && known.is_none_or(|known| known.end < inside.end) {
            self.touched.insert(inside);
        }
    }

    /// The longest run of bytes at or above `from` that were never touched; of equal ones the
    /// lowest. Empty at the arena's end where there is none.
    pub fn longest_untouched(&self, from: u64) -> Range<u64> {
        let from = from.clamp(self.arena.start, self.arena.end)..self.arena.end;
        let none = self.arena.end..self.arena.end;
        if from.is_empty() {
            return none;
        }
        self.touched.gaps(&from).fold(none, |best, run| {
            if run.end - run.start > best.end - best.start {
                run
            } else {
                best
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Touched;

    fn fill(touched: &mut Touched, bytes: std::ops::Range<u64>) {
        for address in bytes.step_by(4) {
            touched.store(address..address + 4, true);
        }
    }

    #[test]
    fn what_clears_the_arena_does_not_touch_it() {
        let mut touched = Touched::new(100..200);
        touched.store(120..124, true);
        fill(&mut touched, 100..200);
        assert_eq!(touched.longest_untouched(100), 100..200);
        touched.store(196..200, true);
        touched.load(100..110);
        assert_eq!(touched.longest_untouched(100), 110..196);
        assert_eq!(touched.longest_untouched(150), 150..196);
    }

    #[test]
    fn what_is_cleared_after_an_operator_was_touched() {
        let mut touched = Touched::new(100..200);
        for address in (100..200).step_by(4) {
            touched.store(address..address + 4, false);
        }
        assert_eq!(touched.longest_untouched(100), 200..200);
    }

    #[test]
    fn a_row_with_a_hole_clears_nothing() {
        let mut touched = Touched::new(100..200);
        fill(&mut touched, 100..148);
        fill(&mut touched, 152..200);
        assert_eq!(touched.longest_untouched(100), 148..152);
        fill(&mut touched, 104..200);
        assert_eq!(touched.longest_untouched(100), 200..200);
    }
}
