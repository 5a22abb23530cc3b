// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The network of the interpreters here: that of the zoo's liberis_lane_figure_1, seven operators on two branches.
// OFFLINE has the offset of each tensor, -1 where the greedy planner is to place it.
#ifndef NETWORK_H
#define NETWORK_H

#include "dmo_conv.h"

#include <cstddef>
#include <cstdint>

#ifndef OFFLINE
#define OFFLINE -1, -1, -1, -1, -1, -1, -1, -1
#endif

namespace {

constexpr size_t kAlignment = 16;
constexpr int kTensors = 8;
constexpr int kOperators = 7;
constexpr int32_t kMost = 64;

enum Kind { kConv, kDepthwise, kConcat };

struct Operator {
  Kind kind;
  int inputs[2];
  int output;
  int taps, stride, pad;
};

constexpr dmo_shape kShapes[kTensors] = {
  { 1, 7, 7, 32 }, { 1, 7, 7, 64 }, { 1, 7, 7, 32 }, { 1, 4, 4, 32 },
  { 1, 4, 4, 32 }, { 1, 4, 4, 16 }, { 1, 4, 4, 16 }, { 1, 4, 4, 32 },
};

constexpr Operator kModel[kOperators] = {
  { kConv, { 0, -1 }, 1, 1, 1, 0 }, { kConv, { 1, -1 }, 2, 1, 1, 0 }, { kDepthwise, { 2, -1 }, 3, 3, 2, 1 },
  { kConv, { 1, -1 }, 4, 1, 2, 0 }, { kConv, { 3, -1 }, 5, 1, 1, 0 }, { kConv, { 4, -1 }, 6, 1, 1, 0 },
  { kConcat, { 5, 6 }, 7, 0, 0, 0 },
};

constexpr int kOffline[kTensors] = { OFFLINE };

// Made by a static constructor, so that the image stays small.
struct Weights {
  int8_t filter[kMost * kMost];
  int32_t bias[kMost], multiplier[kMost], shift[kMost];

  Weights() {
    for (int32_t i = 0; i < kMost * kMost; ++i) {
      filter[i] = static_cast<int8_t>(i * 37 + (i >> 3));
    }
    for (int32_t i = 0; i < kMost; ++i) {
      bias[i] = i * 3 - 64;
      multiplier[i] = 1 << 30;
      shift[i] = -7;
    }
  }
};
Weights weights;

}  // namespace

#endif  // NETWORK_H
