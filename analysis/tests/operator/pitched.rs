//! Operators on parts of larger tensors.

use crate::shadow::clobbered_loads;
use crate::shapes::operator;
use dmo_analysis::graph::overlaps;
use dmo_analysis::graph::zoo::{self, Element};
use dmo_analysis::operator::{
    Concat, Conv2d, Elementwise, ElementwiseBinary, Operator, Pitch, Pitched, Pool2d, Shape,
    ShapeError, Window,
};
use dmo_analysis::trace::AccessKind;
use proptest::prelude::*;

/// The operator on one image without broadcasting; none where it has no pitched form.
fn on_one_image(operator: &Operator) -> Option<Operator> {
    let one = |shape: Shape| [1, shape[1], shape[2], shape[3]];
    Some(match operator.clone() {
        Operator::Conv2d(mut conv) => {
            (conv.input, conv.output) = (one(conv.input), one(conv.output));
            Operator::Conv2d(conv)
        }
        Operator::DepthwiseConv2d(mut conv) => {
            (conv.input, conv.output) = (one(conv.input), one(conv.output));
            Operator::DepthwiseConv2d(conv)
        }
        Operator::Pool2d(mut pool) => {
            (pool.input, pool.output) = (one(pool.input), one(pool.output));
            Operator::Pool2d(pool)
        }
        Operator::Pad(mut pad) => {
            (pad.input, pad.output) = (one(pad.input), one(pad.output));
            pad.before[0] = 0;
            Operator::Pad(pad)
        }
        Operator::Elementwise(layer) => Operator::Elementwise(layer),
        Operator::ElementwiseBinary(mut binary) => {
            binary.output = one(binary.output);
            binary.inputs = [binary.output; 2];
            Operator::ElementwiseBinary(binary)
        }
        _ => return None,
    })
}

fn pitched(gaps: Vec<[u32; 2]>, operator: Operator) -> Pitched {
    let buffers = operator.buffers().unwrap();
    let shape = match &operator {
        // Two rows, where that is possible.
        Operator::Elementwise(layer) if layer.elements.is_multiple_of(2) => {
            Some([1, 2, 1, layer.elements / 2])
        }
        Operator::Elementwise(layer) => Some([1, 1, layer.elements, 1]),
        _ => None,
    };
    let mut gaps = gaps.into_iter().cycle();
    let mut pitch = |buffer: &dmo_analysis::operator::Buffer| {
        let [_, _, width, depth] = shape.unwrap_or(buffer.shape);
        let [row, pixel] = gaps.next()?;
        let pixel = depth + pixel;
        Some(Pitch {
            row: (width - 1) * pixel + depth + row,
            pixel,
        })
    };
    Pitched {
        inputs: buffers.inputs.iter().map(&mut pitch).collect(),
        outputs: buffers.outputs.iter().map(&mut pitch).collect(),
        operator: Box::new(operator),
        shape,
    }
}

/// Operators of all sorts, on tensors with gaps of up to four elements.
fn any_pitched() -> impl Strategy<Value = Pitched> {
    let gaps = prop::collection::vec([0_u32..=4, 0_u32..=4], 3);
    let operator =
        operator().prop_filter_map("no pitched form", |operator| on_one_image(&operator));
    (gaps, operator).prop_map(|(gaps, operator)| pitched(gaps, operator))
}

