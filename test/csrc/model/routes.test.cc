// Routes as bytes: what was written is read back, wherever a layer's experts lie in a row, and no other bytes
// are.
#include "model/routes.h"

#include "check.h"
#include "model/reference.h"

namespace model_routes_test {
namespace {

using namespace hone;

/// A model of three layers, of which the second has no experts.
model::ModelConfig mixture(int64_t experts) {
  model::ModelConfig c = test::tiny_config();
  c.layers = 3;
  c.experts.count = experts, c.experts.chosen = 3, c.experts.width = 4, c.experts.layers = {true, false, true};
  return c;
}

std::vector<int32_t> ascending(int64_t experts, int64_t rows) {
  std::vector<int32_t> out;
  for (int64_t r = 0; r < rows; ++r) {
    const auto first = int32_t(test::random_int(0, experts - 3)), second = int32_t(test::random_int(first + 1, experts - 2));
    out.insert(out.end(), {first, second, int32_t(test::random_int(second + 1, experts - 1))});
  }
  return out;
}

/// Experts of both layers for a number of rows, and their bytes.
struct Written {
  model::ModelConfig config;
  int64_t count, bytes;
  std::vector<int32_t> first, last;
  std::vector<uint8_t> rows;

  Written(int64_t experts, int64_t r)
      : config(mixture(experts)), count(r), bytes(model::route_bytes(config)), first(ascending(experts, r)), last(ascending(experts, r)),
        rows(size_t(r * bytes), model::kNoRoute) {
    model::write_routes(config, 0, i32(first.data(), {r, 3}), rows.data());
    model::write_routes(config, 2, i32(last.data(), {r, 3}), rows.data());
  }
  std::vector<int32_t> read(int64_t layer, std::vector<int32_t> which, model::RouteCounts* counts = nullptr) const {
    const int64_t n = which.empty() ? count : int64_t(which.size());
    std::vector<int32_t> out(size_t(n * 3), -7);
    model::ExpertActivations act;
    act.experts = i32(out.data(), {n, 3});
    model::read_routes(config, layer, {rows.data(), counts}, which.empty() ? TensorView{} : i32(which.data(), {n}), act);
    EXPECT_TRUE(act.given);
    EXPECT_TRUE(act.replaced == (counts ? &counts->replaced : nullptr));
    return out;
  }
};

TEST(experts_are_read_as_they_were_written_in_one_byte_or_two) {
  for (const int64_t experts : {5, 255, 256, 600}) {
    const Written w(experts, 7);
    EXPECT_EQ(w.bytes, int64_t(experts > 255 ? 12 : 6));
    EXPECT_TRUE(w.read(0, {}) == w.first);
    EXPECT_TRUE(w.read(2, {}) == w.last);
    const std::vector<int32_t> some = w.read(2, {1, 6});
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(some[j], w.last[3 + j]);
      EXPECT_EQ(some[3 + j], w.last[18 + j]);
    }
    model::check_routes(w.config, w.rows.data(), w.count);
  }
}

TEST(a_row_without_routes_is_said_to_have_none_and_is_not_counted) {
  for (const int64_t experts : {255, 256}) {
    Written w(experts, 4);
    std::fill_n(w.rows.begin() + 2 * w.bytes, w.bytes, model::kNoRoute);
    model::check_routes(w.config, w.rows.data(), w.count);
    model::RouteCounts counts;
    const std::vector<int32_t> read = w.read(2, {}, &counts);
    EXPECT_EQ(read[6], -1);
    EXPECT_EQ(read[9], w.last[9]);
    EXPECT_EQ(counts.given, int64_t(3));
  }
}

TEST(rows_that_no_router_made_are_refused_by_number) {
  Written w(9, 4);
  uint8_t* const third = w.rows.data() + 2 * w.bytes;
  const auto refused = [&](uint8_t a, uint8_t b, const std::string& what) {
    third[4] = a, third[5] = b;
    try {
      model::check_routes(w.config, w.rows.data(), w.count);
      EXPECT_EQ(std::string("accepted"), what);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == Code::kShape);
      EXPECT_TRUE(std::string(error.what()).find(what) != std::string::npos);
    }
  };
  third[3] = 2;  // the first of the last layer's three experts
  refused(2, 5, "row 2 has expert 2 after 2 in layer 2");
  refused(8, 9, "row 2 has expert 9 after 8 in layer 2");
  refused(model::kNoRoute, model::kNoRoute, "row 2 has expert 255 after 2 in layer 2");
}

TEST(a_dense_model_has_no_routes) { EXPECT_EQ(model::route_bytes(test::tiny_config()), int64_t(0)); }

}  // namespace
}  // namespace model_routes_test
