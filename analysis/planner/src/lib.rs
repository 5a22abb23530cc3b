//! Placing buffers in an arena, where some of them may overlap.
//!
//! | module | what it holds |
//! |---|---|
//! | [`wording`] | numbers in messages |
//! | [`problem`] | the buffers, when they are alive, how far each has to keep from the others |
//! | [`budget`] | how much work a search may do |
//! | [`plan`] | exact searches, published heuristics, and the check of what they give |
//! | [`minimalloc`] | problems and plans as the .csv of google/minimalloc |
//! | [`regions`] | the same in several memories |
//!
//! Three buffers, the first two of which may share all but 16 bytes; the plan is proven, and
//! checked by a function that knows no planner:
//!
//! ```
//! use dmo_planner::budget::Budget;
//! use dmo_planner::plan::exact;
//! use dmo_planner::problem::{Buffer, Displacement, Problem};
//!
//! let buffer = |name: &str, size_bytes, alive, alignment| Buffer {
//!     name: name.to_owned(),
//!     size_bytes,
//!     alive,
//!     alignment,
//!     fixed_offset: None,
//! };
//! let buffers = vec![
//!     buffer("input", 100, 0..2, 1),
//!     buffer("output", 64, 1..3, 4),
//!     buffer("scratch", 10, 1..2, 1),
//! ];
//! let overlap = Displacement { lower: 1, upper: 0, bytes: 16 };
//! let problem = Problem::new(buffers, &[overlap])?;
//!
//! let best = exact::plan(&problem, &mut Budget::of_seconds(1.0));
//! assert_eq!(best.plan.check(&problem), vec![]);
//! assert!(best.is_optimal());
//! assert_eq!(best.arena_bytes, 16 + 100 + 10);
//! # Ok::<(), dmo_planner::problem::ProblemError>(())
//! ```
//!
//! Problems and plans without overlaps are files of google/minimalloc:
//!
//! ```
//! use dmo_planner::plan::{Plan, Strategy};
//! use dmo_planner::minimalloc::{Table, table};
//!
//! let read = Table::parse("id,lower,upper,size,alignment\na,0,3,4,1\nb,2,5,8,8\n")?;
//! let plan = Strategy::named("offsets-by-size").and_then(|planner| planner.plan(&read.problem));
//! let plan: Plan = plan.expect("few buffers, of which none is fixed");
//! let text = table(&read.problem, Some(&plan))?;
//! assert_eq!(text, "id,lower,upper,size,alignment,offset\na,0,3,4,1,8\nb,2,5,8,8,0\n");
//! # Ok::<(), dmo_planner::minimalloc::TableError>(())
//! ```

pub mod budget;
pub mod minimalloc;
pub mod plan;
pub mod problem;
pub mod regions;
pub mod wording;
