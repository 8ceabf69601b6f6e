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
  int32_t pages = 4096;            // P pages; each has room in every layer
  int32_t max_context = 2048;      // limit of prompt + generated tokens of a sequence
  int32_t step_tokens = 512;       // limit of rows per step: decoding rows first, then prefill chunks
  uint64_t run_seed = 0;
  // storage of the weights that set_weights will get, and dtype of keys and values
  DType weight_storage = DType::kF32;
  // arithmetic of the weights that set_weights will get, on the CPU
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
  Stream::Backend device = Stream::Backend::kCpu;  // a GPU always uses bf16
  bool graphs = true;              // on a GPU: record decode steps as CUDA graphs, and launch these
  bool routes = false;             // record the experts that each row goes to; only for a mixture of experts
  /// Bytes of each token id, for stop strings; may be empty when none are used.
  std::vector<std::string> token_bytes;
};

}  // namespace hone::engine
