//! Parameters and multiply-accumulates against published counts.

use super::{float, network};
use dmo_analysis::graph::zoo::{Element, Figures};
use dmo_analysis::graph::{Graph, Node, Storage};

/// How many parameters a definition has for each channel of an operator's bias or pair of
/// constants, which stand for bias, batch normalisation or nothing: kind and scope of
/// the operator, kind of the first one that reads its output.
type PerChannel = fn(&str, &str, &str) -> u64;

/// Parameters of a definition, before anything was folded.
fn unfolded(graph: &Graph, per_channel: PerChannel) -> u64 {
    let count = |node: &Node| -> u64 {
        let constants = node.inputs.iter().map(|&id| graph.tensor(id));
        let shapes = constants
            .filter(|tensor| tensor.storage == Storage::Constant)
            .map(|tensor| tensor.shape.iter().map(|&n| u64::from(n)).product::<u64>());
        let output = node.outputs[0];
        let reader = graph
            .operators
            .iter()
            .find(|reader| reader.inputs.contains(&output))
            .map_or("", |reader| reader.kind.name());
        let name = &graph.tensor(output).name;
        let scope = name.split('/').next().unwrap();
        match (node.kind.name(), &shapes.collect::<Vec<u64>>()[..]) {
            ("CONV_2D" | "DEPTHWISE_CONV_2D" | "FULLY_CONNECTED", [filter, channels]) => {
                filter + channels * per_channel(node.kind.name(), scope, reader)
            }
            // A normalisation of its own: the ADD behind it counts nothing.
            ("MUL", [channels]) => channels * 4,
            _ => 0,
        }
    };
    graph.operators.iter().map(count).sum()
}

/// Parameters of the class that the hosted models have beyond the 1000.
fn class_of(features: u64) -> u64 {
    features + 1
}

fn normalised(_: &str, scope: &str, _: &str) -> u64 {
    if scope == "logits" { 1 } else { 4 }
}

/// Without the scale of the normalisation.
fn normalised_without_scale(_: &str, scope: &str, reader: &str) -> u64 {
    match (scope, reader) {
        ("logits" | "predictions", _) => 1,
        // The residual of Inception-ResNet has a bias.
        (scope, "ADD") if scope.starts_with("block") => 1,
        _ => 3,
    }
}

#[test]
fn keras_mobilenets() {
    for (name, features, expected) in [
        ("mobilenet_v1_1.0_224", 1024, 4_253_864),
        ("mobilenet_v1_0.75_224", 768, 2_601_976),
        ("mobilenet_v1_0.5_224", 512, 1_342_536),
        ("mobilenet_v1_0.25_224", 256, 475_544),
        ("mobilenet_v2_1.4_224", 1792, 6_156_712),
        ("mobilenet_v2_1.0_224", 1280, 3_538_984),
        ("mobilenet_v2_0.75_224", 1280, 2_663_064),
        ("mobilenet_v2_0.5_224", 1280, 1_987_224),
    ] {
        let counted = unfolded(&float(name), normalised) - class_of(features);
        assert_eq!(counted, expected, "{name}");
    }
}

#[test]
fn keras_inceptions() {
    let v3 = unfolded(&float("inception_v3"), normalised_without_scale);
    assert_eq!(v3 - class_of(2048), 23_851_784);
    let resnet = unfolded(&float("inception_resnet_v2"), normalised_without_scale);
    assert_eq!(resnet, 55_873_736);
}

/// Trainable ones, scale and shift of the normalisation, of a PyTorch port.
#[test]
fn inception_v4() {
    let counted = unfolded(&float("inception_v4"), |_, scope, _| match scope {
        "logits" => 1,
        _ => 2,
    });
    assert_eq!(counted - class_of(1536), 42_679_816);
}

#[test]
fn keras_nasnet() {
    let counted = unfolded(&float("nasnet_mobile"), |kind, scope, reader| {
        match (kind, scope, reader) {
            (_, "predictions", _) => 1,
            // Separable convolutions have no bias between; the halves of an adjusted
            // input are normalised together.
            ("DEPTHWISE_CONV_2D", ..) | (_, _, "CONCATENATION") => 0,
            _ => 4,
        }
    });
    assert_eq!(counted, 5_326_716);
}

#[test]
fn keras_densenet() {
    let counted = unfolded(&float("densenet_121"), |_, scope, reader| {
        match (scope, reader) {
            ("predictions", _) => 1,
            (_, "CONCATENATION" | "AVERAGE_POOL_2D") => 0,
            _ => 4,
        }
    });
    assert_eq!(counted, 8_062_504);
}

#[test]
fn keras_resnet() {
    let counted = unfolded(&float("resnet_50_v2"), |_, scope, reader| {
        match (scope, reader) {
            ("predictions" | "conv1", _) | (_, "ADD") => 1,
            _ => 4,
        }
    });
    assert_eq!(counted, 25_613_800);
}

/// In millions, rounded as printed: the MobileNet papers (v1 tables 6 and 7; v2 table 4
/// and its model page), slim's list for Inception.
#[test]
fn published_multiply_accumulates() {
    for (name, expected) in [
        ("mobilenet_v1_1.0_224", 569),
        ("mobilenet_v1_0.75_224", 325),
        ("mobilenet_v1_0.5_224", 149),
        ("mobilenet_v1_0.25_224", 41),
        ("mobilenet_v1_1.0_192", 418),
        ("mobilenet_v1_1.0_128", 186),
        ("mobilenet_v2_1.4_224", 582),
        ("mobilenet_v2_1.3_224", 509),
        ("mobilenet_v2_1.0_224", 301),
        ("mobilenet_v2_1.0_192", 221),
        ("mobilenet_v2_1.0_160", 154),
        ("mobilenet_v2_1.0_128", 99),
        ("mobilenet_v2_0.75_224", 209),
        ("mobilenet_v2_0.5_224", 97),
        ("mobilenet_v2_0.35_224", 59),
    ] {
        let counted = Figures::of(&float(name)).multiply_accumulates;
        assert_eq!((counted + 500_000) / 1_000_000, expected, "{name}");
    }
}

#[test]
fn the_type_of_the_elements_counts_for_bytes_only() {
    for name in ["mobilenet_v2_0.35_96", "deeplab_v3_257", "swiftnet_vww"] {
        let [float, int8] =
            [Element::Float32, Element::Int8].map(|element| Figures::of(&network(name, element)));
        assert_eq!(float.parameters, int8.parameters);
        assert_eq!(float.multiply_accumulates, int8.multiply_accumulates);
        assert_eq!(float.naive_bytes, 4 * int8.naive_bytes);
        assert_eq!(float.lower_bound_bytes, 4 * int8.lower_bound_bytes);
    }
}
