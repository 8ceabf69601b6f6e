// Limits the lines of files and functions. Tables are exempt, each by name and with a reason.
import { describe, expect, test } from "vitest";
import {
  type ClassSize,
  CPP_ENDINGS,
  cppFunctions,
  type FunctionSize,
  filesUnder,
  parseTs,
  read,
  tsClasses,
  tsFunctions,
} from "./source-tree.ts";

const FILE_LINES = 400;
const TS_FUNCTION_LINES = 80;
const CPP_FUNCTION_LINES = 120;
/** The 90th percentile of functions that have a name. */
const TS_P90_LINES = 20;
const TS_CLASS_LINES = 150;
const CONSTRUCTOR_PARAMETERS = 4;

/** Tables of data are exempt. */
const TABLES: Readonly<Record<string, string>> = {
  "csrc/text/unicode_tables.inc": "data of the Unicode standard, made by scripts/unicode-tables.mjs",
};

const cppSources = filesUnder("csrc", CPP_ENDINGS);
/** The JavaScript of the run's page is served without a build, so the limits apply to it too. */
const tsSources = ["lib", "recipes", "bench"].flatMap((folder) => filesUnder(folder, [".ts", ".js"]));
const tests = filesUnder("test", [".ts", ".cc", ".cu", ".cuh", ".h"]);

interface Sized extends FunctionSize {
  readonly file: string;
}

function show({ file, line, name, lines }: Sized): string {
  return `${file}:${line} ${name} has ${lines} lines`;
}

function p90(functions: readonly Sized[]): number {
  const lines = functions.map((f) => f.lines).sort((a, b) => a - b);
  return lines[Math.ceil(0.9 * lines.length) - 1] ?? 0;
}

const cpp: Sized[] = cppSources.flatMap((file) => cppFunctions(read(file)).map((f) => ({ ...f, file })));
const typescript: Sized[] = [];
const classes: (ClassSize & { readonly file: string })[] = [];
for (const file of tsSources) {
  const source = parseTs(file); // once for both
  typescript.push(...tsFunctions(source).map((f) => ({ ...f, file })));
  classes.push(...tsClasses(source).map((c) => ({ ...c, file })));
}

test(`no file has more than ${FILE_LINES} lines`, () => {
  const long = [...cppSources, ...tsSources, ...tests]
    .filter((file) => !(file in TABLES))
    .map((file) => ({ file, lines: read(file).trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > FILE_LINES);
  expect(long).toEqual([]);
});

describe("functions", () => {
  test(`in TypeScript have at most ${TS_FUNCTION_LINES} lines`, () => {
    expect(typescript.filter((f) => f.lines > TS_FUNCTION_LINES).map(show)).toEqual([]);
  });

  test(`in C++ have at most ${CPP_FUNCTION_LINES} lines, kernels too`, () => {
    expect(cpp.filter((f) => f.lines > CPP_FUNCTION_LINES).map(show)).toEqual([]);
  });

  test(`in nine of ten cases have at most ${TS_P90_LINES} lines in TypeScript (class-budget-cpp.test.ts has C++)`, () => {
    expect(p90(typescript.filter(({ name }) => name !== "(anonymous)"))).toBeLessThanOrEqual(TS_P90_LINES);
  });
});

describe("classes in TypeScript", () => {
  test(`have at most ${TS_CLASS_LINES} lines`, () => {
    expect(classes.length).toBeGreaterThan(50);
    expect(classes.filter((c) => c.lines > TS_CLASS_LINES).map(show)).toEqual([]);
  });

  test(`are made from at most ${CONSTRUCTOR_PARAMETERS} parameters`, () => {
    const wide = classes.filter((c) => c.parameters > CONSTRUCTOR_PARAMETERS);
    expect(wide.map(({ file, line, name, parameters }) => `${file}:${line} ${name}(${parameters})`)).toEqual(
      [],
    );
  });

  test("are counted from the keyword to the brace", () => {
    const text = "export class A {\n  constructor(a: number, b: number) {}\n}\nconst B = class {};\n";
    expect(tsClasses(parseTs("x.ts", text))).toEqual([
      { name: "A", line: 1, lines: 3, parameters: 2 },
      { name: "(anonymous)", line: 4, lines: 1, parameters: 0 },
    ]);
  });
});

describe("the C++ function counter", () => {
  const sizes = (text: string) => cppFunctions(text).map(({ name, line, lines }) => [name, line, lines]);

  test.each([
    ["a free function", "int f(int x) {\n  return x;\n}\n", [["f", 1, 3]]],
    ["braces in text", "void f() {\n  g(\"}\", '{');  // }\n  /* } */\n}\n", [["f", 1, 4]]],
    [
      "a lambda belongs to its function",
      "void f() {\n  auto g = [](int x) {\n    return x;\n  };\n}\n",
      [["f", 1, 5]],
    ],
    [
      "namespaces and classes are no functions",
      "namespace a {\nclass B : public C {\n  int f() const {\n    return 1;\n  }\n};\n}\n",
      [["f", 3, 3]],
    ],
    [
      "constructor with a list",
      "A::A(int x)\n    : a_{x}, b_(x) {\n  f();\n}\nint g() { return 1; }\n",
      [
        ["A::A", 1, 4],
        ["g", 5, 1],
      ],
    ],
    ["default arguments", "void f(int x = 3, T y = {}) {\n}\n", [["f", 1, 2]]],
    [
      "tables",
      "constexpr int k[] = {1, 2};\nstatic const std::map<int, int> m{{1, 2}};\nint g() {\n}\n",
      [["g", 3, 2]],
    ],
    ["templates", "template <typename T, int N = (3)>\nT f(T x) {\n  return x;\n}\n", [["f", 1, 4]]],
    ["macros", "#define F(x) { \\\n  x\nvoid g() {\n}\n", [["g", 3, 2]]],
    [
      "digit separators",
      "int f() {\n  return 1'000'000;\n}\nint g() {\n}\n",
      [
        ["f", 1, 3],
        ["g", 4, 2],
      ],
    ],
    [
      "enums in a struct",
      "struct S {\n  enum class K : uint8_t { kA, kB } kind = K::kA;\n  int f() { return 1; }\n};\n",
      [["f", 3, 1]],
    ],
  ] as const)("%s", (_, text, expected) => {
    expect(sizes(text)).toEqual(expected);
  });
});

test("the TypeScript counter sees every kind of function, and its name", () => {
  const text =
    "const f = () => {\n  return 1;\n};\nclass A {\n  m(): void {\n    [1].map((x) => x);\n  }\n}\n";
  expect(tsFunctions(parseTs("x.ts", text))).toEqual([
    { name: "f", line: 1, lines: 3 },
    { name: "m", line: 5, lines: 3 },
    { name: "(anonymous)", line: 6, lines: 1 },
  ]);
});
