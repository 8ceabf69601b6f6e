// Which experts rows went to, as bytes: an engine records them, a trainer may take them in place of its own choice.
#pragma once

#include <cstdint>

#include "model/experts.h"

namespace hone::model {

/// Bytes of a row's routes: for each layer with experts, ascending, the row's k experts, ascending. A byte each, or two, low
/// one first, where there are more than 255 experts. A row whose bytes are all kNoRoute has none. 0 for a dense model.
int64_t route_bytes(const ModelConfig& config);
constexpr uint8_t kNoRoute = 255;
constexpr int64_t kMostRouted = 65535;  // experts of a layer

/// Puts experts [R, k] i32 of a layer in their place of rows [R, route_bytes].
void write_routes(const ModelConfig& config, int64_t layer, const TensorView& experts, uint8_t* rows);

/// The choice that a trainer's rows are given; rows is null where they choose.
struct GivenRoutes {
  const uint8_t* rows = nullptr;   // [T, route_bytes]
  RouteCounts* counts = nullptr;   // added to, or null
};
/// Reads a layer's experts, of all rows or of those in `which` [R] i32, into act.experts; a row that has none gets -1 first.
void read_routes(const ModelConfig& config, int64_t layer, const GivenRoutes& from, const TensorView& which, ExpertActivations& act);

/// Throws kShape naming the row unless each row has k ascending experts of every such layer, or none at all.
void check_routes(const ModelConfig& config, const uint8_t* rows, int64_t count);

}  // namespace hone::model
