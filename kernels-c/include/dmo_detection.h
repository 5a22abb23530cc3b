// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Detections from boxes and scores: TFLite_Detection_PostProcess of TensorFlow Lite Micro
// (tensorflow/lite/micro/kernels/detection_postprocess.cc). No two buffers of a call overlap. Buffers are aligned to
// their elements.
#ifndef DMO_DETECTION_H
#define DMO_DETECTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int32_t boxes;                // of the input
  int32_t encoded;              // numbers of a box of the input, of which the first four count
  int32_t columns;              // scores of a box: one for each class, or one for the background before them
  int32_t classes;
  int32_t detections;           // at most as many
  int32_t detections_per_class; // the same of one class, where suppression goes class by class; 0 where it does not
  int32_t rows;                 // of the outputs, at least as many as detections
  float least_score;
  float most_shared;            // in (0, 1]
  float y_scale, x_scale, height_scale, width_scale;
} dmo_detection_params;

int32_t dmo_detection_postprocess_f32_scratch_bytes(const dmo_detection_params *params);

// boxes: [boxes, encoded], y, x, height and width relative to an anchor; scores: [boxes, columns]; anchors: [boxes, 4].
// corners: [rows, 4], y and x of the one corner, then of the other; found_classes and found_scores: [rows]; count: [1].
// Of boxes that share more than most_shared of their area with one of a higher score none is found: among all boxes, each
// with its best class, or among those of each class. What is left of the rows is 0; where suppression does not go class
// by class, TensorFlow Lite Micro leaves it as it was. Order: loads all inputs, some of them again; then stores all
// outputs. Nothing is found if a box has no area, where TensorFlow Lite Micro ends the inference with an error.
void dmo_detection_postprocess_f32(const dmo_detection_params *params, const float *boxes, const float *scores,
                                   const float *anchors, float *corners, float *found_classes, float *found_scores,
                                   float *count, void *scratch);

#ifdef __cplusplus
}
#endif

#endif
