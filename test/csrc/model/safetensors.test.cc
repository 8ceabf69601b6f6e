// Reading and writing safetensors files, and malformed headers that the reader must refuse;
// safetensors_fuzz.test.cc has thousands more. Faults put into the reader: bf16 shift 15, f16 subnormals
// flushed; each is detected. Gaps or ends beyond the data accepted by one check are not detected, because
// another check refuses the same files. Faults put into the writer: tensors in the given order, a file that
// lacks bytes committed, a header that does not begin with {; each is detected.
#include "model/safetensors.h"

#include "check.h"
#include "model/goldens.h"

namespace model_safetensors_test {
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
      {"overlap and gap", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", eight, -1},
      {"overlap", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"duplicate name", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"metadata that is not text", R"({"__metadata__":{"a":1}})", "", -1},
      {"the same name written in two ways", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\u0061":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, -1},
      {"a name that is not UTF-8", "{\"\xff\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", eight, -1},
      {"space before the header", " " + good, eight, -1},
      {"no header", "", eight, -1},
      {"offsets beyond 64 bits", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551624]}})", eight, -1},
      {"a fraction of an element", R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}})", eight, -1},
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

TEST(a_writer_puts_wider_types_first_and_wants_every_byte) {
  const TemporaryFolder folder("writer");
  {
    model::SafetensorsWriter writer(folder / "x", {{"a", DType::kU8, {3}}, {"b", DType::kF32, {1}}, {"c", DType::kBF16, {}}, {"d", DType::kF32, {1}}},
                                    {{"format", "pt"}});
    std::string order;
    for (const auto& tensor : writer.tensors()) order += tensor.name;
    EXPECT_EQ(order, std::string("bdca"));
    const char bytes[13] = {0, 0, 0, 1, 0, 0, 0, 2, 3, 4, 5, 6, 7};
    writer.write(bytes, 12);
    EXPECT_THROWS(writer.commit(), Code::kInternal);
    EXPECT_EQ(folder.count(), size_t(1));  // only x.tmp
    writer.write(bytes + 12, 1);
    writer.commit();
  }
  const std::string whole = model::read_text(folder / "x");
  uint64_t header;
  std::memcpy(&header, whole.data(), 8);
  EXPECT_EQ(header % 8, uint64_t(0));
  // The bytes that the reference implementation writes.
  EXPECT_EQ(whole.substr(8, header),
            std::string(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("d":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},"c":{"dtype":"BF16","shape":[],"data_offsets":[8,10]},)"
                        R"("a":{"dtype":"U8","shape":[3],"data_offsets":[10,13]}}  )"));
  EXPECT_EQ(whole.size(), 8 + size_t(header) + 13);
}

TEST(every_stored_type_passes_through) {
  const TemporaryFolder folder("types");
  std::vector<char> bytes(8, 5);
  std::vector<SafetensorsFile::Entry> entries;
  for (const DType type : {DType::kBool, DType::kI8, DType::kI16, DType::kU16, DType::kU64, DType::kF8E4M3, DType::kF8E5M2, DType::kI64}) {
    entries.push_back({dtype_name(type), type, {1}, bytes.data(), dtype_bytes(type)});
  }
  model::write_safetensors(folder / "x", entries);
  const SafetensorsFile file(folder / "x");
  for (const auto& entry : entries) EXPECT_TRUE(file.find(entry.name)->dtype == entry.dtype);
}

TEST(forgotten_bytes_are_read_again) {
  const TemporaryFolder folder("forget");
  const std::vector<float> values = test::random_floats(100000);
  model::write_safetensors(folder / "x", {{"a", DType::kF32, {100000}, values.data(), 400000}});
  const SafetensorsFile file(folder / "x");
  const auto& entry = *file.find("a");
  EXPECT_TRUE(test::same_bits(static_cast<const float*>(entry.data), values.data(), 100000));
  file.forget(entry);
  EXPECT_TRUE(test::same_bits(static_cast<const float*>(entry.data), values.data(), 100000));
}

}  // namespace
}  // namespace model_safetensors_test
