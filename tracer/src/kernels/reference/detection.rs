//! Detections from boxes and scores. Contract: `kernels-c/include/dmo_detection.h`.

use super::bits;
use crate::call::{CallError, Frame, fits_into_flash, inexpressible};
use crate::kernels::{Arguments, Buffers, Case, Contract, Job, ScratchSize};
use dmo_analysis::graph::parameters::{Constant, Detection, Parameters};
use dmo_analysis::graph::{Kind, TensorType};
use dmo_analysis::operator::{Apart, Operator};
use dmo_analysis::trace::{Address, ElementType::Float32};

pub(super) const CONTRACTS: &[Contract] = &[Contract::float32(
    "dmo_detection_postprocess_f32",
    &Kind::DetectionPostprocess,
    postprocess,
)
.with_scratch(ScratchSize::new(
    "dmo_detection_postprocess_f32_scratch_bytes",
    |job, frame| Ok(vec![Sizes::of(job)?.parameters(job, frame)?.into()]),
))];

const ANCHORS: usize = 2;

/// What the shapes say.
struct Sizes {
    boxes: u32,
    encoded: u32,
    columns: u32,
    rows: u32,
}

impl Sizes {
    fn of(job: &Job) -> Result<Self, CallError> {
        let Operator::Apart(Apart { inputs, outputs }) = &job.case.operator else {
            return Err(job.of_another_kind());
        };
        let ([encodings, scores], [_, classes, ..]) = (&inputs[..], &outputs[..]) else {
            return Err(job.of_another_kind());
        };
        let boxes = job.constant(ANCHORS, "anchors")?.shape.first().copied();
        let boxes = boxes.filter(|&boxes| boxes > 0);
        let boxes = boxes.ok_or_else(|| inexpressible("the number of anchors", 0, "1 or more"))?;
        Ok(Self {
            boxes,
            encoded: encodings.elements / boxes,
            columns: scores.elements / boxes,
            rows: classes.elements,
        })
    }

    /// The structure that the kernel is given.
    fn parameters(&self, job: &Job, frame: &mut Frame) -> Result<Address, CallError> {
        let missing = || inexpressible("the options", "missing", "those of a detection");
        let detection: Detection = job.parameters.detection.ok_or_else(missing)?;
        let counts = [
            self.boxes,
            self.encoded,
            self.columns,
            detection.num_classes,
            detection.max_detections,
            detection.detections_per_class.unwrap_or(0),
            self.rows,
        ];
        let numbers = [
            detection.nms_score_threshold,
            detection.nms_iou_threshold,
            detection.y_scale,
            detection.x_scale,
            detection.h_scale,
            detection.w_scale,
        ];
        let counts = counts.iter().map(|&count| count as i32);
        let words: Vec<i32> = counts.chain(numbers.map(bits)).collect();
        frame.words("parameters", &words)
    }
}

/// Numbers where no model gives any: anchors of the same place, which all boxes are around; `None` of
/// another kind.
pub(in crate::kernels) fn invented(case: &Case) -> Option<Result<Parameters<'static>, CallError>> {
    let Operator::Apart(Apart { inputs, outputs }) = &case.operator else {
        return None;
    };
    let ([encodings, scores], [_, classes, ..]) = (&inputs[..], &outputs[..]) else {
        return None;
    };
    if case.kind != Kind::DetectionPostprocess {
        return None;
    }
    let boxes = (encodings.elements / 4).max(1);
    let bytes = 16 * u64::from(boxes);
    let anchors = fits_into_flash("anchors", bytes).map(|()| Constant {
        bytes: 0.5f32.to_le_bytes().repeat(bytes as usize / 4).into(),
        element_type: TensorType::Float32,
        shape: vec![boxes, 4],
        quantisation: Vec::new(),
        channel_axis: 0,
    });
    Some(anchors.map(|anchors| Parameters {
        constants: vec![None, None, Some(anchors)],
        detection: Some(Detection {
            max_detections: classes.elements,
            num_classes: scores.elements / boxes,
            detections_per_class: None,
            nms_score_threshold: 0.5,
            nms_iou_threshold: 0.5,
            y_scale: 10.0,
            x_scale: 10.0,
            h_scale: 5.0,
            w_scale: 5.0,
        }),
        ..Parameters::default()
    }))
}

fn postprocess(job: &Job, buffers: &Buffers, frame: &mut Frame) -> Arguments {
    let sizes = Sizes::of(job)?;
    let numbers = 4 * u64::from(sizes.boxes);
    let anchors = job.place(ANCHORS, "anchors", Float32, numbers, frame)?;
    let params = sizes.parameters(job, frame)?;
    let mut places = vec![params, buffers.inputs[0], buffers.inputs[1], anchors];
    places.extend(&buffers.outputs);
    places.push(buffers.scratch_address());
    Ok(places.into_iter().map(Into::into).collect())
}
