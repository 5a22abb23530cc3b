//! Pictures of plans: that all buffers are on them, hatched where two share memory, and that
//! they survive any problem, any plan and any name.
//!
//! Set `DMO_PLOT_DIR` to a folder to keep the pictures and look at them.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

#[allow(dead_code, reason = "the tests of traces use the rest")]
#[path = "plot/picture.rs"]
mod picture;

use dmo_analysis::graph::OperatorId;
use dmo_analysis::graph::zoo::{Element, find};
use dmo_planner::plan::{Plan, STRATEGIES, Strategy as Planner};
use dmo_planner::problem::{Buffer, Displacement, Problem};
use dmo_plot::{Figure, PlanPicture, draw_plan, draw_plans, step_names};
use picture::{Pixels, check, keep, panels};
use proptest::prelude::*;

const ORDINARY: &str = "#E0E0E0";
const PEAK: &str = "#A6C8EE";
const HATCH: &str = "#B05F00";

fn buffer(name: &str, size_bytes: u64, alive: std::ops::Range<u32>) -> Buffer {
    Buffer {
        name: name.to_owned(),
        size_bytes,
        alive,
        alignment: 1,
        fixed_offset: None,
    }
}

/// What is drawn of a colour: filled rectangles and lines.
fn count(figure: &Figure, colour: &str) -> (usize, usize) {
    let document = roxmltree::Document::parse(&figure.svg).unwrap();
    let of = |tag: &str, attribute: &str| {
        let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
        nodes
            .filter(|node| node.attribute(attribute) == Some(colour))
            .count()
    };
    (of("rect", "fill"), of("line", "stroke"))
}

/// Filled rectangles of buffers, without the legend's.
fn blocks(figure: &Figure) -> usize {
    let of = |colour| count(figure, colour).0.saturating_sub(1);
    of(ORDINARY) + of(PEAK)
}

fn hatched(figure: &Figure) -> bool {
    count(figure, HATCH).1 > 0
}

/// By the definition: two that have a byte and a step in common.
fn any_overlap(problem: &Problem, plan: &Plan) -> bool {
    let placed: Vec<(&Buffer, u64)> = problem.buffers().iter().zip(plan.offsets.clone()).collect();
    let meet = |(one, at): (&Buffer, u64), (other, other_at): (&Buffer, u64)| {
        one.alive.start.max(other.alive.start) < one.alive.end.min(other.alive.end)
            && at.max(other_at) < (at + one.size_bytes).min(other_at + other.size_bytes)
    };
    (0..placed.len()).any(|one| (0..one).any(|other| meet(placed[one], placed[other])))
}

fn draw(title: &str, problem: &Problem, plan: &Plan, steps: &[String]) -> Figure {
    let picture = PlanPicture {
        title,
        problem,
        plan,
        steps,
    };
    let figure = draw_plan(&picture).unwrap();
    check(&figure);
    figure
}

fn steps(count: usize) -> Vec<String> {
    (0..count)
        .map(|step| format!("CONV_2D of {step}"))
        .collect()
}

/// An input of 1,000 bytes at the end of an output of 2,000, which a result follows.
fn three() -> (Problem, Plan) {
    let buffers = vec![
        buffer("input", 1000, 0..2),
        buffer("hidden", 2000, 1..3),
        buffer("result", 500, 2..4),
    ];
    let overlap = Displacement {
        lower: 1,
        upper: 0,
        bytes: 1500,
    };
    let problem = Problem::new(buffers, &[overlap]).unwrap();
    let plan = Plan {
        offsets: vec![1500, 0, 2000],
    };
    assert_eq!(plan.check(&problem), vec![]);
    (problem, plan)
}

