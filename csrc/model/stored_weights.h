// Reads weights as files store them: floats, or 4-bit or 8-bit numbers with scales in separate tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "model/weight_folder.h"

namespace hone::model {

/// A weight tensor and where a file stores it.
struct StoredWeight {
  std::string name;                    // the weight's name: "x" for MXFP4's "x_blocks" and "x_scales"
  std::vector<int64_t> shape;          // shape after decoding
  const SafetensorsFile::Entry* entry = nullptr;
  WeightFolder::Found scales;          // the tensor of scales; empty for floats
  bool quantized() const { return scales.entry != nullptr; }
};

/// The weight that `entry` stores; no value if `entry` holds scales of another tensor or of activations.
/// MXFP4: x_blocks [E, N, K/32, 16] u8, two numbers per byte, the lower half first, x_scales [E, N, K/32] u8;
/// values [E, K, N].
/// fp8: x e4m3 [R, C] with x_scale_inv or x_scale: one number in all, one per row, or one per block of rows
/// and columns; values [R, C].
/// Throws kFormat naming file and tensor if scales are missing or have another shape.
/// Source: OCP Microscaling Formats 1.0, 5.1 to 5.4; OCP 8-bit Floating Point 1.0; transformers,
/// integrations/mxfp4 and finegrained_fp8.
std::optional<StoredWeight> stored_weight(const WeightFolder& folder, const WeightFolder::File& file, const SafetensorsFile::Entry& entry);

/// One of the model's tensors that is part of a larger stored tensor: consecutive values from index `first`
/// on.
struct StoredPart {
  std::string name;
  std::vector<int64_t> shape;
  int64_t first = 0;
};
/// The experts' matrices in a stored tensor that holds those of all experts of a layer: experts.gate_up_proj
/// [E, 2F, C] or experts.down_proj [E, C, F], as in Qwen3.5's files. Empty for any other tensor.
std::vector<StoredPart> expert_parts(const std::string& name, const std::vector<int64_t>& shape);
/// An Entry for one part of a stored float tensor.
SafetensorsFile::Entry part_of(const SafetensorsFile::Entry& entry, const StoredPart& part);

/// Reads a weight as f32: floats as read_as_f32 does, MXFP4 exactly, fp8 multiplied by its scale and rounded
/// once. Throws the errors of read_as_f32.
void read_weight(const StoredWeight& weight, const TensorView& out, const std::string& where);

}  // namespace hone::model
