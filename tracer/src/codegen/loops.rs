//! Calls rolled up into loops: the tiles of an operator differ in offsets and shapes only.

use super::network::Call;
use super::value::Value;
use dmo_analysis::graph::OperatorId;

/// What is done in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// How often its calls are made.
    pub count: usize,
    /// Calls of one turn.
    pub body: Vec<LoopCall>,
}

/// A call in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopCall {
    /// The operator of the model that it computes a part of.
    pub origin: OperatorId,
    /// The function.
    pub function: &'static str,
    /// It returns a status, 0 for success.
    pub returns_status: bool,
    /// Its arguments in order.
    pub arguments: Vec<LoopArgument>,
}

/// An argument of a call in a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopArgument {
    /// The same in all turns.
    Same(Value),
    /// One for each turn.
    Each(Vec<Value>),
}

/// Turns of a loop have at most this many calls.
const MOST_CALLS: usize = 64;

/// The same calls in the same order, with loops where parts of the same operators follow each
/// other: as few calls in the text as can be. `origin` gives the operator of the model that an
/// operator is made of.
pub fn rolled(calls: &[Call], origin: impl Fn(OperatorId) -> OperatorId) -> Vec<Loop> {
    let origins: Vec<OperatorId> = calls.iter().map(|call| origin(call.operator)).collect();
    let shapes = origins.iter().zip(calls);
    let shapes: Vec<Shape> = shapes.map(|(&it, call)| Shape::of(it, call)).collect();
    let mut loops = Vec::new();
    let mut start = 0;
    for (period, count) in fewest_calls(&shapes) {
        let end = start + period * count;
        let body = (start..start + period).map(|first| {
            let turns: Vec<&Call> = (first..end).step_by(period).map(|at| &calls[at]).collect();
            loop_call(origins[first], &turns)
        });
        let body = body.collect();
        loops.push(Loop { count, body });
        start = end;
    }
    loops
}

/// Periods and numbers of turns that cover everything with the fewest calls in the text.
fn fewest_calls(shapes: &[Shape]) -> Vec<(usize, usize)> {
    let length = shapes.len();
    // Of what begins at a call: the calls in the text, and the first loop.
    let mut best = vec![(0, (0, 0)); length + 1];
    // How many calls from here on are like those one period later.
    let mut alike = vec![0; MOST_CALLS + 1];
    for start in (0..length).rev() {
        let mut fewest = (usize::MAX, (1, 1));
        for period in 1..=MOST_CALLS.min(length - start) {
            let is_alike = shapes.get(start + period) == Some(&shapes[start]);
            alike[period] = if is_alike { alike[period] + 1 } else { 0 };
            for count in 1..=alike[period] / period + 1 {
                let calls = period + best[start + period * count].0;
                if calls < fewest.0 || calls == fewest.0 && count > fewest.1.1 {
                    fewest = (calls, (period, count));
                }
            }
        }
        best[start] = fewest;
    }
    let mut loops = Vec::new();
    let mut start = 0;
    while start < length {
        let (period, count) = best[start].1;
        loops.push((period, count));
        start += period * count;
    }
    loops
}

/// What calls of one loop have in common.
#[derive(PartialEq, Eq)]
struct Shape<'a> {
    origin: OperatorId,
    function: &'static str,
    arguments: Vec<ArgumentShape<'a>>,
}

