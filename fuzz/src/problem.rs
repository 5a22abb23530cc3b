//! Bare planning problems, and plans of other tools.

use dmo_analysis::foreign::{ForeignPlan, executorch};
use dmo_planner::minimalloc::Table;
use dmo_planner::plan::{Plan, STRATEGIES};

/// Larger problems are read, but not planned: planning takes time, whoever made the file.
const PLANNED_BUFFERS: usize = 64;

/// Each pair that lives at the same time is kept, and a line of 8 bytes makes a buffer.
pub fn most_bytes(input: &[u8]) -> usize {
    let lines = input
        .iter()
        .filter(|&&byte| byte == b'\n' || byte == b'\r')
        .count()
        + 1;
    (1 << 20) + 64 * input.len() + 64 * lines.pow(2).min(20_000_000)
}

/// A table of MiniMalloc: what is read can be planned, and plans of it checked.
pub fn minimalloc(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(table) = Table::parse(text).map_err(|error| error.to_string()) else {
        return;
    };
    let problem = &table.problem;
    if let Some(offsets) = table.offsets {
        let plan = Plan { offsets };
        let _ = plan.check(problem);
        let _ = plan.arena_bytes(problem);
    }
    let bound = problem.lower_bound();
    if problem.buffers().len() > PLANNED_BUFFERS {
        return;
    }
    for strategy in STRATEGIES {
        if let Some(plan) = strategy.plan(problem) {
            assert!(plan.check(problem).is_empty(), "{}", strategy.name);
            assert!(plan.arena_bytes(problem) >= bound, "{}", strategy.name);
        }
    }
}

/// A plan of another tool: what is read can be judged and made anew, and what is written holds.
pub fn foreign(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(plan) = ForeignPlan::parse(text).map_err(|error| error.to_string()) else {
        return;
    };
    let mut offsets = Vec::new();
    for memory in &plan.memories {
        let _ = memory.faults();
        let Ok(renewal) = memory.renewal() else {
            return;
        };
        if renewal.problem.buffers().len() > PLANNED_BUFFERS {
            return;
        }
        let planned = STRATEGIES.iter().find_map(|one| one.plan(&renewal.problem));
        let Some(planned) = planned else {
            return;
        };
        offsets.push(renewal.offsets(&planned));
    }
    if let Ok(written) = executorch::with_offsets(text, &offsets) {
        let is_there = executorch::has_offsets(&written, text, &offsets);
        assert!(is_there.expect("what is written is read"));
    }
}
