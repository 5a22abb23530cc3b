//! Branches whose ways call functions and use the stack before they meet, as in arithmetic by software.
//!
//! All ways are followed at once, without values: of a register, or of a word of the stack, it is only
//! known whether it holds what some register or word held at the branch, or a return address. Where ways
//! come together, what differs between them is unknown. So the effort grows with the code, not with the
//! number of ways through it, and what is found holds at every execution of the branch.

mod departure;
mod state;
mod walk;

pub(super) use departure::Away;
pub(super) use state::{State, Value};

use super::paths;
use super::places::Places;
use crate::features::Features;
use crate::memory::Memory;
use crate::operation::Operation;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use walk::{Code, Node};

/// The most places on all ways together.
const MOST_NODES: usize = 1024;

/// The ways from a branch to where they meet, of which none does more than compute, call, use the stack,
/// and access memory at addresses that are known at the branch.
#[derive(Debug)]
pub(super) struct Excursion {
    pub(super) end: End,
    /// The stack pointer there, less what it is at the branch.
    pub(super) stack_moved: i32,
    /// What registers and stack hold there.
    pub(super) state: State,
    /// All that is written on any of them but r0 to r15.
    pub(super) writes: Places,
    /// All that may be loaded or stored at addresses made of registers as they are at the branch.
    pub(super) accesses: Vec<Operation>,
    /// The bytes of the stack that they access, from the stack pointer at the branch.
    pub(super) stack: Range<i32>,
    /// Where their instructions are.
    pub(super) instructions: BTreeSet<u32>,
}

/// Where ways meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    At(u32),
    /// Where this points to.
    Return(Value),
}

/// The excursion of the conditional branch at an address, with the IT state there; `None` where its ways
/// do more before they meet, or are too long.
pub(super) fn excursion(
    pc: u32,
    it: u32,
    instruction: (&Operation, u8),
    features: &Features,
    memory: &Memory,
) -> Option<Excursion> {
    let starts = paths::ways(pc, it, instruction.0, instruction.1)?;
    let starts: Vec<Node> = starts.into_iter().map(Node::from).collect();
    let code = Code { features, memory };
    let all = Ways::of(&code, &starts, None);
    let meeting = all.meeting(&starts)?;
    Ways::of(&code, &starts, Some(&meeting)).up_to(&meeting)
}

impl From<paths::Node> for Node {
    fn from(node: paths::Node) -> Self {
        match node {
            paths::Node::At(pc, it) => Self::At {
                pc,
                it,
                stack: 0,
                calls: Vec::new(),
            },
            paths::Node::Return => Self::Return {
                to: Value::Register(14),
                stack: 0,
            },
        }
    }
}

/// All that the ways from a branch come by.
struct Ways {
    places: BTreeMap<Node, Place>,
    /// They have been followed to where they end, or to the meeting.
    is_whole: bool,
}

/// A place on the ways.
struct Place {
    /// What is known whichever way has been taken.
    state: State,
    /// Where they go on; `None` where nothing is known of that, or nothing is asked.
    step: Option<(walk::Effects, Vec<Node>)>,
}

impl Ways {
    /// From these places on, as far as code only computes, calls and uses the stack, or until `end`.
    fn of(code: &Code, starts: &[Node], end: Option<&Node>) -> Self {
        let mut places = BTreeMap::new();
        let mut waiting: VecDeque<Node> = VecDeque::new();
        for start in starts {
            arrive(&mut places, &mut waiting, start, &State::at_branch());
        }
        while let Some(node) = waiting.pop_front() {
            if places.len() > MOST_NODES {
                return Self {
                    places,
                    is_whole: false,
                };
            }
            let place = places.get_mut(&node).filter(|_| end != Some(&node));
            let Some(place) = place else {
                continue;
            };
            let taken = code.step(&node, &place.state);
            place.step = None;
            if let Some(taken) = taken {
                place.step = Some((taken.effects, taken.next.clone()));
                for next in &taken.next {
                    arrive(&mut places, &mut waiting, next, &taken.state);
                }
            }
        }
        Self {
            places,
            is_whole: true,
        }
    }

