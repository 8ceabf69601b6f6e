// Transfer of adapters alone: receivers keep the frozen base, and form the weights W + s B A themselves, on the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "model/adapters.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/transfer_messages.h"

namespace hone::trainer {

/// Identifies a base: a hash over type, tensors and the checksums of its buckets. Empty: not computed.
struct BaseSums {
  std::string id;
  int64_t bucket_bytes = 0;
  std::vector<uint32_t> sums;
};
/// Computes the sums of a base unless they are known for such buckets; it is then stored as bf16 if that is exact.
void sum_base(model::Parameters& base, int64_t bucket_bytes, BaseSums& sums);

/// A trainer's adapters. Everything must outlive the transfer. storage, arithmetic: of the weights that receivers form.
struct AdapterSource {
  const model::Parameters& base;
  const BaseSums& sums;
  const model::Adapters& adapters;
  uint32_t version = 0;
  DType storage = DType::kF32;
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
};

/// Sends a version of the adapters from rank 0 of the group to all other ranks, which call receive(); first the base, if
/// one of them does not have it. Buckets are those of the base's sums. Returns the ranks that refused this version or
/// received damaged bytes; the group remains usable. Throws the collectives' errors, after which the group is lost.
std::vector<int> send_adapters(dist::Communicator& group, const AdapterSource& source);

/// The part of a WeightReceiver that receives adapters.
class AdapterReceiver {
 public:
  AdapterReceiver(const Stream& stream, const model::ModelConfig& model, DType storage, kernels::Arithmetic arithmetic);
  ~AdapterReceiver();

  /// Whether weights of this model can be formed from what is announced.
  bool fits(const Announcement& coming) const;
  /// Whether a receiver of this process has the announced base, which receive() then uses.
  bool find_base(const Announcement& coming);
  /// Receives what was announced, and the base before it if base_comes; forms the weights. Throws kFormat naming the
  /// bucket for damaged bytes, and the collectives' errors: earlier snapshots are unchanged.
  void receive(dist::Communicator& group, const Announcement& coming, bool base_comes);
  /// Sends the adapters that were received, as rank 0 of a group, by send_adapters, with the first sender's checksums.
  std::vector<int> send(dist::Communicator& group) const;

  /// The weights that were formed last; receive() does not rewrite them while an engine holds them.
  std::shared_ptr<const model::WeightSnapshot> snapshot();

 private:
  struct Base;
  struct Forming;
  int receive_base(dist::Communicator& group, const Announcement& coming);
  void prepare(const Announcement& coming);

  Stream stream_;
  model::ModelConfig model_;
  DType storage_;
  kernels::Arithmetic arithmetic_;
  std::shared_ptr<Base> base_;  // of the adapters announced last, if it is here
  std::unique_ptr<Forming> forming_;
  std::vector<uint32_t> checksums_;  // of the adapters' buckets, as sent
};

}  // namespace hone::trainer
