// Matrix products by groups of four warps (wgmma). The group's threads issue a product one after the other;
// it runs after all of them have issued it, at the latest when one of them waits for it. Until the wait, sums
// are NaN. Source: PTX ISA, wgmma.mma_async: matrix descriptors, canonical layouts, fragments of m64nNk16.
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <list>
#include <vector>

#include "shim/hopper.h"

namespace hone::cuda_shim {
namespace {

constexpr int kGroup = 128, kRows = 64, kDepth = 16;
constexpr int kRegisters = 65536;  // registers of a multiprocessor

/// A thread's accumulator registers of wgmma instructions that have not completed.
struct Sums {
  float* registers;
  std::vector<float> values;
  int under_way = 0;
};

struct Product {
  ProductCall call{};
  bool from_registers = false;
  Interval a, b;  // the shared memory that the product reads
  int said = 0, waited_for = 0;
  bool done = false;
  bool late = next_random() % 4 == 0;  // a wait first lets other threads run, so that their mistakes show
  std::array<Sums*, kGroup> sums{};
  std::array<std::array<uint32_t, 4>, kGroup> left{};
  std::array<const uint32_t*, kGroup> left_registers{};
};

/// Four warps and their products in order; products at the front are dropped when all threads have waited for
/// them.
struct Group {
  std::deque<Product> products;
  uint64_t first = 0;
  Product& at(uint64_t i) { return products[size_t(i - first)]; }
};

struct Issuer {
  uint64_t issued = 0, waited = 0;
  // for each commit not yet waited for: the number of products issued before it
  std::vector<uint64_t> commits;
  bool fenced = false;
  std::list<Sums> sums;
  int registers = 0;
};

struct Tensor64 {
  std::vector<Group> groups;
  std::vector<Issuer> issuers;
};

/// The tensor cores of the current block.
Tensor64& cores() {
  static auto& all = *new std::array<Tensor64, 8>;
  return all[size_t(cluster_rank())];
}

Issuer& me() { return cores().issuers[size_t(thread_number())]; }
Group& my_group() { return cores().groups[size_t(thread_number() / kGroup)]; }

/// Finds the address of 16-bit element (line, k) of an operand.
struct Operand {
  uint32_t start, leading, stride;
  unsigned swizzle;  // `mode` of swizzled_address()
  bool lines;        // whether the operand's lines, not k, are contiguous

  Operand(uint64_t d, bool lines_inside) : lines(lines_inside) {
    const auto field = [&](int bit) { return uint32_t(d >> bit & 0x3fff) << 4; };
    start = field(0);
    leading = field(16);
    stride = field(32);
    const auto mode = unsigned(d >> 62);  // 1, 2, 3: spans of 128, 64, 32 bytes
    swizzle = mode ? 4 - mode : 0;
    constexpr uint64_t kUnused = 0x3ull << 14 | 0x3ull << 30 | 0x7ull << 46 | 0x3ffull << 52;
    if (d & kUnused) fault("%s: a matrix descriptor with bits that mean nothing: %llx.", kernel_name(), (unsigned long long)d);
    // Address bits 7 to 9 are the row in the swizzle pattern, which must start at 0: base offsets are not
    // supported.
    const uint32_t row_bits = swizzle ? (1u << swizzle) - 1 : 0;
    if ((d >> 49 & 7) || (start >> 7 & row_bits)) {
      fault("%s: a matrix descriptor whose pattern does not start where it repeats.", kernel_name());
    }
  }

