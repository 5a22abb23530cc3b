//! Random networks in the arena of a simulated firmware: one that obeys the plan agrees with it,
//! and one that has a tensor elsewhere is found out.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panic"
)]

use dmo_analysis::firmware::{Contradiction, Observed, Placed, Witness};
use dmo_analysis::graph::{Graph, GraphTensor, Node, Storage, TensorId, TensorType};
use dmo_analysis::replay::FindingKind;
use dmo_analysis::trace::{
    AccessKind, Address, ElementType, Event, Layer, Role, Tensor, TraceSink,
};
use proptest::prelude::*;
use std::ops::Range;

const ARENA: Range<u64> = 0x2000_0004..0x2000_4000;

/// A chain: each operator reads the tensor before it, and now and then an older one.
fn network(sizes: &[u64], second: &[usize], scratch: &[u64]) -> Graph {
    let tensors = sizes
        .iter()
        .enumerate()
        .map(|(index, &size_bytes)| GraphTensor {
            name: format!("t{index}"),
            shape: vec![size_bytes as u32],
            element_type: TensorType::Int8,
            size_bytes,
            storage: Storage::Arena,
        });
    let operators = (1..sizes.len()).map(|output| {
        let mut inputs = vec![TensorId(output - 1)];
        let other = TensorId(second[output] % output);
        if !inputs.contains(&other) {
            inputs.push(other);
        }
        Node {
            kind: "OP".into(),
            inputs,
            outputs: vec![TensorId(output)],
            kernel: None,
            scratch_bytes: vec![scratch[output]],
        }
    });
    Graph {
        name: "random".to_owned(),
        tensors: tensors.collect(),
        operators: operators.collect(),
        inputs: vec![TensorId(0)],
        outputs: vec![TensorId(sizes.len() - 1)],
        ..Graph::default()
    }
}

fn networks() -> impl Strategy<Value = Graph> {
    (2_usize..7).prop_flat_map(|count| {
        let sizes = proptest::collection::vec(1_u64..100, count);
        let second = proptest::collection::vec(0_usize..7, count);
        let scratch = proptest::collection::vec(prop_oneof![Just(0_u64), 1..40_u64], count);
        (sizes, second, scratch)
            .prop_map(|(sizes, second, scratch)| network(&sizes, &second, &scratch))
    })
}

/// A firmware whose tensors lie as `firmware` says is watched by a witness who believes `claimed`.
fn run(claimed: &Placed, firmware: &Placed, inferences: usize) -> Observed {
    struct Nothing;
    impl TraceSink for Nothing {
        fn begin_layer(&mut self, _: &Layer, _: u64) {}
        fn events(&mut self, _: &[Event]) {}
        fn end_layer(&mut self, _: u64) {}
    }
    let mut nothing = Nothing;
    let mut witness = Witness::new(claimed, &mut nothing);
    let mut time = 0;
    for _ in 0..inferences {
        for (claim, real) in claimed.layers.iter().zip(&firmware.layers) {
            time += 1;
            // The recorder's layer: what is claimed, and the rest of the arena byte by byte.
            let own = claim.layer.tensors.len();
            let mut layer = claim.layer.clone();
            layer.tensors.push(Tensor {
                name: "rest".to_owned(),
                role: Role::Unlisted,
                address: Address(ARENA.start as u32),
                size_bytes: (ARENA.end - ARENA.start) as u32,
                element_type: ElementType::Uint8,
            });
            witness.begin_layer(&layer, time);
            let mut event = |address: u64, kind, pc| {
                time += 1;
                let holds = |tensor: &&Tensor| {
                    (u64::from(tensor.address.0)..tensor.end()).contains(&address)
                };
                let index = layer.tensors.iter().position(|tensor| holds(&tensor));
                let index = index.unwrap_or(own);
                let start = u64::from(layer.tensors[index].address.0);
                witness.events(&[Event {
                    time,
                    pc: Address(pc),
                    offset: (address - start) as u32,
                    tensor: index as u16,
                    size_bytes: 1,
                    kind,
                }]);
            };
            let mut each = |role, kind, pc| {
                for tensor in real.layer.tensors.iter().filter(|one| one.role == role) {
                    for address in u64::from(tensor.address.0)..tensor.end() {
                        event(address, kind, pc);
                    }
                }
            };
            each(Role::Scratch, AccessKind::Store, 1);
            each(Role::Input, AccessKind::Load, 2);
            each(Role::Scratch, AccessKind::Load, 3);
            each(Role::Output, AccessKind::Store, 4);
            time += 1;
            witness.end_layer(time);
        }
    }
    witness.finish().unwrap()
}

