//! Blacker, Bridges and Hadfield, 'Diagonal Memory Optimisation for Machine Learning on
//! Micro-controllers', section III-E and IV.

use super::{Method, Row, Table, Unit};
use dmo_analysis::graph::zoo::Element;

const PAPER: &str = "Blacker, Bridges and Hadfield";

/// O_s of single operators. Two of its rows are mislabelled.
pub(super) const TABLE_2: Table = Table {
    paper: PAPER,
    number: "Table II",
    title: "Estimation error of safe overlap (O_s)",
    unit: Unit::Bytes,
    inputs_and_outputs: true,
    methods: &[
        Method::ExactOverlap,
        Method::EstimatedOverlap,
        Method::OverlapError,
    ],
    rows: &[
        Row {
            label: "mobilenet v1 1.0 224",
            network: "mobilenet_v1_1.0_224",
            element: Element::Float32,
            figures: &[Some("1204224"), Some("1193376"), Some("0.18%")],
            remark: Some(
                "mislabelled: O_s of MobileNet v2 1.0 224's second depthwise convolution, 3x3 with stride 2 on 112x112x96",
            ),
        },
        Row {
            label: "mobilenet v2 1.0 224",
            network: "mobilenet_v2_1.0_224",
            element: Element::Float32,
            figures: &[Some("1605632"), Some("1598400"), Some("0.15%")],
            remark: Some(
                "mislabelled: what is saved of MobileNet v1 1.0 224 as a whole, a third of 4704 KB; O_s of its operator, 1x1 on 112x112x32, is 1605508",
            ),
        },
        Row {
            label: "Inception ResNet v2",
            network: "inception_resnet_v2",
            element: Element::Float32,
            figures: &[Some("2746884"), Some("2746884"), Some("0%")],
            remark: Some("the 3x3 convolution from 147x147x32 to 147x147x64"),
        },
    ],
};

/// Peaks of whole models. KB are 1024 bytes.
pub(super) const TABLE_3: Table = Table {
    paper: PAPER,
    number: "Table III",
    title: "Memory saving using diagonal optimisation",
    unit: Unit::Kibibytes,
    inputs_and_outputs: true,
    methods: &[Method::WithoutOverlap, Method::WithOverlap, Method::Saving],
    rows: &[
        Row {
            label: "MobileNet v1 1.0 224",
            network: "mobilenet_v1_1.0_224",
            element: Element::Float32,
            figures: &[Some("4704"), Some("3136"), Some("33.3%")],
            remark: None,
        },
        Row {
            label: "MobileNet v1 1.0 224 (8 bit)",
            network: "mobilenet_v1_1.0_224",
            element: Element::Int8,
            figures: &[Some("1176"), Some("784"), Some("33.3%")],
            remark: None,
        },
        Row {
            label: "MobileNet v1 0.25 224",
            network: "mobilenet_v1_0.25_224",
            element: Element::Float32,
            figures: &[Some("1176"), Some("786"), Some("33.2%")],
            remark: None,
        },
        Row {
            label: "MobileNet v1 0.25 128 (8 bit)",
            network: "mobilenet_v1_0.25_128",
            element: Element::Int8,
            figures: &[Some("96"), Some("64"), Some("33.1%")],
            remark: None,
        },
        Row {
            label: "MobileNet v2 0.35 224",
            network: "mobilenet_v2_0.35_224",
            element: Element::Float32,
            figures: &[Some("2940"), Some("2352"), Some("20%")],
            remark: None,
        },
        Row {
            label: "MobileNet v2 1.0 224",
            network: "mobilenet_v2_1.0_224",
            element: Element::Float32,
            figures: &[Some("5880"), Some("4704"), Some("20%")],
            remark: None,
        },
        Row {
            label: "Inception v4",
            network: "inception_v4",
            element: Element::Float32,
            figures: &[Some("10879"), Some("10079"), Some("7.35%")],
            remark: Some("a placement's result: the largest operator needs 8732.875 KB"),
        },
        Row {
            label: "Inception ResNet v2",
            network: "inception_resnet_v2",
            element: Element::Float32,
            figures: &[Some("8399"), Some("5504"), Some("34.4%")],
            remark: Some("a placement's result: the largest operator needs 8103.375 KB"),
        },
        Row {
            label: "Nasnet Mobile",
            network: "nasnet_mobile",
            element: Element::Float32,
            figures: &[Some("4540"), Some("4540"), Some("None")],
            remark: Some(
                "a placement's result: the largest operator needs 3781.875 KB in the definition's order",
            ),
        },
        Row {
            label: "DenseNet 121",
            network: "densenet_121",
            element: Element::Float32,
            figures: &[Some("8624"), Some("8232"), Some("4.55%")],
            remark: Some(
                "the largest operator needs 8232 KB without overlap: what is saved is due to placement, as the paper says",
            ),
        },
        Row {
            label: "ResNet 50 v2",
            network: "resnet_50_v2",
            element: Element::Float32,
            figures: &[Some("10976"), Some("10976"), Some("None")],
            remark: Some(
                "a placement's result: the largest operator needs 9408 KB, and its additions can be done in place",
            ),
        },
    ],
};
