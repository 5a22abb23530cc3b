// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Firmware whose interpreter has the functions and structures by which dmo-trace follows TensorFlow Lite Micro, and
// neither marks nor a profiler. Its model is that of interpreter.cpp; the file lies in it, and the test describes it in
// model.h. A convolution first copies its input into scratch memory.
//
//   OFFLINE       offset of each activation, -1 where the greedy planner is to place it
//   IN_ORDER      another planner: the buffers as they come, not the largest first
//   INFERENCES    how many are run; 0 runs them for ever
//   SECOND        a second interpreter of the same model, on the same arena; the allocator lies in it, too
//   OWN_ALLOCATOR the second interpreter has an allocator of its own, on the same memory
//   INTERPRETER   an interpreter of the model that it is handed, whose plan counts
//   BRANCHES      depthwise convolutions load further bytes or not, by what their input is
//   INTRUDE       operators store to what the interpreter keeps that was laid out last
//   POOLED        the arena lies inside of other memory
//   OVERRUN       convolutions store one byte more than the scratch memory that they have asked for
//   SHARED        convolutions ask for a second scratch buffer, which lies where the first one does
//   HUGE          the arena is said to be larger than any memory
//   OTHER_LAYOUT  tensors are described by another structure
//   NEVER_RUN     the models are laid out, and no inference begins
#include "dmo_layout.h"
#include "model.h"
#include "network.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#ifndef INFERENCES
#define INFERENCES 1
#endif

// Called from elsewhere, as far as the compiler knows.
#define APART __attribute__((noipa))

__asm__(".section .rodata.model, \"a\"\n.balign 16\n.global model_file\nmodel_file:\n.incbin \"" MODEL_FILE "\"\n.text\n");
extern "C" const unsigned char model_file[];

namespace {

constexpr size_t kArenaBytes = 16384;
constexpr int kMostScratch = 16;

#ifdef POOLED
alignas(16) uint8_t pool[kArenaBytes + 512];
uint8_t *const tensor_arena = pool + 256;
#else
alignas(16) uint8_t tensor_arena[kArenaBytes];
#endif

}  // namespace

namespace {

template <typename T>
T Read(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// A field of a table, and what a reference leads to.
const uint8_t *Field(const uint8_t *table, int number) {
  const uint8_t *directory = table - Read<int32_t>(table);
  const int place = 4 + 2 * number;
  const uint16_t offset = place < Read<uint16_t>(directory) ? Read<uint16_t>(directory + place) : 0;
  return offset == 0 ? nullptr : table + offset;
}

const uint8_t *Target(const uint8_t *reference) {
  return reference + Read<uint32_t>(reference);
}

// The offsets that a model carries, one for each tensor of the file.
const uint8_t *CarriedOffsets(const uint8_t *root) {
  static const char kName[] = "OfflineMemoryAllocation";
  const uint8_t *metadata = Field(root, 6);
  if (metadata == nullptr) {
    return nullptr;
  }
  metadata = Target(metadata);
  for (uint32_t i = 0; i < Read<uint32_t>(metadata); ++i) {
    const uint8_t *entry = Target(metadata + 4 + 4 * i);
    if (std::memcmp(Target(Field(entry, 0)) + 4, kName, sizeof kName) == 0) {
      const uint8_t *buffers = Target(Field(root, 4));
      const uint8_t *buffer = Target(buffers + 4 + 4 * Read<uint32_t>(Field(entry, 1)));
      return Target(Field(buffer, 0)) + 16;
    }
  }
  return nullptr;
}

}  // namespace

namespace tflite {

struct Model;

struct Tensor {
#ifdef OTHER_LAYOUT
  int type;
  const int *dims;
  void *data;
#else
  void *data;
  const int *dims;
  int type;
#endif
};

struct SubgraphAllocations {
  void *nodes;
  Tensor *tensors;
};

struct ScratchBufferHandle {
  uint8_t *data;
};

class SingleArenaBufferAllocator {
 public:
  SingleArenaBufferAllocator(unsigned char *start, unsigned int size);

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

  // The same, at the end of its own arena.
  SingleArenaBufferAllocator *Move() {
    tail_ = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(tail_) - sizeof *this) & ~uintptr_t(7));
    return new (tail_) SingleArenaBufferAllocator(*this);
  }

