// Streams, events and graphs. Work runs when it is submitted or, while streams are deferred, at a random
// moment before the call that waits for it returns, in any order that streams and events allow.
#include "shim/streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "shim/machine.h"

struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st : CUgraph_st {};
struct CUevent_st {
  std::chrono::steady_clock::time_point at;
  uint64_t recorded = 0, passed = 0;  // how often a record was requested, and done
};
struct CUstream_st {
  struct Item {
    std::function<void()> work;
    cudaEvent_t event = nullptr;  // if set, the item waits for this event's record number `record`
    uint64_t record = 0;
    bool ready() const { return !event || event->passed >= record; }
  };
  cudaGraph_t capture = nullptr;
  int priority = 0;
  std::deque<Item> queue;
};

namespace hone::cuda_shim {
namespace {

std::atomic<int> busy_queries{0}, global_captures{0};
std::atomic<bool> deferred{false};
std::recursive_mutex lock;
std::vector<cudaStream_t>& streams() {
  static auto& all = *new std::vector<cudaStream_t>;
  return all;
}

std::function<void(void*, bool)>& others() {
  static auto& wait = *new std::function<void(void*, bool)>;
  return wait;
}

/// Runs the first work item of a stream whose item is ready: of `wanted` if possible. Returns false if no
/// item is ready.
bool step(cudaStream_t wanted) {
  const auto may_go = [](cudaStream_t s) { return !s->queue.empty() && s->queue.front().ready(); };
  std::vector<cudaStream_t> ready;
  std::copy_if(streams().begin(), streams().end(), std::back_inserter(ready), may_go);
  if (ready.empty()) return false;
  cudaStream_t chosen = wanted && may_go(wanted) ? wanted : ready[next_random() % ready.size()];
  const CUstream_st::Item item = std::move(chosen->queue.front());
  chosen->queue.pop_front();
  if (item.work) item.work();
  return true;
}

cudaStream_t opened(int priority) {
  const std::scoped_lock guard(lock);
  auto* const stream = new CUstream_st;
  stream->priority = priority;
  streams().push_back(stream);
  return stream;
}

}  // namespace

void stay_busy(int queries) { busy_queries = queries; }

void defer_streams(bool on) {
  finish_all();
  deferred = on;
}

bool deferring(cudaStream_t stream) { return deferred && stream && !stream->capture; }

void wait_for_others(std::function<void(void* stream, bool by_host)> wait) { others() = std::move(wait); }

int captures() { return global_captures; }

void finish(cudaStream_t stream) {
  const std::scoped_lock guard(lock);
  if (!stream) return finish_all();
  if (stream->queue.empty()) return;
  const bool hurried = next_random() & 1;  // true: other streams run only the work that must run
  while (!stream->queue.empty()) {
    if (!step(hurried ? stream : nullptr)) fault("a stream waits for work that cannot be done before it.");
  }
}

void finish_all() {
  const std::scoped_lock guard(lock);
  while (step(nullptr)) {
  }
  for (cudaStream_t stream : streams()) {
    if (!stream->queue.empty()) fault("a stream waits for work that cannot be done before it.");
  }
}

void submit(void* stream, std::function<void()> work) {
  auto* s = static_cast<cudaStream_t>(stream);
  if (s && s->capture) return s->capture->work.push_back(std::move(work));
  if (s && others()) others()(s, false);
  if (!deferring(s)) return work();
  const std::scoped_lock guard(lock);
  s->queue.push_back({std::move(work)});
  for (uint64_t n = next_random() % 4; n > 1 && step(nullptr);) --n;
}

}  // namespace hone::cuda_shim

using namespace hone::cuda_shim;

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = opened(0), cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  return *stream = opened(priority), cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return *priority = stream->priority, cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  finish(stream);
  const std::scoped_lock guard(lock);
  streams().erase(std::find(streams().begin(), streams().end(), stream));
  return delete stream, cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream && stream->capture) return report(cudaErrorStreamCaptureUnsupported);
  if (stream && others()) others()(stream, true);
  finish(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (busy_queries.load() > 0) {
    --busy_queries;
    return report(cudaErrorNotReady);
  }
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (!deferring(stream)) return cudaSuccess;
  const std::scoped_lock guard(lock);
  stream->queue.push_back({nullptr, event, event->recorded});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event && event->passed < event->recorded) finish_all();
  return delete event, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const uint64_t record = ++event->recorded;
  submit(stream, [event, record] {
    event->at = std::chrono::steady_clock::now();
    event->passed = std::max(event->passed, record);
  });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->passed < event->recorded) finish_all();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (!stream || stream->capture) return report(cudaErrorInvalidValue);
  stream->capture = new CUgraph_st;
  global_captures += mode == cudaStreamCaptureModeGlobal;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!stream || !stream->capture) return report(cudaErrorInvalidValue);
  *graph = std::exchange(stream->capture, nullptr);
  if (global_captures) --global_captures;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream && stream->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return *exec = new CUgraphExec_st{*graph}, cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  for (const auto& work : exec->work) submit(stream, work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return delete exec, cudaSuccess; }
