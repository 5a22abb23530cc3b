//! Layers executed in a memory in which one input and one output overlap.

use crate::shapes::operator;
use dmo_analysis::operator::Operator;
use dmo_analysis::trace::AccessKind;
use proptest::prelude::*;

/// Loads of the input that find a byte of the output instead of their own.
fn clobbered_loads(operator: &Operator, [input, output]: [usize; 2], displacement: u32) -> usize {
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
