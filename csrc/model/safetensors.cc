#include "model/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "model/durable_file.h"
#include "model/float_convert.h"

namespace hone::model {
namespace {

constexpr int64_t kMaxHeaderBytes = 100'000'000;
/// Limit of the values in a header, which bounds the parser's memory; a tensor has some ten values.
constexpr int64_t kMaxHeaderValues = 1 << 20;
constexpr size_t kAlignment = 8;
constexpr size_t kShownBytes = 120;

struct DTypeName {
  const char* name;
  DType dtype;
};
constexpr DTypeName kDTypes[] = {{"F32", DType::kF32},   {"BF16", DType::kBF16},      {"F16", DType::kF16},
                                 {"F64", DType::kF64},   {"I32", DType::kI32},        {"I64", DType::kI64},
                                 {"U8", DType::kU8},     {"U32", DType::kU32},        {"BOOL", DType::kBool},
                                 {"I8", DType::kI8},     {"I16", DType::kI16},        {"U16", DType::kU16},
                                 {"U64", DType::kU64},   {"F8_E4M3", DType::kF8E4M3}, {"F8_E5M2", DType::kF8E5M2}};

DType parse_dtype(const std::string& name, const std::string& where) {
  for (const DTypeName& row : kDTypes) {
    if (name == row.name) return row.dtype;
  }
  std::string known;
  for (const DTypeName& row : kDTypes) known.append(known.empty() ? "" : ", ").append(row.name);
  fail(Code::kFormat, "%s: dtype \"%s\" is not one of %s.", where.c_str(), shown_name(name).c_str(), known.c_str());
}

const char* safetensors_name(DType dtype) {
  for (const DTypeName& row : kDTypes) {
    if (dtype == row.dtype) return row.name;
  }
  fail(Code::kInternal, "safetensors: no name for dtype %s.", dtype_name(dtype));
}

const Json& field(const Json& tensor, const char* name, const std::string& where) {
  const Json* found = tensor.find(name);
  if (!found) fail(Code::kFormat, "%s: \"%s\" is missing.", where.c_str(), name);
  return *found;
}

/// Parses one header entry and checks it against the data section, data_bytes bytes at `data`.
SafetensorsFile::Entry parse_entry(const std::string& name, const Json& tensor, const char* data, int64_t data_bytes,
                                   const std::string& path) {
  const std::string where = path + ": tensor \"" + shown_name(name) + "\"";
  SafetensorsFile::Entry entry{name, DType::kF32, {}, nullptr, 0};
  entry.dtype = parse_dtype(field(tensor, "dtype", where).as_string(where.c_str()), where);
  int64_t wanted = dtype_bytes(entry.dtype);
  for (const Json& item : field(tensor, "shape", where).items(where.c_str())) {
    const int64_t d = item.as_int(where.c_str());
    if (d < 0 || __builtin_mul_overflow(wanted, d, &wanted)) {
      fail(Code::kFormat, "%s: shape has the unusable dimension %lld.", where.c_str(), (long long)d);
    }
    entry.shape.push_back(d);
  }
  const std::vector<Json>& offsets = field(tensor, "data_offsets", where).items(where.c_str());
  if (offsets.size() != 2) fail(Code::kFormat, "%s: data_offsets needs 2 numbers, has %zu.", where.c_str(), offsets.size());
  const int64_t begin = offsets[0].as_int(where.c_str()), end = offsets[1].as_int(where.c_str());
  if (begin < 0 || end < begin || end > data_bytes) {
    fail(Code::kFormat, "%s: data_offsets [%lld, %lld] leave the file, which has %lld data bytes: truncated?",
         where.c_str(), (long long)begin, (long long)end, (long long)data_bytes);
  }
  if (end - begin != wanted) {
    fail(Code::kFormat, "%s: %lld bytes stored, shape and dtype need %lld.", where.c_str(), (long long)(end - begin),
         (long long)wanted);
  }
  entry.data = data + begin;
  entry.bytes = wanted;
  return entry;
}

/// Throws unless the tensors tile the data section: no overlap, no gap, nothing after the last tensor.
void check_tiling(const std::vector<SafetensorsFile::Entry>& entries, const char* data, int64_t data_bytes,
                  const std::string& path) {
  std::vector<const SafetensorsFile::Entry*> order;
  for (const auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->data, a->bytes) < std::pair(b->data, b->bytes);
  });
  const char* at = data;
  for (const auto* entry : order) {
    if (entry->data != at) {
      fail(Code::kFormat, "%s: tensor \"%s\" %s the tensor before it.", path.c_str(), shown_name(entry->name).c_str(),
           entry->data < at ? "overlaps" : "leaves a gap after");
    }
    at += entry->bytes;
  }
  if (at != data + data_bytes) {
    fail(Code::kFormat, "%s: %lld bytes after the last tensor.", path.c_str(), (long long)(data + data_bytes - at));
  }
}

