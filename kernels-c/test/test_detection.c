// SPDX-License-Identifier: MIT OR Apache-2.0
#include "check.h"
#include "dmo_detection.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 3000, MOST_BOXES = 14, MOST_COLUMNS = 5, MOST_ROWS = 12 };

typedef struct {
  float score;
  int32_t box, class;
} expected;

static float random_fraction(int32_t parts, int32_t least, int32_t most) {
  return (float)random_between(least, most) / (float)parts;
}

static float overlap(float from, float to, float other_from, float other_to) {
  return fmaxf(fminf(to, other_to) - fmaxf(from, other_from), 0);
}

static float shared(const float *a, const float *b) {
  const float both = overlap(a[0], a[2], b[0], b[2]) * overlap(a[1], a[3], b[1], b[3]);
  const float all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
  return both / (all - both);
}

// Takes the best that is left, and crosses out what it shares too much with.
static int32_t best_boxes(const dmo_detection_params *p, const float *scores, float (*corners)[4], int32_t most,
                          int32_t *selected) {
  bool is_out[MOST_BOXES] = { false };
  int32_t count = 0;
  while (count < most) {
    int32_t best = -1;
    for (int32_t b = p->boxes - 1; b >= 0; --b) {
      if (!is_out[b] && scores[b] >= p->least_score && (best < 0 || scores[b] >= scores[best])) {
        best = b;
      }
    }
    if (best < 0) {
      break;
    }
    selected[count++] = best;
    is_out[best] = true;
    for (int32_t b = 0; b < p->boxes; ++b) {
      is_out[b] |= shared(corners[best], corners[b]) > p->most_shared;
    }
  }
  return count;
}

static int32_t expect(const dmo_detection_params *p, const float *scores, float (*corners)[4], expected *found) {
  const int32_t offset = p->columns - p->classes;
  float column[MOST_BOXES];
  int32_t selected[MOST_BOXES], count = 0;
  if (p->detections_per_class == 0) {
    int32_t class[MOST_BOXES];
    for (int32_t b = 0; b < p->boxes; ++b) {
      const float *const row = &scores[b * p->columns + offset];
      class[b] = p->classes - 1;
      for (int32_t c = p->classes - 1; c >= 0; --c) {
        class[b] = row[c] >= row[class[b]] ? c : class[b];
      }
      column[b] = row[class[b]];
    }
    count = best_boxes(p, column, corners, p->detections, selected);
    for (int32_t i = 0; i < count; ++i) {
      found[i] = (expected){ column[selected[i]], selected[i], class[selected[i]] };
    }
    return count;
  }
  // All of all classes; then the best of these are looked for, the first of equal ones.
  expected all[MOST_BOXES * MOST_COLUMNS];
  bool is_taken[MOST_BOXES * MOST_COLUMNS] = { false };
  int32_t candidates = 0;
  for (int32_t c = 0; c < p->classes; ++c) {
    for (int32_t b = 0; b < p->boxes; ++b) {
      column[b] = scores[b * p->columns + offset + c];
    }
    const int32_t of_class = best_boxes(p, column, corners, p->detections_per_class, selected);
    for (int32_t i = 0; i < of_class; ++i) {
      all[candidates++] = (expected){ column[selected[i]], selected[i], c };
    }
  }
  for (; count < p->detections && count < candidates; ++count) {
    int32_t best = -1;
    for (int32_t i = candidates - 1; i >= 0; --i) {
      best = !is_taken[i] && (best < 0 || all[i].score >= all[best].score) ? i : best;
    }
    is_taken[best] = true;
    found[count] = all[best];
  }
  return count;
}

static void postprocess(void) {
  dmo_detection_params p = { .boxes = random_between(1, MOST_BOXES), .encoded = random_between(4, 5),
                             .classes = random_between(1, MOST_COLUMNS - 1), .detections = random_between(1, 8),
                             .detections_per_class = random_between(0, 3), .least_score = random_fraction(8, 0, 5),
                             .most_shared = random_fraction(10, 1, 10), .y_scale = 10, .x_scale = 8,
                             .height_scale = 5, .width_scale = 4 };
  p.columns = p.classes + random_between(0, 1);
  p.rows = p.detections + random_between(0, MOST_ROWS - 8);
  float boxes[MOST_BOXES * 5], scores[MOST_BOXES * MOST_COLUMNS], anchors[MOST_BOXES * 4], corners[MOST_BOXES][4];
  for (int32_t i = 0; i < MOST_BOXES * 5; ++i) {
    boxes[i] = random_fraction(16, -40, 40);
  }
  for (int32_t i = 0; i < MOST_BOXES * MOST_COLUMNS; ++i) {
    scores[i] = random_fraction(8, 0, 8);
  }
  for (int32_t i = 0; i < MOST_BOXES * 4; ++i) {
    anchors[i] = random_fraction(10, 1, 10);
  }
  for (int32_t b = 0; b < p.boxes; ++b) {
    const float *const e = &boxes[b * p.encoded], *const a = &anchors[4 * b];
    const double scales[] = { (double)p.y_scale, (double)p.x_scale, (double)p.height_scale, (double)p.width_scale };
    for (int32_t axis = 0; axis < 2; ++axis) {
      const double extent = (double)a[2 + axis];
      const float at = (float)((double)e[axis] / scales[axis] * extent + (double)a[axis]);
      const float half = (float)(0.5 * exp((double)e[2 + axis] / scales[2 + axis]) * extent);
      corners[b][axis] = at - half;
      corners[b][2 + axis] = at + half;
    }
  }
  expected best[MOST_BOXES * MOST_COLUMNS];
  const int32_t count = expect(&p, scores, corners, best);
  float places[4 * MOST_ROWS], classes[MOST_ROWS], values[MOST_ROWS], number = -1;
  void *const scratch = malloc((size_t)dmo_detection_postprocess_f32_scratch_bytes(&p));
  dmo_detection_postprocess_f32(&p, boxes, scores, anchors, places, classes, values, &number, scratch);
  free(scratch);
  bool is_right = number == (float)count;
  for (int32_t i = 0; i < p.rows; ++i) {
    const expected none = { 0, -1, 0 }, one = i < count ? best[i] : none;
    is_right &= values[i] == one.score && classes[i] == (float)one.class;
    for (int32_t k = 0; k < 4; ++k) {
      is_right &= places[4 * i + k] == (one.box < 0 ? 0 : corners[one.box][k]);
    }
  }
  CHECK(is_right, "detection_postprocess", count);

  // A box without an area.
  anchors[4 * (p.boxes - 1) + 2] = 0;
  void *const again = malloc((size_t)dmo_detection_postprocess_f32_scratch_bytes(&p));
  dmo_detection_postprocess_f32(&p, boxes, scores, anchors, places, classes, values, &number, again);
  CHECK(number == 0 && values[0] == 0, "detection_postprocess of nothing", p.boxes);
  free(again);
}

void test_detection(void) {
  for (int32_t n = 0; n < CASES; ++n) {
    postprocess();
  }
}