 private:
  uint8_t *start_;
  uint8_t *end_;
  uint8_t *head_;
  uint8_t *tail_;
};

class MicroAllocator {
 public:
  explicit MicroAllocator(SingleArenaBufferAllocator *arena) : arena_(arena) {}

  SubgraphAllocations *StartModelAllocation(const Model *model);
  int RequestScratchBufferInArena(unsigned int bytes, int subgraph, int *index);
  int FinishPrepareNodeAllocations(int node);
  int FinishModelAllocation(const Model *model, SubgraphAllocations *allocations, ScratchBufferHandle **handles);
  int ResetTempAllocations();

 private:
  int Items() const { return kTensors + requests_; }
  int32_t Bytes(int item) const;
  void Life(int item, int *first, int *last) const;
  bool Together(int a, int b) const;
  int Next(const bool *placed) const;

  SingleArenaBufferAllocator *arena_;
  unsigned int request_bytes_[kMostScratch];
  int request_node_[kMostScratch];
  int requests_ = 0;
  volatile int resets_ = 0;
};

class MicroInterpreterGraph {
 public:
  MicroInterpreterGraph(MicroAllocator *allocator, const Model *model) : allocator_(allocator), model_(model) {}

  int PrepareSubgraphs();
  int InvokeSubgraph(int subgraph);
  void AllocateTensors();
  int8_t *Data(int activation) const;

 private:
  void Run(int node);

  MicroAllocator *allocator_;
  const Model *model_;
  SubgraphAllocations *allocations_ = nullptr;
  ScratchBufferHandle *handles_ = nullptr;
  int scratch_[kOperators];
};

APART SingleArenaBufferAllocator::SingleArenaBufferAllocator(unsigned char *start, unsigned int size)
    : start_(start), end_(start + (size < kArenaBytes ? size : kArenaBytes)), head_(start), tail_(end_) {}

APART SubgraphAllocations *MicroAllocator::StartModelAllocation(const Model *) {
  requests_ = 0;
  SubgraphAllocations *allocations = arena_->Keep<SubgraphAllocations>(1);
  allocations->tensors = arena_->Keep<Tensor>(kFileTensors);
  for (int i = 0; i < kFileTensors; ++i) {
    allocations->tensors[i].dims = kDims[i];
  }
  return allocations;
}

APART int MicroAllocator::RequestScratchBufferInArena(unsigned int bytes, int, int *index) {
  request_bytes_[requests_] = bytes;
  request_node_[requests_] = -1;
  *index = requests_++;
  return 0;
}

APART int MicroAllocator::FinishPrepareNodeAllocations(int node) {
  for (int i = 0; i < requests_; ++i) {
    if (request_node_[i] < 0) {
      request_node_[i] = node;
    }
  }
  return 0;
}

APART int MicroAllocator::ResetTempAllocations() {
  resets_ = resets_ + 1;
  return 0;
}

int32_t MicroAllocator::Bytes(int item) const {
  const int32_t alignment = static_cast<int32_t>(kAlignment);
  const int32_t bytes =
    item < kTensors ? dmo_shape_size(&kShapes[item]) : static_cast<int32_t>(request_bytes_[item - kTensors]);
  return (bytes + alignment - 1) / alignment * alignment;
}

// From the step in which an item is made to the last in which it is needed.
void MicroAllocator::Life(int item, int *first, int *last) const {
  if (item >= kTensors) {
    *first = *last = request_node_[item - kTensors] + 1;
    return;
  }
  *first = 0;
  *last = item == kTensors - 1 ? kOperators : 0;
  for (int step = 0; step < kOperators; ++step) {
    if (kModel[step].output == item) {
      *first = step + 1;
    }
    if (kModel[step].inputs[0] == item || kModel[step].inputs[1] == item) {
      *last = step + 1;
    }
  }
}

bool MicroAllocator::Together(int a, int b) const {
  int first[2], last[2];
  Life(a, &first[0], &last[0]);
  Life(b, &first[1], &last[1]);
  return first[0] <= last[1] && first[1] <= last[0];
}

