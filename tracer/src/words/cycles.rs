//! Estimated cycles in words. Rough ones have `~` before them, and no more than two digits that
//! count.

use crate::mcu::cycles::Cycles;
use dmo_analysis::wording::grouped;

/// What stands for cycles that are not known.
pub const UNKNOWN: &str = "-";

/// All cycles; `-` if they are not known.
pub fn total(cycles: Option<&Cycles>) -> String {
    cycles.map_or(UNKNOWN.to_owned(), |cycles| number(cycles, cycles.total))
}

/// All cycles as an estimate in a sentence; those of rough timing rules say so by themselves.
pub fn about(cycles: &Cycles) -> String {
    let total = number(cycles, cycles.total);
    if total.starts_with('~') {
        total
    } else {
        format!("about {total}")
    }
}

/// Those that a core waits for instructions, and for data.
pub fn stalls(cycles: Option<&Cycles>) -> [String; 2] {
    cycles.map_or([UNKNOWN, UNKNOWN].map(str::to_owned), |cycles| {
        [cycles.code_stalls, cycles.data_stalls].map(|count| number(cycles, count))
    })
}

/// All cycles, and what is waited for.
pub fn sentence(cycles: &Cycles) -> String {
    let mut waits = Vec::new();
    if cycles.code_stalls + cycles.data_stalls > 0 {
        waits.extend([(cycles.code_stalls, "code"), (cycles.data_stalls, "data")]);
    }
    if cycles.memory_stalls > 0 {
        waits.push((cycles.memory_stalls, "the memories"));
    }
    let waits = waits.into_iter().enumerate().map(|(place, (count, what))| {
        let waiting = if place == 0 { " waiting" } else { "" };
        format!("{}{waiting} for {what}", number(cycles, count))
    });
    let waits: Vec<String> = waits.collect();
    let all = format!("{} cycles", number(cycles, cycles.total));
    if waits.is_empty() {
        all
    } else {
        format!("{all} ({})", waits.join(", "))
    }
}

fn number(cycles: &Cycles, count: u64) -> String {
    if !cycles.rough {
        return grouped(count);
    }
    let digits = count.max(1).ilog10();
    let unit = 10u64.pow(digits.saturating_sub(1));
    format!("~{}", grouped((count + unit / 2) / unit * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(total: u64, rough: bool) -> Cycles {
        Cycles {
            total,
            base: total,
            code_stalls: 0,
            data_stalls: 0,
            memory_stalls: 0,
            rough,
        }
    }

    #[test]
    fn rough_cycles_have_two_digits() {
        let text = |count, rough| total(Some(&cycles(count, rough)));
        assert_eq!(text(2_737_735, true), "~2,700,000");
        assert_eq!(text(996, true), "~1,000");
        assert_eq!([text(7, true), text(0, true)], ["~7", "~0"]);
        assert_eq!(text(2_737_735, false), "2,737,735");
        assert_eq!(total(None), "-");
    }

    #[test]
    fn stalls_are_named_where_there_are_any() {
        let waiting = Cycles {
            code_stalls: 3,
            data_stalls: 4,
            ..cycles(17, false)
        };
        let text = sentence(&waiting);
        assert_eq!(text, "17 cycles (3 waiting for code, 4 for data)");
        assert_eq!(sentence(&cycles(17, false)), "17 cycles");
        let slow = cycles(17, false).waiting(5);
        assert_eq!(sentence(&slow), "22 cycles (5 waiting for the memories)");
        let both = waiting.waiting(5);
        let text = "22 cycles (3 waiting for code, 4 for data, 5 for the memories)";
        assert_eq!(sentence(&both), text);
    }
}
