//! Plans and orders.

use super::network;
use dmo_analysis::graph::tflite::{self, OfflinePlan};
use dmo_analysis::graph::{Graph, OperatorId, TensorType};
use proptest::prelude::*;

fn file() -> Vec<u8> {
    tflite::export(&network(TensorType::Int8, 1), 1).unwrap()
}

fn graph(file: &[u8]) -> Graph {
    tflite::read(file).unwrap().graphs.remove(0)
}

fn ids(order: &[usize]) -> Vec<OperatorId> {
    order.iter().copied().map(OperatorId).collect()
}

#[test]
fn a_plan_is_read_again() {
    let file = file();
    let tensors = graph(&file).tensors.len();
    assert_eq!(tflite::offline_plan(&file).unwrap(), None);
    let mut offsets: Vec<i32> = (0..tensors as i32).map(|index| index * 16).collect();
    offsets[3] = -1;
    let planned = tflite::with_plan(&file, None, &offsets).unwrap();
    assert_eq!(graph(&planned), graph(&file));
    let plan = OfflinePlan {
        version: 1,
        subgraphs: 1,
        offsets: offsets.clone(),
    };
    assert_eq!(tflite::offline_plan(&planned).unwrap(), Some(plan));

    // The old file is all there, and its data stay aligned.
    assert!(planned.ends_with(&file));
    assert_eq!((planned.len() - file.len()) % 64, 0);
    let entry = tflite::read(&planned).unwrap().metadata.remove(0);
    assert_eq!(entry.name, "OfflineMemoryAllocation");
    assert_eq!(entry.bytes.len(), 4 * (3 + tensors));
    assert_eq!(entry.bytes.start % 16, 0);

    // Another plan takes its place.
    offsets[0] = 160;
    let again = tflite::with_plan(&planned, None, &offsets).unwrap();
    assert_eq!(tflite::read(&again).unwrap().metadata.len(), 1);
    assert_eq!(
        tflite::offline_plan(&again).unwrap().unwrap().offsets,
        offsets
    );
}

#[test]
fn another_order() {
    let file = file();
    let old = graph(&file);
    // The branches change places.
    let order = ids(&[0, 2, 1, 3, 4, 5, 6, 7, 8, 9]);
    let offsets = vec![-1; old.tensors.len()];
    let planned = tflite::with_plan(&file, Some(&order), &offsets).unwrap();
    let mut expected = old.clone();
    expected.operators.swap(1, 2);
    assert_eq!(graph(&planned), expected);
    let back = tflite::with_plan(&planned, Some(&order), &offsets).unwrap();
    assert_eq!(graph(&back), old);
    assert!(back.ends_with(&file));
}

#[test]
fn what_is_no_plan() {
    let file = file();
    let tensors = graph(&file).tensors.len();
    let offsets = vec![0; tensors];
    let problem = |order: Option<&[usize]>, offsets: &[i32]| {
        let order = order.map(ids);
        let result = tflite::with_plan(&file, order.as_deref(), offsets);
        result.unwrap_err().to_string()
    };
    assert_eq!(
        problem(None, &offsets[1..]),
        format!(
            "the plan has {} offsets, but the model has {tensors} tensors in all its subgraphs",
            tensors - 1
        )
    );
    let mut negative = offsets.clone();
    negative[2] = -2;
    assert_eq!(
        problem(None, &negative),
        "the plan gives tensor 2 the offset -2, expected -1 or at least 0"
    );
    for order in [
        &[0, 1][..],
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 8],
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
        &[],
    ] {
        let problem = problem(Some(order), &offsets);
        assert!(
            problem.ends_with("expected each of the 10 operators once"),
            "{problem}"
        );
    }
    assert_eq!(
        problem(Some(&[1, 0, 2, 3, 4, 5, 6, 7, 8, 9]), &offsets),
        "operator 0 DEPTHWISE_CONV_2D of subgraph 0 reads tensor 1 \"t1\" of subgraph 0, which \
         nothing has written"
    );
}

#[test]
fn a_short_plan() {
    let file = file();
    let tensors = graph(&file).tensors.len();
    let mut planned = tflite::with_plan(&file, None, &vec![0; tensors]).unwrap();
    let at = tflite::read(&planned).unwrap().metadata[0].bytes.start + 8;
    for count in [tensors as i32 + 1, -1] {
        planned[at..at + 4].copy_from_slice(&count.to_le_bytes());
        let problem = tflite::offline_plan(&planned).unwrap_err().to_string();
        assert_eq!(
            problem,
            format!("metadata OfflineMemoryAllocation announces {count} offsets and has {tensors}")
        );
    }
}

proptest! {
    #[test]
    fn offsets_survive(
        offsets in proptest::collection::vec(-1..i32::MAX, graph(&file()).tensors.len())
    ) {
        let file = file();
        let planned = tflite::with_plan(&file, None, &offsets).unwrap();
        let plan = tflite::offline_plan(&planned).unwrap().unwrap();
        prop_assert_eq!(plan.offsets, offsets);
        prop_assert_eq!(graph(&planned), graph(&file));
    }
}