    /// The first place that all ways come by.
    fn meeting(&self, starts: &[Node]) -> Option<Node> {
        let graph = Graph::of(self, starts);
        let way = graph.way_to_an_end()?;
        let place = way.into_iter().find(|&place| graph.is_passed(place))?;
        self.places.keys().nth(place).cloned()
    }

    /// What has happened where all ways have come to this place, if they do.
    fn up_to(&self, meeting: &Node) -> Option<Excursion> {
        if !self.is_whole {
            return None;
        }
        let (end, stack_moved) = match meeting {
            Node::At {
                pc, it: 0, stack, ..
            } => (End::At(*pc), *stack),
            Node::At { .. } => return None,
            Node::Return { to, stack } => (End::Return(*to), *stack),
        };
        let mut found = Excursion {
            end,
            stack_moved,
            state: self.places.get(meeting)?.state.clone(),
            writes: 0,
            accesses: Vec::new(),
            stack: 0..0,
            instructions: BTreeSet::new(),
        };
        for (node, place) in self.places.iter().filter(|(node, _)| *node != meeting) {
            let (effects, _) = place.step.as_ref()?;
            let Node::At { pc, stack, .. } = node else {
                return None;
            };
            // Where the program has come by there, it would not be known whether they have met.
            if (End::At(*pc), *stack) == (end, stack_moved) {
                return None;
            }
            found.instructions.insert(*pc);
            found.writes |= effects.writes;
            found.accesses.extend(effects.access);
            if let Some(touched) = &effects.stack {
                let Range { start, end } = found.stack;
                found.stack = start.min(touched.start)..end.max(touched.end);
            }
        }
        Some(found)
    }
}

/// The ways without what is done on them; places are numbers.
struct Graph {
    starts: Vec<usize>,
    /// Where each place goes on; `None` where ways end.
    next: Vec<Option<Vec<usize>>>,
}

impl Graph {
    fn of(ways: &Ways, starts: &[Node]) -> Self {
        let numbers: BTreeMap<&Node, usize> = ways.places.keys().zip(0..).collect();
        let numbers_of = |nodes: &[Node]| nodes.iter().map(|node| numbers[node]).collect();
        let next = |place: &Place| place.step.as_ref().map(|(_, next)| numbers_of(next));
        Self {
            starts: numbers_of(starts),
            next: ways.places.values().map(next).collect(),
        }
    }

    /// The places on a shortest way to where one ends.
    fn way_to_an_end(&self) -> Option<Vec<usize>> {
        let mut from: Vec<Option<usize>> = vec![None; self.next.len()];
        let mut waiting: VecDeque<usize> = self.starts.iter().copied().collect();
        while let Some(place) = waiting.pop_front() {
            let Some(next) = &self.next[place] else {
                let back = std::iter::successors(Some(place), |&place| {
                    from[place].filter(|_| !self.starts.contains(&place))
                });
                let mut way: Vec<usize> = back.collect();
                way.reverse();
                return Some(way);
            };
            for &next in next {
                if from[next].is_none() && !self.starts.contains(&next) {
                    from[next] = Some(place);
                    waiting.push_back(next);
                }
            }
        }
        None
    }

    /// Whether no way ends that has not come by this place.
    fn is_passed(&self, place: usize) -> bool {
        let mut seen = vec![false; self.next.len()];
        seen[place] = true;
        let mut left = self.starts.clone();
        while let Some(place) = left.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            match &self.next[place] {
                Some(next) => left.extend(next),
                None => return false,
            }
        }
        true
    }
}

/// A way comes to a place, with this state.
fn arrive(
    places: &mut BTreeMap<Node, Place>,
    waiting: &mut VecDeque<Node>,
    node: &Node,
    state: &State,
) {
    let is_new = match places.get_mut(node) {
        Some(place) => place.state.join(state),
        None => {
            let state = state.clone();
            places.insert(node.clone(), Place { state, step: None });
            true
        }
    };
    if is_new {
        waiting.push_back(node.clone());
    }
}
