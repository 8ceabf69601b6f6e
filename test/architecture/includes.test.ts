// What a C++ file takes from the standard library it includes, itself or through a file of ours: other compilers, and
// builds without the shim's headers, bring other headers along. Tried mutants, all killed: <algorithm> left out of
// optimizer.test.cc, <map> left out of cublaslt.cc, <functional> left out of tma.test.cu.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { filesUnder, read } from "./source-tree.ts";

/** Headers by what is theirs alone; what every header brings along (std::move, std::pair, std::min) is left out. */
const OWNERS: Readonly<Record<string, RegExp>> = {
  algorithm:
    /std::(?:count|count_if|sort|stable_sort|nth_element|find|find_if|any_of|all_of|none_of|transform|clamp|shuffle|lower_bound|upper_bound|copy_if|reverse|minmax_element|unique|is_sorted|remove_if|max_element|min_element)\b/,
  array: /std::array\b/,
  atomic: /std::atomic\b/,
  chrono: /std::chrono\b/,
  cmath: /std::(?:fabs|sqrt|isnan|isfinite|exp|log|pow|floor|ceil|lround|ldexp|isinf)\b/,
  cstdint: /\bu?int(?:8|16|32|64|ptr)_t\b/,
  cstdio: /std::(?:printf|fprintf|snprintf|fflush)\b/,
  cstdlib: /std::(?:getenv|strtoull|atoi|abort|aligned_alloc)\b/,
  cstring: /std::(?:memcpy|memset|memcmp|strcmp|strstr|memmove)\b/,
  functional: /std::function\b/,
  limits: /std::numeric_limits\b/,
  map: /std::map\b/,
  memory: /std::(?:unique_ptr|shared_ptr|make_unique|make_shared)\b/,
  mutex: /std::(?:mutex|lock_guard|unique_lock|scoped_lock)\b/,
  numeric: /std::(?:accumulate|iota|inner_product|partial_sum)\b/,
  optional: /std::optional\b/,
  random: /std::(?:mt19937|uniform_|normal_)/,
  string: /std::(?:string|to_string)\b/,
  thread: /std::thread\b/,
  vector: /std::vector\b/,
};

const sources = ["csrc", "test/csrc", "bench"]
  .flatMap((folder) => filesUnder(folder, [".h", ".cc", ".cu", ".cuh"]))
  .filter((file) => !file.includes("cuda_shim/"));

/** Headers from outside that a file gets, itself or through files of ours. */
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