int MicroAllocator::Next(const bool *placed) const {
  int next = -1;
  for (int i = 0; i < Items(); ++i) {
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
APART int MicroAllocator::FinishModelAllocation(const Model *model, SubgraphAllocations *allocations,
                                                ScratchBufferHandle **handles) {
  bool placed[kTensors + kMostScratch] = {};
  int32_t offset[kTensors + kMostScratch] = {};
  for (int i = 0; i < kTensors; ++i) {
    placed[i] = kOffline[i] >= 0;
    offset[i] = placed[i] ? kOffline[i] : 0;
  }
#ifdef INTERPRETER
  const uint8_t *carried = CarriedOffsets(reinterpret_cast<const uint8_t *>(model));
  for (int i = 0; carried != nullptr && i < kFileTensors; ++i) {
    const int32_t given = Read<int32_t>(carried + 4 * i);
    if (kActivation[i] >= 0 && given >= 0) {
      placed[kActivation[i]] = true;
      offset[kActivation[i]] = given;
    }
  }
#else
  (void)model;
  (void)CarriedOffsets;
#endif
  for (int next; (next = Next(placed)) >= 0;) {
    int32_t lowest = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < Items(); ++i) {
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
  for (int i = 0; i < kFileTensors; ++i) {
    const int activation = kActivation[i];
    if (activation >= 0) {
      allocations->tensors[i].data = arena_->head() + offset[activation];
    }
  }
  *handles = arena_->Keep<ScratchBufferHandle>(static_cast<size_t>(requests_));
  for (int i = 0; i < requests_; ++i) {
#ifdef SHARED
    const int place = i / 2 * 2;
#else
    const int place = i;
#endif
    (*handles)[i].data = arena_->head() + offset[kTensors + place];
  }
  return 0;
}

APART int MicroInterpreterGraph::PrepareSubgraphs() {
  for (int node = 0; node < kOperators; ++node) {
    const Operator &op = kModel[node];
    if (op.kind == kConv) {
      const unsigned int bytes = static_cast<unsigned int>(dmo_shape_size(&kShapes[op.inputs[0]]));
      allocator_->RequestScratchBufferInArena(bytes, 0, &scratch_[node]);
#ifdef SHARED
      int second;
      allocator_->RequestScratchBufferInArena(16, 0, &second);
#endif
    }
    allocator_->FinishPrepareNodeAllocations(node);
  }
  return 0;
}

APART int MicroInterpreterGraph::InvokeSubgraph(int) {
  for (int node = 0; node < kOperators; ++node) {
    Run(node);
    allocator_->ResetTempAllocations();
  }
  return 0;
}

#ifdef INTRUDE
volatile uint8_t *last_kept;
#endif

void MicroInterpreterGraph::AllocateTensors() {
  allocations_ = allocator_->StartModelAllocation(model_);
  PrepareSubgraphs();
  allocator_->FinishModelAllocation(model_, allocations_, &handles_);
#ifdef INTRUDE
  last_kept = reinterpret_cast<uint8_t *>(allocations_);
#endif
}

int8_t *MicroInterpreterGraph::Data(int activation) const {
  for (int i = 0; i < kFileTensors; ++i) {
    if (kActivation[i] == activation) {
      return static_cast<int8_t *>(allocations_->tensors[i].data);
    }
  }
  return nullptr;
}

void MicroInterpreterGraph::Run(int node) {
  const Operator &op = kModel[node];
  const dmo_shape &shape = kShapes[op.inputs[0]], &out_shape = kShapes[op.output];
  const int8_t *in = Data(op.inputs[0]);
  int8_t *out = Data(op.output);
  const dmo_conv2d_params params = { { op.stride, op.stride, 1, 1, op.pad, op.pad }, 3, -5, -128, 127 };
  const dmo_quant_per_channel quant = { weights.multiplier, weights.shift };
#ifdef INTRUDE
  *last_kept = *last_kept;
#endif
  if (op.kind == kConv) {
    int8_t *scratch = reinterpret_cast<int8_t *>(handles_[scratch_[node]].data);
    const int32_t bytes = dmo_shape_size(&shape);
    for (int32_t i = 0; i < bytes; ++i) {
      const_cast<volatile int8_t *>(scratch)[i] = in[i];
    }
#ifdef OVERRUN
    const_cast<volatile int8_t *>(scratch)[bytes] = 1;
#endif
    const dmo_shape filter = { out_shape.c, op.taps, op.taps, shape.c };
    dmo_conv2d_s8(&params, &quant, &shape, scratch, &filter, weights.filter, weights.bias, &out_shape, out);
  } else if (op.kind == kDepthwise) {
#ifdef BRANCHES
    for (int i = 0; i < 64; ++i) {
      if ((in[i] & 1) != 0) {
        (void)const_cast<const volatile int8_t *>(in)[0];
      }
    }
#endif
    const dmo_shape filter = { 1, op.taps, op.taps, out_shape.c };
    dmo_depthwise_conv2d_s8(&params, &quant, &shape, in, &filter, weights.filter, weights.bias, &out_shape, out);
  } else {
    const dmo_shape shapes[] = { shape, kShapes[op.inputs[1]] };
    const int8_t *const inputs[] = { in, Data(op.inputs[1]) };
    dmo_concat_s8(DMO_AXIS_C, 2, shapes, inputs, out);
  }
}

#ifdef INTERPRETER
struct MicroOpResolver {};

class MicroInterpreter {
 public:
  MicroInterpreter(const Model *model, const MicroOpResolver &resolver, unsigned char *arena, unsigned int size);

  MicroInterpreterGraph graph;

 private:
  SingleArenaBufferAllocator arena_;
  MicroAllocator allocator_;
};

APART MicroInterpreter::MicroInterpreter(const Model *model, const MicroOpResolver &, unsigned char *arena,
                                         unsigned int size)
    : graph(&allocator_, model), arena_(arena, size), allocator_(&arena_) {}
#endif

}  // namespace tflite

namespace {

const tflite::Model *Root() {
  uint32_t distance;
  std::memcpy(&distance, model_file, sizeof distance);
  return reinterpret_cast<const tflite::Model *>(model_file + distance);
}

int32_t Infer(tflite::MicroInterpreterGraph *graph, int inference) {
  int8_t *input = graph->Data(0);
  for (int32_t i = 0; i < dmo_shape_size(&kShapes[0]); ++i) {
    input[i] = static_cast<int8_t>(i * 7 + inference);
  }
  graph->InvokeSubgraph(0);
  const int8_t *output = graph->Data(kTensors - 1);
  int32_t sum = 0;
  for (int32_t i = 0; i < dmo_shape_size(&kShapes[kTensors - 1]); ++i) {
    sum += output[i];
  }
  return sum;
}

}  // namespace

int main() {
#ifdef INTERPRETER
  tflite::MicroInterpreter interpreter(Root(), tflite::MicroOpResolver(), tensor_arena, kArenaBytes);
  tflite::MicroInterpreterGraph &graph = interpreter.graph;
#else
#ifdef HUGE
  tflite::SingleArenaBufferAllocator arena(tensor_arena, 0xd0000000u);
#else
  tflite::SingleArenaBufferAllocator arena(tensor_arena, kArenaBytes);
#endif
#ifdef SECOND
  tflite::MicroAllocator allocator(arena.Move());
#else
  tflite::MicroAllocator allocator(&arena);
#endif
  tflite::MicroInterpreterGraph graph(&allocator, Root());
#endif
  graph.AllocateTensors();
#ifdef SECOND
#ifdef OWN_ALLOCATOR
  tflite::SingleArenaBufferAllocator same_memory(tensor_arena, kArenaBytes);
  tflite::MicroAllocator own(same_memory.Move());
  tflite::MicroInterpreterGraph second(&own, Root());
#else
  tflite::MicroInterpreterGraph second(&allocator, Root());
#endif
  second.AllocateTensors();
#endif
  int32_t sum = 0;
#ifdef NEVER_RUN
  static volatile int wanted = 0;
#else
  static volatile int wanted = INFERENCES == 0 ? INT32_MAX : INFERENCES;
#endif
  for (int inference = 0; inference < wanted; ++inference) {
    sum += Infer(&graph, inference);
#ifdef SECOND
    sum += Infer(&second, inference);
#endif
  }
  return sum == INT32_MAX;
}

// What the C++ runtime wants of a program that deletes nothing.
void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
