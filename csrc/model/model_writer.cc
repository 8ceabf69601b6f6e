#include "model/model_writer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "model/durable_file.h"
#include "model/float_convert.h"
#include "model/safetensors.h"
#include "model/shards.h"
#include "model/stored_weights.h"
#include "model/weight_folder.h"

namespace hone::model {
namespace {

using Entry = SafetensorsFile::Entry;

constexpr int64_t kChunkElements = 1 << 20;
constexpr std::chrono::milliseconds kProgressInterval(100);

/// One tensor to write: its name and dtype in the new file, and its values, which lie in one source tensor,
/// or in several of one dtype.
struct Planned {
  SafetensorsWriter::Tensor tensor;
  std::vector<WeightFolder::Found> values;
  DType dtype() const { return values.front().entry->dtype; }
};

struct PlannedFile {
  std::string name;
  SafetensorsMetadata metadata;
  std::vector<Planned> tensors;
};

class Progress {
 public:
  Progress(const ModelWriterOptions& options, int64_t total) : options_(options), total_(total) {}
  void add(int64_t bytes) {
    done_ += bytes;
    const auto now = std::chrono::steady_clock::now();
    if (!options_.on_progress || (done_ < total_ && now - told_ < kProgressInterval)) return;
    told_ = now;
    options_.on_progress(done_, total_);
  }

 private:
  const ModelWriterOptions& options_;
  int64_t total_, done_ = 0;
  std::chrono::steady_clock::time_point told_{};
};

/// Values from a checkpoint for the source's tensors.
class Replacement {
 public:
  Replacement(const std::string& directory, int64_t first_further) : folder_(directory), directory_(directory), first_further_(first_further) {
    for (const auto& file : folder_.files()) {
      for (const Entry& entry : file.tensors->entries()) unused_.insert(entry.name);
    }
  }

  std::vector<WeightFolder::Found> take(const StoredWeight& stored, const std::string& name) {
    const std::vector<StoredPart> parts = folder_.find(name).entry ? std::vector<StoredPart>{} : expert_parts(name, stored.shape);
    if (parts.empty()) return {one(stored, name)};
    std::vector<WeightFolder::Found> out;
    for (const StoredPart& part : parts) out.push_back(one({stored.name, part.shape, stored.entry, {}}, part.name));
    return out;
  }

  /// Layers from this one on are copied unchanged.
  int64_t first_further() const { return first_further_; }

  void finish() const {
    if (unused_.empty()) return;
    fail(Code::kFormat, "%s: tensor \"%s\" has no place in the source (%zu such in all).", directory_.c_str(),
         shown_name(*unused_.begin()).c_str(), unused_.size());
  }

 private:
  WeightFolder::Found one(const StoredWeight& stored, const std::string& name) {
    WeightFolder::Found found = folder_.find(name);
    // If the source stores a tied head, its value is the new embedding.
    for (const char* table : {"model.embed_tokens.weight", "model.embeddings.weight"}) {
      if (!found.entry && name == "lm_head.weight") found = folder_.find(table);
    }
    const char* why = !found.entry ? "has no value" : found.entry->shape != stored.shape ? "has another shape" : nullptr;
    if (why) {
      fail(Code::kFormat, "tensor \"%s\" %s in %s: it is not of the same model.", shown_name(stored.name).c_str(), why,
           directory_.c_str());
    }
    unused_.erase(found.entry->name);
    return found;
  }

