//! How small no arena can be.

use super::{Problem, Section};

/// At most this many buffers of one step are arranged in all orders.
const MOST_ARRANGED: usize = 7;

impl Problem {
    /// No arena is smaller: the most that any one step needs, overlaps granted, in bytes.
    /// Without overlaps it is the largest operator breadth (Pisarchyk and Lee, section 5.1).
    ///
    /// Arranging a step by itself says nothing of how the steps fit together, so that the
    /// best arena can be larger.
    pub fn lower_bound(&self) -> u64 {
        let mut sections = self.sections();
        sections.sort_by_cached_key(|section| std::cmp::Reverse(self.breadth(section)));
        let partners = self.partners();
        // Those that need no more than another one need not be known.
        let most = sections.iter().fold(0, |most, section| {
            most.max(self.step_bound_above(&section.alive, &partners, most))
        });
        let fixed = self.buffers.iter().map(|buffer| {
            let offset = buffer.fixed_offset.unwrap_or(0);
            offset + buffer.size_bytes
        });
        fixed.max().unwrap_or(0).max(most)
    }

    /// Sizes of all that is alive in a section together (operator breadth), in bytes.
    pub fn breadth(&self, section: &Section) -> u64 {
        let size = |&buffer: &usize| self.buffers[buffer].size_bytes;
        section.alive.iter().map(size).sum()
    }

    /// What each section needs at least, overlaps granted, in bytes.
    pub fn section_bounds(&self) -> Vec<(Section, u64)> {
        let partners = self.partners();
        let sections = self.sections().into_iter().map(|section| {
            let bytes = self.step_bound(&section.alive, &partners);
            (section, bytes)
        });
        sections.collect()
    }

    /// Which others each buffer may overlap.
    pub(crate) fn partners(&self) -> Vec<Vec<usize>> {
        let mut partners = vec![Vec::new(); self.buffers.len()];
        for (lower, upper) in self.overlapping_pairs() {
            partners[lower].push(upper);
            partners[upper].push(lower);
        }
        partners
    }

    /// No arrangement of these buffers, all alive at one step, is shorter. They are in the order of their
    /// numbers.
    ///
    /// Those that may overlap nothing are cut out of the arena: what remains moves
    /// together, and no two buffers come closer than they may, for nothing lies between two
    /// that overlap. So their spacings add to what the others need by themselves.
    pub(crate) fn step_bound(&self, alive: &[usize], partners: &[Vec<usize>]) -> u64 {
        self.step_bound_above(alive, partners, 0)
    }

    /// The same where it is more than `enough` bytes, otherwise something that is not more.
    fn step_bound_above(&self, alive: &[usize], partners: &[Vec<usize>], enough: u64) -> u64 {
        debug_assert!(alive.is_sorted());
        let overlaps = |&&buffer: &&usize| {
            let mut others = partners[buffer].iter();
            others.any(|other| alive.binary_search(other).is_ok())
        };
        let (sharing, apart): (Vec<usize>, Vec<usize>) =
            alive.iter().partition(|buffer| overlaps(buffer));
        let spacings: u64 = apart.iter().map(|&buffer| self.spacing(buffer)).sum();
        // The topmost buffer is not rounded up.
        let slack = |&buffer: &usize| self.spacing(buffer) - self.buffers[buffer].size_bytes;
        let slack = alive.iter().map(slack).max().unwrap_or(0);
        let extent = match sharing.len() {
            0 => 0,
            1..=MOST_ARRANGED => {
                self.least_extent(&sharing, (enough + slack).saturating_sub(spacings))
            }
            _ => self.union_bound(&sharing),
        };
        (spacings + extent).saturating_sub(slack)
    }

    /// How many bytes two buffers, alive together, can share at most.
    fn saved(&self, one: usize, other: usize) -> u64 {
        let saved = |lower: usize, upper: usize| {
            let distance = self.min_distance(lower, upper);
            distance.map_or(0, |distance| self.spacing(lower).saturating_sub(distance))
        };
        saved(one, other).max(saved(other, one))
    }

    /// The sum of all sizes less all that pairs can share: at least that many bytes are
    /// covered.
    fn union_bound(&self, buffers: &[usize]) -> u64 {
        let total: u64 = buffers.iter().map(|&buffer| self.spacing(buffer)).sum();
        let pairs = buffers
            .iter()
            .enumerate()
            .flat_map(|(index, &one)| buffers[..index].iter().map(move |&other| (one, other)));
        let shared = pairs.map(|(one, other)| self.saved(one, other)).sum();
        let longest = buffers.iter().map(|&buffer| self.spacing(buffer)).max();
        total.saturating_sub(shared).max(longest.unwrap_or(0))
    }

    /// The shortest of all arrangements from the bottom up, in each order, or the first that is
    /// short enough.
    fn least_extent(&self, buffers: &[usize], enough: u64) -> u64 {
        let mut placed = Vec::with_capacity(buffers.len());
        let mut best = u64::MAX;
        self.arrange(buffers, &mut placed, 0, enough, &mut best);
        best
    }

    fn arrange(
        &self,
        buffers: &[usize],
        placed: &mut Vec<(usize, u64)>,
        extent: u64,
        enough: u64,
        best: &mut u64,
    ) {
        if extent >= *best || *best <= enough {
            return;
        }
        if placed.len() == buffers.len() {
            *best = extent;
            return;
        }
        for &buffer in buffers {
            if placed.iter().any(|&(other, _)| other == buffer) {
                continue;
            }
            let above = |&(other, offset): &(usize, u64)| {
                offset + self.min_distance(other, buffer).unwrap_or(0)
            };
            let offset = placed.iter().map(above).max().unwrap_or(0);
            placed.push((buffer, offset));
            let end = offset + self.spacing(buffer);
            self.arrange(buffers, placed, extent.max(end), enough, best);
            placed.pop();
        }
    }
}
