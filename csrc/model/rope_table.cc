#include "model/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/device.h"

namespace hone::model {
namespace {

double llama3_frequency(const RopeConfig& rope, double frequency) {
  const double turns = double(rope.original_max_positions) * frequency / (2.0 * std::numbers::pi);
  if (turns < rope.low_freq_factor) return frequency / rope.factor;
  if (turns > rope.high_freq_factor) return frequency;
  const double smooth = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1.0 - smooth) * frequency / rope.factor + smooth * frequency;
}

/// The dimension whose angle makes `rotations` turns within the original context.
double yarn_dimension(const RopeConfig& rope, int64_t head_dim, double rotations) {
  return double(head_dim) * std::log(double(rope.original_max_positions) / (rotations * 2.0 * std::numbers::pi)) /
         (2.0 * std::log(rope.theta));
}

void yarn_scale(const RopeConfig& rope, int64_t head_dim, std::vector<double>& frequencies) {
  double low = yarn_dimension(rope, head_dim, rope.beta_fast);
  double high = yarn_dimension(rope, head_dim, rope.beta_slow);
  if (rope.yarn_truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, double(head_dim - 1));
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double interpolate = std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= interpolate / rope.factor + (1.0 - interpolate);
  }
}

}  // namespace

std::vector<double> rope_frequencies(const RopeConfig& rope, int64_t rotary_dim) {
  std::vector<double> out(size_t(rotary_dim / 2));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::pow(rope.theta, -2.0 * double(i) / double(rotary_dim));
  switch (rope.kind) {
    case RopeConfig::Kind::kDefault: break;
    case RopeConfig::Kind::kLinear:
      for (double& f : out) f /= rope.factor;
      break;
    case RopeConfig::Kind::kLlama3:
      for (double& f : out) f = llama3_frequency(rope, f);
      break;
    case RopeConfig::Kind::kYarn: yarn_scale(rope, rotary_dim, out); break;
    case RopeConfig::Kind::kProportional:
      for (size_t i = 0; i < out.size(); ++i) out[i] = double(i) < std::floor(rope.partial * double(out.size())) ? out[i] / rope.factor : 0.0;
      break;
    case RopeConfig::Kind::kLongrope:
      for (size_t i = 0; i < out.size(); ++i) out[i] /= (rope.extended ? rope.long_factor : rope.short_factor)[i];
      break;
  }
  return out;
}

double rope_attention_factor(const RopeConfig& rope) {
  const bool yarn = rope.kind == RopeConfig::Kind::kYarn;
  if (!yarn && rope.kind != RopeConfig::Kind::kLongrope) return 1.0;
  if (rope.attention_factor > 0.0) return rope.attention_factor;
  if (rope.factor <= 1.0) return 1.0;
  return yarn ? 0.1 * std::log(rope.factor) + 1.0
              : std::sqrt(1.0 + std::log(rope.factor) / std::log(double(rope.original_max_positions)));
}

int64_t rope_table_bytes(int64_t rotary_dim, int64_t positions) {
  return Arena::rounded(positions * rotary_dim * int64_t(sizeof(float)));
}

std::shared_ptr<const RopeTable> RopeTable::make(const Stream& stream, const RopeConfig& rope, int64_t rotary_dim,
                                                 int64_t positions) {
  return fill(stream, rope_frequencies(rope, rotary_dim), rope_attention_factor(rope), positions);
}

std::shared_ptr<const RopeTable> RopeTable::still(const Stream& stream, int64_t positions) {
  return fill(stream, {0.0}, 1.0, positions);
}

std::shared_ptr<const RopeTable> RopeTable::fill(const Stream& stream, const std::vector<double>& frequencies, double factor,
                                                 int64_t positions) {
  const size_t half = frequencies.size();
  const int64_t width = 2 * int64_t(half), bytes = rope_table_bytes(width, positions);
  Arena host(bytes, "rope table");
  const TensorView rows = host.take_view(DType::kF32, {positions, width});
  stream.parallel_for(positions, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      float* row = rows.row<float>(p);
      for (size_t i = 0; i < half; ++i) {
        const double angle = double(p) * frequencies[i];
        row[i] = float(factor * std::cos(angle));
        row[half + i] = float(factor * std::sin(angle));
      }
    }
  });
  std::shared_ptr<RopeTable> table(new RopeTable());
  table->view_ = rows;
  if (stream.is_cuda()) {
    table->arena_ = Arena(bytes, "rope table", Memory::kDevice);
    table->view_ = table->arena_.take_view(DType::kF32, {positions, width});
    upload(stream, table->view_.data, rows.data, bytes);
    synchronize(stream);
  } else {
    table->arena_ = std::move(host);
  }
  return table;
}

}  // namespace hone::model
