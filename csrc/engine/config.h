// Options of an engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::engine {

struct EngineConfig {
  int32_t max_running = 64;        // sequences decoding at once (B)
  int32_t page_tokens = 16;        // W, a multiple of 16
  int32_t pages = 4096;            // P, for all layers alike
  int32_t max_context = 2048;      // prompt + generated, per sequence
  int32_t step_tokens = 512;       // rows per step, decoding rows first, then prefill chunks
  uint64_t run_seed = 0;
  DType weight_storage = DType::kF32;  // of the weights to expect, and of keys and values
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;  // of the weights to expect, on the CPU
  Stream::Backend device = Stream::Backend::kCpu;  // a GPU always uses bf16
  bool graphs = true;              // on a GPU: record decode steps and repeat them by one launch
  bool routes = false;             // record which experts rows went to; of a mixture of experts alone
  /// Bytes of each token id, for stop strings; may be empty when none are used.
  std::vector<std::string> token_bytes;
};

}  // namespace hone::engine
