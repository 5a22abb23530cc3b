//! Options that contradict shapes: TensorFlow Lite Micro computes what the options say, so the loops
//! are not known.

use super::single::{FLOAT32, INT8, INT32, Model, Tensor, activation, constant};
use super::tree::Part::{self, Byte, Word};
use dmo_analysis::graph::tflite;

/// Whether the loops of the model's operator are known.
fn is_known(model: Model) -> bool {
    let model = tflite::read(&model.write()).unwrap();
    model.graphs[0].operators[0].kernel.is_some()
}

fn floats(shape: &[i32]) -> Tensor {
    activation(FLOAT32, shape, None)
}

fn weights(shape: &[i32]) -> Tensor {
    let elements = shape.iter().product::<i32>() as usize;
    constant(FLOAT32, shape, None, &vec![0; 4 * elements])
}

#[test]
fn multiplier_of_a_depthwise_convolution() {
    let model = |multiplier: Option<i32>| {
        let tensors = vec![
            floats(&[1, 4, 4, 3]),
            weights(&[1, 1, 1, 6]),
            weights(&[6]),
            floats(&[1, 4, 4, 6]),
        ];
        let mut options: Vec<(usize, Part)> = vec![(1, Word(1)), (2, Word(1))];
        options.extend(multiplier.map(|it| (3, Word(it as u32))));
        Model::new(4, tensors).options(2, options)
    };
    assert!(is_known(model(Some(2))));
    for wrong in [None, Some(1), Some(3), Some(-2), Some(6)] {
        assert!(!is_known(model(wrong)), "{wrong:?}");
    }
}

#[test]
fn size_of_a_resize() {
    let model = |size: [i32; 2], output: &[i32]| {
        let size: Vec<u8> = size.iter().flat_map(|it| it.to_le_bytes()).collect();
        let size = constant(INT32, &[2], None, &size);
        let tensors = vec![floats(&[1, 2, 2, 3]), size, floats(output)];
        Model::new(23, tensors).options(15, vec![(2, Byte(0))])
    };
    assert!(is_known(model([4, 6], &[1, 4, 6, 3])));
    for wrong in [[9, 9], [6, 4], [4, -6], [4, 3]] {
        assert!(!is_known(model(wrong, &[1, 4, 6, 3])), "{wrong:?}");
    }
    assert!(!is_known(model([4, 6], &[3, 4, 6, 1])));
}

#[test]
fn axis_of_a_concatenation() {
    let model = |axis: i32, output: &[i32]| {
        let tensors = vec![floats(&[1, 2, 1, 4]), floats(&[1, 2, 1, 4]), floats(output)];
        Model::new(2, tensors).options(10, vec![(0, Word(axis as u32))])
    };
    assert!(is_known(model(2, &[1, 2, 2, 4])));
    assert!(is_known(model(-2, &[1, 2, 2, 4])));
    for wrong in [0, 1, 3] {
        assert!(!is_known(model(wrong, &[1, 2, 2, 4])), "{wrong}");
    }
    assert!(!is_known(model(2, &[1, 2, 4, 2])));
}

#[test]
fn types_that_no_kernel_takes() {
    const EXP: u32 = 47;
    const ABS: u32 = 101;
    let unary = |code, element| {
        let tensor = activation(element, &[1, 4], None);
        Model::new(code, vec![tensor.clone(), tensor])
    };
    assert!(is_known(unary(EXP, FLOAT32)));
    assert!(is_known(unary(ABS, INT8)));
    for (code, element) in [(EXP, INT8), (EXP, INT32), (ABS, INT32)] {
        assert!(!is_known(unary(code, element)), "{code} {element}");
    }
}