proptest! {
    #[test]
    fn what_obeys_the_plan_agrees_and_is_safe(graph in networks(), inferences in 1_usize..3) {
        let placed = Placed::new(&graph, None, ARENA).unwrap();
        prop_assert_eq!(placed.head.start, 0x2000_0010);
        let observed = run(&placed, &placed, inferences);
        prop_assert_eq!(&observed.contradiction, &None);
        prop_assert!(observed.is_safe(), "{:?}", observed.wrong);
        prop_assert_eq!(observed.inferences, inferences);
        for layer in &placed.layers {
            prop_assert!(layer.in_use_bytes <= placed.head.end - placed.head.start);
        }
    }

    /// Whatever tensor lies elsewhere, by however much. What cannot be told is the model's input
    /// in the scratch memory of its own reader: that may load both, and nobody is seen to store
    /// the input.
    #[test]
    fn a_tensor_that_lies_elsewhere_is_found_out(
        graph in networks(),
        which in 0_usize..7,
        distance in 1_u64..40,
    ) {
        let claimed = Placed::new(&graph, None, ARENA).unwrap();
        let moved = which % graph.tensors.len();
        let mut offsets = vec![None; graph.tensors.len()];
        for layer in &claimed.layers {
            for tensor in layer.layer.tensors.iter().filter(|one| one.role != Role::Scratch) {
                let index: usize = tensor.name[1..].parse().unwrap();
                offsets[index] = Some(u64::from(tensor.address.0) - claimed.head.start);
            }
        }
        let claimed = Placed::new(&graph, Some(&offsets), ARENA).unwrap();
        *offsets[moved].as_mut().unwrap() += 16 * distance;
        let mut real = Placed::new(&graph, Some(&offsets), ARENA).unwrap();
        // Scratch memory stays: only the tensor has moved.
        for (real, claimed) in real.layers.iter_mut().zip(&claimed.layers) {
            let tensors = real.layer.tensors.iter_mut().zip(&claimed.layer.tensors);
            for (real, claimed) in tensors.filter(|(real, _)| real.role == Role::Scratch) {
                real.address = claimed.address;
            }
        }
        let shares = |layer: &Layer| {
            let of = |role| layer.tensors.iter().filter(move |one| one.role == role);
            let inputs = of(Role::Input).filter(|input| input.name == "t0");
            let mut pairs = inputs.flat_map(|input| of(Role::Scratch).map(move |one| (input, one)));
            pairs.any(|(input, scratch)| {
                u64::from(input.address.0) < scratch.end() && u64::from(scratch.address.0) < input.end()
            })
        };
        prop_assume!(moved != 0 || !real.layers.iter().any(|layer| shares(&layer.layer)));
        let observed = run(&claimed, &real, 1);
        prop_assert!(observed.contradiction.is_some());
    }
}

#[test]
fn half_an_inference_is_none() {
    let graph = network(&[16, 16, 16], &[0, 0, 0], &[0, 0, 0]);
    let placed = Placed::new(&graph, None, ARENA).unwrap();
    let mut half = placed.clone();
    half.layers.pop();
    let observed = run(&placed, &half, 1);
    assert_eq!(
        observed.contradiction,
        Some(Contradiction::Unfinished {
            given: 1,
            operators: 2
        })
    );
}

/// The third operator stores where the second tensor waits for the fourth.
#[test]
fn a_waiting_tensor_that_is_overwritten_is_a_clobber() {
    let graph = network(&[32; 5], &[0, 0, 1, 2, 1], &[0, 0, 16, 0, 0]);
    let placed = Placed::new(&graph, None, ARENA).unwrap();
    let observed = run(&placed, &placed, 1);
    assert!(observed.is_safe() && observed.contradiction.is_none());
    let offsets = [0, 32, 64, 32, 96].map(Some);
    let placed = Placed::new(&graph, Some(&offsets), ARENA).unwrap();
    let observed = run(&placed, &placed, 1);
    let first = observed.wrong.first().expect("a finding");
    assert_eq!(
        (first.operator.0, first.finding.kind),
        (2, FindingKind::Destroyed)
    );
    assert!(!observed.is_safe());
}
