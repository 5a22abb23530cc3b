//! Whether what was shown on the inputs tried holds on all of them.

use crate::model::verify::{Verification, VerifiedLayer};
use crate::program::data_decision::DataDecision;
use dmo_analysis::graph::{Graph, OperatorId};
use dmo_analysis::wording::{counted, first_lines};
use schemars::JsonSchema;
use serde::Serialize;

/// At most this many operators are named.
const MOST_NAMED: usize = 5;

/// What following the data through each operator has shown.
#[derive(JsonSchema, Serialize)]
pub(super) struct EveryInput {
    /// Every operator loads and stores the same whatever its inputs hold: what holds on the inputs
    /// tried holds on all.
    holds: bool,
    /// How many operators do.
    independent_operators: usize,
    /// The others.
    dependent_operators: Vec<Dependent>,
    /// Operators that the engine could not follow.
    unknown_operators: usize,
}

/// An operator whose loads and stores data may decide.
#[derive(JsonSchema, Serialize)]
struct Dependent {
    operator: OperatorId,
    kind: String,
    function: &'static str,
    /// Where data decide what is accessed.
    decisions: Vec<DataDecision>,
    /// In the layout it accesses other bytes than with its buffers apart, for which nothing is shown.
    otherwise_in_layout: bool,
}

impl EveryInput {
    /// Of what was found; `not_executed` operators are not known.
    pub(super) fn new(graph: &Graph, found: &Verification, not_executed: usize) -> Self {
        let dependent = |layer: &VerifiedLayer| {
            let decisions = layer.decisions.as_ref()?;
            let depends = !decisions.is_empty() || layer.otherwise_in_layout;
            depends.then(|| Dependent {
                operator: layer.operator,
                kind: graph.operators[layer.operator.0].kind.to_string(),
                function: layer.function,
                decisions: decisions.clone(),
                otherwise_in_layout: layer.otherwise_in_layout,
            })
        };
        let layers = &found.layers;
        let known = layers.iter().filter(|it| it.decisions.is_some()).count();
        let dependent_operators: Vec<Dependent> = layers.iter().filter_map(dependent).collect();
        let unknown_operators = layers.len() - known + not_executed;
        Self {
            holds: dependent_operators.is_empty() && unknown_operators == 0,
            independent_operators: known - dependent_operators.len(),
            dependent_operators,
            unknown_operators,
        }
    }

    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// What it says, in a sentence without its full stop.
    pub(super) fn statement(&self, inputs: u64) -> String {
        let dependent = self.dependent_operators.len();
        let operators = self.independent_operators + dependent + self.unknown_operators;
        if self.holds {
            return format!(
                "every one: in none of the {operators} operators do loads and stores depend on the data"
            );
        }
        format!(
            "every one for {} of {operators} operators, in which loads and stores do not depend on the \
             data{}{}",
            self.independent_operators,
            match dependent {
                0 => String::new(),
                _ => format!(
                    "; the {} tried for {dependent}",
                    counted(inputs, "input", "inputs")
                ),
            },
            match self.unknown_operators {
                0 => String::new(),
                unknown => format!("; of {unknown} nothing is known"),
            }
        )
    }

    /// The operators of which it is not known, a line each; of many the first few.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |it: &Dependent| {
            let first = it.decisions.first().map(DataDecision::clause);
            let further = it.decisions.len().saturating_sub(1);
            let further = match further {
                0 => String::new(),
                more => format!(", and at {}", counted(more as u64, "other", "others")),
            };
            let what = match first {
                Some(decision) => format!("{decision}{further}"),
                None => "it loads or stores other bytes in this layout than with its buffers apart"
                    .to_owned(),
            };
            format!(
                "operator {} {} ({}): {what}",
                it.operator.0, it.kind, it.function
            )
        };
        let lines = self.dependent_operators.iter().map(line).collect();
        first_lines(lines, MOST_NAMED)
    }
}
