#include "model/routes.h"

#include <algorithm>

namespace hone::model {
namespace {

constexpr int32_t kNone = -1;

/// Where a layer's experts lie in the bytes of a row's routes.
struct Place {
  // bytes per row, bytes before this layer's, bytes per expert, experts per row
  int64_t row, first, bytes, k;

  Place(const ModelConfig& c, int64_t layer) : row(route_bytes(c)), first(0), bytes(c.experts.count > kNoRoute ? 2 : 1), k(c.experts.chosen) {
    for (int64_t l = 0; l < layer; ++l) first += c.mixes(l) ? k * bytes : 0;
  }
  int32_t read(const uint8_t* at) const { return bytes == 1 ? at[0] : at[0] | at[1] << 8; }
  int32_t none() const { return bytes == 1 ? kNoRoute : kNoRoute | kNoRoute << 8; }
};

bool empty_row(const uint8_t* row, int64_t bytes) {
  return std::all_of(row, row + bytes, [](uint8_t byte) { return byte == kNoRoute; });
}

void check_layer(const ModelConfig& c, int64_t layer, const uint8_t* row, int64_t number) {
  const Place place(c, layer);
  int32_t last = kNone;
  for (int64_t j = 0; j < place.k; ++j) {
    const int32_t expert = place.read(row + place.first + j * place.bytes);
    if (expert <= last || expert >= c.experts.count) {
      fail(Code::kShape, "routes: row %lld has expert %d after %d in layer %lld; experts of a row ascend and are below %lld.",
           (long long)number, expert, last, (long long)layer, (long long)c.experts.count);
    }
    last = expert;
  }
}

}  // namespace

int64_t route_bytes(const ModelConfig& c) {
  int64_t layers = 0;
  for (int64_t l = 0; l < c.layers; ++l) layers += c.mixes(l);
  return layers * c.experts.chosen * (c.experts.count > kNoRoute ? 2 : 1);
}

void write_routes(const ModelConfig& c, int64_t layer, const TensorView& experts, uint8_t* rows) {
  const Place place(c, layer);
  for (int64_t r = 0; r < experts.dim(0); ++r) {
    uint8_t* to = rows + r * place.row + place.first;
    for (int64_t j = 0; j < place.k; ++j) {
      const int32_t expert = experts.row<int32_t>(r)[j];
      *to++ = uint8_t(expert);
      if (place.bytes == 2) *to++ = uint8_t(expert >> 8);
    }
  }
}

void read_routes(const ModelConfig& c, int64_t layer, const GivenRoutes& from, const TensorView& which, ExpertActivations& act) {
  const Place place(c, layer);
  act.given = true;
  if (from.counts) act.replaced = &from.counts->replaced;
  for (int64_t r = 0; r < act.experts.dim(0); ++r) {
    const int64_t row = which.empty() ? r : which.as<int32_t>()[r];
    const uint8_t* const at = from.rows + row * place.row + place.first;
    int32_t* const to = act.experts.row<int32_t>(r);
    for (int64_t j = 0; j < place.k; ++j) to[j] = place.read(at + j * place.bytes);
    if (to[0] == place.none()) to[0] = kNone;
    else if (from.counts) ++from.counts->given;
  }
}

void check_routes(const ModelConfig& c, const uint8_t* rows, int64_t count) {
  const int64_t bytes = route_bytes(c);
  for (int64_t r = 0; r < count; ++r) {
    const uint8_t* const row = rows + r * bytes;
    if (empty_row(row, bytes)) continue;
    for (int64_t l = 0; l < c.layers; ++l) {
      if (c.mixes(l)) check_layer(c, l, row, r);
    }
  }
}

}  // namespace hone::model
