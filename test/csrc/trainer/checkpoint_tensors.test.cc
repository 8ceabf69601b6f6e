// Pieces of tensors in checkpoints: read across their borders, and refused unless they make up the whole
// tensor. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/checkpoint_tensors.h"

#include <numeric>

#include "check.h"
#include "model/goldens.h"

namespace trainer_checkpoint_tensors_test {
namespace {

using namespace hone;
using model::SafetensorsFile;
using trainer::CheckpointTensors;
using trainer::piece_name;

const std::vector<model::TensorSpec> kSpecs = {{"a.weight", {4, 5}, 0, true}, {"b", {3}, 32, false}};

/// Writes a file of f32 pieces, in which each element's value is its index.
void write(const std::string& path, const std::vector<std::pair<std::string, std::pair<int64_t, std::vector<int64_t>>>>& pieces) {
  std::vector<std::vector<float>> values;
  std::vector<SafetensorsFile::Entry> entries;
  values.reserve(pieces.size());
  for (const auto& [name, piece] : pieces) {
    int64_t n = 1;
    for (const int64_t d : piece.second) n *= d;
    auto& own = values.emplace_back(size_t(n));
    std::iota(own.begin(), own.end(), float(piece.first));
    entries.push_back({name, DType::kF32, piece.second, own.data(), n * 4});
  }
  model::write_safetensors(path, entries);
}

TEST(names_of_pieces_say_which_elements_they_are) {
  EXPECT_EQ(piece_name("m.x", 0, 7, 7), std::string("m.x"));
  EXPECT_EQ(piece_name("m.x", 4096, 100, 9000), std::string("m.x[4096:4196]"));
}

TEST(ranges_are_read_across_pieces_and_files) {
  const test::TemporaryFolder folder("pieces");
  write(folder / "1", {{"a.weight[7:20]", {7, {13}}}, {"b", {0, {3}}}});
  write(folder / "2", {{"a.weight[0:2]", {0, {2}}}, {"a.weight[2:7]", {2, {5}}}});
  CheckpointTensors tensors;
  tensors.open(folder / "1");
  tensors.open(folder / "2");
  tensors.check(kSpecs, "", DType::kF32);
  for (int64_t first = 0; first < 20; ++first) {
    for (int64_t count = 1; first + count <= 20; ++count) {
      std::vector<float> out = test::poison(count + 1);
      tensors.read("a.weight", first, count, out.data());
      for (int64_t i = 0; i < count; ++i) EXPECT_EQ(out[size_t(i)], float(first + i));
      EXPECT_TRUE(std::isnan(out[size_t(count)]));
    }
  }
}

TEST(pieces_that_do_not_make_up_their_tensor_are_refused) {
  using Pieces = std::vector<std::pair<std::string, std::pair<int64_t, std::vector<int64_t>>>>;
  const Pieces wrong[] = {{{"a.weight[0:7]", {0, {7}}}, {"a.weight[8:20]", {8, {12}}}},   // a gap
                          {{"a.weight[0:9]", {0, {9}}}, {"a.weight[8:20]", {8, {12}}}},   // element 8 twice
                          {{"a.weight[0:8]", {0, {8}}}, {"a.weight[7:14]", {7, {7}}}, {"a.weight[15:20]", {15, {5}}}},  // a gap and an overlap
                          {{"a.weight[0:7]", {0, {7}}}},                                  // no end
                          {{"a.weight[1:20]", {1, {19}}}},                                // no beginning
                          {{"a.weight[0:20]", {0, {20}}}, {"a.weight[20:21]", {20, {1}}}},  // too many elements
                          {{"a.weight", {0, {5, 4}}}},                                    // another shape
                          {{"a.weight[0:19]", {0, {19}}}, {"a.weight", {0, {4, 5}}}}};    // a piece and the whole
  for (const Pieces& pieces : wrong) {
    const test::TemporaryFolder folder("wrong");
    write(folder / "1", pieces);
    write(folder / "2", {{"b", {0, {3}}}});
    EXPECT_THROWS(
        {
          CheckpointTensors tensors;
          tensors.open(folder / "1");
          tensors.open(folder / "2");
          tensors.check(kSpecs, "", DType::kF32);
        },
        Code::kFormat);
  }
}

TEST(names_that_do_not_fit_their_elements_are_refused) {
  for (const char* name : {"b[0:4]", "b[2:1]", "b[-1:2]", "b[0:3x]", "b[]", "b[0;3]"}) {
    const test::TemporaryFolder folder("names");
    write(folder / "1", {{name, {0, {3}}}});
    CheckpointTensors tensors;
    EXPECT_THROWS(tensors.open(folder / "1"), Code::kFormat);
  }
}

TEST(a_tensor_that_is_missing_or_of_another_type_is_named) {
  const test::TemporaryFolder folder("types");
  write(folder / "1", {{"b", {0, {3}}}, {"a.weight", {0, {4, 5}}}});
  CheckpointTensors tensors;
  tensors.open(folder / "1");
  EXPECT_THROWS(tensors.check(kSpecs, "m.", DType::kF32), Code::kFormat);
  EXPECT_THROWS(tensors.check(kSpecs, "", DType::kBF16), Code::kFormat);
  tensors.check(kSpecs, "", DType::kF32);
}

}  // namespace

}  // namespace trainer_checkpoint_tensors_test
