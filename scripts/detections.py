#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# detections.py: writes tracer/tests/golden/further_detection_float32.tflite, which golden.py then runs: boxes and scores
# to detections, each box with its best class and class by class.
#
# Requirements: scripts/requirements.txt

from operators import Signal
from stand_ins import schema

BOXES, CLASSES = 24, 3


def detect(net, sources, most, **options):
    kinds = [[1, most, 4], [1, most], [1, most], [1]]
    outputs = [net.tensor("float32", shape) for shape in kinds]
    scales = {"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
    options = {"max_detections": most, "num_classes": CLASSES, "max_classes_per_detection": 1, **scales, **options}
    net.custom("TFLite_Detection_PostProcess", sources, outputs, **options)
    return outputs


def clamp(net, source, most):
    """Boxes of any extent have no area, or no end."""
    for kind, limit in [("MAXIMUM", -most), ("MINIMUM", most)]:
        output = net.tensor("float32", net.shape(source))
        limit = net.tensor("float32", [1], data=[limit])
        source = net.operator(kind, [source, limit], [output], schema.MaximumMinimumOptionsT())
    return source


def main():
    net = Signal("further_detection_float32", "float32")
    net.customs = {}
    boxes = net.tensor("float32", [1, BOXES, 4])
    # With and without a background.
    scores = [net.tensor("float32", [1, BOXES, CLASSES + more]) for more in (1, 0)]
    sources = [boxes, *scores]
    boxes, *scores = (clamp(net, source, most) for source, most in zip(sources, [2.0, 7.5, 7.5], strict=True))
    anchors = net.tensor("float32", [BOXES, 4], data=net.random.uniform(0.1, 0.9, [BOXES, 4]))
    # The best three of all are found in any input: what is not found is not stored where each box has its best class.
    best = detect(net, [boxes, scores[0], anchors], 3, nms_score_threshold=-100.0, nms_iou_threshold=0.5)
    by_class = detect(
        net,
        [boxes, scores[1], anchors],
        10,
        use_regular_nms=1,
        detections_per_class=4,
        nms_score_threshold=0.1,
        nms_iou_threshold=0.3,
    )
    net.write(sources, best + by_class)


if __name__ == "__main__":
    main()
