//! Networks built in code from their public architecture definitions, weights left out:
//! the ones that the papers on planning and overlapping measure.
//!
//! Each is what TensorFlow Lite's converter makes of its definition: batch normalisation
//! folded into the convolution before it, activation functions fused, constants in the
//! places and layouts of the .tflite format. Where there is no convolution to fold into,
//! in DenseNet and ResNet v2 before it, a normalisation is a multiplication and an
//! addition with constants.
//!
//! To add a network: one file in `zoo/`, one row in [`NETWORKS`].

mod blazeface;
mod builder;
mod deeplab;
mod densenet;
mod element;
mod example;
mod figures;
mod inception;
mod inception_resnet;
mod mobilenet;
mod nasnet;
mod posenet;
mod resnet;
mod swiftnet;
mod taps;

pub use element::Element;
pub use figures::{Figures, live_bytes};

use super::Graph;

/// A network of the zoo.
#[derive(Debug, Clone, Copy)]
pub struct Network {
    /// Name on the command line.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Where its definition comes from.
    pub source: &'static str,
    build: fn(Element) -> Graph,
}

impl Network {
    /// Its graph, with activations and weights of this type.
    pub fn build(&self, element: Element) -> Graph {
        (self.build)(element)
    }
}

/// The network of this name.
pub fn find(name: &str) -> Option<&'static Network> {
    NETWORKS.iter().find(|network| network.name == name)
}

/// A row of MobileNet: version, name, width in percent, resolution.
macro_rules! mobilenet {
    (v1, $name:literal, $width:literal, $resolution:literal) => {
        Network {
            name: $name,
            description: "MobileNet v1 (width, resolution), 1001 classes",
            source: "TensorFlow Lite's hosted models; arXiv:1704.04861",
            build: |element| mobilenet::v1($name, $width, $resolution, element),
        }
    };
    (v2, $name:literal, $width:literal, $resolution:literal) => {
        Network {
            name: $name,
            description: "MobileNet v2 (width, resolution), 1001 classes",
            source: "TensorFlow Lite's hosted models; arXiv:1801.04381",
            build: |element| mobilenet::v2($name, $width, $resolution, element),
        }
    };
}

