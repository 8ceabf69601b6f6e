// Thousands of damaged files, the same in every run: each is refused with a kFormat error that names it, or
// is consistent in every respect. Memory is counted, so that no header makes the reader take much more than
// the header's size. Runs under AddressSanitizer.
#include <malloc.h>

#include <atomic>
#include <fstream>
#include <new>
#include <random>

#include "check.h"
#include "model/goldens.h"
#include "model/safetensors.h"

namespace {
std::atomic<int64_t> live{0}, peak{0};
}  // namespace

void* operator new(size_t size) {
  void* const p = std::malloc(size ? size : 1);
  if (!p) throw std::bad_alloc();
  const int64_t now = live += int64_t(malloc_usable_size(p));
  int64_t before = peak;
  while (now > before && !peak.compare_exchange_weak(before, now)) {}
  return p;
}
void operator delete(void* p) noexcept {
  if (p) live -= int64_t(malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

namespace model_safetensors_fuzz_test {
namespace {

using namespace hone;
using model::SafetensorsFile;

constexpr int kRounds = 6000;
constexpr int64_t kBytesPerByte = 400, kBytesAlways = 200000;

class Fuzzer {
 public:
  explicit Fuzzer(uint64_t seed) : random_(seed) {}

  std::string file() {
    std::string header = below(4) == 0 ? grown() : seeds()[below(seeds().size())];
    std::string data(below(80), '\x01');
    if (below(3)) data.resize(size_t(declared_bytes(header)), '\x01');
    for (size_t n = below(5); n > 0; --n) mutate(header);
    uint64_t claimed = header.size();
    if (below(12) == 0) claimed = interesting_number();
    else if (below(12) == 0) claimed += below(17) - 8;
    std::string out(8, '\0');
    std::memcpy(out.data(), &claimed, 8);
    out += header + data;
    if (below(12) == 0) out.resize(below(out.size() + 1));
    return out;
  }

 private:
  size_t below(size_t n) { return size_t(random_() % n); }
  uint64_t interesting_number() {
    static constexpr uint64_t kNumbers[] = {0, 1, 7, 8, 100000000, 100000001, 1ull << 31, 1ull << 32, 1ull << 62,
                                            (1ull << 63) - 1, 1ull << 63, ~0ull, ~0ull - 7};
    return kNumbers[below(std::size(kNumbers))];
  }
  static const std::vector<std::string>& seeds() {
    static const std::vector<std::string> all = {
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]}})",
        R"({"__metadata__":{"format":"pt"},"x.y":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"e":{"dtype":"F16","shape":[0,4],"data_offsets":[8,8]}})",
        R"({"\u00e9\n":{"dtype":"U8","shape":[1,1,1,5],"data_offsets":[0,5]}}   )",
        R"({})"};
    return all;
  }
  std::string text(const char* const* words, size_t n) { return words[below(n)]; }
  std::string number() {
    static constexpr const char* kNumbers[] = {"0", "1", "2", "3", "8", "-1", "-9223372036854775808", "9223372036854775807",
                                               "9223372036854775808", "18446744073709551616", "4294967296", "1e3", "1e999",
                                               "2.0", "0.5", "1e-999", "00", "null", "\"2\"", "[]", "true"};
    return text(kNumbers, below(3) ? 5 : std::size(kNumbers));
  }
  std::string list() {
    std::string out = "[";
    for (size_t n = below(below(8) ? 4 : 60), i = 0; i < n; ++i) out += (i ? "," : "") + number();
    return out + "]";
  }
  /// A header with valid grammar and random contents.
  std::string grown() {
    static constexpr const char* kTypes[] = {"F32", "BF16", "F16", "F64", "I8", "BOOL", "U64", "F8_E4M3", "f32", "", "C64"};
    std::string out = "{";
    for (size_t n = below(4), i = 0; i < n; ++i) {
      const int64_t begin = int64_t(below(3) * 4), end = begin + int64_t(below(4) * 4);
      out += (i ? ",\"" : "\"") + std::string(1, char('a' + below(3))) + "\":{\"dtype\":\"" + text(kTypes, below(4) ? 4 : std::size(kTypes)) +
             "\",\"shape\":" + list() + ",\"data_offsets\":" +
             (below(3) ? "[" + std::to_string(begin) + "," + std::to_string(end) + "]" : list()) + "}";
    }
    return out + "}";
  }
  static int64_t declared_bytes(const std::string& header) {
    if (header.find("data_offsets\":[8,20]") != std::string::npos) return 20;
    return header.find("[0,5]") != std::string::npos ? 5 : header.size() < 5 ? 0 : 8;
  }
  void mutate(std::string& header) {
    if (header.empty()) return;
    const size_t at = below(header.size()), length = std::min(1 + below(12), header.size() - at);
    switch (below(7)) {
      case 0: header[at] = char(header[at] ^ (1 << below(8))); return;
      case 1: header.erase(at, length); return;
      case 2: header.insert(below(header.size()), header.substr(at, length)); return;
      case 3: header[at] = char(below(256)); return;
      case 4: return replace_number(header, at);
      case 5: header.insert(at, std::string(1 + below(200), "{[\"\\ \t\x80\xff,0"[below(10)])); return;
      case 6: header.resize(at); return;
    }
  }
  void replace_number(std::string& header, size_t from) {
    const size_t at = header.find_first_of("0123456789", from);
    if (at == std::string::npos) return;
    const size_t end = header.find_first_not_of("0123456789", at);
    header.replace(at, (end == std::string::npos ? header.size() : end) - at, number());
  }

  std::mt19937_64 random_;
};

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::streamsize(bytes.size()));
}

