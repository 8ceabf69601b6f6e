#include "model/stored_weights.h"

#include <algorithm>
#include <cmath>

#include "model/float_convert.h"

namespace hone::model {
namespace {

using Entry = SafetensorsFile::Entry;
using Shape = std::vector<int64_t>;

constexpr int64_t kBlock = 32;  // values that share a scale in MXFP4

bool take_suffix(std::string& name, const char* suffix) {
  if (!name.ends_with(suffix)) return false;
  name.erase(name.size() - std::char_traits<char>::length(suffix));
  return true;
}

std::string text_of(const Shape& shape) {
  std::string out;
  for (const int64_t d : shape) out += (out.empty() ? "" : ", ") + std::to_string(d);
  return "[" + out + "]";
}

[[noreturn]] void refuse(const WeightFolder::File& file, const Entry& entry, const std::string& why) {
  fail(Code::kFormat, "%s: tensor \"%s\" %s %s.", file.path.c_str(), shown_name(entry.name).c_str(), text_of(entry.shape).c_str(), why.c_str());
}

/// Number of consecutive rows that share a scale: all, one, or a power of two b with ceil(rows / b) ==
/// scales; 0: none of these.
int64_t block_of(int64_t rows, int64_t scales) {
  if (scales == 1) return std::max<int64_t>(rows, 1);
  if (scales == rows) return 1;
  for (int64_t b = 2; b < rows; b *= 2) {
    if ((rows + b - 1) / b == scales) return b;
  }
  return 0;
}

/// Rows and columns of a weight's scales, whatever number of dimensions the file gives them.
std::pair<int64_t, int64_t> grid_of(const Entry& scales) {
  const int64_t rows = scales.shape.empty() ? 1 : scales.shape[0];
  return {rows, scales.shape.size() < 2 ? 1 : scales.shape[1]};
}

StoredWeight mxfp4_weight(const WeightFolder& folder, const WeightFolder::File& file, const Entry& entry, std::string name) {
  const WeightFolder::Found scales = folder.find(name + "_scales");
  if (!scales.entry) refuse(file, entry, "has no tensor \"" + shown_name(name) + "_scales\" beside it");
  const Shape& s = entry.shape;
  const bool blocks = s.size() == 4 && s[3] == kBlock / 2;
  if (!blocks || scales.entry->dtype != DType::kU8 || scales.entry->shape != Shape(s.begin(), s.end() - 1)) {
    refuse(file, entry, "with scales " + text_of(scales.entry->shape) + " is not MXFP4: expected [E, N, K / 32, 16] and [E, N, K / 32] of u8");
  }
  return {std::move(name), {s[0], s[2] * kBlock, s[1]}, &entry, scales};
}

StoredWeight fp8_weight(const WeightFolder& folder, const WeightFolder::File& file, const Entry& entry) {
  WeightFolder::Found scales = folder.find(entry.name + "_scale_inv");
  if (!scales.entry) scales = folder.find(entry.name + "_scale");
  if (!scales.entry) refuse(file, entry, "is fp8 and has no scales beside it (\"" + shown_name(entry.name) + "_scale_inv\" or \"_scale\")");
  const auto [rows, columns] = grid_of(*scales.entry);
  const bool fit = entry.shape.size() == 2 && scales.entry->shape.size() <= 2 && is_weight_float(scales.entry->dtype) &&
                   block_of(entry.shape[0], rows) > 0 && block_of(entry.shape[1], columns) > 0;
  if (!fit) refuse(file, entry, "is fp8 with scales " + text_of(scales.entry->shape) + ", which are not of blocks of it");
  return {entry.name, entry.shape, &entry, scales};
}

float e2m1(int bits) {
  constexpr float kValues[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  return bits & 8 ? -kValues[bits & 7] : kValues[bits & 7];
}

/// 2^(bits - 127); NaN for 255.
float e8m0(uint8_t bits) { return bits == 255 ? std::nanf("") : std::ldexp(1.0f, int(bits) - 127); }

float e4m3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::nanf("");
  const float magnitude = exponent ? std::ldexp(float(8 + mantissa), exponent - 10) : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -magnitude : magnitude;
}

/// Decodes rows [first, first + count) of a matrix [N, K], stored in MXFP4 blocks, to the same columns of
/// `to` [K, N].
void read_mxfp4_rows(const uint8_t* blocks, const uint8_t* scales, int64_t first, int64_t count, int64_t n, int64_t k, float* to) {
  const int64_t groups = k / kBlock;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t r = first; r < first + count; ++r) {
      const uint8_t* const bytes = blocks + (r * groups + g) * (kBlock / 2);
      const float scale = e8m0(scales[r * groups + g]);
      for (int64_t i = 0; i < kBlock; ++i) to[(g * kBlock + i) * n + r] = e2m1(i % 2 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15) * scale;
    }
  }
}