  uint32_t address(uint32_t line, uint32_t k) const {
    const uint32_t span = swizzle ? 16u << swizzle : 16;  // contiguous bytes in a row of the pattern
    if (!lines) {
      const uint32_t along = k * 2, across = line % 8 * span + line / 8 * stride;
      return swizzled_address(start + across + along % span + along / span * leading, swizzle);
    }
    const uint32_t along = line * 2, across = k % 8 * span + k / 8 * (swizzle ? stride : leading);
    return swizzled_address(start + across + along % span + along / span * (swizzle ? leading : stride), swizzle);
  }
  Interval range(uint32_t count) const {
    Interval all{~0u, 0};
    for (uint32_t line = 0; line < count; ++line) {
      for (uint32_t k = 0; k < kDepth; ++k) {
        const uint32_t at = address(line, k);
        all = {at < all.begin ? at : all.begin, at + 2 > all.end ? at + 2 : all.end};
      }
    }
    return all;
  }
};

float bf16(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float out;
  std::memcpy(&out, &wide, 4);
  return out;
}

struct Tile {
  double left[kRows][kDepth], right[kDepth][256], sums[kRows][256];
};

bool& truncating() {
  static bool on = false;
  return on;
}

float rounded_once(double sum) {
  const auto nearest = float(sum);
  return truncating() && std::fabs(double(nearest)) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

// As in kernels/cuda/mma.cuh, products are exact, and their sum with the previous value is rounded once.
__attribute__((optimize("O3"))) void multiply(Tile& t, int columns) {
  for (int i = 0; i < kRows; ++i) {
    for (int k = 0; k < kDepth; ++k) {
      for (int j = 0; j < columns; ++j) t.sums[i][j] += t.left[i][k] * t.right[k][j];
    }
  }
}

void read_left(const Product& p, Tile& t) {
  if (!p.from_registers) {
    const Operand a(p.call.a, p.call.lines_a);
    for (uint32_t i = 0; i < kRows; ++i) {
      for (uint32_t k = 0; k < kDepth; ++k) t.left[i][k] = bf16(async_half(a.address(i, k), "a product's left operand"));
    }
    return;
  }
  for (int thread = 0; thread < kGroup; ++thread) {
    const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
    for (int r = 0; r < 4; ++r) {
      for (int half = 0; half < 2; ++half) {
        t.left[row + r % 2 * 8][column + r / 2 * 8 + half] = bf16(uint16_t(p.left[size_t(thread)][size_t(r)] >> 16 * half));
      }
    }
  }
}

void run(Product& p) {
  static Tile& t = *new Tile;
  const int columns = p.call.columns;
  const Operand b(p.call.b, p.call.lines_b);
  read_left(p, t);
  for (uint32_t j = 0; j < uint32_t(columns); ++j) {
    for (uint32_t k = 0; k < kDepth; ++k) t.right[k][j] = bf16(async_half(b.address(j, k), "a product's right operand"));
  }
  const auto each_sum = [&](const auto& body) {
    for (int thread = 0; thread < kGroup; ++thread) {
      for (int i = 0; i < columns / 2; ++i) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        body(p.sums[size_t(thread)]->values[size_t(i)], t.sums[row][column]);
      }
    }
  };
  each_sum([&](float value, double& sum) { sum = p.call.add ? double(value) : 0.0; });
  multiply(t, columns);
  each_sum([](float& value, double sum) { value = rounded_once(sum); });
  p.done = true;
}

/// Runs the first of the group's products that has not run, if all threads have issued it.
bool step(Group& g) {
  for (Product& p : g.products) {
    if (p.done) continue;
    if (p.said < kGroup) return false;
    run(p);
    return true;
  }
  return false;
}

bool all_poison(const Sums& s) {
  for (size_t i = 0; i < s.values.size(); ++i) {
    uint32_t bits;
    std::memcpy(&bits, &s.registers[i], 4);
    if (bits != 0xffffffffu) return false;
  }
  return true;
}

/// Whether a thread's left operand is unchanged since it was issued. The operand may lie in a frame that no
/// longer exists.
bool left_is_untouched(const Product& p, size_t thread) {
  for (size_t i = 0; i < 4; ++i) {
    if (p.left_registers[thread] && p.left_registers[thread][i] != p.left[thread][i]) return false;
  }
  return true;
}

Sums& sums_of(float* registers, int count) {
  Issuer& i = me();
  for (Sums& s : i.sums) {
    if (s.registers != registers) continue;
    if (int(s.values.size()) != count) fault("%s: products of two shapes under way in the same registers.", kernel_name());
    return s;
  }
  if (!i.fenced) fault("%s: a product whose sums were not fenced since the last wait.", kernel_name());
  i.sums.push_back({registers, std::vector<float>(registers, registers + count)});
  std::memset(registers, 0xff, size_t(count) * 4);
  return i.sums.back();
}

Product& product_of(const ProductCall& call, bool from_registers, const char* file, int line) {
  Group& g = my_group();
  const uint64_t index = me().issued++;
  if (index == g.first + g.products.size()) {
    Product fresh;
    fresh.call = call;
    fresh.from_registers = from_registers;
    fresh.b = Operand(call.b, call.lines_b).range(uint32_t(call.columns));
    if (!from_registers) fresh.a = Operand(call.a, call.lines_a).range(kRows);
    if (copy_under_way(fresh.a) || copy_under_way(fresh.b)) {
      fault("%s: a product reads what a copy still writes, at %s:%d.", kernel_name(), file, line);
    }
    g.products.push_back(std::move(fresh));
  }
  Product& p = g.at(index);
  if (!(p.call == call) || p.from_registers != from_registers) {
    fault("%s: threads of a group part: different products at %s:%d.", kernel_name(), file, line);
  }
  return p;
}

}  // namespace

void begin_products() {
  Tensor64& c = cores();
  c.groups.assign(size_t(thread_count() + kGroup - 1) / kGroup, {});
  c.issuers.assign(size_t(thread_count()), {});
  for (Issuer& i : c.issuers) i.registers = kRegisters / thread_count() / 8 * 8;
}

bool product_step() {
  auto& groups = cores().groups;
  const size_t start = next_random() % groups.size();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (step(groups[(start + i) % groups.size()])) return true;
  }
  return false;
}

