//! The whole arena of TensorFlow Lite Micro: what firmware reports.
//!
//! The figures were measured: firmware for a Cortex-M4 that is built of tflite-micro 90b983c, with
//! its reference kernels and with CMSIS-NN 4ab83cc, prepared each of these models under QEMU. The
//! test leaves the files in its folder for whoever measures again.

use super::lowered::cases;
use super::net::network;
use dmo_analysis::graph::tflite::{RuntimeKernels, export};
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::graph::{Graph, TensorType};
use dmo_analysis::tflm::{
    SharedArena, TflmError, WholeArena, whole_arena, whole_arena_in_place_of_cmsis_nn,
};
use std::path::Path;

/// A model, and for reference kernels and CMSIS-NN each what `arena_used_bytes` gives and the
/// smallest multiple of 16 that is enough for `AllocateTensors`; 0 where the runtime does not
/// survive an arena that is too small.
type Measured = (&'static str, [u64; 2], [u64; 2]);

const MEASURED: &[Measured] = &[
    ("0-conv_2d", [916, 928], [1012, 1024]),
    ("1-transpose_conv", [1156, 1168], [868, 880]),
    ("2-batch_matmul", [944, 944], [960, 960]),
    ("3-concatenation", [500, 592], [500, 592]),
    ("4-split", [440, 608], [440, 608]),
    ("5-split_v", [456, 640], [456, 640]),
    ("6-transpose", [388, 0], [388, 0]),
    ("7-slice", [388, 0], [388, 0]),
    ("8-strided_slice", [516, 0], [516, 0]),
    ("9-resize_bilinear", [720, 720], [720, 720]),
    ("10-leaky_relu", [388, 512], [388, 512]),
    ("net-INT8", [1892, 2864], [2068, 3008]),
    ("net-INT16", [4340, 4944], [4404, 5168]),
    ("net-FLOAT32", [2848, 2848], [2800, 2800]),
    (
        "mobilenet_v1_0.25_128-int8",
        [166_068, 166_080],
        [166_084, 166_096],
    ),
    (
        "mobilenet_v1_0.25_128-float32",
        [559_248, 559_248],
        [529_344, 529_344],
    ),
    (
        "mobilenet_v2_0.35_96-int8",
        [212_788, 212_800],
        [212_804, 212_816],
    ),
    (
        "mobilenet_v2_0.35_96-float32",
        [627_472, 627_472],
        [563_136, 563_136],
    ),
];

/// Models that are built here, by name.
fn models() -> Vec<(String, Vec<u8>)> {
    let mut graphs: Vec<(String, Graph)> = Vec::new();
    for (index, graph) in cases().into_iter().enumerate() {
        let kind = graph.operators[0].kind.name().to_lowercase();
        graphs.push((format!("{index}-{kind}"), graph));
    }
    for (element_type, bytes) in [
        (TensorType::Int8, 1),
        (TensorType::Int16, 2),
        (TensorType::Float32, 4),
    ] {
        graphs.push((format!("net-{element_type}"), network(element_type, bytes)));
    }
    for name in ["mobilenet_v1_0.25_128", "mobilenet_v2_0.35_96"] {
        for (element, suffix) in [(Element::Int8, "int8"), (Element::Float32, "float32")] {
            let network = zoo::find(name).unwrap();
            graphs.push((format!("{name}-{suffix}"), network.build(element)));
        }
    }
    let files = graphs.into_iter();
    files
        .map(|(name, graph)| (name, export(&graph, 1).unwrap()))
        .collect()
}

#[test]
fn firmware_takes_as_much() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole_arena");
    std::fs::create_dir_all(&folder).unwrap();
    let models = models();
    assert_eq!(models.len(), MEASURED.len());
    for ((name, file), &(expected, reference, cmsis_nn)) in models.iter().zip(MEASURED) {
        assert_eq!(name, expected);
        std::fs::write(folder.join(format!("{name}.tflite")), file).unwrap();
        for (kernels, [used, needed]) in [
            (RuntimeKernels::Reference, reference),
            (RuntimeKernels::CmsisNn, cmsis_nn),
        ] {
            let found = whole_arena(file, kernels).unwrap();
            assert_eq!(found.used_bytes, used, "{name} {kernels:?}");
            assert!(found.unknown.is_empty());
            if needed > 0 {
                assert_eq!(found.needed_bytes, needed, "{name} {kernels:?}");
            }
            let parts: u64 = found.components.iter().map(|part| part.bytes).sum();
            assert_eq!(found.head_bytes + parts, used);
        }
    }
}

/// In one arena, heads share memory and tails do not; one model needs what it needs alone.
#[test]
fn models_share_an_arena() {
    let arena = |(_, file): &(String, Vec<u8>)| whole_arena(file, RuntimeKernels::CmsisNn).unwrap();
    let arenas: Vec<WholeArena> = models().iter().map(arena).collect();
    let mut seen = 0;
    for one in &arenas {
        let alone = SharedArena::of(&[one]).unwrap();
        assert_eq!(alone.one_allocator_bytes, one.needed_bytes);
        assert_eq!(alone.in_turn_bytes, one.needed_bytes);
        for other in &arenas {
            let both = SharedArena::of(&[one, other]).unwrap();
            assert_eq!(both, SharedArena::of(&[other, one]).unwrap());
            assert_eq!(both.in_turn_bytes, one.needed_bytes.max(other.needed_bytes));
            let heads = one.head_bytes.max(other.head_bytes);
            let kept = heads + one.tail_bytes + other.tail_bytes;
            assert!(both.one_allocator_bytes >= kept, "{both:?}");
            assert!(both.one_allocator_bytes <= one.needed_bytes + other.needed_bytes);
            assert!(!both.is_lower_bound);
            seen += 1;
        }
    }
    assert_eq!(seen, MEASURED.len() * MEASURED.len());
    assert_eq!(SharedArena::of(&[]), None);
}

/// Functions that want the scratch memory of CMSIS-NN's need the same arena. Each that wants more where
/// CMSIS-NN wants none adds its memory to the head.
#[test]
fn scratch_memory_of_other_functions_counts() {
    let (models, mut grown) = (models(), 0);
    for (name, file) in &models {
        let own = whole_arena(file, RuntimeKernels::CmsisNn).unwrap();
        let operators = own.operators.iter();
        let mut scratch = vec![
            operators
                .map(|it| it.scratch_bytes.clone())
                .collect::<Vec<_>>(),
        ];
        let same = whole_arena_in_place_of_cmsis_nn(file, &scratch).unwrap();
        assert_eq!(same, own, "{name}");
        if let Some(none) = scratch[0].iter_mut().find(|sizes| sizes.is_empty()) {
            none.push(1 << 20);
            let more = whole_arena_in_place_of_cmsis_nn(file, &scratch).unwrap();
            assert!(more.head_bytes >= 1 << 20, "{name}");
            assert!(more.tail_bytes >= own.tail_bytes, "{name}");
            grown += 1;
        }
        scratch[0].pop();
        assert_eq!(
            whole_arena_in_place_of_cmsis_nn(file, &scratch),
            Err(TflmError::Scratch)
        );
    }
    assert!(models.len() == MEASURED.len() && grown >= 10, "{grown}");
}
