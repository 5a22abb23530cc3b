//! Options of `TFLite_Detection_PostProcess`, a map of names to numbers
//! (`tensorflow/lite/micro/kernels/detection_postprocess.cc`).

use super::custom_options::Options;
use super::error::Unsupported;
use super::flexbuffer::Map;
use crate::graph::Kind;
use crate::graph::parameters::Detection;

/// How many detections of a class there may be where no option says it.
const DETECTIONS_PER_CLASS: u32 = 100;
/// No buffer that kernels take has more elements.
const MOST: i64 = 1 << 20;

/// What a detection computes with; `None` of another kind.
///
/// # Errors
/// When an option is missing, or beyond what kernels compute with.
pub(super) fn read(kind: &Kind, custom: Option<&[u8]>) -> Result<Option<Detection>, Unsupported> {
    if *kind != Kind::DetectionPostprocess {
        return Ok(None);
    }
    let options = Options(custom.and_then(Map::read));
    let num_classes = options.count("num_classes", None)?;
    let by_class = options.integer("use_regular_nms").unwrap_or(0) != 0;
    let detections_per_class = if by_class {
        Some(options.count("detections_per_class", Some(DETECTIONS_PER_CLASS))?)
    } else {
        let of_box = options.count("max_classes_per_detection", None)?;
        if of_box > 1 && num_classes > 1 {
            return Err(Unsupported::Option {
                option: "max_classes_per_detection",
                given: of_box.to_string(),
                expected: "1: with more, TensorFlow Lite Micro stores beyond its outputs",
            });
        }
        None
    };
    let nms_iou_threshold = options.number("nms_iou_threshold")?;
    if !(nms_iou_threshold > 0.0 && nms_iou_threshold <= 1.0) {
        return Err(Unsupported::Option {
            option: "nms_iou_threshold",
            given: nms_iou_threshold.to_string(),
            expected: "above 0, and 1 at most",
        });
    }
    Ok(Some(Detection {
        max_detections: options.count("max_detections", None)?,
        num_classes,
        detections_per_class,
        nms_score_threshold: options.number("nms_score_threshold")?,
        nms_iou_threshold,
        y_scale: options.number("y_scale")?,
        x_scale: options.number("x_scale")?,
        h_scale: options.number("h_scale")?,
        w_scale: options.number("w_scale")?,
    }))
}

impl Options<'_> {
    /// A positive number; `without` stands for one that is missing.
    fn count(&self, option: &'static str, without: Option<u32>) -> Result<u32, Unsupported> {
        match (self.integer(option), without) {
            (None, Some(count)) => Ok(count),
            _ => Ok(self.within(option, [1, MOST], "a positive number")? as u32),
        }
    }
}
