// SPDX-License-Identifier: MIT OR Apache-2.0
#include "dmo_detection.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
  float top, left, bottom, right;
} box;

typedef struct {
  float score;
  int32_t box, class;
} detection;

// Parts of the scratch.
typedef struct {
  box *boxes;
  float *scores;
  int32_t *order, *selected;
  detection *best;
} workspace;

int32_t dmo_detection_postprocess_f32_scratch_bytes(const dmo_detection_params *params) {
  const size_t of_box = sizeof(box) + sizeof(float) + 2 * sizeof(int32_t);
  return (int32_t)((size_t)params->boxes * of_box + (size_t)params->detections * sizeof(detection));
}

static workspace split_scratch(const dmo_detection_params *params, void *scratch) {
  workspace work;
  work.boxes = scratch;
  work.scores = (float *)(work.boxes + params->boxes);
  work.order = (int32_t *)(work.scores + params->boxes);
  work.selected = work.order + params->boxes;
  work.best = (detection *)(work.selected + params->boxes);
  return work;
}

static float centre(float encoded, float scale, float extent, float from) {
  return (float)((double)encoded / (double)scale * (double)extent + (double)from);
}

static float half_extent(float encoded, float scale, float extent) {
  return (float)(0.5 * exp((double)encoded / (double)scale) * (double)extent);
}

static box decode(const dmo_detection_params *params, const float *encoded, const float *anchor) {
  const float y = centre(encoded[0], params->y_scale, anchor[2], anchor[0]);
  const float x = centre(encoded[1], params->x_scale, anchor[3], anchor[1]);
  const float height = half_extent(encoded[2], params->height_scale, anchor[2]);
  const float width = half_extent(encoded[3], params->width_scale, anchor[3]);
  return (box){ y - height, x - width, y + height, x + width };
}

static float area(const box *b) {
  return (b->bottom - b->top) * (b->right - b->left);
}

static float larger(float a, float b) {
  return a < b ? b : a;
}

static float smaller(float a, float b) {
  return b < a ? b : a;
}

// Intersection over union.
static float shared(const box *a, const box *b) {
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) {
    return 0;
  }
  const float height = larger(smaller(a->bottom, b->bottom) - larger(a->top, b->top), 0);
  const float width = larger(smaller(a->right, b->right) - larger(a->left, b->left), 0);
  const float both = height * width;
  return both / (area_a + area_b - both);
}

// Higher scores come first, and of equal ones those of earlier boxes.
static bool is_before(const float *scores, int32_t a, int32_t b) {
  return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

static void swap(int32_t *order, int32_t a, int32_t b) {
  const int32_t first = order[a];
  order[a] = order[b];
  order[b] = first;
}

static void sift_down(const float *scores, int32_t *order, int32_t from, int32_t count) {
  for (;;) {
    int32_t last = from;
    for (int32_t child = 2 * from + 1; child <= 2 * from + 2 && child < count; ++child) {
      if (is_before(scores, order[last], order[child])) {
        last = child;
      }
    }
    if (last == from) {
      return;
    }
    swap(order, from, last);
    from = last;
  }
}

static void sort(const float *scores, int32_t *order, int32_t count) {
  for (int32_t from = count / 2; from-- > 0;) {
    sift_down(scores, order, from, count);
  }
  for (int32_t end = count - 1; end > 0; --end) {
    swap(order, 0, end);
    sift_down(scores, order, 0, end);
  }
}

// The boxes with the highest of work->scores, at most `most`, none of which shares too much with one before it.
static int32_t suppress(const dmo_detection_params *params, const workspace *work, int32_t most) {
  int32_t candidates = 0, count = 0;
  for (int32_t b = 0; b < params->boxes; ++b) {
    if (work->scores[b] >= params->least_score) {
      work->order[candidates++] = b;
    }
  }
  sort(work->scores, work->order, candidates);
  for (int32_t i = 0; i < candidates && count < most; ++i) {
    const int32_t best = work->order[i];
    if (best < 0) {
      continue;
    }
    work->selected[count++] = best;
    for (int32_t j = i + 1; j < candidates; ++j) {
      const int32_t other = work->order[j];
      if (other >= 0 && shared(&work->boxes[best], &work->boxes[other]) > params->most_shared) {
        work->order[j] = -1;
      }
    }
  }
  return count;
}

static int32_t best_class(const float *scores, int32_t classes) {
  int32_t best = 0;
  for (int32_t c = 1; c < classes; ++c) {
    if (scores[c] > scores[best]) {
      best = c;
    }
  }
  return best;
}

// Each box with its best class.
static int32_t detect(const dmo_detection_params *params, const float *scores, const workspace *work) {
  const int32_t columns = params->columns, classes = params->classes;
  const float *const of_classes = scores + columns - classes;
  for (int32_t b = 0; b < params->boxes; ++b) {
    const float *const row = &of_classes[b * columns];
    work->scores[b] = row[best_class(row, classes)];
  }
  const int32_t count = suppress(params, work, params->detections);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t b = work->selected[i];
    work->best[i] = (detection){ work->scores[b], b, best_class(&of_classes[b * columns], classes) };
  }
  return count;
}