/// All networks.
pub const NETWORKS: &[Network] = &[
    mobilenet!(v1, "mobilenet_v1_0.25_128", 25, 128),
    mobilenet!(v1, "mobilenet_v1_0.25_160", 25, 160),
    mobilenet!(v1, "mobilenet_v1_0.25_192", 25, 192),
    mobilenet!(v1, "mobilenet_v1_0.25_224", 25, 224),
    mobilenet!(v1, "mobilenet_v1_0.5_128", 50, 128),
    mobilenet!(v1, "mobilenet_v1_0.5_160", 50, 160),
    mobilenet!(v1, "mobilenet_v1_0.5_192", 50, 192),
    mobilenet!(v1, "mobilenet_v1_0.5_224", 50, 224),
    mobilenet!(v1, "mobilenet_v1_0.75_128", 75, 128),
    mobilenet!(v1, "mobilenet_v1_0.75_160", 75, 160),
    mobilenet!(v1, "mobilenet_v1_0.75_192", 75, 192),
    mobilenet!(v1, "mobilenet_v1_0.75_224", 75, 224),
    mobilenet!(v1, "mobilenet_v1_1.0_128", 100, 128),
    mobilenet!(v1, "mobilenet_v1_1.0_160", 100, 160),
    mobilenet!(v1, "mobilenet_v1_1.0_192", 100, 192),
    mobilenet!(v1, "mobilenet_v1_1.0_224", 100, 224),
    mobilenet!(v2, "mobilenet_v2_0.35_96", 35, 96),
    mobilenet!(v2, "mobilenet_v2_0.35_128", 35, 128),
    mobilenet!(v2, "mobilenet_v2_0.35_160", 35, 160),
    mobilenet!(v2, "mobilenet_v2_0.35_192", 35, 192),
    mobilenet!(v2, "mobilenet_v2_0.35_224", 35, 224),
    mobilenet!(v2, "mobilenet_v2_0.5_96", 50, 96),
    mobilenet!(v2, "mobilenet_v2_0.5_128", 50, 128),
    mobilenet!(v2, "mobilenet_v2_0.5_160", 50, 160),
    mobilenet!(v2, "mobilenet_v2_0.5_192", 50, 192),
    mobilenet!(v2, "mobilenet_v2_0.5_224", 50, 224),
    mobilenet!(v2, "mobilenet_v2_0.75_96", 75, 96),
    mobilenet!(v2, "mobilenet_v2_0.75_128", 75, 128),
    mobilenet!(v2, "mobilenet_v2_0.75_160", 75, 160),
    mobilenet!(v2, "mobilenet_v2_0.75_192", 75, 192),
    mobilenet!(v2, "mobilenet_v2_0.75_224", 75, 224),
    mobilenet!(v2, "mobilenet_v2_1.0_96", 100, 96),
    mobilenet!(v2, "mobilenet_v2_1.0_128", 100, 128),
    mobilenet!(v2, "mobilenet_v2_1.0_160", 100, 160),
    mobilenet!(v2, "mobilenet_v2_1.0_192", 100, 192),
    mobilenet!(v2, "mobilenet_v2_1.0_224", 100, 224),
    mobilenet!(v2, "mobilenet_v2_1.3_224", 130, 224),
    mobilenet!(v2, "mobilenet_v2_1.4_224", 140, 224),
    Network {
        name: "inception_v3",
        description: "Inception v3, 299x299, 1001 classes",
        source: "slim definition; arXiv:1512.00567",
        build: inception::v3,
    },
    Network {
        name: "inception_v4",
        description: "Inception v4, 299x299, 1001 classes",
        source: "slim definition; arXiv:1602.07261",
        build: inception::v4,
    },
    Network {
        name: "inception_resnet_v2",
        description: "Inception-ResNet v2, 299x299, 1000 classes",
        source: "Keras definition; arXiv:1602.07261",
        build: inception_resnet::v2,
    },
    Network {
        name: "nasnet_mobile",
        description: "NASNet-A Mobile, 224x224, 1000 classes",
        source: "Keras definition; arXiv:1707.07012",
        build: nasnet::mobile,
    },
    Network {
        name: "densenet_121",
        description: "DenseNet 121, 224x224, 1000 classes",
        source: "Keras definition; arXiv:1608.06993",
        build: densenet::densenet_121,
    },
    Network {
        name: "resnet_50_v2",
        description: "ResNet 50 v2, 224x224, 1000 classes",
        source: "Keras definition; arXiv:1603.05027",
        build: resnet::resnet_50_v2,
    },
    Network {
        name: "deeplab_v3_257",
        description: "DeepLab v3 on MobileNet v2 0.5, 257x257, 21 classes",
        source: "deeplabv3_257_mv_gpu.tflite; arXiv:1706.05587",
        build: deeplab::v3_257,
    },
    Network {
        name: "posenet_353x257",
        description: "PoseNet on MobileNet v1 0.75, 353x257, output stride 16",
        source: "multi_person_mobilenet_v1_075_float.tflite; arXiv:1803.08225",
        build: posenet::mobilenet_075_353x257,
    },
    Network {
        name: "blazeface",
        description: "BlazeFace for the front camera, 128x128, 896 anchors",
        source: "face_detection_front.tflite; arXiv:1907.05047",
        build: blazeface::front,
    },
    Network {
        name: "person_detection",
        description: "MobileNet v1 0.25 of a grey 96x96 image, 2 classes",
        source: "person_detect.tflite of TensorFlow Lite Micro",
        build: mobilenet::person_detection,
    },
    Network {
        name: "swiftnet_vww",
        description: "SwiftNet cells for Visual Wake Words, 224x224, 2 classes",
        source: "vwwc19-submission, submission-uint8.lite; arXiv:1906.08305",
        build: swiftnet::visual_wake_words,
    },
    Network {
        name: "liberis_lane_figure_1",
        description: "Two branches of seven operators",
        source: "Liberis and Lane, Figure 1; arXiv:1910.05110",
        build: example::figure_1,
    },
];
