// Ranks as threads over the stand-in for NCCL (fake_nccl.h).
#pragma once

#include <dlfcn.h>

#include <functional>
#include <thread>

#include "check.h"
#include "dist/nccl_communicator.h"
#include "fake_nccl.h"

namespace hone::test {

using namespace hone::dist;
using std::chrono::milliseconds;

inline FakeNccl& fake() {
  static FakeNccl* const instance = [] {
    void* library = dlopen(HONE_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<FakeNccl* (*)()>(dlsym(library, "fake_nccl"))();
  }();
  return *instance;
}

inline constexpr milliseconds kLong{20'000}, kShort{60};

inline CommunicatorOptions options(milliseconds init = kLong, milliseconds timeout = kLong) {
  return {.init_timeout = init, .timeout = timeout, .idle = [](const Stream& s) { return fake().idle(s.handle); }};
}

/// The handle of a rank's stream is any address of its own.
struct RankStream {
  char place = 0;
  Stream stream{Stream::Backend::kCuda, nullptr, &place};
};

inline std::string outcome(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + " " + error.what();
  }
  return "ok";
}

/// Runs `rank` on one thread per rank and returns what each threw ("ok": nothing). Checks that nothing leaks.
using RankBody = std::function<void(NcclCommunicator&, const Stream&, int rank)>;
inline std::vector<std::string> ranks(int size, const Faults& faults, const CommunicatorOptions& limits, const RankBody& body) {
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

inline void expect_all(const std::vector<std::string>& said, const std::string& wanted) {
  for (const std::string& text : said) EXPECT_EQ(text, wanted);
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Values that add up exactly in any order.
inline std::vector<float> values(int64_t n, int rank) {
  std::vector<float> out(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) out[size_t(i)] = float((i * 7 + rank * 31 + (i ^ rank)) % 97 - 48);
  return out;
}

inline TensorView view(std::vector<float>& v) { return f32(v.data(), {int64_t(v.size())}); }

}  // namespace hone::test
