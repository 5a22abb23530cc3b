//! The operators of an interpreter as layers of a program: by its own loop, by the calls of their
//! functions, or by what it tells its profiler.

use super::{Program, ProgramEvent, RunError};
use crate::program::interpreter::{EventError, EventKind, Interpreted, node_index};
use crate::program::marks::Mark;
use dmo_analysis::firmware::Placed;
use dmo_analysis::graph::OperatorId;
use dmo_analysis::trace::{Address, Exit};

impl Program<'_> {
    pub(super) fn pass_event(
        &mut self,
        interpreted: &Interpreted,
        address: Address,
    ) -> Result<Option<ProgramEvent>, RunError> {
        let Interpreted { events, placed } = interpreted;
        let mark = events.marks.at(address);
        if events.are_marks() {
            let read = |program: &Self| {
                let machine = &program.process.machine;
                Ok(events.read(machine, placed, program.layers)?)
            };
            return self.pass_mark(mark, read).map(Some);
        }
        self.process.machine.stay_at(address)?;
        match events.kind {
            EventKind::Loop { graph, inferences } => {
                self.pass_loop(placed, (graph, inferences), mark)
            }
            EventKind::Nodes { first, inferences } => {
                self.pass_node(placed, (first, inferences), mark)
            }
            _ => self.pass_profiler(interpreted, mark),
        }
    }

    /// A layer begins when the profiler's function returns, and ends when the other is called:
    /// what they do belongs to no layer, and calls inside them are ignored.
    fn pass_profiler(
        &mut self,
        interpreted: &Interpreted,
        mark: Option<Mark>,
    ) -> Result<Option<ProgramEvent>, RunError> {
        let Interpreted { events, placed } = interpreted;
        match mark {
            Some(Mark::Begin) => {
                let machine = &self.process.machine;
                self.announced = Some(events.read(machine, placed, self.layers)?);
                self.process.stop_when_back()?;
                Ok(None)
            }
            Some(Mark::End) => {
                let step = self.end_layer()?;
                self.process.stop_when_back()?;
                Ok(Some(step))
            }
            None => {
                self.stop_at_next_event()?;
                let begun = self.announced.take();
                begun.map(|layer| self.begin(layer)).transpose()
            }
        }
    }

    /// The first operator begins where the interpreter's loop is entered, each other where the
    /// cleaning after the one before returns. Loops over other models belong to no layer.
    fn pass_loop(
        &mut self,
        placed: &Placed,
        (graph, inferences): (u32, Option<usize>),
        mark: Option<Mark>,
    ) -> Result<Option<ProgramEvent>, RunError> {
        let first = self.layers.is_multiple_of(placed.layers.len());
        match mark {
            Some(Mark::Begin) => {
                self.stop_at_next_event()?;
                let machine = &self.process.machine;
                let (runs, subgraph) = (machine.register(0), machine.register(1));
                if (runs, subgraph) != (graph, 0) {
                    self.other_models.extend((runs != graph).then_some(runs));
                    return Ok(None);
                }
                if self.layer.is_some() {
                    return Err(EventError::Interrupted {
                        operator: placed.operator(self.layers.saturating_sub(1)).0,
                        operators: placed.layers.len(),
                    }
                    .into());
                }
                if inferences.is_some_and(|most| self.layers >= most * placed.layers.len()) {
                    return self.exited(Exit::Stopped(self.layers as u64)).map(Some);
                }
            }
            Some(Mark::End) => {
                self.process.stop_when_back()?;
                let ended = self.layer.is_some();
                return ended.then(|| self.end_layer()).transpose();
            }
            None => {
                self.stop_at_next_event()?;
                if first {
                    return Ok(None);
                }
            }
        }
        let operator = placed.operator(self.layers);
        self.begin(placed.layer(operator).layer.clone()).map(Some)
    }

    /// An operator begins where its function is called with its entry, and ends where that returns.
    /// The same functions run the operators of other models.
    fn pass_node(
        &mut self,
        placed: &Placed,
        (first, inferences): (u32, Option<usize>),
        mark: Option<Mark>,
    ) -> Result<Option<ProgramEvent>, RunError> {
        if mark.is_none() {
            self.stop_at_next_event()?;
            let ended = self.layer.is_some();
            return ended.then(|| self.end_layer()).transpose();
        }
        let operators = placed.layers.len();
        let node = self.process.machine.register(1);
        let Some(given) = node_index(first, operators, node) else {
            // How many models there are is not seen.
            self.other_models.insert(0);
            self.process.stop_when_back()?;
            return Ok(None);
        };
        let expected = placed.operator(self.layers).0;
        if given == 0 && expected == 0 {
            let most = inferences.map(|most| most.saturating_mul(operators));
            if most.is_some_and(|most| self.layers >= most) {
                return self.exited(Exit::Stopped(self.layers as u64)).map(Some);
            }
        }
        if given != expected {
            return Err(match given {
                0 => EventError::Interrupted {
                    operator: expected,
                    operators,
                },
                given => EventError::OutOfOrder { expected, given },
            }
            .into());
        }
        self.process.stop_when_back()?;
        let layer = placed.layer(OperatorId(given)).layer.clone();
        self.begin(layer).map(Some)
    }

    /// From where the program is now.
    pub(super) fn stop_at_next_event(&mut self) -> Result<(), RunError> {
        let here = self.process.machine.register(15);
        let mut addresses = self.boundaries.addresses();
        addresses.retain(|&address| address != here);
        Ok(self.process.machine.set_breakpoints(&addresses)?)
    }
}
