// A stand-in for libnccl.so.2 whose ranks are threads of one process. It moves the data when the last rank
// has called, and fails when a test asks for it. It exports only the functions that the communicator uses.
#include "fake_nccl.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fake_nccl_operations.h"

using namespace hone::dist;
using namespace hone::test;

namespace hone::dist {
struct NcclComm {
  std::shared_ptr<Group> group;
  int rank = 0, next = 0;         // next: number of the next operation of all ranks
  std::map<Members, int> with{};  // number of the next operation that only these members make
  int polls_left = 0;
  bool joining = true, finalizing = false;
  NcclResult error = kNcclSuccess;
};
}  // namespace hone::dist

namespace {

class Fake final : public hone::test::FakeNccl {
 public:
  std::mutex mutex;
  hone::test::Faults faults;
  std::map<std::string, std::shared_ptr<Group>> groups;  // by id
  // for each live communicator, whether a thread is inside a call
  std::map<NcclComm_t, bool> comms;
  Streams streams;
  int made = 0, aborted = 0, polled = 0, misused = 0;
  std::function<void(const std::function<void()>&)> reach = [](const std::function<void()>& move) { move(); };

  void reach_by(std::function<void(const std::function<void()>&)> by) override {
    const std::lock_guard lock(mutex);
    reach = std::move(by);
  }
  void reset(const hone::test::Faults& next) override {
    const std::lock_guard lock(mutex);
    faults = next;
    groups.clear();
    streams = {};
    aborted = polled = misused = 0;
  }
  bool idle(void* stream) override {
    const std::lock_guard lock(mutex);
    return streams.idle(stream);
  }
  void await(void* stream, bool by_host) override {
    for (int polls = 0;; ++polls, by_host = false) {
      {
        const std::lock_guard lock(mutex);
        misused += by_host && streams.unasked.count(stream);
        if (streams.goes_on(stream)) return;
      }
      if (polls > 10) std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (polls > 1'200'000) std::abort();  // after about a minute: a rank does not arrive
    }
  }
  int live() override { return locked(int(comms.size())); }
  int aborts() override { return locked(aborted); }
  int polls() override { return locked(polled); }
  int misuses() override { return locked(misused); }

  /// Refuses calls that the real library forbids; otherwise calls f with the lock held. `busy`: f may be
  /// called while an operation is in progress.
  template <class F>
  NcclResult call(NcclComm_t comm, bool busy, F f) {
    {
      const std::lock_guard lock(mutex);
      const auto found = comms.find(comm);
      if (found == comms.end() || found->second || (!busy && pending(*comm))) {
        ++misused;
        return kNcclInvalidArgument;
      }
      found->second = true;
    }
    std::this_thread::yield();  // gives a second thread time to enter, which is then detected
    const std::lock_guard lock(mutex);
    comms[comm] = false;
    return f();
  }

  bool pending(const hone::dist::NcclComm& c) const {
    if (c.error != kNcclSuccess) return false;
    if (c.joining && (c.group->joined < c.group->size || faults.init_hangs == c.rank)) return true;
    if (c.finalizing && faults.finalize_hangs == c.rank) return true;
    return c.polls_left > 0;
  }

  NcclResult async_error(hone::dist::NcclComm& c) {
    ++polled;
    if (c.group->broken && c.error == kNcclSuccess && faults.peers_notice) c.error = kNcclRemoteError;
    if (c.error != kNcclSuccess) return c.error;
    if (pending(c)) {
      if (c.polls_left > 0) --c.polls_left;
      return kNcclInProgress;
    }
    c.joining = false;
    return kNcclSuccess;
  }

  NcclResult post(NcclComm_t comm, const Operation& what, Part part, void* stream) {
    return call(comm, false, [&] {
      const int number = comm->next++;
      if (faults.refused == comm->rank && faults.refused_at == number) return kNcclInvalidUsage;
      const Members members = members_of(part, comm->group->size);
      std::shared_ptr<Operation>& o = comm->group->operations[{members, comm->with[members]++}];
      if (!o) {
        o = std::make_shared<Operation>(what);
        o->parts.resize(size_t(comm->group->size));
        o->lost = comm->group->broken;
        o->group = comm->group.get();
      }
      part.here = true;
      o->parts[size_t(comm->rank)] = std::move(part);
      streams.add(stream, o);
      if (++o->arrived == (members.empty() ? size_t(comm->group->size) : members.size()) && !o->lost) {
        reach([&] { run(*o); });
        o->done = true;
      }
      if (faults.breaks == comm->rank && faults.breaks_at == number) comm->error = kNcclSystemError;
      comm->polls_left = faults.enqueue_polls;
      return comm->polls_left > 0 ? kNcclInProgress : kNcclSuccess;
    });
  }

  NcclResult end(NcclComm_t comm, bool abort) {
    return call(comm, abort, [&] {
      Group& group = *comm->group;
      for (auto& [number, o] : group.operations) {
        if (o->done || !o->parts[size_t(comm->rank)].here) continue;
        o->lost = o->lost || abort;
      }
      group.broken = group.broken || abort;
      aborted += abort;
      comms.erase(comm);
      delete comm;
      return kNcclSuccess;
    });
  }

