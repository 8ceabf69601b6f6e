#include "engine/step_device.h"

#include <algorithm>

#include "engine/shared_prefix.h"
#include "engine/step_attention.h"
#include "kernels/gather.h"
#include "model/network.h"

namespace hone::engine {
namespace {

constexpr int64_t kDeviceSampleRows = 256;  // rows that the head samples at a time

template <class T>
void copy_in(const std::vector<T>& from, const SharedArrays::Array<T>& to, T padding) {
  std::fill(std::copy(from.begin(), from.end(), to.host), to.host + to.size, padding);
}

/// Number of different attention windows among the layers; each has its own list of pages.
int64_t windows(const model::ModelConfig& model) {
  int64_t with = 0;
  for (int64_t l = 0; l < model.layers; ++l) with += model.window(l) > 0;
  return with > 0 && with < model.layers ? 2 : 1;
}

/// The first `rows` rows and `columns` columns of tables that have `width` columns.
TensorView corner(int32_t* tables, int64_t rows, int64_t columns, int64_t width) {
  TensorView view = i32(tables, {rows, columns});
  view.row_stride = width;
  return view;
}

/// Number of leading table columns that some row uses, usually few, since tables have room for the longest
/// context.
int64_t pages_in_use(const StepRows& rows, int64_t page_tokens) {
  return *std::max_element(rows.positions.begin(), rows.positions.end()) / page_tokens + 1;
}

/// Sets prefix_row and prefix_tokens so that rows from `first` on, which are padding, share no pages.
void share_nothing(SharedArrays::Array<int32_t>& row, SharedArrays::Array<int32_t>& tokens, int64_t first) {
  for (int64_t r = first; r < row.size; ++r) row.host[r] = int32_t(r), tokens.host[r] = 0;
}

/// Padding rows are pieces of their own, without states.
void copy_pieces(const StepRows& rows, const StepArrays& a) {
  copy_in(rows.states, a.states, {});
  std::copy(rows.piece_rows.begin(), rows.piece_rows.end(), a.piece_rows.host);
  for (auto i = int64_t(rows.piece_rows.size()); i < a.piece_rows.size; ++i) a.piece_rows.host[i] = a.piece_rows.host[i - 1] + 1;
}

int64_t row_bytes(int64_t rows, int64_t samples, int64_t sequences, int64_t table_width) {
  const int64_t pieces = rows * int64_t(sizeof(int32_t) + sizeof(float*)) + 3 * 64;
  return Arena::rounded(rows * 20 + pieces + sequences * table_width * 4 + 16 * 64 +
                        samples * int64_t(16 + sizeof(kernels::SamplingParams) + sizeof(SampleKey)));
}

}  // namespace

int32_t decode_bucket(int32_t count, int32_t most) {
  int32_t bucket = 1;
  while (bucket < count) bucket += std::min(bucket, 8);
  return std::min(bucket, std::max(most, count));
}

int64_t device_step_bytes(const Stream& stream, const model::ModelConfig& model, const EngineConfig& config) {
  const int64_t rows = std::max(config.step_tokens, config.max_running + 1);
  const int64_t element = dtype_bytes(activation_dtype(stream));
  const int64_t keys = int64_t(config.max_context + config.page_tokens - 1) / config.page_tokens * config.page_tokens;
  return Arena::rounded(rows * model.width * element) + Arena::rounded(kDeviceSampleRows * model.width * element) +
         std::max(model::forward_scratch_bytes(stream, model, rows) +
                      windows(model) * kernels::attention_paged_scratch_bytes(stream, rows, model.heads, model.kv_heads,
                                                                              model.head_dim, keys),
                  kernels::lm_head_scratch_bytes(stream, kDeviceSampleRows, model.width, model.vocabulary));
}

int64_t device_row_bytes(const EngineConfig& config) {
  const int64_t table_width = (config.max_context + config.page_tokens - 1) / config.page_tokens;
  const int64_t rows = std::max(config.step_tokens, config.max_running + 1), tables = 2 * int64_t(config.max_running);
  int64_t bytes = row_bytes(rows, rows, std::min(rows, tables), table_width);
  for (int32_t bucket = 0, count = 1; count <= config.max_running; count = bucket + 1) {
    bucket = decode_bucket(count, config.max_running);
    bytes += row_bytes(bucket, bucket, bucket, table_width);
  }
  return bytes;
}

DeviceStep::DeviceStep(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool, const Stream& stream)
    : model_(model), config_(config), pool_(pool), stream_(stream), table_width_(pool.pages_for(config.max_context)) {
  scratch_ = Arena(device_step_bytes(stream, model, config), "engine step", Memory::kDevice);
  rows_.reserve(std::max(config.step_tokens, config.max_running + 1), 2 * config.max_running);
}

std::shared_ptr<const model::WeightSnapshot> DeviceStep::take(const model::WeightSnapshot& weights) {
  if (weights.memory() == Memory::kHost) {
    fail(Code::kConfig, "engine: the weights lie in host memory, the engine runs on a GPU. Train and sample on the same device.");
  }
  if (weights_) weights_->assign(stream_, weights);
  else weights_ = weights.clone(stream_);
  synchronize(stream_);
  return weights_;
}

void DeviceStep::lay_out(StepArrays& a, int64_t rows, int64_t samples, int64_t sequences, int64_t pieces) {
  const int64_t bytes = row_bytes(rows, samples, sequences, table_width_);
  if (bytes > a.capacity) {
    a.memory = {};
    a.capacity = 0;
    a.memory = SharedArrays(stream_, bytes, "engine rows");
    a.capacity = bytes;
  }
  a.memory.clear();
  for (auto* array : {&a.ids, &a.positions, &a.sequences, &a.prefix_row, &a.prefix_tokens})
    *array = a.memory.take<int32_t>(rows);
  a.sample_rows = a.memory.take<int32_t>(samples);
  a.params = a.memory.take<kernels::SamplingParams>(samples);
  a.keys = a.memory.take<SampleKey>(samples);
  a.piece_rows = a.memory.take<int32_t>(pieces + 1);
  a.states = a.memory.take<float*>(pieces);
  a.whole = a.memory.used();
  a.tables = a.memory.take<int32_t>(sequences * table_width_);
  a.results = a.memory.used();
  a.tokens = a.memory.take<int32_t>(samples);
  for (auto* array : {&a.logprobs, &a.entropies}) *array = a.memory.take<float>(samples);
}

void DeviceStep::fill(StepArrays& a, const TensorView& block_tables) {
  copy_in(rows_.ids, a.ids, 0);
  copy_in(rows_.positions, a.positions, 0);
  copy_in(rows_.sample_rows, a.sample_rows, 0);
  copy_in(rows_.params, a.params, {});
  copy_in(rows_.keys, a.keys, {});
  copy_pieces(rows_, a);
  std::fill_n(a.sequences.host, a.sequences.size, -1);  // marks all rows as padding; real rows overwrite it
  slots_.assign(size_t(block_tables.dim(0)), -1);
  const int64_t pages = pages_in_use(rows_, pool_.page_tokens());
  int32_t used = 0;
  for (size_t r = 0; r < rows_.table_rows.size(); ++r) {
    int32_t& slot = slots_[size_t(rows_.table_rows[r])];
    if (slot < 0) {
      slot = used++;
      const int32_t* const table = block_tables.row<int32_t>(rows_.table_rows[r]);
      std::copy(table, table + pages, a.tables.host + slot * table_width_);
    }
    a.sequences.host[r] = slot;
  }
  share_nothing(a.prefix_row, a.prefix_tokens, int64_t(rows_.table_rows.size()));
  find_shared_prefixes(rows_.table_rows, block_tables, pool_.page_tokens(), a.prefix_row.host, a.prefix_tokens.host);
  a.memory.upload(stream_, 0, a.whole);
  copy_rows(stream_, corner(a.tables.host, used, pages, table_width_), corner(a.tables.device, used, pages, table_width_));
}

void DeviceStep::compute(const StepArrays& a) {
  const int64_t rows = a.ids.size, width = model_.width;
  const DType type = activation_dtype(stream_);
  const TensorView tables = i32(a.tables.device, {a.tables.size / table_width_, table_width_});
  PagedAttention attention(pool_, model_, a.sequences.view(), a.positions.view(), tables,
                           {a.prefix_row.view(), a.prefix_tokens.view()});
  attention.continue_states({a.piece_rows.view(), a.states.device});
  scratch_.release(0);
  const TensorView hidden = scratch_.take_view(type, {rows, width});
  const TensorView gathered = scratch_.take_view(type, {kDeviceSampleRows, width});
  const int64_t mark = scratch_.mark();
  attention.list_work(stream_, scratch_);
  model::forward(stream_, *weights_, a.ids.view(), a.positions.view(), attention, scratch_, hidden);
  scratch_.release(mark);
  for (int64_t first = 0; first < a.sample_rows.size; first += kDeviceSampleRows) {
    const int64_t n = std::min(kDeviceSampleRows, a.sample_rows.size - first);
    const TensorView h(gathered.data, type, {n, width});
    kernels::gather_rows(stream_, {.from = hidden, .rows = i32(a.sample_rows.device + first, {n}), .to = h});
    kernels::lm_head_sample(stream_, {.h = h,
                                      .w = weights_->head,
                                      .params = a.params.device + first,
                                      .keys = a.keys.device + first,
                                      .tokens = i32(a.tokens.device + first, {n}),
                                      .logprobs = f32(a.logprobs.device + first, {n}),
                                      .entropies = f32(a.entropies.device + first, {n}),
                                      .scratch = &scratch_,
                                      .softcap = model_.logit_softcap});
  }
}

const std::vector<Sample>& DeviceStep::run(const std::vector<Piece>& pieces, const TensorView& block_tables) {
  rows_.lay_out(pieces, config_.run_seed);
  const auto rows = int32_t(rows_.ids.size()), samples = int32_t(rows_.samples.size());
  const bool decode = std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.sequence != nullptr; });
  const int32_t bucket = decode ? decode_bucket(rows, config_.max_running) : 0;
  StepArrays& arrays = decode ? decode_[bucket] : mixed_;
  if (!decode) lay_out(arrays, rows, samples, std::min<int64_t>(rows, block_tables.dim(0)), int64_t(pieces.size()));
  else if (arrays.capacity == 0) lay_out(arrays, bucket, bucket, bucket, bucket);
  fill(arrays, block_tables);
  // The first step of a bucket runs directly, which loads its kernels; the second step is recorded.
  const auto graph = graphs_.find(bucket);
  if (!decode || !config_.graphs || graph == graphs_.end()) {
    compute(arrays);
    if (decode) graphs_[bucket];
  } else {
    if (!graph->second.recorded()) graph->second.record(stream_, [&] { compute(arrays); });
    graph->second.launch(stream_);
  }
  arrays.memory.download(stream_, arrays.results, arrays.memory.used());
  for (int32_t i = 0; i < samples; ++i) {
    Sample& s = rows_.samples[size_t(i)];
    s.token = arrays.tokens.host[i], s.logprob = arrays.logprobs.host[i], s.entropy = arrays.entropies.host[i];
  }
  return rows_.samples;
}

}  // namespace hone::engine