#[test]
fn three_buffers_are_where_the_plan_puts_them() {
    let (problem, plan) = three();
    let figure = draw("three", &problem, &plan, &steps(4));
    keep("three", &figure);
    assert_eq!(figure.name, "plan-three");
    let (x, y, width, height) = panels(&figure)
        .into_iter()
        .max_by_key(|panel| panel.2 * panel.3)
        .unwrap();
    let pixels = Pixels::of(&figure);
    // The panel is as high as the arena and a twelfth.
    let at = |step: f64, byte: f64| {
        let up = byte / (2500.0 + 208.0) * f64::from(height);
        let across = step / 4.0 * f64::from(width);
        (x + across as u32, y + height - up as u32)
    };
    let colour = |step, byte| {
        let (x, y) = at(step, byte);
        pixels.at(x, y)
    };
    // The input ends at the arena's end too, but the result stands on the hidden layer.
    for (step, byte, expected) in [
        (0.1, 2400.0, PEAK),
        (1.1, 100.0, PEAK),
        (3.9, 2100.0, PEAK),
        (0.1, 1000.0, "#FFFFFF"),
        (3.9, 1000.0, "#FFFFFF"),
    ] {
        assert_eq!(colour(step, byte), expected, "step {step}, byte {byte}");
    }
    // Lines are five pixels apart.
    let plain = |step, byte| {
        let (x, y) = at(step, byte);
        (x - 3..x + 3).all(|x| pixels.at(x, y) == PEAK)
    };
    assert!(hatched(&figure));
    for byte in [1520.0, 1750.0, 1980.0] {
        assert!(
            !plain(1.1, byte) && !plain(1.9, byte),
            "not hatched: {byte}"
        );
        assert!(plain(0.1, byte) && plain(2.9, byte), "hatched: {byte}");
    }
    assert!(plain(1.1, 1480.0) && plain(1.1, 2020.0));
    for text in [
        "input",
        "hidden",
        "result",
        "1,000 bytes",
        "arena: 2,500 bytes",
    ] {
        assert!(figure.svg.contains(text), "{text}");
    }
}

/// A small buffer beside the two that fill the arena does not make the peak.
#[test]
fn only_what_fills_the_arena_makes_the_peak() {
    let buffers = vec![
        buffer("large", 3000, 0..2),
        buffer("larger", 4000, 1..3),
        buffer("small", 10, 2..4),
    ];
    let problem = Problem::new(buffers, &[]).unwrap();
    let plan = Plan {
        offsets: vec![0, 3000, 0],
    };
    let figure = draw("peak", &problem, &plan, &[]);
    assert_eq!(count(&figure, PEAK).0, 1 + 2);
    assert_eq!(count(&figure, ORDINARY).0, 1 + 1);
    assert!(!hatched(&figure));
}

/// The chain meets in different steps: a stands below b, b below c, a and c never meet.
#[test]
fn a_chain_over_several_steps_makes_the_peak() {
    let buffers = vec![
        buffer("a", 1000, 0..2),
        buffer("b", 1000, 1..3),
        buffer("c", 1000, 2..4),
        buffer("d", 500, 3..4),
    ];
    let problem = Problem::new(buffers, &[]).unwrap();
    let plan = Plan {
        offsets: vec![0, 1000, 2000, 0],
    };
    let figure = draw("chain", &problem, &plan, &[]);
    assert_eq!(count(&figure, PEAK).0, 1 + 3);
}

#[test]
fn two_plans_have_one_scale_and_a_saving() {
    let (problem, plan) = three();
    let apart = problem.without_overlaps();
    let before = Planner::named("offsets-by-size")
        .unwrap()
        .plan(&apart)
        .unwrap();
    let steps = steps(4);
    let picture = |title, problem, plan| PlanPicture {
        title,
        problem,
        plan,
        steps: &steps,
    };
    let figure = draw_plans(
        "three",
        &picture("apart", &apart, &before),
        &picture("overlapped", &problem, &plan),
    )
    .unwrap();
    check(&figure);
    keep("two", &figure);
    assert_eq!(figure.name, "plans-three");
    assert_eq!(blocks(&figure), 6);
    assert!(hatched(&figure));
    for text in [
        "apart: 3,000 bytes",
        "overlapped: 2,500 bytes, 16.7 % saved",
        "before: 3,000 bytes",
        "500 bytes saved",
    ] {
        assert!(figure.svg.contains(text), "{text}");
    }
    let panels: Vec<_> = panels(&figure)
        .into_iter()
        .filter(|panel| panel.3 > 500)
        .collect();
    assert_eq!(panels.len(), 2);
    assert_eq!(panels[0].1, panels[1].1);
    assert_eq!(panels[0].3, panels[1].3);
}

