#include "engine/step.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "engine/step_attention.h"
#include "model/network.h"

namespace hone::engine {
namespace {

// rows of a chunk that one thread computes; a longer prompt chunk is split inside the ops instead
constexpr int32_t kChunkRows = 64;
constexpr int64_t kHostSampleRows = 64;   // rows that the head samples at a time

struct Release {
  std::atomic<bool>& taken;
  ~Release() { taken.store(false, std::memory_order_release); }
};

WeightBytes packed_bytes(const model::WeightSnapshot& w) {
  const auto bytes = [](const kernels::PackedMatrix& m) { return m.n * m.k * dtype_bytes(m.storage); };
  WeightBytes b{bytes(w.head), bytes(w.head)};
  for (const model::PackedLayer& l : w.layers) {
    int64_t layer = bytes(l.qkv) + bytes(l.o) + bytes(l.o_beside) + bytes(l.gate_up) + bytes(l.down) + bytes(l.router);
    if (!l.experts_down.empty()) layer += int64_t(l.experts_down.size()) * (bytes(l.experts_gate_up.front()) + bytes(l.experts_down.front()));
    b.total += layer;
    b.largest = std::max(b.largest, layer);
  }
  return b;
}

double weights_per_row(const model::WeightSnapshot& w) {
  const auto count = [](const kernels::PackedMatrix& m) { return double(m.n) * double(m.k); };
  double sum = count(w.head);
  for (const model::PackedLayer& l : w.layers) {
    sum += count(l.qkv) + count(l.o) + count(l.o_beside) + count(l.gate_up) + count(l.down) + count(l.router);
    if (!l.experts_down.empty()) sum += double(w.config.experts.chosen) * (count(l.experts_gate_up.front()) + count(l.experts_down.front()));
  }
  return sum;
}

/// Number of rows in pieces that are not chunks of long prompts.
int32_t short_rows(const std::vector<Piece>& pieces) {
  int32_t rows = 0;
  for (const Piece& p : pieces) rows += p.rows < kChunkRows ? p.rows : 0;
  return rows;
}

int64_t scratch_bytes(const model::ModelConfig& model, int64_t rows) {
  const int64_t hidden = Arena::rounded(rows * model.width * 4), gathered = Arena::rounded(kHostSampleRows * model.width * 4);
  return hidden + gathered +
         std::max(model::forward_scratch_bytes(Stream{}, model, rows),
                  kernels::lm_head_scratch_bytes(Stream{}, kHostSampleRows, model.width, model.vocabulary));
}

/// First rows of pieces, and the row after the last piece, counted from the first piece's first row.
std::vector<int32_t> piece_starts(const StepRows& rows, int32_t first, int32_t count) {
  const auto from = rows.piece_rows.begin() + first;
  std::vector<int32_t> out(from, from + count + 1);
  for (int32_t& row : out) row -= *from;
  return out;
}

/// The largest number of rows of a step.
int64_t step_rows(const EngineConfig& config) { return std::max(config.step_tokens, config.max_running + 1); }

}  // namespace

int64_t host_step_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads) {
  return scratch_bytes(model, step_rows(config)) + threads * scratch_bytes(model, 2 * kChunkRows);
}

StepRunner::StepRunner(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool,
                       ThreadPool* threads)
    : model_(model), config_(config), pool_(pool), threads_(threads) {
  const int64_t rows = step_rows(config);
  const int64_t samples = config.max_running * 2;
  rows_.reserve(rows, samples);
  if (config.routes) rows_.route_bytes = model::route_bytes(model);
  tokens_.reserve(size_t(samples));
  for (auto* v : {&logprobs_, &entropies_}) v->reserve(size_t(samples));
  inline_chunks_.reserve(size_t(rows));
  wide_chunks_.reserve(size_t(rows));
  wide_scratch_ = Arena(scratch_bytes(model, rows), "engine step");
  const int count = threads ? threads->threads() : 1;
  for (int i = 0; i < count; ++i) thread_scratch_.emplace_back(scratch_bytes(model, 2 * kChunkRows));
}

const std::vector<Sample>& StepRunner::run(const model::WeightSnapshot& weights, const std::vector<Piece>& pieces,
                                           const TensorView& block_tables) {
  weights_ = &weights;
  block_tables_ = block_tables;
  rows_.lay_out(pieces, config_.run_seed);
  tokens_.resize(rows_.samples.size());
  for (auto* v : {&logprobs_, &entropies_}) v->resize(rows_.samples.size());
  const WeightBytes bytes = packed_bytes(weights);
  const SharingWays ways = sharing_ways(bytes, short_rows(pieces), threads_ ? threads_->threads() : 1);
  const double flops = cost();
  const Sharing sharing = sharing_.choose(ways, flops);
  const bool by_rows = sharing == Sharing::kRows;
  cut_chunks(pieces, by_rows || bytes.fit_cache(), by_rows ? threads_->threads() : 1);
  const auto start = std::chrono::steady_clock::now();
  compute({Stream::Backend::kCpu, sharing == Sharing::kAlone ? nullptr : threads_, nullptr});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  sharing_.record(ways, sharing, flops, took.count());
  for (size_t i = 0; i < rows_.samples.size(); ++i) {
    rows_.samples[i].token = tokens_[i];
    rows_.samples[i].logprob = logprobs_[i];
    rows_.samples[i].entropy = entropies_[i];
  }
  rows_.hand_out_routes(pieces);
  return rows_.samples;
}

