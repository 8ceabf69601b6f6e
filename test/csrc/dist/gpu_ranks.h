// Creates ranks as threads with two groups: one over their shared memory, and one over the stand-in for NCCL.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dist/gpu_communicator.h"
#include "local_ranks.h"
#include "ranks.h"

namespace hone::test {

/// Runs `body` on one thread per rank, with a stream whose handle is an arbitrary address. Returns what each
/// rank threw: its message, or "ok". Checks that NCCL's group was left.
inline std::vector<std::string> gpu_ranks(int size, const Faults& faults, const std::function<void(GpuCommunicator&, const Stream&, int)>& body,
                               milliseconds init = kLong) {
  fake().reset(faults);
  const auto library = NcclLibrary::open(HONE_FAKE_NCCL);
  auto hosts = local_communicators(size, kLong);
  std::vector<std::string> said(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      RankStream own;
      GpuCommunicator group(std::move(hosts[size_t(rank)]), library, options(init));
      said[size_t(rank)] = outcome([&] { body(group, own.stream, rank); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake().live() + fake().misuses(), 0);
  return said;
}

}  // namespace hone::test
