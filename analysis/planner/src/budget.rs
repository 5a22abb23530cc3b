//! What a search may spend: work, which is the same on every machine, and the caller's patience.
//!
//! A search counts what it goes through. One unit of work is about the effort of going through one
//! buffer or one pair of buffers; whatever else a search does is counted in the same unit. So a
//! search that ends because its work is spent gives the same result everywhere. One that its caller
//! stops, usually because of a clock, may not: [`Budget::was_stopped`] says so.

/// Work that is granted for a second, as users give it: what an average machine does in less than
/// that. A search with this much work ends in the given time, unless the machine is slow.
pub const WORK_PER_SECOND: u64 = 20_000_000;

/// The caller's `stop` is asked after so much work.
const WORK_PER_LOOK: u64 = 1 << 15;

/// What a search may still spend.
pub struct Budget<'a> {
    stop: &'a (dyn Fn() -> bool + Sync),
    limit: u64,
    used: u64,
    next_look: u64,
    stopped: bool,
}

impl Budget<'static> {
    /// This much work, however long it takes.
    pub fn of_work(limit: u64) -> Self {
        Budget::new(limit, &|| false)
    }

    /// As much work as is granted for this many seconds ([`WORK_PER_SECOND`]), however long it takes.
    pub fn of_seconds(seconds: f64) -> Self {
        Self::of_work(work_in(seconds))
    }

    /// No limit: a search ends when everything is proven.
    pub fn unlimited() -> Self {
        Self::of_work(u64::MAX)
    }
}

/// The work that is granted for this many seconds; no number of seconds is none.
pub fn work_in(seconds: f64) -> u64 {
    (seconds * WORK_PER_SECOND as f64) as u64
}

impl<'a> Budget<'a> {
    /// This much work; a search also ends soon after `stop` returns true, which is then asked no
    /// more.
    pub fn new(limit: u64, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            stop,
            limit,
            used: 0,
            next_look: 0,
            stopped: false,
        }
    }

    /// Spends some work. Whether the search has to end: nothing is left, or it was stopped.
    pub fn spend(&mut self, work: u64) -> bool {
        self.used = self.used.saturating_add(work);
        if self.used >= self.next_look && !self.stopped {
            self.next_look = self.used.saturating_add(WORK_PER_LOOK);
            self.stopped = (self.stop)();
        }
        self.left() == 0
    }

    /// Whether the search has to end; asks `stop` in any case.
    pub fn is_spent(&mut self) -> bool {
        self.stopped = self.stopped || (self.stop)();
        self.left() == 0
    }

    /// Work spent so far.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Work that is left; none when the search was stopped.
    pub fn left(&self) -> u64 {
        if self.stopped {
            0
        } else {
            self.limit.saturating_sub(self.used)
        }
    }

    /// Whether `stop` has ended the search: with the same work another machine may find more.
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Runs a search that may spend at most `work` of what is left.
    pub fn within<R>(&mut self, work: u64, search: impl FnOnce(&mut Self) -> R) -> R {
        let limit = self.limit;
        self.limit = limit.min(self.used.saturating_add(work));
        let found = search(self);
        self.limit = limit;
        found
    }

    /// Runs a search that may spend one of `parts` equal parts of what is left.
    pub fn share<R>(&mut self, parts: u64, search: impl FnOnce(&mut Self) -> R) -> R {
        self.within(self.left() / parts.max(1), search)
    }

    /// Another budget of this much work, stopped together with this one: for a search on another
    /// thread. What it spends is not counted here.
    pub fn beside(&self, work: u64) -> Budget<'a> {
        Budget::new(work, self.stop)
    }
}
