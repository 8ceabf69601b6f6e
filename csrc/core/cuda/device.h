// Memory, streams, events and graphs of the CUDA runtime, declared without the runtime's types.
#pragma once

#include <cstdint>

#include "core/arena.h"

namespace hone::cuda {

/// Returns null if the GPU has too little memory. Throws kCuda for any other failure.
void* allocate(Memory memory, int64_t bytes);
void release(Memory memory, void* block) noexcept;

/// Where a multiprocessor has room for a block, kernels of an urgent stream start before those of other
/// streams; running kernels are not interrupted. Throws kCuda saying why the process cannot use a GPU.
void* open_stream(bool urgent);
void close_stream(void* stream) noexcept;
void synchronize(void* stream);

/// Copies between host and GPU memory in any direction, in stream order. Ordinary (not page-locked) host
/// memory may be reused when the call returns.
void copy(void* stream, void* to, const void* from, int64_t bytes);
/// Copies `rows` pieces of `bytes` bytes each; to_pitch and from_pitch are the distances in bytes between
/// starts of rows.
void copy_rows(void* stream, void* to, int64_t to_pitch, const void* from, int64_t from_pitch, int64_t bytes,
               int64_t rows);
void zero(void* stream, void* to, int64_t bytes);

/// An event marks a point in the work of a stream.
void* create_event();
void destroy_event(void* event) noexcept;
void record_event(void* event, void* stream);
/// Makes later work of the stream wait for the work that the event recorded last; does nothing if none was
/// recorded.
void wait_for_event(void* event, void* stream);

/// Between begin_capture and end_capture, work on the stream is recorded instead of run; end_capture returns
/// a graph that is ready to launch.
void begin_capture(void* stream);
void* end_capture(void* stream);
void launch_graph(void* graph, void* stream);
void destroy_graph(void* graph) noexcept;

}  // namespace hone::cuda
