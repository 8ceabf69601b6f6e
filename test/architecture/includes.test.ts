// Each C++ file includes the standard headers it uses, directly or through a file of this repository. Other
// compilers, and builds without the CUDA shim, include other headers indirectly. Deliberate faults (mutants) that
// these tests detect: removing <algorithm> from optimizer.test.cc, <map> from cublaslt.cc, <functional> from
// tma.test.cu.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { filesUnder, read } from "./source-tree.ts";

/**
 * For each header a pattern of names that only it declares. Names that every header declares (std::move, std::pair,
 * std::min) are not listed.
 */
const OWNERS: Readonly<Record<string, RegExp>> = {
  algorithm:
    /std::(?:adjacent_find|all_of|any_of|binary_search|clamp|copy_if|count|count_if|equal_range|find|find_end|find_first_of|find_if|find_if_not|for_each|for_each_n|generate|generate_n|includes|inplace_merge|is_heap|is_partitioned|is_permutation|is_sorted|is_sorted_until|lower_bound|make_heap|max_element|merge|min_element|minmax|minmax_element|mismatch|next_permutation|none_of|nth_element|partial_sort|partial_sort_copy|partition|partition_copy|partition_point|pop_heap|prev_permutation|push_heap|ranges|remove|remove_copy|remove_copy_if|remove_if|replace|replace_copy|replace_if|reverse|reverse_copy|rotate|rotate_copy|sample|search|search_n|set_difference|set_intersection|set_symmetric_difference|set_union|shift_left|shift_right|shuffle|sort|sort_heap|stable_partition|stable_sort|transform|unique|unique_copy|upper_bound)\b/,
  array: /std::array\b/,
  atomic: /std::atomic\b/,
  chrono: /std::chrono\b/,
  cmath: /std::(?:fabs|sqrt|isnan|isfinite|exp|log|pow|floor|ceil|lround|ldexp|isinf)\b/,
  cstdint: /\bu?int(?:8|16|32|64|ptr)_t\b/,
  cstdio: /std::(?:printf|fprintf|snprintf|fflush)\b/,
  cstdlib: /std::(?:getenv|strtoull|atoi|abort|aligned_alloc)\b/,
  cstring: /std::(?:memcpy|memset|memcmp|strcmp|strstr|memmove)\b/,
  functional:
    /std::(?:function|bind|bind_front|cref|greater|greater_equal|invoke|less_equal|mem_fn|minus|multiplies|negate|not_fn|plus|ref)\b/,
  limits: /std::numeric_limits\b/,
  map: /std::(?:map|multimap)\b/,
  memory:
    /std::(?:align|assume_aligned|construct_at|default_delete|destroy|destroy_at|destroy_n|enable_shared_from_this|make_shared|make_unique|shared_ptr|static_pointer_cast|dynamic_pointer_cast|to_address|uninitialized_\w+|unique_ptr|weak_ptr)\b/,
  mutex: /std::(?:\w*mutex|call_once|lock_guard|once_flag|scoped_lock|try_lock|unique_lock)\b/,
  numeric: /std::(?:accumulate|iota|inner_product|partial_sum)\b/,
  optional: /std::(?:bad_optional_access|make_optional|nullopt|nullopt_t|optional)\b/,
  random: /std::(?:mt19937|uniform_|normal_)/,
  string: /std::(?:char_traits|getline|sto[a-z]+|string|to_string|u8string|u16string|u32string|wstring)\b/,
  thread: /std::thread\b/,
  vector: /std::vector\b/,
};

const sources = ["csrc", "test/csrc", "bench"]
  .flatMap((folder) => filesUnder(folder, [".h", ".cc", ".cu", ".cuh"]))
  .filter((file) => !file.includes("cuda_shim/"));

/** Returns the standard headers that a file includes, directly or through files of this repository. */
const headersOf = (file: string, seen = new Set<string>()): string[] => {
  if (seen.has(file)) return [];
  seen.add(file);
  return [...read(file).matchAll(/^#include [<"]([^>"]+)[>"]/gm)].flatMap(([, name = ""]) => {
    const places = [dirname(file), "csrc", "test/csrc"].map((folder) => normalize(join(folder, name)));
    const ours = places.find((place) => existsSync(place));
    return ours === undefined ? [name] : headersOf(ours, seen);
  });
};

test("what a C++ file takes from the standard library it includes", () => {
  const missing = sources.flatMap((file) => {
    const code = read(file).replaceAll(/\/\/.*/g, "");
    const headers = new Set(headersOf(file));
    return Object.entries(OWNERS)
      .filter(([header, uses]) => uses.test(code) && !headers.has(header))
      .map(([header]) => `${file}: <${header}>`);
  });
  expect(sources.length).toBeGreaterThan(200);
  expect(missing).toEqual([]);
});

test("what CI precompiles is of the standard library, and looked for here", () => {
  const [, headers] = /^ +set\(headers ((?:<\w+> )+)/m.exec(read("CMakeLists.txt"))!;
  for (const [, header] of headers!.matchAll(/<(\w+)>/g)) expect(Object.keys(OWNERS)).toContain(header);
  expect(headers!.trim().split(" ").length).toBeGreaterThan(4);
});