/// A thousand buffers in a thousand steps, each on the end of the next.
#[test]
fn a_thousand_buffers_make_a_small_picture() {
    let count = 1000;
    let name = |index: u32| format!("block_{}/unit_{index}/Relu6", index / 20);
    let size = |index: u32| u64::from(4000 + index * 7919 % 2000);
    let buffers: Vec<Buffer> = (0..count)
        .map(|index| buffer(&name(index), size(index), index..index + 2))
        .collect();
    let overlap = |index: u32| Displacement {
        lower: index as usize,
        upper: index as usize - 1,
        bytes: 3000,
    };
    let overlaps: Vec<Displacement> = (1..count).map(overlap).collect();
    let problem = Problem::new(buffers, &overlaps).unwrap();
    let plan = Planner::named("stack").unwrap().plan(&problem).unwrap();
    let start = std::time::Instant::now();
    let figure = draw("thousand", &problem, &plan, &steps(1000));
    println!(
        "drawn and checked in {:?}: {} bytes",
        start.elapsed(),
        figure.svg.len()
    );
    keep("thousand", &figure);
    assert_eq!(blocks(&figure), 1000);
    assert!(hatched(&figure));
    assert!(figure.svg.len() < 1_000_000, "{}", figure.svg.len());
    assert_eq!(figure, draw("thousand", &problem, &plan, &steps(1000)));
}

/// A valid plan in which all bytes of all buffers are shared.
#[test]
fn buffers_that_all_share_everything_make_a_small_picture() {
    let buffers: Vec<Buffer> = (0..300)
        .map(|index| buffer("same", 5000, index..301 + index))
        .collect();
    let mut overlaps = Vec::new();
    for upper in 0..300 {
        overlaps.extend((upper + 1..300).map(|lower| Displacement {
            lower,
            upper,
            bytes: 0,
        }));
    }
    let problem = Problem::new(buffers, &overlaps).unwrap();
    let plan = Plan {
        offsets: vec![0; 300],
    };
    assert_eq!(plan.check(&problem), vec![]);
    let figure = draw("same", &problem, &plan, &[]);
    assert_eq!(blocks(&figure), 300);
    assert!(hatched(&figure));
}

#[test]
fn hostile_names_are_only_text() {
    let long = "very_long_name_".repeat(2000);
    let names = [
        "<&\">'",
        "тензор-värde-漢字",
        "\u{0}\u{1b}[31m\n\t\u{202e}\u{fffe}",
        "../../etc/passwd",
        "",
        "    ",
        long.as_str(),
    ];
    let steps: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let buffers: Vec<Buffer> = (0..)
        .zip(names)
        .map(|(step, name)| buffer(name, 100, step..step + 2))
        .collect();
    let problem = Problem::new(buffers, &[]).unwrap();
    let plan = STRATEGIES[0].plan(&problem).unwrap();
    for title in names {
        let figure = draw(title, &problem, &plan, &steps);
        assert_eq!(blocks(&figure), names.len());
        let picture = PlanPicture {
            title,
            problem: &problem,
            plan: &plan,
            steps: &steps,
        };
        let figure = draw_plans(title, &picture, &picture).unwrap();
        check(&figure);
        figure.png().unwrap();
    }
}

