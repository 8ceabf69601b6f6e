#include "addon/communicator_thread.h"

#include <utility>

#include "core/error.h"

namespace hone::addon {

CommunicatorThread::CommunicatorThread(const CommunicatorSettings& settings)
    : settings_(settings),
      transport_(std::make_unique<dist::GlooTransport>(dist::GlooLibrary::open(), settings.host, settings.rank, settings.size,
                                                       settings.timeout)) {}

CommunicatorThread::~CommunicatorThread() = default;

void CommunicatorThread::start(Napi::Env env) {
  worker_ = Worker::open(env, "hone.communicator", nullptr, [self = shared_from_this(), env] {
    napi_remove_env_cleanup_hook(env, &CommunicatorThread::at_teardown, self.get());
    self->hooked_ = false;
  });
  napi_add_env_cleanup_hook(env, &CommunicatorThread::at_teardown, this);
  hooked_ = true;
}

/// Registers the hook again: Node runs the hook that was added last first, and the hooks of workers wait for
/// their threads.
void CommunicatorThread::abort_before_others(Napi::Env env) {
  if (!hooked_) return;
  napi_remove_env_cleanup_hook(env, &CommunicatorThread::at_teardown, this);
  napi_add_env_cleanup_hook(env, &CommunicatorThread::at_teardown, this);
}

void CommunicatorThread::at_teardown(void* context) {
  static_cast<CommunicatorThread*>(context)->abort("the end of the process's JavaScript");
}

std::vector<std::string> CommunicatorThread::prepare() {
  const std::lock_guard lock(mutex_);
  if (called_) fail(Code::kState, "prepare: connect was called. Make another communicator.");
  return transport_->prepare();
}

Napi::Promise CommunicatorThread::connect(Napi::Env env, std::vector<std::string> blobs) {
  const auto job = [self = shared_from_this(), blobs = std::move(blobs)]() -> JobResult {
    dist::GlooTransport* transport = nullptr;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->called_) fail(Code::kState, "connect: called before. A group is formed once; make another communicator.");
      self->called_ = true;
      transport = self->transport_.get();
    }
    transport->connect(blobs);
    const std::lock_guard lock(self->mutex_);
    self->communicator_ = std::make_shared<dist::HostCommunicator>(std::move(self->transport_), self->settings_.timeout);
    if (self->aborted_) self->communicator_->abort(self->why_);
    return nullptr;
  };
  return run_as_promise(env, *worker_, "communicator: closed.", job);
}

/// The communicator that closes and aborts all others; null until connected. The caller must hold mutex_.
std::shared_ptr<dist::Communicator> CommunicatorThread::whole() const {
  if (gpus_) return gpus_;
  return communicator_;
}

std::shared_ptr<dist::Communicator> CommunicatorThread::communicator(Stream::Backend of) {
  const std::lock_guard lock(mutex_);
  if (!communicator_) fail(Code::kState, "communicator: not connected.");
  if (of == Stream::Backend::kCpu) return communicator_;
  if (!gpus_) {
    gpus_ = std::make_shared<dist::GpuCommunicator>(communicator_, dist::NcclLibrary::open(), dist::CommunicatorOptions{.timeout = settings_.timeout});
    if (aborted_) gpus_->abort(why_);
  }
  return gpus_;
}

void CommunicatorThread::use(const std::function<void(dist::Communicator&)>& f, Stream::Backend of) {
  const auto communicator = this->communicator(of);
  const std::lock_guard lock(use_);
  f(*communicator);
}

Napi::Promise CommunicatorThread::run(Napi::Env env, Job job) {
  const auto on_thread = [self = shared_from_this(), job = std::move(job)] {
    JobResult result;
    self->use([&](dist::Communicator& communicator) { result = job(communicator); });
    return result;
  };
  return run_as_promise(env, *worker_, "communicator: closed.", on_thread);
}

Napi::Promise CommunicatorThread::close(Napi::Env env) {
  const auto job = [self = shared_from_this()]() -> JobResult {
    std::shared_ptr<dist::Communicator> communicator;
    {
      const std::lock_guard lock(self->mutex_);
      communicator = self->whole();
    }
    const std::lock_guard lock(self->use_);
    self->worker_->abandon();  // the worker runs nothing after this
    if (communicator) communicator->close();
    return nullptr;
  };
  if (worker_->closing()) return worker_->close(env);
  return run_as_promise(env, *worker_, "communicator: closed.", job);
}

void CommunicatorThread::abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  why_ = reason;
  if (const auto communicator = whole()) communicator->abort(reason);
  else if (transport_) transport_->interrupt();
}

}  // namespace hone::addon