/// Checks, from the file's bytes alone, everything that a caller relies on.
void expect_consistent(const SafetensorsFile& file, const std::string& bytes) {
  uint64_t header;
  std::memcpy(&header, bytes.data(), 8);
  const size_t data_at = 8 + size_t(header);
  std::vector<int> covered(bytes.size() - data_at);
  const char* base = nullptr;
  for (const auto& entry : file.entries()) {
    const char* data = static_cast<const char*>(entry.data);
    if (!base || data < base) base = data;
  }
  for (const auto& entry : file.entries()) {
    int64_t elements = 1;
    for (int64_t d : entry.shape) elements *= d;
    EXPECT_EQ(entry.bytes, elements * dtype_bytes(entry.dtype));
    const int64_t offset = static_cast<const char*>(entry.data) - base;
    EXPECT_TRUE(offset >= 0 && offset + entry.bytes <= int64_t(covered.size()));
    for (int64_t i = 0; i < entry.bytes && size_t(offset + i) < covered.size(); ++i) {
      ++covered[size_t(offset + i)];
      EXPECT_EQ(int(static_cast<const char*>(entry.data)[i]), int(bytes[data_at + size_t(offset + i)]));
    }
    EXPECT_EQ(file.find(entry.name), &entry);
  }
  for (const int times : covered) EXPECT_EQ(times, 1);
}

TEST(damaged_files_are_refused_or_consistent) {
  const test::TemporaryFolder folder("fuzz");
  const std::string path = folder / "x";
  Fuzzer fuzzer(20260101);
  int accepted = 0, refused = 0;
  for (int round = 0; round < kRounds && test::failures() == 0; ++round) {
    const std::string bytes = fuzzer.file();
    put(path, bytes);
    const int64_t before = live;
    peak = before;
    try {
      const SafetensorsFile file(path);
      ++accepted;
      expect_consistent(file, bytes);
    } catch (const Error& e) {
      ++refused;
      EXPECT_TRUE(e.code() == Code::kFormat);
      EXPECT_TRUE(std::string(e.what()).compare(0, path.size(), path) == 0);
      EXPECT_TRUE(std::strlen(e.what()) < 1000);
    }
    if (const int64_t taken = peak - before; taken > kBytesAlways + kBytesPerByte * int64_t(bytes.size())) {
      test::report(__FILE__, __LINE__, std::to_string(taken) + " bytes taken for " + std::to_string(bytes.size()));
    }
    if (test::failures()) test::report(__FILE__, __LINE__, "round " + std::to_string(round) + ": " + bytes.substr(8, 300));
  }
  // Both outcomes must be frequent, otherwise the fuzzer would prove little.
  EXPECT_TRUE(accepted > kRounds / 20 && refused > kRounds / 2);
  std::printf("  %d accepted, %d refused\n", accepted, refused);
}

TEST(a_header_of_very_many_values_is_refused_before_they_are_stored) {
  const test::TemporaryFolder folder("values");
  std::string header = R"({"a":{"dtype":"F32","shape":[1)";
  for (int i = 0; i < 1'500'000; ++i) header += ",1";
  header += R"(],"data_offsets":[0,4]}})";
  const uint64_t size = header.size();
  put(folder / "x", std::string(reinterpret_cast<const char*>(&size), 8) + header + std::string(4, '\0'));
  const int64_t before = live;
  peak = before;
  EXPECT_THROWS(SafetensorsFile(folder / "x"), Code::kFormat);
  EXPECT_TRUE(peak - before < 400'000'000);
}

TEST(a_name_of_megabytes_does_not_flood_the_message) {
  const test::TemporaryFolder folder("name");
  const std::string header = "{\"" + std::string(3'000'000, 'n') + "\\u001b[31m\":{\"dtype\":\"F3\"}}";
  const uint64_t size = header.size();
  put(folder / "x", std::string(reinterpret_cast<const char*>(&size), 8) + header);
  try {
    const SafetensorsFile file(folder / "x");
    test::report(__FILE__, __LINE__, "accepted");
  } catch (const Error& e) {
    EXPECT_TRUE(std::strlen(e.what()) < 1000);
    EXPECT_TRUE(std::string(e.what()).find("F3") != std::string::npos);
  }
  EXPECT_EQ(model::shown_name("a\x1b[31m\n"), std::string("a?[31m?"));
}

}  // namespace
}  // namespace model_safetensors_fuzz_test
