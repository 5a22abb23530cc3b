// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Firmware in the style of TensorFlow Lite Micro: an arena whose head holds the planned tensors and whose tail holds
// what is kept, a greedy planner that runs on the target, an interpreter's loop that tells a profiler of each operator.
// The model is that of the zoo's liberis_lane_figure_1: seven operators on two branches.
//
//   OFFLINE       offset of each tensor, -1 where the greedy planner is to place it
//   ARENA_OFFSET  how far the arena starts behind a multiple of 16
//   INFERENCES    how many are run
//   IN_ORDER      another planner: the tensors as they come, not the largest first
//   INTRUDE       code between operators that stores to a tensor
//   MARKS         the profiler is that of dmo_trace_tflm.h, not one of the firmware's own
#include "dmo_layout.h"
#include "network.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#ifdef MARKS
#include "dmo_trace_tflm.h"
#else
#include "tensorflow/lite/micro/micro_profiler_interface.h"
#endif

#ifndef ARENA_OFFSET
#define ARENA_OFFSET 0
#endif
#ifndef INFERENCES
#define INFERENCES 1
#endif
#ifndef ARENA_SECTION
#define ARENA_SECTION ".bss.arena"
#endif

namespace {

constexpr size_t kArenaBytes = 8192;

__attribute__((section(ARENA_SECTION), aligned(16))) uint8_t tensor_arena[kArenaBytes];
// Something else of the same size.
uint8_t other_memory[kArenaBytes];

uint8_t *AlignUp(uint8_t *pointer) {
  return reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(pointer) + kAlignment - 1) & ~(kAlignment - 1));
}

class Arena {
 public:
  Arena(uint8_t *start, size_t size) : head_(AlignUp(start)), tail_(start + size) {}

  template <typename T>
  T *Keep(size_t count) {
    tail_ = reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(tail_ - count * sizeof(T)) & ~uintptr_t(7));
    T *kept = reinterpret_cast<T *>(tail_);
    for (size_t i = 0; i < count; ++i) {
      new (&kept[i]) T();
    }
    return kept;
  }

  uint8_t *head() const { return head_; }

 private:
  uint8_t *head_;
  uint8_t *tail_;
};

struct Tensor {
  dmo_shape shape;
  int8_t *data;
};

#ifdef MARKS
using Profiler = DmoTraceProfiler;
#else
// Whatever a firmware has: it counts. It is in a file of its own as far as the compiler knows.
class Profiler : public tflite::MicroProfilerInterface {
 public:
  __attribute__((noipa)) uint32_t BeginEvent(const char *tag) override {
    letters_ = letters_ + std::strlen(tag);
    return events_++;
  }
  __attribute__((noipa)) void EndEvent(uint32_t handle) override { last_ = handle; }

 private:
  volatile size_t letters_ = 0;
  uint32_t events_ = 0;
  volatile uint32_t last_ = 0;
};
#endif

class ScopedEvent {
 public:
  ScopedEvent(const char *tag, tflite::MicroProfilerInterface *profiler)
      : profiler_(profiler), handle_(profiler->BeginEvent(tag)) {}
  ~ScopedEvent() { profiler_->EndEvent(handle_); }

 private:
  tflite::MicroProfilerInterface *profiler_;
  uint32_t handle_;
};

const char *Name(Kind kind) {
  static const char *const names[] = { "CONV_2D", "DEPTHWISE_CONV_2D", "CONCATENATION" };
  return names[kind];
}

class Interpreter {
 public:
  Interpreter(Arena *arena, tflite::MicroProfilerInterface *profiler) : arena_(arena), profiler_(profiler) {}

  void AllocateTensors() {
    tensors_ = arena_->Keep<Tensor>(kTensors);
    for (int i = 0; i < kTensors; ++i) {
      tensors_[i].shape = kShapes[i];
    }
    Plan();
  }

  void Invoke() {
    for (const Operator &op : kModel) {
      {
        ScopedEvent event(Name(op.kind), profiler_);
        Run(op);
      }
#ifdef INTRUDE
      if (op.output == 1) {
        tensors_[1].data[100] = 1;
      }
#endif
    }
  }

  Tensor *input() { return &tensors_[0]; }
  Tensor *output() { return &tensors_[kTensors - 1]; }

 private:
  static int32_t Bytes(int tensor) {
    const int32_t alignment = static_cast<int32_t>(kAlignment);
    return (dmo_shape_size(&kShapes[tensor]) + alignment - 1) / alignment * alignment;
  }