// Into the list of the best: behind those of the same score. Returns how many it has then.
static int32_t insert(const dmo_detection_params *params, detection *best, int32_t count, detection found) {
  int32_t at = count;
  while (at > 0 && found.score > best[at - 1].score) {
    --at;
  }
  if (at == params->detections) {
    return count;
  }
  const int32_t end = count < params->detections ? count + 1 : count;
  for (int32_t i = end - 1; i > at; --i) {
    best[i] = best[i - 1];
  }
  best[at] = found;
  return end;
}

static int32_t detect_by_class(const dmo_detection_params *params, const float *scores, const workspace *work) {
  const int32_t columns = params->columns;
  const float *const of_classes = scores + columns - params->classes;
  int32_t count = 0;
  for (int32_t c = 0; c < params->classes; ++c) {
    for (int32_t b = 0; b < params->boxes; ++b) {
      work->scores[b] = of_classes[b * columns + c];
    }
    const int32_t selected = suppress(params, work, params->detections_per_class);
    for (int32_t i = 0; i < selected; ++i) {
      const int32_t b = work->selected[i];
      count = insert(params, work->best, count, (detection){ work->scores[b], b, c });
    }
  }
  return count;
}

static void store(const dmo_detection_params *params, const workspace *work, int32_t count, float *corners,
                  float *classes, float *scores) {
  for (int32_t i = 0; i < params->rows; ++i) {
    detection one = { 0, 0, 0 };
    box place = { 0, 0, 0, 0 };
    if (i < count) {
      one = work->best[i];
      place = work->boxes[one.box];
    }
    corners[4 * i] = place.top;
    corners[4 * i + 1] = place.left;
    corners[4 * i + 2] = place.bottom;
    corners[4 * i + 3] = place.right;
    classes[i] = (float)one.class;
    scores[i] = one.score;
  }
}

void dmo_detection_postprocess_f32(const dmo_detection_params *params, const float *boxes, const float *scores,
                                   const float *anchors, float *corners, float *found_classes, float *found_scores,
                                   float *count, void *scratch) {
  const workspace work = split_scratch(params, scratch);
  bool has_areas = true;
  for (int32_t b = 0; b < params->boxes; ++b) {
    const box decoded = decode(params, &boxes[b * params->encoded], &anchors[4 * b]);
    has_areas = has_areas && !(decoded.top >= decoded.bottom || decoded.left >= decoded.right);
    work.boxes[b] = decoded;
  }
  int32_t found = 0;
  if (has_areas) {
    found = params->detections_per_class > 0 ? detect_by_class(params, scores, &work) : detect(params, scores, &work);
  }
  store(params, &work, found, corners, found_classes, found_scores);
  *count = (float)found;
}