std::string header_text(const std::vector<SafetensorsWriter::Tensor>& tensors, const SafetensorsMetadata& metadata) {
  std::string text = "{";
  if (!metadata.empty()) {
    Json object = Json::object();
    for (const auto& [key, value] : metadata) object.set(key, Json::string(value));
    text.append("\"__metadata__\":").append(object.dump());
  }
  int64_t offset = 0;
  for (const auto& tensor : tensors) {
    Json value = Json::object(), shape = Json::array(), offsets = Json::array();
    for (int64_t d : tensor.shape) shape.push(Json::integer(d));
    offsets.push(Json::integer(offset));
    offsets.push(Json::integer(offset += tensor.bytes()));
    value.set("dtype", Json::string(safetensors_name(tensor.dtype)));
    value.set("shape", std::move(shape));
    value.set("data_offsets", std::move(offsets));
    text.append(text.size() > 1 ? "," : "").append(Json::string(tensor.name).dump()).append(":").append(value.dump());
  }
  text += "}";
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const int descriptor = open_plain(path, size_);
  if (size_ > 0) map_ = ::mmap(nullptr, size_t(size_), PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (map_ == MAP_FAILED) {
    map_ = nullptr;
    fail(Code::kIo, "map %s: %s.", path.c_str(), std::generic_category().message(reason).c_str());
  }
  try {
    parse();
  } catch (...) {
    if (map_) ::munmap(map_, size_t(size_));
    throw;
  }
}

void SafetensorsFile::parse() {
  if (size_ < 8) fail(Code::kFormat, "%s: %lld bytes; a safetensors file has at least 8.", path_.c_str(), (long long)size_);
  uint64_t header_bytes;
  std::memcpy(&header_bytes, map_, 8);
  if (header_bytes > uint64_t(kMaxHeaderBytes) || int64_t(header_bytes) > size_ - 8) {
    fail(Code::kFormat, "%s: header of %llu bytes in a file of %lld: truncated, or not safetensors.", path_.c_str(),
         (unsigned long long)header_bytes, (long long)size_);
  }
  const char* text = static_cast<const char*>(map_) + 8;
  const char* data = text + header_bytes;
  const int64_t data_bytes = size_ - 8 - int64_t(header_bytes);
  if (header_bytes == 0 || *text != '{') fail(Code::kFormat, "%s: the header does not begin with {.", path_.c_str());
  const Json header = Json::parse({text, size_t(header_bytes)}, path_.c_str(), kMaxHeaderValues);
  for (const auto& [name, value] : header.members(path_.c_str())) {
    if (name == "__metadata__") {
      for (const auto& [key, item] : value.members(path_.c_str())) metadata_.emplace_back(key, item.as_string(path_.c_str()));
    } else {
      entries_.push_back(parse_entry(name, value, data, data_bytes, path_));
    }
  }
  check_tiling(entries_, data, data_bytes, path_);
  for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].name, i);
}

SafetensorsFile::~SafetensorsFile() {
  if (map_) ::munmap(map_, size_t(size_));
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

void SafetensorsFile::forget(const Entry& entry) const {
  // Drops whole pages only: the first and last page may hold bytes of neighbouring tensors.
  const uintptr_t page = uintptr_t(::sysconf(_SC_PAGESIZE)), begin = reinterpret_cast<uintptr_t>(entry.data);
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + uintptr_t(entry.bytes)) / page * page;
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::string shown_name(const std::string& name) {
  std::string out = name.substr(0, kShownBytes);
  for (char& c : out) {
    if (uint8_t(c) < 0x20 || uint8_t(c) == 0x7f) c = '?';
  }
  return name.size() > kShownBytes ? out + "..." : out;
}

void read_as_f32(const SafetensorsFile::Entry& entry, const TensorView& out, const std::string& where) {
  bool same = int(entry.shape.size()) == out.rank && out.dtype == DType::kF32;
  for (int i = 0; same && i < out.rank; ++i) same = entry.shape[size_t(i)] == out.shape[i];
  if (!same) {
    std::string stored, wanted;
    for (int64_t d : entry.shape) stored += (stored.empty() ? "" : ", ") + std::to_string(d);
    for (int i = 0; i < out.rank; ++i) wanted += (i ? ", " : "") + std::to_string(out.shape[i]);
    fail(Code::kFormat, "%s: tensor \"%s\" is [%s], the model needs [%s].", where.c_str(),
         shown_name(entry.name).c_str(), stored.c_str(), wanted.c_str());
  }
  if (!is_weight_float(entry.dtype)) {
    fail(Code::kFormat, "%s: tensor \"%s\" has dtype %s; weights are f32, bf16, f16 or f64.", where.c_str(),
         shown_name(entry.name).c_str(), dtype_name(entry.dtype));
  }
  convert_floats(entry.data, entry.dtype, out.data, DType::kF32, out.numel());
}

int64_t SafetensorsWriter::Tensor::bytes() const {
  int64_t n = dtype_bytes(dtype);
  for (int64_t d : shape) n *= d;
  return n;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<Tensor> tensors,
                                     const SafetensorsMetadata& metadata)
    : tensors_(std::move(tensors)), file_(path) {
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return dtype_bytes(a.dtype) > dtype_bytes(b.dtype);
  });
  const std::string header = header_text(tensors_, metadata);
  const uint64_t header_bytes = header.size();
  file_.write(&header_bytes, 8);
  file_.write(header);
  expected_ = file_.size();
  for (const Tensor& tensor : tensors_) expected_ += tensor.bytes();
}

std::string SafetensorsWriter::commit() {
  if (file_.size() != expected_) {
    fail(Code::kInternal, "safetensors: %lld bytes written of %lld.", (long long)file_.size(), (long long)expected_);
  }
  return file_.commit();
}

std::string write_safetensors(const std::string& path, const std::vector<SafetensorsFile::Entry>& entries,
                              const SafetensorsMetadata& metadata) {
  std::unordered_map<std::string, const SafetensorsFile::Entry*> data;
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (const auto& entry : entries) {
    tensors.push_back({entry.name, entry.dtype, entry.shape});
    data.emplace(entry.name, &entry);
  }
  SafetensorsWriter writer(path, std::move(tensors), metadata);
  for (const auto& tensor : writer.tensors()) writer.write(data.at(tensor.name)->data, tensor.bytes());
  return writer.commit();
}

}  // namespace hone::model
