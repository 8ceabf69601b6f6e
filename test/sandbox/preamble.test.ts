// A deliberate fault (mutant) that these tests detect: a name in the program is not found.
import { describe, expect, test } from "vitest";
import { neededImports, readNames, STAR_MODULES } from "../../lib/sandbox/preamble.ts";

const NAMES = readNames("math sqrt pow pi\nbuiltins pow print open\nio open StringIO\ncollections deque\n\n");

test("names are read as they were printed", () => {
  expect(NAMES).toEqual(
    new Map([
      ["math", new Set(["sqrt", "pow", "pi"])],
      ["builtins", new Set(["pow", "print", "open"])],
      ["io", new Set(["open", "StringIO"])],
      ["collections", new Set(["deque"])],
    ]),
  );
});

describe("imports", () => {
  test.each([
    ["x = 1", []],
    ["print(sqrt(2))", ["from math import *", "from builtins import *"]],
    ["pow(2, 3, 5)", ["from math import *", "from builtins import *"]],
    ["x.sqrt", []],
    ["math.sqrt(2)", ["import math"]],
    ["deque()\nmath.pi", ["from collections import *", "import math"]],
    ["mysqrt(sqrt2)", []],
    ["open", ["from io import *", "from builtins import *"]],
  ])("%j needs %j, in the order of the preamble", (source, expected) => {
    expect(neededImports(source, NAMES)).toEqual(expected);
  });

  test("are all there without a table of names, modules by name last", () => {
    const all = neededImports("");
    expect(all.slice(0, STAR_MODULES.length)).toEqual(STAR_MODULES.map((name) => `from ${name} import *`));
    expect(all.slice(STAR_MODULES.length)).toEqual(
      STAR_MODULES.filter((name) => name !== "builtins" && name !== "typing").map((name) => `import ${name}`),
    );
  });

  test("of a hostile source take no time", () => {
    const started = performance.now();
    for (const source of ["a".repeat(1 << 20), "a ".repeat(1 << 19), ".a".repeat(1 << 19)])
      neededImports(source, NAMES);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
