// Operations of the stand-in for NCCL: each rank's arguments, and moving the data once all ranks have called.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/tensor.h"
#include "dist/nccl_library.h"

namespace hone::test {

using namespace hone::dist;

enum class Kind { kBroadcast, kAllReduce, kReduceScatter, kAllGather, kExchange };

struct Transfer {
  bool send;
  char* data;
  size_t bytes;
  int peer;
};
struct Group;
/// One rank's arguments of an operation.
struct Part {
  const char* source = nullptr;
  char* destination = nullptr;
  std::vector<Transfer> transfers;
  bool here = false;
};
struct Operation {
  Kind kind;
  size_t count;
  NcclDataType type;
  NcclRedOp op;
  int root;
  std::vector<Part> parts;  // one per rank
  const Group* group = nullptr;
  size_t arrived = 0;
  bool done = false, lost = false;
};

inline size_t bytes_of(NcclDataType type) {
  switch (type) {
    case kNcclUint8: return 1;
    case kNcclFloat16:
    case kNcclBfloat16: return 2;
    case kNcclInt64:
    case kNcclFloat64: return 8;
    default: return 4;
  }
}

inline double load(const char* data, size_t i, NcclDataType type) {
  const auto as = [&](auto value) {
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    return value;
  };
  switch (type) {
    case kNcclFloat32: return double(as(float()));
    case kNcclFloat64: return as(double());
    case kNcclInt32: return double(as(int32_t()));
    case kNcclInt64: return double(as(int64_t()));
    case kNcclUint32: return double(as(uint32_t()));
    case kNcclUint8: return double(as(uint8_t()));
    case kNcclBfloat16: return double(hone::bf16_to_f32(as(uint16_t())));
    default: std::abort();  // f16 is copied, but never added
  }
}

inline void store(char* data, size_t i, NcclDataType type, double x) {
  const auto put = [&](auto value) { std::memcpy(data + i * sizeof value, &value, sizeof value); };
  switch (type) {
    case kNcclFloat32: return put(float(x));
    case kNcclFloat64: return put(x);
    case kNcclInt32: return put(int32_t(x));
    case kNcclInt64: return put(int64_t(x));
    case kNcclUint32: return put(uint32_t(x));
    case kNcclUint8: return put(uint8_t(x));
    case kNcclBfloat16: return put(hone::f32_to_bf16(float(x)));
    default: std::abort();
  }
}

/// Elements [first, first + n) of the reduction over all parts, in rank order.
inline std::vector<char> reduce(const Operation& o, size_t first, size_t n) {
  std::vector<char> out(n * bytes_of(o.type));
  for (size_t i = 0; i < n; ++i) {
    double total = load(o.parts[0].source, first + i, o.type);
    for (size_t r = 1; r < o.parts.size(); ++r) {
      const double x = load(o.parts[r].source, first + i, o.type);
      total = o.op == kNcclSum ? total + x : std::max(total, x);
    }
    store(out.data(), i, o.type, total);
  }
  return out;
}

inline void exchange(Operation& o) {
  for (size_t to = 0; to < o.parts.size(); ++to) {
    std::map<int, size_t> seen;  // receives from a peer match the peer's sends in order
    for (const Transfer& receive : o.parts[to].transfers) {
      if (receive.send) continue;
      size_t skip = seen[receive.peer]++;
      for (const Transfer& sent : o.parts[size_t(receive.peer)].transfers) {
        if (!sent.send || sent.peer != int(to) || skip-- > 0) continue;
        std::memcpy(receive.data, sent.data, std::min(sent.bytes, receive.bytes));
        break;
      }
    }
  }
}

inline void run(Operation& o) {
  const size_t bytes = o.count * bytes_of(o.type);
  if (o.kind == Kind::kExchange) return exchange(o);
  if (o.kind == Kind::kAllReduce) {
    const std::vector<char> total = reduce(o, 0, o.count);
    for (Part& part : o.parts) std::memcpy(part.destination, total.data(), bytes);
  }
  for (size_t r = 0; r < o.parts.size(); ++r) {
    Part& part = o.parts[r];
    if (o.kind == Kind::kReduceScatter) {
      std::memcpy(part.destination, reduce(o, r * o.count, o.count).data(), bytes);
    } else if (o.kind == Kind::kBroadcast && int(r) != o.root) {
      std::memcpy(part.destination, o.parts[size_t(o.root)].source, bytes);
    } else if (o.kind == Kind::kAllGather) {
      for (size_t from = 0; from < o.parts.size(); ++from) {
        std::memcpy(part.destination + from * bytes, o.parts[from].source, bytes);
      }
    }
  }
  o.done = true;
}

/// The ranks that make an operation together; empty: all ranks. A send or receive involves the ranks that it
/// names.
using Members = std::vector<int>;

struct Group {
  int size = 0, joined = 0;
  bool broken = false;
  // by members and operation number
  std::map<std::pair<Members, int>, std::shared_ptr<Operation>> operations;
};

inline Members members_of(const Part& part, int size) {
  Members out;
  for (const Transfer& transfer : part.transfers) {
    if (transfer.send) out.push_back(transfer.peer);
  }
  std::sort(out.begin(), out.end());
  return int(out.size()) == size ? Members{} : out;
}

/// The operations given to each stream, by stream handle.
struct Streams {
  std::map<void*, std::vector<std::shared_ptr<Operation>>> queued;
  std::map<void*, bool> unasked;  // whether operations were queued since idle() was last true

  void add(void* stream, const std::shared_ptr<Operation>& o) { queued[stream].push_back(o), unasked[stream] = true; }
  /// Whether no operation is left on the stream; then the host, which has called this, may wait for the
  /// stream.
  bool idle(void* stream) {
    const auto& all = queued[stream];
    if (!std::all_of(all.begin(), all.end(), [](const auto& o) { return o->done || o->lost; })) return false;
    queued.erase(stream), unasked.erase(stream);
    return true;
  }
  /// Whether the stream's next work may begin: no operation is left, or those left will never be done.
  bool goes_on(void* stream) const {
    const auto found = queued.find(stream);
    const auto over = [](const auto& o) { return o->done || o->lost || o->group->broken; };
    return found == queued.end() || std::all_of(found->second.begin(), found->second.end(), over);
  }
};

}  // namespace hone::test