#[derive(PartialEq, Eq)]
enum ArgumentShape<'a> {
    /// Of this memory.
    Arena(usize),
    Integer,
    Float,
    Structure(&'a str),
    Exactly(&'a Value),
}

impl<'a> Shape<'a> {
    fn of(origin: OperatorId, call: &'a Call) -> Self {
        let arguments = call.arguments.iter().map(|value| match value {
            Value::Arena(place) => ArgumentShape::Arena(place.memory),
            Value::Integer(_) => ArgumentShape::Integer,
            Value::Float(_) => ArgumentShape::Float,
            Value::PointerTo(inner) => match &**inner {
                Value::Structure(name, _) if !inner.needs_arena() => ArgumentShape::Structure(name),
                _ => ArgumentShape::Exactly(value),
            },
            _ => ArgumentShape::Exactly(value),
        });
        Self {
            origin,
            function: call.function,
            arguments: arguments.collect(),
        }
    }
}

fn loop_call(origin: OperatorId, calls: &[&Call]) -> LoopCall {
    let first = calls[0];
    let argument = |index: usize| {
        let same = calls
            .iter()
            .all(|call| call.arguments[index] == first.arguments[index]);
        if same {
            LoopArgument::Same(first.arguments[index].clone())
        } else {
            LoopArgument::Each(
                calls
                    .iter()
                    .map(|call| call.arguments[index].clone())
                    .collect(),
            )
        }
    };
    LoopCall {
        origin,
        function: first.function,
        returns_status: first.returns_status,
        arguments: (0..first.arguments.len()).map(argument).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Loop, LoopArgument, rolled};
    use crate::codegen::memory::Place;
    use crate::codegen::network::Call;
    use crate::codegen::value::Value;
    use dmo_analysis::graph::OperatorId;
    use dmo_analysis::random::SplitMix64;

    const FUNCTIONS: [&str; 3] = ["conv", "pool", "add"];

    fn call(operator: usize, offset_bytes: u32) -> Call {
        let place = Place {
            memory: 0,
            offset_bytes,
        };
        Call {
            operator: OperatorId(operator),
            function: FUNCTIONS[operator % FUNCTIONS.len()],
            returns_status: false,
            arguments: vec![Value::Integer(operator as i32), Value::Arena(place)],
        }
    }

    /// The calls that loops make.
    fn unrolled(loops: &[Loop]) -> Vec<(&'static str, Vec<Value>)> {
        let turns = loops
            .iter()
            .flat_map(|it| (0..it.count).map(move |turn| (it, turn)));
        let calls = turns.flat_map(|(it, turn)| it.body.iter().map(move |call| (call, turn)));
        calls
            .map(|(call, turn)| {
                let value = |argument: &LoopArgument| match argument {
                    LoopArgument::Same(value) => value.clone(),
                    LoopArgument::Each(values) => values[turn].clone(),
                };
                (call.function, call.arguments.iter().map(value).collect())
            })
            .collect()
    }

    #[test]
    fn loops_make_the_same_calls_in_the_same_order() {
        let mut rolled_up = 0;
        for seed in 0..2000 {
            let mut random = SplitMix64::new(seed);
            let mut calls = Vec::new();
            while calls.len() < 40 {
                let (period, turns) = (1 + random.below(4), 1 + random.below(6));
                let first = random.below(5);
                for _ in 0..turns {
                    calls
                        .extend((first..first + period).map(|it| call(it, random.below(9) as u32)));
                }
            }
            let loops = rolled(&calls, |operator| operator);
            let wanted = calls.iter().map(|it| (it.function, it.arguments.clone()));
            assert_eq!(unrolled(&loops), wanted.collect::<Vec<_>>(), "seed {seed}");
            let written: usize = loops.iter().map(|it| it.body.len()).sum();
            rolled_up += usize::from(written < calls.len());
        }
        assert!(rolled_up > 1500, "{rolled_up}");
    }

    #[test]
    fn tiles_become_one_loop() {
        let calls: Vec<Call> = (0..30).map(|at| call(at % 3, at as u32)).collect();
        let loops = rolled(&calls, |operator| operator);
        assert_eq!(
            (loops.len(), loops[0].count, loops[0].body.len()),
            (1, 10, 3)
        );
    }

    #[test]
    fn tiles_in_several_memories_are_no_loop() {
        let mut calls: Vec<Call> = (0..10).map(|at| call(0, at)).collect();
        for (at, call) in calls.iter_mut().enumerate().skip(5) {
            call.arguments[1] = Value::Arena(Place {
                memory: 1,
                offset_bytes: at as u32,
            });
        }
        let loops = rolled(&calls, |operator| operator);
        let counts: Vec<usize> = loops.iter().map(|it| it.count).collect();
        assert_eq!(counts, [5, 5]);
    }

    #[test]
    fn layers_of_one_function_are_no_loop() {
        let calls: Vec<Call> = (0..30).map(|at| call(3 * at, 0)).collect();
        assert_eq!(rolled(&calls, |operator| operator).len(), 30);
    }
}
