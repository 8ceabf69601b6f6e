#include "addon/thread_pool.h"

#include <mutex>

namespace hone::addon {

std::shared_ptr<ThreadPool> shared_thread_pool() {
  // One pool per process, not per environment: two pools would compete for the same cores.
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ThreadPool> pool = shared.lock();
  if (!pool) shared = pool = std::make_shared<ThreadPool>(default_threads());
  return pool;
}

}  // namespace hone::addon
