// Creates ranks as threads over the stand-in for NCCL (fake_nccl.h).
#pragma once

#include <dlfcn.h>

#include <functional>
#include <thread>

#include "check.h"
#include "device.h"
#include "dist/nccl_communicator.h"
#include "fake_nccl.h"
#include "outcomes.h"

namespace hone::test {

using namespace hone::dist;
inline FakeNccl& fake() {
  static FakeNccl* const instance = [] {
    void* library = dlopen(HONE_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    FakeNccl* const made = reinterpret_cast<FakeNccl* (*)()>(dlsym(library, "fake_nccl"))();
#ifdef HONE_CUDA_SHIM
    made->reach_by([](const std::function<void()>& move) {
      const cuda_shim::DeviceAccess open;
      move();
    });
    cuda_shim::wait_for_others([made](void* stream, bool by_host) { made->await(stream, by_host); });
#endif
    return made;
  }();
  return *instance;
}

inline constexpr milliseconds kLong{20'000}, kShort{60};

inline CommunicatorOptions options(milliseconds init = kLong, milliseconds timeout = kLong) {
  return {.init_timeout = init, .timeout = timeout, .idle = [](const Stream& s) { return fake().idle(s.handle); }};
}

/// A rank's stream, whose handle is a dummy address.
struct RankStream {
  char place = 0;
  Stream stream{Stream::Backend::kCuda, nullptr, &place};
};

/// Runs `rank` on one thread per rank. Returns what each rank threw: its message, or "ok". Checks that no
/// communicator leaks.
using NcclBody = std::function<void(NcclCommunicator&, const Stream&, int rank)>;
inline std::vector<std::string> ranks(int size, const Faults& faults, const CommunicatorOptions& limits, const NcclBody& body) {
  fake().reset(faults);
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  const NcclUniqueId id = NcclCommunicator::make_id(*library);
  std::vector<std::string> said(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RankStream own;
      said[size_t(rank)] = outcome([&] {
        NcclCommunicator group(library, limits);
        group.initialise(id, rank, size);
        body(group, own.stream, rank);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake().live(), 0);
  EXPECT_EQ(fake().misuses(), 0);
  return said;
}

}  // namespace hone::test
