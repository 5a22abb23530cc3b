//! Options of `TFLite_Detection_PostProcess`.

/// What TensorFlow Lite Micro's detection computes with (`detection_postprocess.cc`). Scales are those
/// by which the coordinates of boxes are divided.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the options")]
pub struct Detection {
    /// At least 1.
    pub max_detections: u32,
    /// At least 1.
    pub num_classes: u32,
    /// At least 1 where boxes of each class are suppressed by themselves; `None` where each box has
    /// its best class only.
    pub detections_per_class: Option<u32>,
    pub nms_score_threshold: f32,
    /// Above 0, at most 1.
    pub nms_iou_threshold: f32,
    pub y_scale: f32,
    pub x_scale: f32,
    pub h_scale: f32,
    pub w_scale: f32,
}
