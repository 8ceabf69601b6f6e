// Limits the size of C++ classes, with the members defined outside of their bodies, and of C++ functions.
import { describe, expect, test } from "vitest";
import { classSizes, declaredClasses, outsideMembers } from "./cpp-classes.ts";
import { CPP_ENDINGS, cppFunctions, filesUnder, read } from "./source-tree.ts";

const CLASS_LINES = 150;
const P90_FUNCTION_LINES = 20;

const sources = filesUnder("csrc", CPP_ENDINGS);
const sizes = classSizes(sources, read);

test(`no C++ class has more than ${CLASS_LINES} lines`, () => {
  const large = sizes.filter(({ lines }) => lines > CLASS_LINES);
  expect(large.map(({ file, line, name, lines }) => `${file}:${line} ${name} has ${lines} lines`)).toEqual(
    [],
  );
});

test(`nine of ten C++ functions have at most ${P90_FUNCTION_LINES} lines, kernels too`, () => {
  const lines = sources.flatMap((file) => cppFunctions(read(file)).map((f) => f.lines)).sort((a, b) => a - b);
  expect(lines[Math.ceil(0.9 * lines.length) - 1]).toBeLessThanOrEqual(P90_FUNCTION_LINES);
});

describe("the counter of C++ classes", () => {
  test("sees classes in classes, bases, attributes, and no enumeration", () => {
    const text = [
      "enum class K : int { kA };",
      "class A final : public B<int> {",
      "  struct C {",
      "    int x = 0;",
      "  };",
      "  struct D;",
      "};",
      "struct __attribute__((packed)) E { int y; };",
      "struct A::D {",
      "};",
    ].join("\n");
    expect(declaredClasses(text).map(({ name, line, lines }) => [name, line, lines])).toEqual([
      ["A", 2, 6],
      ["A::C", 3, 3],
      ["E", 8, 1],
      ["A::D", 9, 2],
    ]);
  });

  test("gives a member that is defined outside to its class", () => {
    const text = [
      "std::vector<int> A::f(int x) {",
      "  return {x};",
      "}",
      "A::A(int x) : x_(x) {}",
      "A& A::operator=(A&& other) noexcept {",
      "  return *this;",
      "}",
      "B::C B::D::g() { return 1; }",
      "void free() {}",
    ].join("\n");
    expect(outsideMembers(text)).toEqual([
      { owner: "A", lines: 3 },
      { owner: "A", lines: 1 },
      { owner: "A", lines: 3 },
      { owner: "B::D", lines: 1 },
    ]);
  });

  test("adds both up, and keeps two classes of one name apart", () => {
    const files: Readonly<Record<string, string>> = {
      "csrc/core/json.h": "class P {\n  int f();\n};\n",
      "csrc/core/json.cc": '#include "core/json.h"\nint P::f() {\n  return 1;\n}\n',
      "csrc/text/bpe.cc":
        "class P {\n  int f();\n};\nint P::f() {\n  return 1;\n}\nint P::g() { return 2; }\n",
    };
    const found = classSizes(
      Object.keys(files),
      (file) => files[file] ?? "",
      () => ["csrc/core/json.h"],
    );
    expect(found.map(({ file, lines }) => [file, lines])).toEqual([
      ["csrc/core/json.h", 6],
      ["csrc/text/bpe.cc", 7],
    ]);
  });
});
