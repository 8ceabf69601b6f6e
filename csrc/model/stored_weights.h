// Weights as files store them: floats, or numbers of 4 or 8 bits with scales in tensors beside them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/weight_folder.h"

namespace hone::model {

/// A tensor of values, and where they are.
struct StoredWeight {
  std::string name;                    // of the values: MXFP4's "x_blocks" and "x_scales" are "x"
  std::vector<int64_t> shape;          // of the values
  const SafetensorsFile::Entry* entry = nullptr;
  WeightFolder::Found scales;          // empty for floats
  bool quantized() const { return scales.entry != nullptr; }
};

/// The weight that `entry` holds; none if it holds scales of another tensor or of activations.
///   MXFP4: x_blocks [E, N, K/32, 16] u8, two numbers a byte, the lower half first, x_scales [E, N, K/32] u8; values [E, K, N].
///   fp8: x of e4m3 [R, C] with x_scale_inv or x_scale, one number, one a row, or one a block of rows and columns; values [R, C].
/// Throws kFormat naming file and tensor where scales are missing or of another shape.
/// Source: OCP Microscaling Formats 1.0, 5.1 to 5.4; OCP 8-bit Floating Point 1.0; transformers, integrations/mxfp4 and finegrained_fp8.
std::optional<StoredWeight> stored_weight(const WeightFolder& folder, const WeightFolder::File& file, const SafetensorsFile::Entry& entry);

/// One of the model's tensors inside a stored one, in consecutive values from `first` on.
struct StoredPart {
  std::string name;
  std::vector<int64_t> shape;
  int64_t first = 0;
};
/// The matrices that a stored tensor of all experts of a layer holds: experts.gate_up_proj [E, 2F, C] or experts.down_proj [E, C, F],
/// as Qwen3.5 has them. Empty for others.
std::vector<StoredPart> expert_parts(const std::string& name, const std::vector<int64_t>& shape);
/// A part of an entry of floats as an entry of its own.
SafetensorsFile::Entry part_of(const SafetensorsFile::Entry& entry, const StoredPart& part);

/// Reads a weight as f32: floats as read_as_f32 does, MXFP4 exactly, fp8 times its scale rounded once. Throws
/// what read_as_f32 throws.
void read_weight(const StoredWeight& weight, const TensorView& out, const std::string& where);

}  // namespace hone::model
