#include "engine/step_rows.h"

namespace hone::engine {

void StepRows::reserve(int64_t rows, int64_t count) {
  for (auto* v : {&ids, &positions, &table_rows}) v->reserve(size_t(rows));
  piece_rows.reserve(size_t(rows) + 1);
  states.reserve(size_t(rows));
  sample_rows.reserve(size_t(count));
  params.reserve(size_t(count));
  keys.reserve(size_t(count));
  samples.reserve(size_t(count));
}

void StepRows::lay_out(const std::vector<Piece>& pieces, uint64_t run_seed) {
  ids.clear(), positions.clear(), table_rows.clear(), states.clear();
  piece_rows.assign(1, 0);
  sample_rows.clear(), params.clear(), keys.clear(), samples.clear();
  for (const Piece& piece : pieces) {
    for (int32_t i = 0; i < piece.rows; ++i) {
      ids.push_back(piece.ids[i]);
      positions.push_back(piece.position + i);
      table_rows.push_back(piece.table_row);
    }
    piece_rows.push_back(int32_t(ids.size()));
    states.push_back(piece.sequence ? piece.sequence->recurrent.data : piece.group->recurrent.data);
    if (piece.sequence) {
      add_sample(*piece.sequence, run_seed);
    } else if (piece.samples > 0) {
      for (Sequence& s : piece.group->members) {
        if (s.unfinished()) add_sample(s, run_seed);
      }
    }
  }
  routes.resize(ids.size() * size_t(route_bytes));
}

void StepRows::hand_out_routes(const std::vector<Piece>& pieces) {
  if (route_bytes == 0) return;
  for (size_t i = 0; i < samples.size(); ++i) samples[i].routes = routes_from(sample_rows[i]);
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].sequence) continue;
    std::vector<uint8_t>& kept = pieces[i].group->routes;
    // drops routes of a prompt that lost its pages and starts again
    kept.resize(size_t(pieces[i].position * route_bytes));
    const uint8_t* const first = routes_from(piece_rows[i]);
    kept.insert(kept.end(), first, first + pieces[i].rows * route_bytes);
  }
}

void StepRows::add_sample(Sequence& s, uint64_t run_seed) {
  const Request& request = s.group->request;
  samples.push_back({&s, -1, 0, 0});
  sample_rows.push_back(int32_t(ids.size()) - 1);
  params.push_back(request.sampling);
  const bool seeded = !request.seeds.empty();
  const uint64_t seed = seeded ? request.seeds[size_t(s.attempt)] : run_seed;
  const uint32_t attempt = request.first_attempt + (seeded ? 0 : uint32_t(s.attempt));
  keys.push_back({seed, request.problem, attempt, uint32_t(s.position() + 1)});
}

}  // namespace hone::engine