double StepRunner::cost() const {
  const RowCost row{weights_per_row(*weights_), double(pool_.page_bytes()) / pool_.page_tokens()};
  const bool all_slide = model_.sliding_window > 0 && model_.sliding_layers.empty();
  const int32_t most = all_slide ? model_.sliding_window : std::numeric_limits<int32_t>::max();
  double sum = 0;
  for (const int32_t position : rows_.positions) sum += row.of(std::min(position + 1, most));
  return sum;
}

void StepRunner::compute(const Stream& stream) {
  stream.parallel_for(int64_t(inline_chunks_.size()), 1, [&](int64_t begin, int64_t end) {
    ThreadScratch& scratch = claim_scratch();
    const Release release{scratch.taken};
    for (int64_t i = begin; i < end; ++i) run_chunk(Stream{}, inline_chunks_[size_t(i)], scratch.arena);
  });
  for (const Chunk& chunk : wide_chunks_) run_chunk(stream, chunk, wide_scratch_);
}

void StepRunner::cut_chunks(const std::vector<Piece>& pieces, bool by_rows, int32_t threads) {
  inline_chunks_.clear(), wide_chunks_.clear();
  const int32_t target = std::clamp((short_rows(pieces) + threads - 1) / threads, kMinChunkRows, kChunkRows);
  Chunk open, next;
  const auto close = [&] {
    if (open.rows > 0) (by_rows ? inline_chunks_ : wide_chunks_).push_back(open);
    open = next;
  };
  for (const Piece& p : pieces) {
    const bool wide = by_rows && p.rows >= kChunkRows;
    if (wide || (by_rows && open.rows >= target)) close();
    open.rows += p.rows;
    open.samples += p.samples;
    ++open.pieces;
    next = {open.first_row + open.rows, 0, open.first_sample + open.samples, 0, open.first_piece + open.pieces, 0};
    if (wide) {
      wide_chunks_.push_back(open);
      open = next;
    }
  }
  close();
}

void StepRunner::run_chunk(const Stream& stream, const Chunk& chunk, Arena& scratch) {
  const int64_t rows = chunk.rows, width = model_.width;
  const TensorView ids = i32(rows_.ids.data() + chunk.first_row, {rows});
  const TensorView positions = i32(rows_.positions.data() + chunk.first_row, {rows});
  PagedAttention attention(pool_, model_, i32(rows_.table_rows.data() + chunk.first_row, {rows}), positions, block_tables_);
  const std::vector<int32_t> starts = piece_starts(rows_, chunk.first_piece, chunk.pieces);
  attention.continue_states({i32(starts.data(), {chunk.pieces + 1}), rows_.states.data() + chunk.first_piece});
  scratch.release(0);
  const TensorView hidden = scratch.take_view(DType::kF32, {rows, width});
  float* gathered = scratch.take_array<float>(kHostSampleRows * width);
  model::forward(stream, *weights_, ids, positions, attention, scratch, hidden, rows_.routes_from(chunk.first_row));

  const int32_t end = chunk.first_sample + chunk.samples;
  for (int32_t first = chunk.first_sample; first < end; first += int32_t(kHostSampleRows)) {
    const int64_t n = std::min<int64_t>(kHostSampleRows, end - first);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = rows_.sample_rows[size_t(first + i)] - chunk.first_row;
      std::memcpy(gathered + i * width, hidden.row<float>(row), size_t(width) * sizeof(float));
    }
    kernels::lm_head_sample(stream, {f32(gathered, {n, width}), weights_->head, rows_.params.data() + first,
                                     rows_.keys.data() + first, i32(tokens_.data() + first, {n}),
                                     f32(logprobs_.data() + first, {n}), f32(entropies_.data() + first, {n}),
                                     &scratch, model_.logit_softcap});
  }
}

StepRunner::ThreadScratch& StepRunner::claim_scratch() {
  // There are as many scratches as threads that can get here, so that the search finds a free one.
  for (size_t i = 0;; i = (i + 1) % thread_scratch_.size()) {
    if (!thread_scratch_[i].taken.exchange(true, std::memory_order_acquire)) return thread_scratch_[i];
  }
}

}  // namespace hone::engine
