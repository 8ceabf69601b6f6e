// Creates ranks over Gloo, as threads of one process or as processes.
#pragma once

#include <mutex>
#include <thread>

#include "conformance.h"
#include "dist/gloo_transport.h"
#include "dist/host_communicator.h"
#include "processes.h"

namespace hone::test {

#ifdef HONE_GLOO_LIBRARY
inline constexpr const char* kGlooLibrary = HONE_GLOO_LIBRARY;
#else
inline constexpr const char* kGlooLibrary = "";
#endif

inline std::unique_ptr<dist::GlooTransport> gloo_transport(int rank, int size, milliseconds connect_timeout = kPatient) {
  return std::make_unique<dist::GlooTransport>(dist::GlooLibrary::open(kGlooLibrary), "127.0.0.1", rank, size,
                                                 connect_timeout);
}

inline std::vector<std::string> gloo_processes(int size, milliseconds timeout, const RankBody& body) {
  return processes(size, [&](int rank) {
    const auto transport = std::make_shared<std::unique_ptr<dist::GlooTransport>>(gloo_transport(rank, size));
    return ProcessRank{
        [=] { return (*transport)->prepare(); },
        [=](const std::vector<std::string>& prepared) {
          return outcome([&] {
            (*transport)->connect(prepared);
            dist::HostCommunicator group(std::move(*transport), timeout);
            body(group, rank);
          });
        }};
  });
}

}  // namespace hone::test