fn accesses(operator: &Operator) -> Vec<(AccessKind, usize, u32)> {
    let mut all = Vec::new();
    operator
        .accesses(|kind, index, element| all.push((kind, index, element)))
        .unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The accesses are the operator's own, moved to where the view has the elements.
    #[test]
    fn accesses_are_moved(pitched in any_pitched()) {
        let operator = Operator::Pitched(pitched.clone());
        let extents = operator.buffers().unwrap();
        let views = [pitched.input_views().unwrap(), pitched.output_views().unwrap()];
        // Element by element, by loops of its own.
        let places = views.each_ref().map(|views| views.iter().map(|view| {
            let [_, height, width, depth] = view.shape;
            let mut places = Vec::new();
            for y in 0..height {
                for x in 0..width {
                    places.extend((0..depth).map(|c| y * view.pitch.row + x * view.pitch.pixel + c));
                }
            }
            places
        }).collect::<Vec<_>>());
        for (places, buffers) in places.iter().zip([&extents.inputs, &extents.outputs]) {
            for (places, buffer) in places.iter().zip(buffers) {
                prop_assert!(places.is_sorted_by(|one, other| one < other));
                prop_assert_eq!(buffer.shape, [1, 1, 1, places.last().unwrap() + 1]);
            }
        }
        let expected: Vec<_> = accesses(&pitched.operator).into_iter().map(|(kind, index, element)| {
            let places = &places[usize::from(kind == AccessKind::Store)][index];
            (kind, index, places[element as usize])
        }).collect();
        prop_assert_eq!(accesses(&operator), expected);
    }

    /// The displacement by formula is safe with all greater ones, and the least such where the
    /// output has no gaps, or channels enough.
    #[test]
    fn displacements_are_safe(pitched in any_pitched(), further in 0_u32..20) {
        let several_channels = match &*pitched.operator {
            Operator::Conv2d(conv) => conv.groups == 1 && conv.output[3] > 1,
            Operator::DepthwiseConv2d(conv) => conv.output[3] > 1,
            Operator::Pool2d(pool) => pool.output[3] > 1,
            _ => false,
        };
        let exact = several_channels || !pitched.has_gaps_in_outputs();
        let operator = Operator::Pitched(pitched);
        let traced = operator.traced_displacements().unwrap();
        for (input, traced) in traced.into_iter().enumerate() {
            let closed = operator.displacement_of(input, 0).unwrap();
            prop_assert_eq!(closed.is_some(), traced.is_some());
            prop_assert!(closed >= traced, "{closed:?}, {traced:?}");
            if exact {
                prop_assert_eq!(closed, traced);
            }
            if let Some(least) = closed {
                prop_assert_eq!(clobbered_loads(&operator, [input, 0], least), 0);
                prop_assert_eq!(clobbered_loads(&operator, [input, 0], least + further), 0);
            }
        }
    }

    /// Without gaps it is the operator itself.
    #[test]
    fn without_gaps_nothing_changes(pitched_with_gaps in any_pitched(), given in any::<bool>()) {
        let inner = (*pitched_with_gaps.operator).clone();
        let mut dense = pitched(vec![[0, 0]], inner.clone());
        if !given {
            dense.inputs.fill(None);
            dense.outputs.fill(None);
        }
        prop_assert!(!dense.has_gaps_in_outputs());
        let dense = Operator::Pitched(dense);
        prop_assert_eq!(accesses(&dense), accesses(&inner));
        let bytes = |operator: &Operator| {
            let overlaps = operator.overlaps().unwrap().into_iter();
            overlaps.map(|pair| pair.bytes).collect::<Vec<_>>()
        };
        prop_assert_eq!(bytes(&dense), bytes(&inner));
    }

    /// No extents and pitches make it panic, and what it takes fits in 32 bits.
    #[test]
    fn absurd_pitches(
        extents in [any_extent(), any_extent(), any_extent(), any_extent()],
        [row, pixel] in [any_extent(), any_extent()],
        element_bytes in prop::sample::select(vec![1, 4]),
    ) {
        let operator = Operator::Pitched(Pitched {
            operator: Box::new(Operator::Pool2d(Pool2d {
                input: extents,
                output: extents,
                window: Window::default(),
                element_bytes,
            })),
            shape: None,
            inputs: vec![Some(Pitch { row, pixel })],
            outputs: vec![None],
        });
        if let Ok(buffers) = operator.buffers() {
            let [_, height, width, depth] = extents.map(u64::from);
            let extent = (height - 1) * u64::from(row) + (width - 1) * u64::from(pixel) + depth;
            let size_bytes = u64::from(buffers.inputs[0].size_bytes());
            prop_assert_eq!(size_bytes, extent * u64::from(element_bytes));
            prop_assert!(operator.overlaps().is_ok());
        }
    }
}

fn any_extent() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..=3, any::<u32>(), Just(1 << 16), Just(u32::MAX)]
}

fn pool(input: Shape) -> Operator {
    Operator::Pool2d(Pool2d {
        input,
        output: input,
        window: Window::default(),
        element_bytes: 1,
    })
}

fn refusal(operator: Operator, inputs: &[Option<Pitch>], shape: Option<Shape>) -> String {
    let pitched = Operator::Pitched(Pitched {
        operator: Box::new(operator),
        shape,
        inputs: inputs.to_vec(),
        outputs: vec![None],
    });
    pitched.buffers().unwrap_err().to_string()
}