void end_products() {
  int64_t registers = 0;
  const auto& issuers = cores().issuers;
  for (size_t t = 0; t < issuers.size(); ++t) {
    const Issuer& i = issuers[t];
    if (i.waited != i.issued) fault("%s: a thread leaves with products it did not wait for.", kernel_name());
    if (i.registers != issuers[t / kGroup * kGroup].registers) fault("%s: setmaxnreg by some threads of a group only.", kernel_name());
    registers += i.registers;
  }
  // A group can only take registers that other groups gave back: a block has as many registers as at its
  // launch.
  const int64_t launched = int64_t(kRegisters / thread_count() / 8 * 8) * thread_count();
  if (registers > launched) fault("%s: setmaxnreg: %lld registers in a block.", kernel_name(), (long long)registers);
}

void truncate_products(bool on) { truncating() = on; }

void wgmma_fence() {
  expect_hopper("wgmma.fence");
  me().fenced = true;
}

void wgmma_issue(const ProductCall& call, const uint32_t* left, float* sums, const char* file, int line) {
  expect_hopper("wgmma");
  if (thread_count() % kGroup) fault("%s: wgmma in a block that is not made of groups of four warps.", kernel_name());
  if (left && !me().fenced) fault("%s: a product from registers not fenced since the last wait.", kernel_name());
  Sums& mine = sums_of(sums, call.columns / 2);
  Product& p = product_of(call, left != nullptr, file, line);
  const auto thread = size_t(thread_number() % kGroup);
  ++mine.under_way;
  p.sums[thread] = &mine;
  p.left_registers[thread] = left;
  if (left) std::memcpy(p.left[thread].data(), left, 16);
  ++p.said;
}

void wgmma_commit() { me().commits.push_back(me().issued); }

void wgmma_wait(int groups_left, const char* file, int line) {
  Issuer& i = me();
  Group& g = my_group();
  const auto over = int64_t(i.commits.size()) - groups_left;
  const uint64_t until = over > 0 ? i.commits[size_t(over - 1)] : i.waited;
  if (over > 0) i.commits.erase(i.commits.begin(), i.commits.begin() + over);
  const auto may_end = [&] {
    if (until > g.first + g.products.size()) return false;
    for (uint64_t k = g.first; k < until; ++k) {
      if (g.at(k).said < kGroup || (g.at(k).late && !g.at(k).done)) return false;
    }
    return true;
  };
  wait_until(may_end, "wgmma_wait for the rest of its group", file, line);
  for (; i.waited < until; ++i.waited) {
    while (!g.at(i.waited).done) step(g);
    Product& p = g.at(i.waited);
    const auto thread = size_t(thread_number() % kGroup);
    Sums& s = *p.sums[thread];
    ++p.waited_for;
    if (!left_is_untouched(p, thread)) {
      fault("%s: a left operand was written while its product was under way, before %s:%d.", kernel_name(), file, line);
    }
    if (--s.under_way) continue;
    if (!all_poison(s)) fault("%s: sums were written while a product was under way, before %s:%d.", kernel_name(), file, line);
    std::memcpy(s.registers, s.values.data(), s.values.size() * 4);
    i.sums.remove_if([&](const Sums& other) { return &other == &s; });
    i.fenced = false;
  }
  for (; !g.products.empty() && g.products.front().waited_for == kGroup; ++g.first) g.products.pop_front();
}

bool product_under_way(Interval shared) {
  for (const Group& g : cores().groups) {
    for (const Product& p : g.products) {
      if (!p.done && (p.a.meets(shared) || p.b.meets(shared))) return true;
    }
  }
  return false;
}

void set_registers(int count, bool more) {
  expect_hopper("setmaxnreg");
  int& mine = me().registers;
  if (count % 8 || count < 24 || count > 256) fault("%s: setmaxnreg to %d.", kernel_name(), count);
  // `more` is not checked: launch bounds, which the shim does not know, may have left fewer registers at the
  // start.
  if (!more && count > mine) fault("%s: setmaxnreg from %d down to %d.", kernel_name(), mine, count);
  mine = count;
}

}  // namespace hone::cuda_shim
