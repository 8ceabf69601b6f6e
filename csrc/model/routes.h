// Routes: the experts that each row went to, encoded as bytes. An engine records them; a trainer may use them
// in place of its router's choice.
#pragma once

#include <cstdint>

#include "model/experts.h"

namespace hone::model {

/// Bytes of one row's routes: for each layer with experts, in order, the row's k experts, ascending; one byte
/// per expert, or two (low byte first) if there are more than 255 experts. A row of kNoRoute bytes has no
/// routes. 0 for a dense model.
int64_t route_bytes(const ModelConfig& config);
constexpr uint8_t kNoRoute = 255;
constexpr int64_t kMostRouted = 65535;  // limit of the number of experts in a layer

/// Writes the experts [R, k] i32 of one layer to their bytes in rows [R, route_bytes].
void write_routes(const ModelConfig& config, int64_t layer, const TensorView& experts, uint8_t* rows);

/// Expert choices that a trainer's rows must use. `rows` is null if the router chooses.
struct GivenRoutes {
  const uint8_t* rows = nullptr;   // [T, route_bytes]
  RouteCounts* counts = nullptr;   // added to, unless null
};
/// Reads the experts of one layer into act.experts, for all rows, or for the rows listed in `which` [R] i32.
/// A row without routes gets -1 as its first expert.
void read_routes(const ModelConfig& config, int64_t layer, const GivenRoutes& from, const TensorView& which, ExpertActivations& act);

/// Throws kShape naming the row unless each row has k ascending experts for every layer with experts, or has
/// no routes.
void check_routes(const ModelConfig& config, const uint8_t* rows, int64_t count);

}  // namespace hone::model
