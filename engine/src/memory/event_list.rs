//! Lists of recorded accesses.

use super::{EVENTS, EVENTS_BEYOND, Event};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The most unused lists that are kept.
const KEPT: usize = 32;

/// The memory of lists that are no longer used: a run has thousands of them, and fresh memory
/// costs the host more than the accesses do that are written to it.
static UNUSED: Mutex<Vec<Vec<Event>>> = Mutex::new(Vec::new());

/// Accesses in the order in which they were made.
#[derive(Clone, Default)]
pub struct EventList {
    /// The list, and room for more of it.
    places: Vec<Event>,
    count: usize,
}

impl EventList {
    /// An empty list with room for what is recorded between two looks.
    pub(super) fn with_room() -> Self {
        let unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self {
            places: unused.unwrap_or_else(|| vec![Event::default(); EVENTS + EVENTS_BEYOND]),
            count: 0,
        }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them.
    #[inline]
    pub fn as_slice(&self) -> &[Event] {
        &self.places[..self.count]
    }

    /// Adds one at the end.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if let Some(place) = self.places.get_mut(self.count) {
            *place = event;
            self.count += 1;
        } else {
            self.push_beyond(event);
        }
    }

    #[cold]
    fn push_beyond(&mut self, event: Event) {
        if self.places.is_empty() {
            *self = Self::with_room();
            self.places[0] = event;
        } else {
            self.places.push(event);
        }
        self.count += 1;
    }

    /// Keeps those of which this holds.
    pub fn retain(&mut self, mut keeps: impl FnMut(&Event) -> bool) {
        let list = &mut self.places[..self.count];
        let Some(first) = list.iter().position(|event| !keeps(event)) else {
            return;
        };
        let mut kept = first;
        for index in first + 1..list.len() {
            let event = list[index];
            if keeps(&event) {
                list[kept] = event;
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Moves all to the end of another list.
    pub(super) fn move_to(&mut self, other: &mut Self) {
        for &event in self.as_slice() {
            other.push(event);
        }
        self.clear();
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Where the first one is, with room after the last.
    pub(super) fn places(&mut self) -> *mut Event {
        self.places.as_mut_ptr()
    }

    /// So many of the places hold accesses now.
    pub(super) fn set_count(&mut self, count: usize) {
        self.count = count.min(self.places.len());
    }
}

impl Drop for EventList {
    fn drop(&mut self) {
        if self.places.len() != EVENTS + EVENTS_BEYOND {
            return;
        }
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < KEPT {
            unused.push(std::mem::take(&mut self.places));
        }
    }
}

impl fmt::Debug for EventList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.as_slice()).finish()
    }
}
