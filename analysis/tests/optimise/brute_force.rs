//! The least arena by trying all offsets, from the definitions and without the crate's help.
//! Times: 0 is when the application stores the inputs, then one for each step, and one when
//! it reads the outputs.

use dmo_analysis::arena::Layout;
use dmo_analysis::graph::overlaps::{Overlaps, Sharing};
use dmo_analysis::graph::{Graph, OperatorId, Storage, TensorId, TensorType};

/// Something that has to lie somewhere.
#[derive(Clone, Copy, PartialEq)]
enum Occupant {
    Tensor(TensorId),
    Scratch(OperatorId),
}

pub struct BruteForce<'a> {
    graph: &'a Graph,
    overlaps: &'a Overlaps,
    layout: Layout,
    occupants: Vec<(Occupant, u64)>,
    fixed: Vec<Option<u64>>,
}

/// What two occupants have to keep to in one order: any of these, or lying apart.
#[derive(Clone, Copy)]
enum Rule {
    Free,
    Apart,
    /// The first may be so many bytes above the second.
    Displaced(u64),
    Same,
}

impl<'a> BruteForce<'a> {
    pub fn new(
        graph: &'a Graph,
        overlaps: &'a Overlaps,
        layout: Layout,
        fixed: &[(TensorId, u64)],
    ) -> Self {
        let touched = |id: &TensorId| {
            let mut nodes = graph.operators.iter();
            graph.inputs.contains(id)
                || graph.outputs.contains(id)
                || nodes.any(|node| node.inputs.contains(id) || node.outputs.contains(id))
        };
        let left_out = |id: &TensorId| {
            !layout.counted.count_graph_inputs && graph.inputs.contains(id)
                || !layout.counted.count_graph_outputs && graph.outputs.contains(id)
        };
        let tensors = (0..graph.tensors.len()).map(TensorId);
        let tensors = tensors.filter(|id| {
            let tensor = graph.tensor(*id);
            let stored = tensor.storage == Storage::Arena && tensor.size_bytes > 0;
            stored && touched(id) && !left_out(id)
        });
        let mut occupants: Vec<(Occupant, u64)> = tensors
            .map(|id| (Occupant::Tensor(id), graph.tensor(id).size_bytes))
            .collect();
        if layout.scratch {
            for (operator, node) in graph.operators.iter().enumerate() {
                let scratch = node.scratch_bytes.iter().filter(|&&bytes| bytes > 0);
                occupants
                    .extend(scratch.map(|&bytes| (Occupant::Scratch(OperatorId(operator)), bytes)));
            }
        }
        if layout.round_sizes {
            for (_, bytes) in &mut occupants {
                *bytes = bytes.next_multiple_of(layout.alignment);
            }
        }
        let offset = |what: Occupant| {
            let given = fixed.iter().find(|(id, _)| what == Occupant::Tensor(*id));
            given.map(|&(_, offset)| offset)
        };
        Self {
            fixed: occupants.iter().map(|&(what, _)| offset(what)).collect(),
            graph,
            overlaps,
            layout,
            occupants,
        }
    }

    /// The least offset but 0 that suits both the layout and the elements.
    fn alignment(&self, what: Occupant) -> u64 {
        let layout = self.layout.alignment;
        let element = match what {
            Occupant::Scratch(_) => 4,
            Occupant::Tensor(id) => match self.graph.tensor(id).element_type {
                TensorType::Float32 => 4,
                TensorType::Int16 => 2,
                _ => 1,
            },
        };
        let mut offsets = (1..).map(|times| times * layout);
        offsets.find(|offset| offset % element == 0).unwrap()
    }

    pub fn occupants(&self) -> usize {
        self.occupants.len()
    }

    pub fn tensors(&self) -> Vec<TensorId> {
        let tensor = |&(what, _): &(Occupant, u64)| match what {
            Occupant::Tensor(id) => Some(id),
            Occupant::Scratch(_) => None,
        };
        self.occupants.iter().filter_map(tensor).collect()
    }

    /// First and last time at which it must not be disturbed.
    fn life(&self, what: Occupant, order: &[OperatorId]) -> (usize, usize) {
        let time =
            |operator: OperatorId| 1 + order.iter().position(|&other| other == operator).unwrap();
        let id = match what {
            Occupant::Scratch(operator) => return (time(operator), time(operator)),
            Occupant::Tensor(id) => id,
        };
        let nodes = || self.graph.operators.iter().enumerate();
        let written = nodes()
            .find(|(_, node)| node.outputs.contains(&id))
            .map(|(operator, _)| time(OperatorId(operator)));
        let read = nodes()
            .filter(|(_, node)| node.inputs.contains(&id))
            .map(|(operator, _)| time(OperatorId(operator)))
            .max();
        let begin = written.unwrap_or(0);
        let kept = self.graph.outputs.contains(&id)
            || self.layout.keep_inputs && self.graph.inputs.contains(&id);
        let end = if kept {
            order.len() + 1
        } else {
            // What was stored for nothing is there in the first step.
            read.unwrap_or(begin.max(1))
        };
        (begin, end)
    }

