//! Layers executed in a memory in which one input and one output overlap.

use super::first_pair::FirstPair;
use crate::shapes::operator;
use dmo_analysis::operator::{DepthwiseInPlace, Operator, Window};
use dmo_analysis::trace::AccessKind;
use proptest::prelude::*;

/// Loads of the input that find a byte of the output instead of their own.
pub fn clobbered_loads(
    operator: &Operator,
    [input, output]: [usize; 2],
    displacement: u32,
) -> usize {
    let buffers = operator.buffers().unwrap();
    let (loaded, stored) = (buffers.inputs[input], buffers.outputs[output]);
    let start = displacement as usize;
    let input_bytes = loaded.size_bytes() as usize;
    let arena_bytes = (start + input_bytes).max(stored.size_bytes() as usize);
    // Each byte of the input has a value of its own; no output byte has any of them.
    let mut arena = vec![u32::MAX; arena_bytes];
    for (value, byte) in (0..).zip(&mut arena[start..start + input_bytes]) {
        *byte = value;
    }
    let mut clobbered = 0;
    operator
        .accesses(|kind, buffer, element| match kind {
            AccessKind::Load if buffer == input => {
                let offset = element * loaded.element_bytes;
                for byte in offset..offset + loaded.element_bytes {
                    clobbered += usize::from(arena[start + byte as usize] != byte);
                }
            }
            AccessKind::Store if buffer == output => {
                let offset = (element * stored.element_bytes) as usize;
                arena[offset..offset + stored.element_bytes as usize].fill(u32::MAX);
            }
            _ => {}
        })
        .unwrap();
    clobbered
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// At O_s and at every larger displacement all loads are right; one byte below the
    /// least displacement some load is wrong.
    #[test]
    fn safe_at_the_overlap_and_nowhere_tighter(operator in operator(), further in 0_u32..20) {
        let buffers = operator.buffers().unwrap();
        for pair in operator.overlaps().unwrap() {
            let indices = [pair.input, pair.output];
            let least = operator.displacement_of(pair.input, pair.output).unwrap();
            let at_overlap = buffers.outputs[pair.output].size_bytes() - pair.bytes;
            prop_assert_eq!(clobbered_loads(&operator, indices, at_overlap), 0);
            let Some(least) = least else { continue };
            prop_assert_eq!(clobbered_loads(&operator, indices, least), 0);
            prop_assert_eq!(clobbered_loads(&operator, indices, least + further), 0);
            if least > 0 {
                prop_assert!(clobbered_loads(&operator, indices, least - 1) > 0);
            }
        }
    }

    /// Where the published formula is marked, the layer goes wrong there; where it is
    /// not, it goes right.
    #[test]
    fn published_is_marked_where_it_clobbers(operator in operator()) {
        let pair = operator.overlap(0, 0).unwrap();
        if let (Some(published), Some(_)) = (pair.published_bytes, operator.displacement().unwrap()) {
            let (_, output_bytes) = operator.buffer_bytes().unwrap();
            let displacement = f64::from(output_bytes) - published;
            // Between two bytes it is the lower overlap that can be meant.
            if !pair.published_is_unsafe {
                prop_assert_eq!(clobbered_loads(&operator, [0, 0], displacement.ceil() as u32), 0);
            } else if displacement.fract() == 0.0 && displacement >= 0.0 {
                let needed = operator.displacement().unwrap().unwrap();
                prop_assert!(displacement < f64::from(needed));
            }
        }
    }
}

/// Every small shape: a convolution that goes through its channels one by one may lie on its
/// input exactly where it says so, and with one image at every whole number of pixels above.
#[test]
fn channel_by_channel_is_in_place() {
    let extents = || (1..=3).flat_map(|height| (1..=3).map(move |width| [height, width]));
    let (mut safe, mut not) = (0, 0);
    for input in extents() {
        for output in extents() {
            for (batches, channels) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 2)] {
                let conv = DepthwiseInPlace {
                    input: [batches, input[0], input[1], channels],
                    output: [batches, output[0], output[1], channels],
                    window: Window::default(),
                    element_bytes: 2,
                };
                assert_eq!(conv.scratch_bytes(), u64::from(2 * input[0] * input[1]));
                let operator = Operator::DepthwiseInPlace(conv);
                let clobbered = |displacement| clobbered_loads(&operator, [0, 0], displacement);
                assert_eq!(clobbered(0) == 0, conv.is_in_place(), "{operator:?}");
                if conv.is_in_place() {
                    safe += 1;
                } else {
                    not += 1;
                }
                for displacement in 1..=2 * channels * output[0] * output[1] {
                    let pixels = displacement.is_multiple_of(2 * channels);
                    let least = operator.displacement().unwrap().unwrap();
                    if batches == 1 {
                        let expected = pixels || displacement >= least;
                        assert_eq!(clobbered(displacement) == 0, expected, "{operator:?}");
                    }
                }
            }
        }
    }
    assert!(safe > 300 && not > 50, "{safe}, {not}");
}
