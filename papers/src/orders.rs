//! How published work orders operators, and an allocator that it orders them for.

pub mod dynamic;
pub mod liberis_lane;
pub mod serial;
