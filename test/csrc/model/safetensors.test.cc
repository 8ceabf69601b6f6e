// Reading and writing safetensors, and every malformed header the reader must refuse.
// Mutants tried: bf16 shift 15, f16 subnormals flushed: die. Gaps or ends beyond the data accepted by one check:
// live, because the tiling check refuses the same files.
#include "model/safetensors.h"

#include "check.h"
#include "model/goldens.h"

namespace {

using namespace hone;
using model::SafetensorsFile;
using test::TemporaryFolder;

void put(const std::string& path, const std::string& header, const std::string& data, int64_t claimed = -1) {
  const uint64_t n = claimed >= 0 ? uint64_t(claimed) : header.size();
  model::DurableFile file(path);
  file.write(&n, 8);
  file.write(header);
  file.write(data);
  file.commit();
}

TEST(what_is_written_is_read_back) {
  const TemporaryFolder folder("safetensors");
  const auto a = test::random_floats(15), b = test::random_floats(4);
  const uint8_t c[3] = {1, 2, 255};
  const std::string hash = model::write_safetensors(folder / "x",
                                                    {{"a", DType::kF32, {3, 5}, a.data(), 60},
                                                     {"quote\"d", DType::kF32, {4}, b.data(), 16},
                                                     {"c", DType::kU8, {3}, c, 3},
                                                     {"empty", DType::kF32, {0, 7}, nullptr, 0}},
                                                    {{"format", "pt"}});
  int64_t size = 0;
  EXPECT_EQ(hash, model::hash_file(folder / "x", size));
  const SafetensorsFile file(folder / "x");
  EXPECT_EQ(file.entries().size(), size_t(4));
  EXPECT_EQ(file.metadata()[0].second, std::string("pt"));
  auto out = test::poison(15);
  model::read_as_f32(*file.find("a"), f32(out.data(), {3, 5}));
  EXPECT_TRUE(test::same_bits(out.data(), a.data(), 15));
  EXPECT_TRUE(test::same_bits(static_cast<const float*>(file.find("quote\"d")->data), b.data(), 4));
  EXPECT_EQ(static_cast<const uint8_t*>(file.find("c")->data)[2], 255);
  EXPECT_EQ(file.find("empty")->bytes, 0);
  EXPECT_TRUE(file.find("nothing") == nullptr);
  EXPECT_EQ(folder.count(), size_t(1));
  EXPECT_EQ(int64_t(reinterpret_cast<uintptr_t>(file.find("a")->data) % 8), 0);
}

TEST(narrow_and_wide_dtypes_become_f32) {
  const TemporaryFolder folder("dtypes");
  const uint16_t bf16[3] = {0x3f80, 0xc049, 0x0001};
  const uint16_t f16[6] = {0x3c00, 0xc248, 0x0001, 0x8000, 0x7c00, 0x03ff};
  const double f64[2] = {0.1, -3e300};
  model::write_safetensors(folder / "x", {{"bf16", DType::kBF16, {3}, bf16, 6},
                                          {"f16", DType::kF16, {6}, f16, 12},
                                          {"f64", DType::kF64, {2}, f64, 16}});
  const SafetensorsFile file(folder / "x");
  std::vector<float> out(6);
  model::read_as_f32(*file.find("bf16"), f32(out.data(), {3}));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], -3.140625f);
  EXPECT_EQ(out[2], 0x1p-133f);
  model::read_as_f32(*file.find("f16"), f32(out.data(), {6}));
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], -3.140625f);
  EXPECT_EQ(out[2], 0x1p-24f);
  EXPECT_TRUE(out[3] == 0.0f && std::signbit(out[3]));
  EXPECT_TRUE(std::isinf(out[4]));
  EXPECT_EQ(out[5], 1023.0f * 0x1p-24f);
  model::read_as_f32(*file.find("f64"), f32(out.data(), {2}));
  EXPECT_EQ(out[0], 0.1f);
  EXPECT_TRUE(std::isinf(out[1]));
}

TEST(other_shapes_and_integers_are_refused) {
  const TemporaryFolder folder("shapes");
  const int32_t numbers[4] = {};
  model::write_safetensors(folder / "x", {{"i", DType::kI32, {4}, numbers, 16}, {"f", DType::kF32, {2, 2}, numbers, 16}});
  const SafetensorsFile file(folder / "x");
  std::vector<float> out(4);
  EXPECT_THROWS(model::read_as_f32(*file.find("i"), f32(out.data(), {4})), Code::kFormat);
  EXPECT_THROWS(model::read_as_f32(*file.find("f"), f32(out.data(), {4})), Code::kFormat);
  EXPECT_THROWS(model::read_as_f32(*file.find("f"), f32(out.data(), {2, 1})), Code::kFormat);
}

TEST(malformed_files_are_refused) {
  const TemporaryFolder folder("malformed");
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", eight(8, '\0');
  const struct { const char* why; std::string header, data; int64_t claimed; } cases[] = {
      {"truncated data", good, std::string(7, '\0'), -1},
      {"bytes after the last tensor", good, std::string(9, '\0'), -1},
      {"header longer than the file", good, eight, 4000},
      {"header of 2^62 bytes", good, eight, int64_t(1) << 62},
      {"not JSON", "{nope", "", -1},
      {"not an object", "[]", "", -1},
      {"unknown dtype", R"({"a":{"dtype":"F3","shape":[2],"data_offsets":[0,8]}})", eight, -1},
      {"missing shape", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", eight, -1},
      {"size is not shape times dtype", R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", eight, -1},
      {"negative dimension", R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", eight, -1},
      {"overflowing shape", R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", eight, -1},
      {"reversed offsets", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", eight, -1},
      {"three offsets", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", eight, -1},
      {"gap", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"overlap", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"duplicate name", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"metadata that is not text", R"({"__metadata__":{"a":1}})", "", -1},
  };
  for (const auto& c : cases) {
    put(folder / "bad", c.header, c.data, c.claimed);
    bool refused = false;
    try {
      const SafetensorsFile file(folder / "bad");
    } catch (const Error& e) {
      refused = e.code() == Code::kFormat;
    }
    if (!refused) test::report(__FILE__, __LINE__, std::string("accepted: ") + c.why);
  }
  for (size_t n = 0; n < 8; ++n) {
    model::DurableFile file(folder / "bad");
    file.write(std::string(n, '\0'));
    file.commit();
    EXPECT_THROWS(SafetensorsFile(folder / "bad"), Code::kFormat);
  }
  EXPECT_THROWS(SafetensorsFile(folder / "absent"), Code::kIo);
}

TEST(any_flipped_header_byte_is_an_error_or_still_consistent) {
  const TemporaryFolder folder("fuzz");
  const std::vector<float> values(6, 1.0f);
  model::write_safetensors(folder / "x", {{"a", DType::kF32, {2, 2}, values.data(), 16}, {"b", DType::kF32, {2}, values.data(), 8}});
  const std::string whole = model::read_text(folder / "x");
  for (int round = 0; round < 400; ++round) {
    std::string bad = whole;
    bad[size_t(test::random_int(0, int64_t(whole.size()) - 25))] ^= char(1 << test::random_int(0, 7));
    { model::DurableFile file(folder / "y"); file.write(bad); file.commit(); }
    try {
      const SafetensorsFile file(folder / "y");
      for (const auto& entry : file.entries()) {  // the sanitizer sees any byte outside the mapping
        for (int64_t i = 0; i < entry.bytes; ++i) EXPECT_TRUE(static_cast<const char*>(entry.data)[i] != 2);
      }
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kFormat);
    }
  }
}

}  // namespace
TEST_MAIN