  WeightFolder folder_;
  std::string directory_;
  int64_t first_further_;
  std::set<std::string> unused_;
};

/// Index of the first layer that only predicts further tokens, if the source's config.json has such layers,
/// which follow the model's own; the text model does not contain them. Source: config.json of GLM-4.5.
int64_t first_further_layer(const std::string& source) {
  const std::string path = (std::filesystem::path(source) / "config.json").string();
  if (!std::filesystem::exists(path)) return INT64_MAX;
  const Json config = parse_config_json(read_text(path), path.c_str());
  const Json *further = config.find("num_nextn_predict_layers"), *layers = config.find("num_hidden_layers");
  if (!further || !layers || further->kind() != Json::Kind::kNumber) return INT64_MAX;
  return layers->as_int(path.c_str());
}

/// Plans one tensor. stored: what `entry` holds. If the weight gets a replacement, it is written as floats,
/// so its shape is that of the dequantized weight.
Planned plan_tensor(const ModelWriterOptions& options, const WeightFolder::File& file, const Entry& entry, const StoredWeight& stored,
                    Replacement* replacement, ModelWriterReport& report) {
  const DType dtype = stored.quantized() ? options.dtype.value_or(DType::kBF16) : entry.dtype;
  Planned planned{{stored.name, dtype, stored.shape}, {{&file, &entry}}};
  std::string name = text_model_name(stored.name);
  if (replacement && layer_number(name) >= replacement->first_further()) name.clear();
  const bool frequencies = name.empty() && stored.shape.size() == 1 && stored.name.ends_with("inv_freq");
  bool convert = options.dtype && is_weight_float(dtype) && !frequencies;
  if (replacement && name.empty()) convert = false;
  if (replacement && !name.empty()) {
    planned.values = replacement->take(stored, name);
    ++report.replaced;
  }
  if (convert) planned.tensor.dtype = *options.dtype;
  if (planned.tensor.dtype != entry.dtype) ++report.converted;
  if (planned.tensor.dtype != planned.dtype() &&
      (!is_weight_float(planned.dtype()) || !is_weight_float(planned.tensor.dtype) ||
       planned.tensor.dtype == DType::kF64)) {
    fail(Code::kFormat, "%s: tensor \"%s\" is stored as %s; trained values are written as f32, bf16 or f16.",
         file.path.c_str(), shown_name(stored.name).c_str(), dtype_name(entry.dtype));
  }
  ++report.tensors;
  report.bytes += planned.tensor.bytes();
  return planned;
}

SafetensorsMetadata loadable(SafetensorsMetadata metadata) {
  const bool said = std::any_of(metadata.begin(), metadata.end(), [](const auto& row) { return row.first == "format"; });
  if (!said) metadata.emplace_back("format", "pt");  // transformers refuses files without this field
  return metadata;
}

/// Plans the source's files or, with shard_bytes, new files with its tensors in the same order.
std::vector<PlannedFile> plan_files(const ModelWriterOptions& options, const WeightFolder& source,
                                    Replacement* replacement, ModelWriterReport& report) {
  std::vector<PlannedFile> files;
  std::vector<Planned> all;
  for (const auto& file : source.files()) {
    PlannedFile planned{file.name, loadable(file.tensors->metadata()), {}};
    for (const Entry& entry : file.tensors->entries()) {
      const std::optional<StoredWeight> stored = replacement ? stored_weight(source, file, entry) : StoredWeight{entry.name, entry.shape, &entry, {}};
      if (stored) planned.tensors.push_back(plan_tensor(options, file, entry, *stored, replacement, report));
    }
    if (options.shard_bytes == 0) files.push_back(std::move(planned));
    else std::move(planned.tensors.begin(), planned.tensors.end(), std::back_inserter(all));
  }
  if (options.shard_bytes == 0) return files;
  std::vector<int64_t> sizes;
  for (const Planned& tensor : all) sizes.push_back(tensor.tensor.bytes());
  const std::vector<ShardRange> shards = divide_into_shards(sizes, options.shard_bytes);
  for (size_t i = 0; i < shards.size(); ++i) {
    PlannedFile planned{shard_name("model", i, shards.size()), {{"format", "pt"}}, {}};
    for (size_t t = shards[i].begin; t < shards[i].end; ++t) planned.tensors.push_back(std::move(all[t]));
    files.push_back(std::move(planned));
  }
  return files;
}

/// Throws kData. element: index in the tensor; from: its value, of dtype planned.dtype().
[[noreturn]] void refuse_overflow(const Planned& planned, int64_t element, const void* from) {
  float value = 0;
  convert_floats(from, planned.dtype(), &value, DType::kF32, 1);
  std::string place;
  std::vector<int64_t> shape = planned.tensor.shape;
  for (auto d = shape.rbegin(); d != shape.rend(); ++d) {
    place.insert(0, std::to_string(element % *d).append(place.empty() ? "" : ", "));
    element /= *d;
  }
  fail(Code::kData, "tensor \"%s\" [%s] is %.9g, too large for %s; choose bf16 or f32.",
       shown_name(planned.tensor.name).c_str(), place.c_str(), double(value), dtype_name(planned.tensor.dtype));
}

/// Writes one part of a tensor. before: number of the tensor's elements that precede these values.
void write_values(SafetensorsWriter& writer, const Planned& planned, const Entry& values, int64_t before, std::vector<char>& buffer, Progress& progress) {
  const int64_t from_size = dtype_bytes(values.dtype), to_size = dtype_bytes(planned.tensor.dtype), n = values.bytes / from_size;
  const bool convert = values.dtype != planned.tensor.dtype;
  for (int64_t first = 0; first < n; first += kChunkElements) {
    const int64_t count = std::min(kChunkElements, n - first);
    const char* from = static_cast<const char*>(values.data) + first * from_size;
    if (convert) {
      const int64_t overflow = convert_floats(from, values.dtype, buffer.data(), planned.tensor.dtype, count);
      if (overflow >= 0) refuse_overflow(planned, before + first + overflow, from + overflow * from_size);
    }
    writer.write(convert ? buffer.data() : from, count * to_size);
    progress.add(count * to_size);
  }
}

void write_tensor(SafetensorsWriter& writer, const Planned& planned, std::vector<char>& buffer, Progress& progress) {
  int64_t before = 0;
  for (const WeightFolder::Found& values : planned.values) {
    write_values(writer, planned, *values.entry, before, buffer, progress);
    before += values.entry->bytes / dtype_bytes(values.entry->dtype);
    values.file->tensors->forget(*values.entry);
  }
}

void write_file(const DurableFolder& folder, const PlannedFile& file, Progress& progress) {
  std::vector<SafetensorsWriter::Tensor> tensors;
  std::unordered_map<std::string, const Planned*> by_name;
  for (const Planned& planned : file.tensors) {
    tensors.push_back(planned.tensor);
    by_name.emplace(planned.tensor.name, &planned);
  }
  SafetensorsWriter writer(folder.file(file.name), std::move(tensors), file.metadata);
  std::vector<char> buffer(size_t(kChunkElements) * sizeof(float));
  for (const auto& tensor : writer.tensors()) write_tensor(writer, *by_name.at(tensor.name), buffer, progress);
  writer.commit();
}

/// The source's index if names and sizes of the files are unchanged, otherwise a new one.
std::string index_text(const WeightFolder& source, const std::vector<PlannedFile>& files, bool as_source,
                       int64_t total_bytes) {
  if (as_source) return source.index_text();
  Json metadata = Json::object();
  if (!source.index_text().empty()) {
    const Json index = Json::parse(source.index_text(), kWeightIndex);
    if (const Json* old = index.find("metadata"); old && old->kind() == Json::Kind::kObject) metadata = *old;
  }
  metadata.set("total_size", Json::integer(total_bytes));
  std::vector<std::pair<std::string, std::string>> map;
  for (const PlannedFile& file : files) {
    for (const Planned& planned : file.tensors) map.emplace_back(planned.tensor.name, file.name);
  }
  return shard_index(std::move(metadata), map);
}

}  // namespace

ModelWriterReport write_model_folder(const ModelWriterOptions& options) {
  ModelWriterReport report;
  const WeightFolder source(options.source);
  std::optional<Replacement> replacement;
  if (!options.values.empty()) replacement.emplace(options.values, first_further_layer(options.source));
  const std::vector<PlannedFile> files = plan_files(options, source, replacement ? &*replacement : nullptr, report);
  if (replacement) replacement->finish();
  report.files = int64_t(files.size());
  DurableFolder folder(options.target);
  for (const auto& extra : options.extras) folder.write(extra.name, extra.from.empty() ? extra.text : read_text(extra.from));
  Progress progress(options, report.bytes);
  for (const PlannedFile& file : files) write_file(folder, file, progress);
  const bool same_files = options.shard_bytes == 0;
  if (same_files ? !source.index_text().empty() : files.size() > 1) {
    folder.write(kWeightIndex, index_text(source, files, same_files && report.converted == 0, report.bytes));
  }
  folder.commit();
  return report;
}

}  // namespace hone::model
