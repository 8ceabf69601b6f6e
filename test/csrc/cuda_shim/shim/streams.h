// Functions about streams' pending work that the files of the runtime share.
#pragma once

#include <utility>
#include <vector>

#include "shim/runtime.h"

namespace hone::cuda_shim {

/// Keeps a status other than success for cudaGetLastError, and returns it.
cudaError_t report(cudaError_t status);
/// How many streams record a graph for all threads.
int captures();
/// All allocated pieces of global memory, with their sizes.
std::vector<std::pair<unsigned char*, size_t>> live_memory();
/// Called when an operation other than a kernel is done: no kernel runs ahead of it.
void forget_changes();
/// Whether work of the stream is deferred (defer_streams).
bool deferring(cudaStream_t stream);
/// Does all work of the stream, and what that work waits for. A Fault if it waits for itself.
void finish(cudaStream_t stream);
void finish_all();

}  // namespace hone::cuda_shim