/// An operator keeps its number, wherever in the order it runs.
#[test]
fn steps_have_the_numbers_of_their_operators() {
    let graph = find("liberis_lane_figure_1").unwrap().build(Element::Int8);
    let order: Vec<OperatorId> = [0, 3, 4, 1, 2, 5, 6].map(OperatorId).to_vec();
    let names = step_names(&graph, &order);
    assert_eq!(names.len(), 8);
    assert_eq!(names[..3], ["inputs", "0 CONV_2D", "3 CONV_2D"]);
    assert_eq!(names[4], "1 CONV_2D");

    let thin = vec![
        buffer("a name that finds no room", 1, 0..3),
        buffer("large", 4000, 2..8),
    ];
    let problem = Problem::new(thin, &[]).unwrap();
    let plan = STRATEGIES[0].plan(&problem).unwrap();
    let figure = draw("reordered", &problem, &plan, &names);
    assert!(figure.svg.contains("3 CONV_2D"));
    assert!(figure.svg.contains("inputs to 3"), "{}", figure.svg);
}

#[test]
fn empty_and_broken_plans_have_pictures() {
    let empty = Problem::new(Vec::new(), &[]).unwrap();
    let none = Plan {
        offsets: Vec::new(),
    };
    let figure = draw("empty", &empty, &none, &[]);
    assert!(figure.svg.contains("no buffer is placed"));
    let (problem, plan) = three();
    for offsets in [
        vec![],
        vec![7],
        vec![u64::MAX; 3],
        vec![0, 0, u64::MAX, 4, 5],
    ] {
        let broken = Plan { offsets };
        let placed = broken.offsets.len().min(3);
        assert_eq!(blocks(&draw("broken", &problem, &broken, &[])), placed);
        let picture = |problem, plan| PlanPicture {
            title: "broken",
            problem,
            plan,
            steps: &[],
        };
        for other in [picture(&problem, &plan), picture(&empty, &none)] {
            check(&draw_plans("broken", &picture(&problem, &broken), &other).unwrap());
            check(&draw_plans("broken", &other, &picture(&problem, &broken)).unwrap());
        }
    }
    let late = vec![buffer("late", 1 << 47, u32::MAX - 2..u32::MAX)];
    let problem = Problem::new(late, &[]).unwrap();
    let plan = Plan { offsets: vec![0] };
    for steps in [vec![], vec!["first".to_owned()]] {
        assert_eq!(blocks(&draw("late", &problem, &plan, &steps)), 1);
    }
}

prop_compose! {
    fn any_buffer()(
        name in "[a-z_/]{0,60}",
        size_bytes in prop_oneof![1..100_u64, 1..100_000_u64],
        start in 0..60_u32,
        length in prop_oneof![1..4_u32, 1..60_u32],
    ) -> Buffer {
        buffer(&name, size_bytes, start..start + length)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Plans that no planner would give are drawn as they are.
    #[test]
    fn any_plan_of_any_problem_has_a_picture(
        mut buffers in prop::collection::vec(any_buffer(), 0..40),
        offsets in prop::collection::vec(0..200_000_u64, 40),
        alignment in prop::sample::select(vec![1_u64, 16]),
        named in 0..120_usize,
        planner in prop::sample::select(STRATEGIES),
    ) {
        for buffer in &mut buffers {
            buffer.alignment = alignment;
        }
        let problem = Problem::new(buffers, &[]).unwrap();
        let random = Plan { offsets };
        let planned = planner.plan(&problem).unwrap();
        for plan in [&random, &planned] {
            let figure = draw("random", &problem, plan, &steps(named));
            prop_assert_eq!(blocks(&figure), problem.buffers().len());
            prop_assert_eq!(hatched(&figure), any_overlap(&problem, plan));
        }
        prop_assert!(!any_overlap(&problem, &planned));
        let picture = |plan| PlanPicture { title: "random", problem: &problem, plan, steps: &[] };
        let figure = draw_plans("random", &picture(&random), &picture(&planned)).unwrap();
        check(&figure);
    }
}
