// Functions about the pending work of streams, shared by the files of the runtime.
#pragma once

#include <utility>
#include <vector>

#include "shim/runtime.h"

namespace hone::cuda_shim {

/// Stores a status other than success for cudaGetLastError, and returns it.
cudaError_t report(cudaError_t status);
/// Number of streams that are recording a graph in the mode that concerns all threads.
int captures();
/// All allocated pieces of global memory, with their sizes.
std::vector<std::pair<unsigned char*, size_t>> live_memory();
/// Must be called when an operation other than a kernel is done, since no kernel runs ahead of it.
void forget_changes();
/// Whether work of the stream is deferred (defer_streams).
bool deferring(cudaStream_t stream);
/// Runs all work of the stream, and all work that it waits for. A Fault if it waits for itself.
void finish(cudaStream_t stream);
void finish_all();

}  // namespace hone::cuda_shim