#[test]
fn nonsense_is_refused() {
    let pitch = |row, pixel| Some(Pitch { row, pixel });
    for (operator, pitches, expected) in [
        (
            pool([1, 4, 5, 3]),
            vec![pitch(20, 2)],
            "the input's pixel pitch is 2, expected at least 3 (that many elements it holds)",
        ),
        (
            pool([1, 4, 5, 3]),
            vec![pitch(18, 4)],
            "the input's row pitch is 18, expected at least 19 (that many elements it holds)",
        ),
        (
            pool([2, 4, 5, 3]),
            vec![pitch(20, 4)],
            "the input's batch is 2, expected 1 (with pitches there is one image)",
        ),
        (
            pool([1, 4, 5, 3]),
            vec![],
            "the number of pitches of inputs is 0, expected 1 (one for each, or none)",
        ),
        (
            pool([1, 4, 5, 3]),
            vec![pitch(u32::MAX, 3)],
            "the input [1, 4, 5, 3] with 1-byte elements does not fit in 32-bit addresses",
        ),
    ] {
        assert_eq!(refusal(operator, &pitches, None), expected);
    }
    // A single row needs no distance to the next.
    let row = Operator::Pitched(Pitched {
        operator: Box::new(pool([1, 1, 5, 3])),
        shape: None,
        inputs: vec![pitch(0, 4)],
        outputs: vec![None],
    });
    assert_eq!(row.buffers().unwrap().inputs[0].shape, [1, 1, 1, 19]);

    let none = "the operator has no pitched form; convolutions, pooling and padding have, and \
                what goes element by element without broadcasting";
    let broadcast = Operator::ElementwiseBinary(ElementwiseBinary {
        inputs: [[1, 2, 2, 3], [1, 1, 1, 3]],
        output: [1, 2, 2, 3],
        input_element_bytes: [1, 1],
        output_element_bytes: 1,
    });
    assert_eq!(refusal(broadcast, &[None, None], None), none);
    let concat = Operator::Pitched(Pitched {
        operator: Box::new(Operator::Concat(Concat {
            inputs: vec![[1, 2, 2, 3]],
            axis: 3,
            element_bytes: 1,
        })),
        shape: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
    });
    assert_eq!(concat.buffers(), Err(ShapeError::NoPitch));
    let twice = Operator::Pitched(Pitched {
        operator: Box::new(row),
        shape: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
    });
    assert_eq!(twice.buffers(), Err(ShapeError::NoPitch));
    let relu = Operator::Elementwise(Elementwise {
        elements: 7,
        input_element_bytes: 1,
        output_element_bytes: 1,
    });
    assert_eq!(
        refusal(relu, &[pitch(8, 4)], Some([1, 2, 1, 4])),
        "the number of elements of the shape is 8, expected 7 (that of the operator)"
    );
    assert_eq!(
        refusal(pool([1, 1, 1, 1]), &[None], Some([1, 1, 1, 1])),
        "the number of shapes beside the operator is 1, expected 0 (it has its own)"
    );
}

/// What lies between the elements of an output may be another tensor's.
#[test]
fn no_overlap_with_an_output_that_has_gaps() {
    let mut graph = zoo::find("mobilenet_v1_0.25_128")
        .unwrap()
        .build(Element::Int8);
    let granted = overlaps::analytic(&graph)[2].clone();
    let kernel = graph.operators[2].kernel.as_mut().unwrap();
    let conv = match kernel.operator {
        Operator::Conv2d(conv) => Some(conv),
        _ => None,
    };
    let conv = conv.unwrap();
    let dense = Pitch::dense(conv.output).unwrap();
    let within = |pitch: Option<Pitch>| {
        Operator::Pitched(Pitched {
            operator: Box::new(Operator::Conv2d(Conv2d { ..conv })),
            shape: None,
            inputs: vec![None],
            outputs: vec![pitch],
        })
    };
    let row = Pitch {
        row: dense.row + 1,
        ..dense
    };
    let pixel = Pitch {
        row: dense.row + conv.output[2],
        pixel: dense.pixel + 1,
    };
    for (pitch, expected) in [
        (None, granted.clone()),
        (Some(dense), granted),
        (Some(row), Vec::new()),
        (Some(pixel), Vec::new()),
    ] {
        graph.operators[2].kernel.as_mut().unwrap().operator = within(pitch);
        assert_eq!(overlaps::analytic(&graph)[2], expected, "{pitch:?}");
    }
}

/// What a file says of it is read back.
#[test]
fn written_and_read() {
    let pitch = Pitch { row: 30, pixel: 5 };
    let operator = Operator::Pitched(Pitched {
        operator: Box::new(pool([1, 4, 5, 3])),
        shape: None,
        inputs: vec![Some(pitch)],
        outputs: vec![None],
    });
    let json = serde_json::to_string(&operator).unwrap();
    assert_eq!(serde_json::from_str::<Operator>(&json).unwrap(), operator);
}
