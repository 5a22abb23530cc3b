//! Liberis and Lane, 'Neural networks on microcontrollers: saving memory at inference via
//! operator reordering'.

use super::{Method, Row, Table, Unit};
use dmo_analysis::graph::zoo::Element;
use serde::Serialize;

const PAPER: &str = "Liberis and Lane";

/// Without its rows of time and energy. KB are 1000 bytes.
pub(super) const TABLE_1: Table = Table {
    paper: PAPER,
    number: "Table 1",
    title: "Peak memory usage (excl. overheads)",
    unit: Unit::Kilobytes,
    inputs_and_outputs: true,
    methods: &[
        Method::DefaultOrder,
        Method::OptimalOrder,
        Method::StaticAllocation,
        Method::DynamicAllocation,
    ],
    rows: &[
        Row {
            label: "SwiftNet Cell",
            network: "swiftnet_vww",
            element: Element::Int8,
            figures: &[Some("351"), Some("301"), None, None],
            remark: None,
        },
        Row {
            label: "MobileNet v1",
            network: "person_detection",
            element: Element::Int8,
            figures: &[None, None, Some("241"), Some("55")],
            remark: Some("the person detection example of TensorFlow Lite Micro"),
        },
    ],
};

/// What lies in memory while each operator of Figure 1 runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WorkingSets {
    /// The figure's number and what it shows.
    pub title: &'static str,
    /// Numbers of the operators, which count from 1, in the order in which they run.
    pub order: [usize; 7],
    /// Bytes, operator by operator.
    pub bytes: [u64; 7],
}

/// The tables of Appendix A, for the zoo's `liberis_lane_figure_1` in int8.
pub const APPENDIX_A: [WorkingSets; 2] = [
    WorkingSets {
        title: "Figure 2: default operator ordering",
        order: [1, 2, 3, 4, 5, 6, 7],
        bytes: [4704, 4704, 5216, 4160, 1280, 1024, 1024],
    },
    WorkingSets {
        title: "Figure 3: optimised operator ordering",
        order: [1, 4, 6, 2, 3, 5, 7],
        bytes: [4704, 3648, 3904, 4960, 2336, 1024, 1024],
    },
];
