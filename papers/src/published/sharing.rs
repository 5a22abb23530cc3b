//! Pisarchyk and Lee, 'Efficient Memory Management for Deep Neural Net Inference', section
//! 6: intermediate tensors in 32-bit floating point.

use super::{Method, Row, Table, Unit};
use dmo_analysis::graph::zoo::Element;

const PAPER: &str = "Pisarchyk and Lee";

/// Each object has one size; tensors that are not live together share it.
pub(super) const TABLE_1: Table = Table {
    paper: PAPER,
    number: "Table 1",
    title: "Shared Objects: memory footprint in MiB",
    unit: Unit::Mebibytes,
    inputs_and_outputs: false,
    methods: &[
        Method::GreedyBySize,
        Method::GreedyBySizeImproved,
        Method::GreedyByBreadth,
        Method::GreedyLee,
        Method::MinCostFlow,
        Method::LowerBound,
        Method::Naive,
    ],
    rows: &[
        Row {
            label: "MobileNet v1",
            network: "mobilenet_v1_1.0_224",
            element: Element::Float32,
            figures: &[
                Some("4.594"),
                Some("4.594"),
                Some("6.125"),
                Some("4.594"),
                Some("5.359"),
                Some("4.594"),
                Some("19.248"),
            ],
            remark: None,
        },
        Row {
            label: "MobileNet v2",
            network: "mobilenet_v2_1.0_224",
            element: Element::Float32,
            figures: &[
                Some("7.178"),
                Some("6.891"),
                Some("6.699"),
                Some("8.039"),
                Some("7.513"),
                Some("6.604"),
                Some("26.313"),
            ],
            remark: None,
        },
        Row {
            label: "DeepLab v3",
            network: "deeplab_v3_257",
            element: Element::Float32,
            figures: &[
                Some("6.437"),
                Some("6.437"),
                Some("6.437"),
                Some("7.168"),
                Some("8.364"),
                Some("6.105"),
                Some("48.642"),
            ],
            remark: Some(
                "of the naive sum some 78,000 bytes are missing: that of the public file is 48.716",
            ),
        },
        Row {
            label: "Inception v3",
            network: "inception_v3",
            element: Element::Float32,
            figures: &[
                Some("10.337"),
                Some("10.337"),
                Some("10.676"),
                Some("12.703"),
                Some("10.624"),
                Some("8.955"),
                Some("54.010"),
            ],
            remark: Some(
                "another version: the naive sum of slim's definition is 54.749, its largest operator 7.9134",
            ),
        },
        Row {
            label: "PoseNet",
            network: "posenet_353x257",
            element: Element::Float32,
            figures: &[
                Some("6.347"),
                Some("6.347"),
                Some("8.390"),
                Some("6.347"),
                Some("7.359"),
                Some("6.347"),
                Some("28.556"),
            ],
            remark: None,
        },
        Row {
            label: "BlazeFace",
            network: "blazeface",
            element: Element::Float32,
            figures: &[
                Some("0.592"),
                Some("0.518"),
                Some("0.675"),
                Some("0.587"),
                Some("0.582"),
                Some("0.518"),
                Some("2.698"),
            ],
            remark: Some(
                "another version: the naive sum of the public model for the front camera is 7.062, its largest operator 1.313",
            ),
        },
    ],
};

/// Each tensor has an offset in one block.
pub(super) const TABLE_2: Table = Table {
    paper: PAPER,
    number: "Table 2",
    title: "Offset Calculation: memory footprint in MiB",
    unit: Unit::Mebibytes,
    inputs_and_outputs: false,
    methods: &[
        Method::GreedyBySize,
        Method::GreedyByBreadth,
        Method::GreedyLee,
        Method::StripPacking,
        Method::LowerBound,
        Method::Naive,
    ],
    rows: &[
        Row {
            label: "MobileNet v1",
            network: "mobilenet_v1_1.0_224",
            element: Element::Float32,
            figures: &[
                Some("4.594"),
                Some("4.594"),
                Some("6.125"),
                Some("4.594"),
                Some("4.594"),
                Some("19.248"),
            ],
            remark: None,
        },
        Row {
            label: "MobileNet v2",
            network: "mobilenet_v2_1.0_224",
            element: Element::Float32,
            figures: &[
                Some("5.742"),
                Some("5.742"),
                Some("6.508"),
                Some("6.029"),
                Some("5.742"),
                Some("26.313"),
            ],
            remark: None,
        },
        Row {
            label: "DeepLab v3",
            network: "deeplab_v3_257",
            element: Element::Float32,
            figures: &[
                Some("4.653"),
                Some("4.653"),
                Some("4.985"),
                Some("4.321"),
                Some("4.320"),
                Some("48.642"),
            ],
            remark: Some(
                "of the naive sum some 78,000 bytes are missing: that of the public file is 48.716",
            ),
        },
        Row {
            label: "Inception v3",
            network: "inception_v3",
            element: Element::Float32,
            figures: &[
                Some("7.914"),
                Some("7.914"),
                Some("10.624"),
                Some("7.914"),
                Some("7.914"),
                Some("54.010"),
            ],
            remark: Some(
                "another version: the naive sum of slim's definition is 54.749, its largest operator 7.9134",
            ),
        },
        Row {
            label: "PoseNet",
            network: "posenet_353x257",
            element: Element::Float32,
            figures: &[
                Some("6.271"),
                Some("7.359"),
                Some("8.362"),
                Some("6.271"),
                Some("6.271"),
                Some("28.556"),
            ],
            remark: None,
        },
        Row {
            label: "BlazeFace",
            network: "blazeface",
            element: Element::Float32,
            figures: &[
                Some("0.492"),
                Some("0.656"),
                Some("0.492"),
                Some("0.533"),
                Some("0.492"),
                Some("2.698"),
            ],
            remark: Some(
                "another version: the naive sum of the public model for the front camera is 7.062, its largest operator 1.313",
            ),
        },
    ],
};