void read_mxfp4(const StoredWeight& w, float* out) {
  constexpr int64_t kRows = 16;  // written columns: one cache line
  const int64_t E = w.shape[0], K = w.shape[1], N = w.shape[2];
  const auto *blocks = static_cast<const uint8_t*>(w.entry->data), *scales = static_cast<const uint8_t*>(w.scales.entry->data);
  for (int64_t e = 0; e < E; ++e, blocks += N * K / 2, scales += N * K / kBlock, out += K * N) {
    for (int64_t r = 0; r < N; r += kRows) read_mxfp4_rows(blocks, scales, r, std::min(kRows, N - r), N, K, out);
  }
}

void read_fp8(const StoredWeight& w, float* out) {
  const auto [rows, columns] = grid_of(*w.scales.entry);
  const int64_t R = w.shape[0], C = w.shape[1], high = block_of(R, rows), wide = block_of(C, columns);
  std::vector<float> scales(size_t(rows * columns)), values(256);
  convert_floats(w.scales.entry->data, w.scales.entry->dtype, scales.data(), DType::kF32, rows * columns);
  for (int i = 0; i < 256; ++i) values[size_t(i)] = e4m3(uint8_t(i));
  const auto* const bytes = static_cast<const uint8_t*>(w.entry->data);
  for (int64_t r = 0; r < R; ++r) {
    const float* const of_row = scales.data() + r / high * columns;
    for (int64_t c = 0; c < C; ++c) out[r * C + c] = values[bytes[r * C + c]] * of_row[c / wide];
  }
}

}  // namespace

std::optional<StoredWeight> stored_weight(const WeightFolder& folder, const WeightFolder::File& file, const Entry& entry) {
  std::string name = entry.name;
  if (entry.dtype == DType::kU8 && take_suffix(name, "_blocks")) return mxfp4_weight(folder, file, entry, name);
  if (entry.dtype == DType::kF8E4M3) return fp8_weight(folder, file, entry);
  for (const char* scales : {"_scales", "_scale_inv", "_scale"}) {
    std::string of = entry.name;
    if (!take_suffix(of, scales)) continue;
    const Entry* const whose = std::string(scales) == "_scales" ? folder.find(of + "_blocks").entry : folder.find(of).entry;
    if (whose && (whose->dtype == DType::kU8 || whose->dtype == DType::kF8E4M3)) return {};
  }
  if (name.ends_with(".activation_scale") || name.ends_with(".input_scale")) return {};
  return StoredWeight{entry.name, entry.shape, &entry, {}};
}

std::vector<StoredPart> expert_parts(const std::string& name, const Shape& shape) {
  std::string stem = name;
  const bool down = take_suffix(stem, ".experts.down_proj");
  if (shape.size() != 3 || (!down && (!take_suffix(stem, ".experts.gate_up_proj") || shape[1] % 2 != 0))) return {};
  std::vector<StoredPart> out;
  const int64_t rows = down ? shape[1] : shape[1] / 2;
  for (int64_t e = 0; e < shape[0]; ++e) {
    const std::string expert = stem + ".experts." + std::to_string(e);
    for (const char* part : down ? std::vector<const char*>{".down_proj.weight"} : std::vector<const char*>{".gate_proj.weight", ".up_proj.weight"}) {
      out.push_back({expert + part, {rows, shape[2]}, int64_t(out.size()) * rows * shape[2]});
    }
  }
  return out;
}

Entry part_of(const Entry& entry, const StoredPart& part) {
  if (!is_weight_float(entry.dtype)) fail(Code::kFormat, "tensor \"%s\" is %s; experts in one tensor are read from floats.", shown_name(entry.name).c_str(), dtype_name(entry.dtype));
  int64_t bytes = dtype_bytes(entry.dtype);
  const char* const data = static_cast<const char*>(entry.data) + part.first * bytes;
  for (const int64_t d : part.shape) bytes *= d;
  return {entry.name, entry.dtype, part.shape, data, bytes};
}

void read_weight(const StoredWeight& weight, const TensorView& out, const std::string& where) {
  if (!weight.quantized()) return read_as_f32(*weight.entry, out, where);
  if (Shape(out.shape, out.shape + out.rank) != weight.shape) {
    fail(Code::kFormat, "%s: tensor \"%s\" is %s, the model needs %s.", where.c_str(), shown_name(weight.name).c_str(), text_of(weight.shape).c_str(),
         text_of(Shape(out.shape, out.shape + out.rank)).c_str());
  }
  if (weight.entry->dtype == DType::kU8) read_mxfp4(weight, out.as<float>());
  else read_fp8(weight, out.as<float>());
}

}  // namespace hone::model
