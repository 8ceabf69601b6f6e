// The thread pool that all engines and trainers of the process share.
#pragma once

#include <memory>

#include "core/thread_pool.h"

namespace hone::addon {

/// Returns the pool of HONE_THREADS threads (all usable cores if unset). The first owner starts it; it ends
/// with the last owner.
std::shared_ptr<ThreadPool> shared_thread_pool();

}  // namespace hone::addon
