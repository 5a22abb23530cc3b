//! Placing buffers in an arena, where some of them may overlap.
//!
//! | module | what it holds |
//! |---|---|
//! | [`problem`] | the buffers, when they are alive, how far each has to keep from the others |
//! | [`plan`] | exact searches, published heuristics, and the check of what they give |
//! | [`regions`] | the same in several memories |

pub mod plan;
pub mod problem;
pub mod regions;
