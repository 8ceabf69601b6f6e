#include "dist/gather_bytes.h"

#include <algorithm>

namespace hone::dist {

std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& own) {
  const auto size = size_t(ranks.size());
  auto length = int64_t(own.size());
  std::vector<int64_t> lengths(size);
  ranks.all_gather(Stream{}, {&length, DType::kI64, {1}}, {lengths.data(), DType::kI64, {int64_t(size)}});
  ranks.wait(Stream{});
  const int64_t width = *std::max_element(lengths.begin(), lengths.end());
  std::string out = own, in(size_t(width) * size, '\0');
  out.resize(size_t(width));
  if (width > 0) {
    ranks.all_gather(Stream{}, {out.data(), DType::kU8, {width}}, {in.data(), DType::kU8, {int64_t(in.size())}});
    ranks.wait(Stream{});
  }
  std::vector<std::string> all;
  for (size_t rank = 0; rank < size; ++rank) all.push_back(in.substr(rank * size_t(width), size_t(lengths[rank])));
  return all;
}

}  // namespace hone::dist
