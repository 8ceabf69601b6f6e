// Work that streams have not done yet, for the files of the runtime.
#pragma once

#include <utility>
#include <vector>

#include "shim/runtime.h"

namespace hone::cuda_shim {

/// Keeps a status other than success for cudaGetLastError, and returns it.
cudaError_t report(cudaError_t status);
/// How many streams record a graph for all threads.
int captures();
/// Pieces of global memory that are in use, and their bytes.
std::vector<std::pair<unsigned char*, size_t>> live_memory();
/// Called when an operation other than a kernel is done: no kernel runs ahead of it.
void forget_changes();
/// Whether work given to the stream waits there (defer_streams).
bool deferring(cudaStream_t stream);
/// Does all work of the stream, and what that work waits for. A Fault if it waits for itself.
void finish(cudaStream_t stream);
void finish_all();

}  // namespace hone::cuda_shim
