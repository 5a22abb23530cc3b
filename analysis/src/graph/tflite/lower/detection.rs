//! Detections from boxes and scores (`tensorflow/lite/micro/kernels/detection_postprocess.cc`).

use super::signal::{apart, count};
use super::{FileNode, Lowered, elements};
use crate::graph::TensorType;

/// Boxes are loaded first, and detections stored last; in between all is in scratch memory, but for
/// scores, which are loaded again.
pub(in crate::graph::tflite) fn postprocess(node: &FileNode) -> Option<Lowered> {
    let shape = |input: usize| Some(node.input(input)?.shape.as_slice());
    let (&[1, boxes, encoded], &[1, rows, columns]) = (shape(0)?, shape(1)?) else {
        return None;
    };
    let &[anchors, 4] = shape(2)? else {
        return None;
    };
    let found = |output: usize| elements(&node.output(output)?.shape);
    let [corners, classes, scores, counts] = [0, 1, 2, 3].map(found);
    let most = u32::try_from(count(node, "max_detections")?).ok()?;
    let given = count(node, "num_classes")?;
    let fits = boxes == rows
        && boxes == anchors
        && encoded >= 4
        && (given..=given + 1).contains(&u64::from(columns))
        && scores? >= most
        && classes == scores
        && corners? == scores?.checked_mul(4)?
        && counts? == 1;
    let floats = [TensorType::Float32; 4];
    apart(node, &floats[..2], &floats).filter(|_| fits)
}
