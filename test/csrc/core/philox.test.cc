// Philox4x32-10 against the three published vectors of Random123 and against golden data.
//
// A fault put into the code, 9 rounds, is detected by the published vectors.
#include "core/philox.h"

#include <cstdlib>
#include <fstream>
#include <set>

#include "check.h"
#include "core/json.h"

namespace core_philox_test {

using namespace hone;
using namespace hone::test;

namespace {

struct Known {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> output;
};

const Known kPublished[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

template <size_t N>
std::array<uint32_t, N> words_of(const Json& object, const char* key) {
  std::array<uint32_t, N> out{};
  const std::vector<Json>& items = object.find(key)->items(key);
  for (size_t i = 0; i < N; ++i) out[i] = uint32_t(items.at(i).as_int(key));
  return out;
}

}  // namespace

TEST(published_vectors_are_reproduced) {
  for (const Known& known : kPublished) EXPECT_TRUE(philox4x32(known.counter, known.key) == known.output);
}

TEST(goldens_are_reproduced) {
  const char* shared = std::getenv("HONE_SHARED");
  const std::string path = std::string(shared ? shared : "../shared") + "/reference/goldens/philox/cases.json";
  std::ifstream file(path);
  if (!file) SKIP("the goldens are not here");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json cases = Json::parse(text, "cases.json");
  int checked = 0;
  for (const Json& c : cases.find("vectors")->items("vectors")) {
    const auto output = philox4x32(words_of<4>(c, "counter"), words_of<2>(c, "key"));
    EXPECT_TRUE(output == (words_of<4>(c, "output")));
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(open_closed_u32(output[i]), c.find("u_open_closed")->items("u")[i].as_double("u"));
    }
    ++checked;
  }
  EXPECT_TRUE(checked > 3);
}

TEST(uniforms_stay_inside_their_interval) {
  EXPECT_EQ(open_closed_u32(0), 0x1p-32);
  EXPECT_EQ(open_closed_u32(0xffffffff), 1.0);
}

TEST(every_field_of_a_sample_key_changes_the_words) {
  const SampleKey base{.run_seed = 7, .problem = 1, .attempt = 2, .position = 3};
  std::set<std::array<uint32_t, 4>> seen{base.words(0), base.words(1)};
  SampleKey other = base;
  other.run_seed = 7 + (uint64_t(1) << 32);
  seen.insert(other.words(0));
  other.run_seed = 8;
  seen.insert(other.words(0));
  other = base;
  other.problem = 2;
  seen.insert(other.words(0));
  other = base;
  other.attempt = 1;
  seen.insert(other.words(0));
  other = base;
  other.position = 4;
  seen.insert(other.words(0));
  EXPECT_EQ(seen.size(), 7u);
}

}  // namespace core_philox_test
