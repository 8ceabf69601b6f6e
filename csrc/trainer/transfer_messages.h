// Messages and buckets of a transfer of weights, as both of its sides know them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "kernels/matmul.h"
#include "model/config.h"

namespace hone::trainer {

/// Bytes that are sent at a time, at most.
inline constexpr int64_t kBucketBytes = int64_t(64) << 20;

/// kPacks: all weights, packed as engines read them. kAdapters: A and B of adapters, whose receivers have the base.
enum class Contents : uint32_t { kPacks, kAdapters };

/// The header of a transfer, sent first. Without padding: two are compared as bytes.
struct Announcement {
  char magic[8] = {'h', 'o', 'n', 'e', ' ', 'w', 't', '3'};
  uint32_t version = 0;
  Contents contents = Contents::kPacks;
  int64_t bytes = 0;
  int64_t bucket_bytes = 0;
  char plan[64] = {};  // a hash of name, shape and offset of every tensor of the model, and of their packing
  // Of adapters, except base_type:
  int64_t rank = 0;
  float alpha = 0.0f;
  uint32_t base_type = 0;  // DType of the adapters' base; of packs, of embedding and head (WeightSnapshot::ends)
  char base[64] = {};      // BaseSums::id
  char targets[512] = {};  // names, with commas between them
};
static_assert(sizeof(Announcement) == 688);
/// True if base_type is a type in which weights are stored.
inline bool has_base_type(const Announcement& a) { return a.base_type == uint32_t(DType::kF32) || a.base_type == uint32_t(DType::kBF16); }

/// kNeedsBase: accepted by a receiver that does not have the base of the adapters.
enum Answer : uint8_t { kAccepted = 0, kOtherPlan = 1, kOldVersion = 2, kDamaged = 3, kNeedsBase = 4 };

std::string transfer_plan(const Stream& stream, const model::ModelConfig& model, DType storage, kernels::Arithmetic arithmetic);
/// Writes `text` to one of the announcement's fields, which is large enough.
void write_field(const std::string& text, char* field, size_t size);

/// Broadcasts rank 0's announcement.
void announce(dist::Communicator& group, Announcement& what);
/// Gathers the answers of all ranks on every rank.
std::vector<uint8_t> answers(dist::Communicator& group, Answer own);
/// The ranks that do not accept.
std::vector<int> refusals(const std::vector<uint8_t>& answers);

/// Calls f(bytes, number) for each bucket of the blocks [n] u8.
void each_bucket(const std::vector<TensorView>& blocks, int64_t bucket_bytes, const std::function<void(const TensorView& bucket, int number)>& f);
uint32_t checksum(const TensorView& bucket);
/// Broadcasts rank 0's bucket in host memory, and `sum`, its checksum.
void exchange(dist::Communicator& group, const TensorView& bucket, uint32_t& sum);

}  // namespace hone::trainer
