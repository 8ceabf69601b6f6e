// The thread pool that all engines and trainers of the process share.
#pragma once

#include <memory>

#include "core/thread_pool.h"

namespace hone::addon {

/// HONE_THREADS threads (all usable cores if unset), started with the first owner and ended with the last.
std::shared_ptr<ThreadPool> shared_thread_pool();

}  // namespace hone::addon
