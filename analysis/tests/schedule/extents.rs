//! The least extent of a step's tensors.

use super::graphs::Random;
use super::judge::slow_extent;
use dmo_analysis::graph::overlaps::Sharing;
use dmo_analysis::schedule::extent::{SharedPair, least_extent};

#[test]
fn least_extents_are_those_of_all_arrangements() {
    let mut random = Random(1);
    for _ in 0..4000 {
        let blocks = 1 + random.below(5);
        let inputs = random.below(blocks + 1) as usize;
        let limit = if blocks > 4 { 4 } else { 7 };
        let sizes: Vec<u64> = (0..blocks).map(|_| random.below(limit)).collect();
        let mut pairs = Vec::new();
        for input in 0..inputs {
            for output in 0..sizes.len() - inputs {
                let sharing = match random.below(3) {
                    0 => continue,
                    1 => Sharing::Alias,
                    _ => Sharing::Displaced(random.below(limit + 1)),
                };
                pairs.push(SharedPair {
                    input,
                    output,
                    sharing,
                });
            }
        }
        let granted = |one: usize, other: usize| {
            let is = |pair: &&SharedPair| (pair.input, pair.output + inputs) == (one, other);
            pairs.iter().find(is).map(|pair| pair.sharing)
        };
        let given = least_extent(&sizes[..inputs], &sizes[inputs..], &pairs);
        let expected = slow_extent(&sizes, &granted);
        assert_eq!(given, expected, "{sizes:?}, {inputs} inputs, {pairs:?}");
    }
}

/// Beyond what is arranged exactly: never above what an arrangement needs.
#[test]
fn many_inputs_of_one_output_have_a_lower_bound() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let inputs: Vec<u64> = (0..7 + random.below(4))
            .map(|_| 1 + random.below(9))
            .collect();
        let output = 1 + random.below(60);
        let displacements: Vec<u64> = inputs.iter().map(|_| random.below(output + 1)).collect();
        let pair = |input: usize| SharedPair {
            input,
            output: 0,
            sharing: Sharing::Displaced(displacements[input]),
        };
        let pairs: Vec<SharedPair> = (0..inputs.len()).map(pair).collect();
        // Above the output's start, those with the smallest displacement first.
        let mut sorted: Vec<usize> = (0..inputs.len()).collect();
        sorted.sort_by_key(|&input| displacements[input]);
        let end = sorted.iter().fold(0, |end: u64, &input| {
            end.max(displacements[input]) + inputs[input]
        });
        let bound = least_extent(&inputs, &[output], &pairs);
        assert!(
            bound <= end.max(output),
            "{inputs:?} {output} {displacements:?}"
        );
        assert!(bound >= output && bound >= inputs.iter().sum());
    }
}

/// The published example of an upward first fit that wastes the overlap.
#[test]
fn an_overlap_of_seven_bytes_leaves_nine() {
    let pair = SharedPair {
        input: 0,
        output: 0,
        sharing: Sharing::Displaced(1),
    };
    assert_eq!(least_extent(&[8], &[8], &[pair]), 9);
    assert_eq!(least_extent(&[8], &[8], &[]), 16);
}