  // From the step in which a tensor is made to the last in which it is needed.
  static void Life(int tensor, int *first, int *last) {
    *first = 0;
    *last = tensor == kTensors - 1 ? kOperators : 0;
    for (int step = 0; step < kOperators; ++step) {
      if (kModel[step].output == tensor) {
        *first = step + 1;
      }
      if (kModel[step].inputs[0] == tensor || kModel[step].inputs[1] == tensor) {
        *last = step + 1;
      }
    }
  }

  static bool Together(int a, int b) {
    int first[2], last[2];
    Life(a, &first[0], &last[0]);
    Life(b, &first[1], &last[1]);
    return first[0] <= last[1] && first[1] <= last[0];
  }

  static int Next(const bool *placed) {
    int next = -1;
    for (int i = 0; i < kTensors; ++i) {
#ifdef IN_ORDER
      const bool better = next < 0;
#else
      const bool better = next < 0 || Bytes(i) >= Bytes(next);
#endif
      if (!placed[i] && better) {
        next = i;
      }
    }
    return next;
  }

  // Largest first, of equal ones the last; each at the lowest place that is free while it is needed.
  void Plan() {
    bool placed[kTensors] = {};
    int32_t offset[kTensors] = {};
    for (int i = 0; i < kTensors; ++i) {
      placed[i] = kOffline[i] >= 0;
      offset[i] = placed[i] ? kOffline[i] : 0;
    }
    for (int next; (next = Next(placed)) >= 0;) {
      int32_t lowest = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < kTensors; ++i) {
          const int32_t end = offset[i] + Bytes(i);
          if (placed[i] && Together(i, next) && lowest < end && offset[i] < lowest + Bytes(next)) {
            lowest = end;
            moved = true;
          }
        }
      }
      placed[next] = true;
      offset[next] = lowest;
    }
    for (int i = 0; i < kTensors; ++i) {
      tensors_[i].data = reinterpret_cast<int8_t *>(arena_->head() + offset[i]);
    }
  }

  void Run(const Operator &op) {
    const Tensor &in = tensors_[op.inputs[0]];
    const Tensor &out = tensors_[op.output];
    const dmo_conv2d_params params = { { op.stride, op.stride, 1, 1, op.pad, op.pad }, 3, -5, -128, 127 };
    const dmo_quant_per_channel quant = { weights.multiplier, weights.shift };
    if (op.kind == kConv) {
      const dmo_shape filter = { out.shape.c, op.taps, op.taps, in.shape.c };
      dmo_conv2d_s8(&params, &quant, &in.shape, in.data, &filter, weights.filter, weights.bias, &out.shape, out.data);
    } else if (op.kind == kDepthwise) {
      const dmo_shape filter = { 1, op.taps, op.taps, out.shape.c };
      dmo_depthwise_conv2d_s8(&params, &quant, &in.shape, in.data, &filter, weights.filter, weights.bias, &out.shape,
                              out.data);
    } else {
      const Tensor &other = tensors_[op.inputs[1]];
      const dmo_shape shapes[] = { in.shape, other.shape };
      const int8_t *const inputs[] = { in.data, other.data };
      dmo_concat_s8(DMO_AXIS_C, 2, shapes, inputs, out.data);
    }
  }

  Arena *arena_;
  tflite::MicroProfilerInterface *profiler_;
  Tensor *tensors_ = nullptr;
};

}  // namespace

int main() {
  Profiler profiler;
  Arena arena(tensor_arena + ARENA_OFFSET, sizeof tensor_arena - ARENA_OFFSET);
  Interpreter interpreter(&arena, &profiler);
  interpreter.AllocateTensors();
  const_cast<volatile uint8_t *>(other_memory)[0] = 1;
  int32_t sum = 0;
  for (int inference = 0; inference < INFERENCES; ++inference) {
    Tensor *input = interpreter.input();
    for (int32_t i = 0; i < dmo_shape_size(&input->shape); ++i) {
      input->data[i] = static_cast<int8_t>(i * 7 + inference);
    }
    interpreter.Invoke();
    Tensor *output = interpreter.output();
    for (int32_t i = 0; i < dmo_shape_size(&output->shape); ++i) {
      sum += output->data[i];
    }
  }
  return sum == INT32_MAX;
}

// What the C++ runtime wants of a program that deletes nothing.
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