 private:
  int locked(const int& value) {
    const std::lock_guard lock(mutex);
    return value;
  }
};

Fake& fake() {
  static Fake instance;
  return instance;
}

struct OpenGroup {
  int depth = 0;
  NcclComm_t comm = nullptr;
  void* stream = nullptr;
  Part part;
};
thread_local OpenGroup open_group;

NcclResult transfer(bool send, const void* data, size_t count, NcclDataType type, int peer, NcclComm_t comm,
                    void* stream) {
  // outside of a group a send could wait for its peer forever
  if (open_group.depth == 0) return kNcclInvalidUsage;
  open_group.comm = comm;
  open_group.stream = stream;
  open_group.part.transfers.push_back({send, static_cast<char*>(const_cast<void*>(data)), count * bytes_of(type), peer});
  return kNcclSuccess;
}

Part part_of(const void* source, void* destination) {
  Part part;
  part.source = static_cast<const char*>(source);
  part.destination = static_cast<char*>(destination);
  return part;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT hone::test::FakeNccl* fake_nccl() { return &fake(); }

EXPORT NcclResult ncclGetVersion(int* version) {
  *version = fake().faults.version;
  return kNcclSuccess;
}
EXPORT NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  const std::lock_guard lock(fake().mutex);
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal, "group %d", fake().made++);
  return kNcclSuccess;
}
EXPORT const char* ncclGetErrorString(NcclResult result) {
  return result == kNcclRemoteError ? "remote process exited" : result == kNcclSystemError ? "system error" : "misuse";
}
EXPORT const char* ncclGetLastError(NcclComm_t) { return "remote log"; }

EXPORT NcclResult ncclCommInitRankConfig(NcclComm_t* comm, int size, NcclUniqueId id, int rank, NcclConfig* config) {
  const std::lock_guard lock(fake().mutex);
  if (config->size != 24 || config->magic != 0xcafebeef || config->version != 21400 || config->blocking != 0) {
    ++fake().misused;
    return kNcclInvalidArgument;
  }
  if (fake().faults.init_fails == rank) return kNcclSystemError;
  auto& group = fake().groups[std::string(id.internal)];
  if (!group) group = std::make_shared<Group>();
  group->size = size;
  group->joined += 1;
  *comm = new hone::dist::NcclComm{group, rank, 0, {}, fake().faults.init_polls, true, false, kNcclSuccess};
  fake().comms[*comm] = false;
  return kNcclInProgress;
}
EXPORT NcclResult ncclCommGetAsyncError(NcclComm_t comm, NcclResult* error) {
  return fake().call(comm, true, [&] {
    *error = fake().async_error(*comm);
    return kNcclSuccess;
  });
}
#ifndef FAKE_NCCL_PARTIAL
EXPORT NcclResult ncclCommFinalize(NcclComm_t comm) {
  return fake().call(comm, false, [&] {
    comm->finalizing = true;
    comm->polls_left = fake().faults.finalize_polls;
    return fake().pending(*comm) ? kNcclInProgress : kNcclSuccess;
  });
}
#endif
EXPORT NcclResult ncclCommDestroy(NcclComm_t comm) { return fake().end(comm, false); }
EXPORT NcclResult ncclCommAbort(NcclComm_t comm) { return fake().end(comm, true); }

EXPORT NcclResult ncclBroadcast(const void* source, void* destination, size_t count, NcclDataType type, int root,
                                NcclComm_t comm, void* stream) {
  return fake().post(comm, {Kind::kBroadcast, count, type, kNcclSum, root, {}}, part_of(source, destination), stream);
}
EXPORT NcclResult ncclAllReduce(const void* source, void* destination, size_t count, NcclDataType type, NcclRedOp op,
                                NcclComm_t comm, void* stream) {
  return fake().post(comm, {Kind::kAllReduce, count, type, op, 0, {}}, part_of(source, destination), stream);
}
EXPORT NcclResult ncclReduceScatter(const void* source, void* destination, size_t count, NcclDataType type,
                                    NcclRedOp op, NcclComm_t comm, void* stream) {
  return fake().post(comm, {Kind::kReduceScatter, count, type, op, 0, {}}, part_of(source, destination), stream);
}
EXPORT NcclResult ncclAllGather(const void* source, void* destination, size_t count, NcclDataType type,
                                NcclComm_t comm, void* stream) {
  return fake().post(comm, {Kind::kAllGather, count, type, kNcclSum, 0, {}}, part_of(source, destination), stream);
}
EXPORT NcclResult ncclSend(const void* data, size_t count, NcclDataType type, int peer, NcclComm_t comm, void* s) {
  return transfer(true, data, count, type, peer, comm, s);
}
EXPORT NcclResult ncclRecv(void* data, size_t count, NcclDataType type, int peer, NcclComm_t comm, void* s) {
  return transfer(false, data, count, type, peer, comm, s);
}
EXPORT NcclResult ncclGroupStart() {
  open_group = {1, nullptr, nullptr, {}};
  return kNcclSuccess;
}
EXPORT NcclResult ncclGroupEnd() {
  OpenGroup group = std::move(open_group);
  open_group = {};
  if (group.depth == 0) return kNcclInvalidUsage;
  if (!group.comm) return kNcclSuccess;
  return fake().post(group.comm, {Kind::kExchange, 0, kNcclUint8, kNcclSum, 0, {}}, std::move(group.part), group.stream);
}
