//! Values that are one.

/// Disjoint sets of values.
pub(super) struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    /// Each value by itself.
    pub fn new(values: usize) -> Self {
        Self {
            parent: (0..values).collect(),
        }
    }

    /// The first value of the set.
    pub fn first(&mut self, mut value: usize) -> usize {
        while self.parent[value] != value {
            // What is passed on the way points further from then on.
            self.parent[value] = self.parent[self.parent[value]];
            value = self.parent[value];
        }
        value
    }

    /// Makes two sets one; false if they are.
    pub fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.first(one), self.first(other));
        self.parent[one.max(other)] = one.min(other);
        one != other
    }
}
