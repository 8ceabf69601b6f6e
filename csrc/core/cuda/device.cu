#include "core/cuda/device.h"

#include <cuda_runtime.h>

#include "core/error.h"

namespace hone::cuda {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which the next call would report again
  fail(Code::kCuda, "%s: %s.", what, cudaGetErrorString(status));
}

cudaStream_t handle(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

void* allocate(Memory memory, int64_t bytes) {
  void* block = nullptr;
  const cudaError_t status =
      memory == Memory::kDevice ? cudaMalloc(&block, size_t(bytes)) : cudaMallocHost(&block, size_t(bytes));
  if (status != cudaErrorMemoryAllocation) check(status, "cudaMalloc");
  else cudaGetLastError();
  return block;
}

void release(Memory memory, void* block) noexcept {
  if (memory == Memory::kDevice) cudaFree(block);
  else cudaFreeHost(block);
}

void* open_stream(bool urgent) {
  cudaStream_t stream = nullptr;
  int least = 0, greatest = 0;  // a lower number is a higher priority
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least), "cudaStreamCreate");
  return stream;
}

void close_stream(void* stream) noexcept { cudaStreamDestroy(handle(stream)); }

void synchronize(void* stream) { check(cudaStreamSynchronize(handle(stream)), "cudaStreamSynchronize"); }

void copy(void* stream, void* to, const void* from, int64_t bytes) {
  check(cudaMemcpyAsync(to, from, size_t(bytes), cudaMemcpyDefault, handle(stream)), "cudaMemcpy");
}

void copy_rows(void* stream, void* to, int64_t to_pitch, const void* from, int64_t from_pitch, int64_t bytes,
               int64_t rows) {
  check(cudaMemcpy2DAsync(to, size_t(to_pitch), from, size_t(from_pitch), size_t(bytes), size_t(rows),
                          cudaMemcpyDefault, handle(stream)),
        "cudaMemcpy2D");
}

void zero(void* stream, void* to, int64_t bytes) {
  check(cudaMemsetAsync(to, 0, size_t(bytes), handle(stream)), "cudaMemset");
}

void* create_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

void destroy_event(void* event) noexcept { cudaEventDestroy(static_cast<cudaEvent_t>(event)); }

void record_event(void* event, void* stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), handle(stream)), "cudaEventRecord");
}

void wait_for_event(void* event, void* stream) {
  check(cudaStreamWaitEvent(handle(stream), static_cast<cudaEvent_t>(event), 0), "cudaStreamWaitEvent");
}

void begin_capture(void* stream) {
  // Thread-local mode, since the trainer's thread may allocate during the capture.
  check(cudaStreamBeginCapture(handle(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void* end_capture(void* stream) {
  cudaGraph_t recorded = nullptr;
  check(cudaStreamEndCapture(handle(stream), &recorded), "cudaStreamEndCapture");
  cudaGraphExec_t ready = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&ready, recorded, 0);
  cudaGraphDestroy(recorded);
  check(status, "cudaGraphInstantiate");
  return ready;
}

void launch_graph(void* graph, void* stream) {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), handle(stream)), "cudaGraphLaunch");
}

void destroy_graph(void* graph) noexcept { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); }

}  // namespace hone::cuda
