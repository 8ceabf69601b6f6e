// The CUDA runtime's memory, streams and graphs, without its types.
#pragma once

#include <cstdint>

#include "core/arena.h"

namespace hone::cuda {

/// Null if the device has too little memory. Throws kCuda for any other failure.
void* allocate(Memory memory, int64_t bytes);
void release(Memory memory, void* block) noexcept;

/// The work of an urgent stream's kernels goes before that of others wherever a multiprocessor has room for a block; it
/// interrupts none. Throws kCuda saying why the process cannot use a GPU.
void* open_stream(bool urgent);
void close_stream(void* stream) noexcept;
void synchronize(void* stream);

/// Copies between any two memories, in stream order. Ordinary host memory may be reused when the call returns.
void copy(void* stream, void* to, const void* from, int64_t bytes);
/// Copies `rows` pieces of `bytes` each, whose starts are a pitch (in bytes) apart.
void copy_rows(void* stream, void* to, int64_t to_pitch, const void* from, int64_t from_pitch, int64_t bytes,
               int64_t rows);
void zero(void* stream, void* to, int64_t bytes);

/// A point in the work of streams.
void* create_event();
void destroy_event(void* event) noexcept;
void record_event(void* event, void* stream);
/// Makes later work of the stream wait for the work that the event recorded last, if any.
void wait_for_event(void* event, void* stream);

/// Between these two calls, work on the stream is recorded instead of run; end_capture returns a graph ready to launch.
void begin_capture(void* stream);
void* end_capture(void* stream);
void launch_graph(void* graph, void* stream);
void destroy_graph(void* graph) noexcept;

}  // namespace hone::cuda
