#include "trainer/transfer_messages.h"

#include <algorithm>
#include <cstring>

#include "core/crc32c.h"
#include "model/parameters.h"
#include "model/sha256.h"

namespace hone::trainer {

std::string transfer_plan(const Stream& stream, const model::ModelConfig& model, DType storage, kernels::Arithmetic arithmetic) {
  std::string text = std::string(dtype_name(storage)) + "/" + kernels::arithmetic_name(arithmetic) + (stream.is_cuda() ? "/gpu;" : "/cpu;");
  for (const model::TensorSpec& spec : model::tensor_specs(model)) {
    text += spec.name + "@" + std::to_string(spec.offset);
    for (const int64_t extent : spec.shape) text.append(",").append(std::to_string(extent));
    text += ";";
  }
  return model::sha256_hex(text);
}

void write_field(const std::string& text, char* field, size_t size) {
  if (text.size() > size) fail(Code::kInternal, "transfer: %zu characters do not fit a field of %zu.", text.size(), size);
  std::memcpy(field, text.data(), text.size());
}

void announce(dist::Communicator& group, Announcement& what) {
  group.broadcast({}, {&what, DType::kU8, {int64_t(sizeof(what))}}, 0);
  group.wait({});
}

std::vector<uint8_t> answers(dist::Communicator& group, Answer own) {
  uint8_t mine = own;
  std::vector<uint8_t> all(static_cast<size_t>(group.size()));
  group.all_gather({}, u8(&mine, {1}), u8(all.data(), {group.size()}));
  group.wait({});
  return all;
}

std::vector<int> refusals(const std::vector<uint8_t>& answers) {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < answers.size(); ++rank) {
    if (answers[rank] != kAccepted && answers[rank] != kNeedsBase) ranks.push_back(int(rank));
  }
  return ranks;
}

void each_bucket(const std::vector<TensorView>& blocks, int64_t bucket_bytes, const std::function<void(const TensorView& bucket, int number)>& f) {
  int number = 0;
  for (const TensorView& block : blocks) {
    const int64_t all = block.numel();
    for (int64_t begin = 0; begin < all; begin += bucket_bytes) {
      f(u8(block.as<uint8_t>() + begin, {std::min(bucket_bytes, all - begin)}), number++);
    }
  }
}

uint32_t checksum(const TensorView& bucket) { return crc32c(bucket.data, bucket.numel()); }

void exchange(dist::Communicator& group, const TensorView& bucket, uint32_t& sum) {
  group.broadcast({}, bucket, 0);
  group.broadcast({}, {&sum, DType::kU32, {1}}, 0);
  group.wait({});
}

}  // namespace hone::trainer