    fn rule(&self, one: usize, other: usize, order: &[OperatorId]) -> Rule {
        let (first, second) = (self.occupants[one].0, self.occupants[other].0);
        let (life, later) = (self.life(first, order), self.life(second, order));
        if life.1 < later.0 || later.1 < life.0 {
            return Rule::Free;
        }
        let (Occupant::Tensor(input), Occupant::Tensor(output)) = (first, second) else {
            return Rule::Apart;
        };
        if life.1 != later.0 || life.1 == 0 || life.1 > order.len() {
            return Rule::Apart;
        }
        let operator = order[life.1 - 1];
        let mut pairs = self.overlaps[operator.0].iter();
        let pair = pairs.find(|pair| (pair.input, pair.output) == (input, output));
        match pair.map(|pair| pair.sharing) {
            None => Rule::Apart,
            Some(Sharing::Displaced(bytes)) => Rule::Displaced(bytes),
            Some(Sharing::Alias) => {
                let size = |id| self.graph.tensor(id).size_bytes;
                if size(input) == size(output) {
                    Rule::Same
                } else {
                    Rule::Apart
                }
            }
        }
    }

    /// The rules of each occupant with those before it, from both sides.
    fn rules(&self, order: &[OperatorId]) -> Vec<Vec<[Rule; 2]>> {
        let rules = |one: usize| {
            let others = 0..one;
            others.map(move |other| [self.rule(one, other, order), self.rule(other, one, order)])
        };
        (0..self.occupants.len())
            .map(|one| rules(one).collect())
            .collect()
    }

    fn holds(&self, rules: &[Vec<[Rule; 2]>], offsets: &[u64], offset: u64) -> bool {
        let one = offsets.len();
        let size = self.occupants[one].1;
        offsets.iter().enumerate().all(|(other, &placed)| {
            let apart = offset >= placed + self.occupants[other].1 || placed >= offset + size;
            let rules = rules[one][other];
            apart
                || [(rules[0], offset, placed), (rules[1], placed, offset)]
                    .into_iter()
                    .any(|(rule, input, output)| match rule {
                        Rule::Free => true,
                        Rule::Apart => false,
                        Rule::Displaced(bytes) => input >= output.saturating_add(bytes),
                        Rule::Same => input == output,
                    })
        })
    }

    fn place(&self, rules: &[Vec<[Rule; 2]>], offsets: &mut Vec<u64>, capacity: u64) -> bool {
        let Some(&(what, size)) = self.occupants.get(offsets.len()) else {
            return true;
        };
        let (fixed, alignment) = (self.fixed[offsets.len()], self.alignment(what));
        let mut offset = fixed.unwrap_or(0);
        while offset + size <= capacity {
            if self.holds(rules, offsets, offset) {
                offsets.push(offset);
                if self.place(rules, offsets, capacity) {
                    return true;
                }
                offsets.pop();
            }
            if fixed.is_some() {
                return false;
            }
            offset += alignment;
        }
        false
    }

    /// Whether some offsets need no more than the capacity.
    pub fn fits(&self, order: &[OperatorId], capacity: u64) -> bool {
        self.place(&self.rules(order), &mut Vec::new(), capacity)
    }

    /// The least arena of the order, if it is smaller than a known one.
    pub fn least_arena(&self, order: &[OperatorId], known: u64) -> u64 {
        let rules = self.rules(order);
        let mut best = known;
        while best > 0 && self.place(&rules, &mut Vec::new(), best - 1) {
            best -= 1;
        }
        best
    }

    /// Whether these places are among those that would be tried.
    pub fn allows(
        &self,
        order: &[OperatorId],
        tensors: &[Option<u64>],
        scratch: &[(OperatorId, u64, u64)],
    ) -> bool {
        let rules = self.rules(order);
        let mut scratch = scratch.iter();
        let mut offsets = Vec::new();
        self.occupants.iter().all(|&(what, _)| {
            let offset = match what {
                Occupant::Tensor(id) => tensors[id.0],
                Occupant::Scratch(_) => scratch.next().map(|&(_, offset, _)| offset),
            };
            let holds = offset.is_some_and(|offset| {
                offset.is_multiple_of(self.alignment(what)) && self.holds(&rules, &offsets, offset)
            });
            offsets.extend(offset);
            holds
        })
    }
}

/// All orders in which each operator runs after those that write its inputs, and operators
/// that touch the same variable keep the file's order.
pub fn all_orders(graph: &Graph) -> Vec<Vec<OperatorId>> {
    let count = graph.operators.len();
    let touches = |operator: usize| {
        let node = &graph.operators[operator];
        let tensors = node.inputs.iter().chain(&node.outputs);
        tensors.filter(|id| graph.tensor(**id).storage == Storage::Variable)
    };
    let needs = |later: usize, earlier: usize| {
        let written = &graph.operators[earlier].outputs;
        let read = &graph.operators[later].inputs;
        let data = |id: &TensorId| graph.in_arena(*id) && read.contains(id);
        written.iter().any(data)
            || earlier < later && touches(earlier).any(|id| touches(later).any(|other| other == id))
    };
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: &Vec<OperatorId>| {
            let has = |operator: usize| order.contains(&OperatorId(operator));
            let ready = |&next: &usize| {
                !has(next) && (0..count).all(|other| has(other) || !needs(next, other))
            };
            let next: Vec<Vec<OperatorId>> = (0..count)
                .filter(ready)
                .map(|next| [order.clone(), vec![OperatorId(next)]].concat())
                .collect();
            next
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}
