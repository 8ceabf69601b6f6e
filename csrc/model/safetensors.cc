#include "model/safetensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "model/durable_file.h"

namespace hone::model {
namespace {

constexpr int64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kAlignment = 8;

struct DTypeName {
  const char* name;
  DType dtype;
};
constexpr DTypeName kDTypes[] = {{"F32", DType::kF32}, {"BF16", DType::kBF16}, {"F16", DType::kF16},
                                 {"F64", DType::kF64}, {"I32", DType::kI32},   {"I64", DType::kI64},
                                 {"U8", DType::kU8},   {"U32", DType::kU32}};

DType parse_dtype(const std::string& name, const std::string& where) {
  for (const DTypeName& row : kDTypes) {
    if (name == row.name) return row.dtype;
  }
  fail(Code::kFormat, "%s: dtype \"%s\" is not one of F32, BF16, F16, F64, I32, I64, U8, U32.", where.c_str(),
       name.c_str());
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

/// Checks one header entry against the data section of data_bytes at `data`.
SafetensorsFile::Entry parse_entry(const std::string& name, const Json& tensor, const char* data, int64_t data_bytes,
                                   const std::string& path) {
  const std::string where = path + ": tensor \"" + name + "\"";
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

/// Tensors must tile the data section: no overlap, no gap, nothing after the last.
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
      fail(Code::kFormat, "%s: tensor \"%s\" %s the tensor before it.", path.c_str(), entry->name.c_str(),
           entry->data < at ? "overlaps" : "leaves a gap after");
    }
    at += entry->bytes;
  }
  if (at != data + data_bytes) {
    fail(Code::kFormat, "%s: %lld bytes after the last tensor.", path.c_str(), (long long)(data + data_bytes - at));
  }
}

float half_to_f32(uint16_t h) {
  const uint32_t sign = uint32_t(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  uint32_t bits;
  if (exponent == 31) bits = sign | 0x7f800000u | mantissa << 13;
  else if (exponent != 0) bits = sign | (exponent + 112) << 23 | mantissa << 13;
  else {
    const float magnitude = float(mantissa) * 0x1p-24f;  // zero and subnormals are exact in f32
    return sign ? -magnitude : magnitude;
  }
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}

template <class From, class Convert>
void convert(const void* from, float* to, int64_t n, Convert f) {
  const char* bytes = static_cast<const char*>(from);
  for (int64_t i = 0; i < n; ++i) {
    From x;  // data in the file may be unaligned
    std::memcpy(&x, bytes + i * int64_t(sizeof(From)), sizeof(From));
    to[i] = f(x);
  }
}

std::string header_text(const std::vector<SafetensorsFile::Entry>& entries,
                        const std::vector<std::pair<std::string, std::string>>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) {
    Json object = Json::object();
    for (const auto& [key, value] : metadata) object.set(key, Json::string(value));
    header.set("__metadata__", std::move(object));
  }
  int64_t offset = 0;
  for (const auto& entry : entries) {
    Json tensor = Json::object(), shape = Json::array(), offsets = Json::array();
    for (int64_t d : entry.shape) shape.push(Json::integer(d));
    offsets.push(Json::integer(offset));
    offsets.push(Json::integer(offset += entry.bytes));
    tensor.set("dtype", Json::string(safetensors_name(entry.dtype)));
    tensor.set("shape", std::move(shape));
    tensor.set("data_offsets", std::move(offsets));
    header.set(entry.name, std::move(tensor));
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(Code::kIo, "open %s: %s.", path.c_str(), std::generic_category().message(errno).c_str());
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  size_ = known ? int64_t(status.st_size) : 0;
  if (size_ > 0) map_ = ::mmap(nullptr, size_t(size_), PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (!known || map_ == MAP_FAILED) {
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
  const Json header = Json::parse({text, size_t(header_bytes)}, path_.c_str());
  for (const auto& [name, value] : header.members(path_.c_str())) {
    if (name == "__metadata__") {
      for (const auto& [key, item] : value.members(path_.c_str())) metadata_.emplace_back(key, item.as_string(path_.c_str()));
    } else {
      entries_.push_back(parse_entry(name, value, data, data_bytes, path_));
    }
  }
  check_tiling(entries_, data, data_bytes, path_);
}

SafetensorsFile::~SafetensorsFile() {
  if (map_) ::munmap(map_, size_t(size_));
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

void read_as_f32(const SafetensorsFile::Entry& entry, const TensorView& out) {
  bool same = int(entry.shape.size()) == out.rank && out.dtype == DType::kF32;
  for (int i = 0; same && i < out.rank; ++i) same = entry.shape[size_t(i)] == out.shape[i];
  if (!same) {
    std::string stored, wanted;
    for (int64_t d : entry.shape) stored += (stored.empty() ? "" : ", ") + std::to_string(d);
    for (int i = 0; i < out.rank; ++i) wanted += (i ? ", " : "") + std::to_string(out.shape[i]);
    fail(Code::kFormat, "tensor \"%s\" is [%s], the model needs [%s].", entry.name.c_str(), stored.c_str(), wanted.c_str());
  }
  float* to = out.as<float>();
  const int64_t n = out.numel();
  switch (entry.dtype) {
    case DType::kF32:
      if (n > 0) std::memcpy(to, entry.data, size_t(n) * sizeof(float));
      return;
    case DType::kBF16: return convert<uint16_t>(entry.data, to, n, [](uint16_t x) { return bf16_to_f32(x); });
    case DType::kF16: return convert<uint16_t>(entry.data, to, n, [](uint16_t x) { return half_to_f32(x); });
    case DType::kF64: return convert<double>(entry.data, to, n, [](double x) { return float(x); });
    default: break;
  }
  fail(Code::kFormat, "tensor \"%s\" has dtype %s; weights are f32, bf16, f16 or f64.", entry.name.c_str(),
       dtype_name(entry.dtype));
}

std::string write_safetensors(const std::string& path, const std::vector<SafetensorsFile::Entry>& entries,
                              const std::vector<std::pair<std::string, std::string>>& metadata) {
  const std::string header = header_text(entries, metadata);
  const uint64_t header_bytes = header.size();
  DurableFile file(path);
  file.write(&header_bytes, 8);
  file.write(header);
  for (const auto& entry : entries) file.write(entry.data, entry.bytes);
  return file.commit();
}

}  // namespace hone::model
