// Deliberate faults (mutants) that these tests detect: testlib.h is looked for in the working folder, rows go on
// without it, solutions of C++ are gold answers, tests are dropped, the kind code-tests takes these rows.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { tellKind } from "../../../../lib/domains/data-kind.ts";
import { readAs } from "../../../data/filtered.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-contests-"));
afterAll(() => rmSync(folder, { recursive: true }));
const header = join(folder, "testlib.h");

const CHECKER = '#include "testlib.h"\nint main() {}';
const row = (more: object = {}) => ({
  source: "Codeforces",
  id: "1_A",
  title: "Sum",
  description: "Print two numbers with the given sum.",
  time_limit: 2000,
  memory_limit: 256,
  validator: "",
  generator: "",
  generator_cmd: "",
  checker: CHECKER,
  correct_submissions: [
    { code: "int main() {}", language: "cpp" },
    { code: "print(input(), 0)", language: "py3" },
  ],
  incorrect_submissions: [],
  test_cases: [
    { input: "5\n", output: "2 3\n" },
    { input: "7\n", output: "3 4\n" },
  ],
  true_positive_rate: 1,
  true_negative_rate: 1,
  ...more,
});

describe("with testlib.h", () => {
  writeFileSync(header, "");
  const spec = { kind: "code-contests-plus", testlib: header } as const;

  test("a row becomes a problem that its checker judges", async () => {
    const { kept, bad } = await readAs(spec, [row()]);
    expect(bad).toEqual({});
    expect(kept).toMatchObject([
      {
        content: "Print two numbers with the given sum.",
        question: expect.stringContaining("standard input"),
        family: "code-contests-plus",
        reference: { checker: CHECKER, testlib: header },
      },
    ]);
    const [{ reference, gold }] = kept as unknown as [
      { reference: { input_output: string }; gold: () => unknown },
    ];
    expect(JSON.parse(reference.input_output)).toEqual({
      inputs: ["5\n", "7\n"],
      outputs: ["2 3\n", "3 4\n"],
    });
    expect(gold()).toEqual(["```python\nprint(input(), 0)\n```"]);
  });

  test("maxTests keeps the first tests; a checker without testlib.h needs none", async () => {
    const { kept } = await readAs({ ...spec, maxTests: 1 }, [row({ checker: "int main() {}" })]);
    const [{ reference }] = kept as unknown as [{ reference: { input_output: string; testlib?: string } }];
    expect(JSON.parse(reference.input_output)).toEqual({ inputs: ["5\n"], outputs: ["2 3\n"] });
    expect(reference).not.toHaveProperty("testlib");
  });

  test("rows without tests are left out, rows without a checker are bad", async () => {
    const { bad, leftOut } = await readAs(spec, [row({ test_cases: [] }), row({ checker: " " })]);
    expect(leftOut).toEqual({ "no tests": 1 });
    expect(bad).toEqual({ "checker: empty": 1 });
  });
});

test("without testlib.h the data cannot be read, and the error says where to put it", async () => {
  const missing = join(folder, "elsewhere", "testlib.h");
  await expect(readAs({ kind: "code-contests-plus", testlib: missing }, [row()])).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining(missing),
    hint: expect.stringContaining("https://github.com/MikeMirzayanov/testlib"),
  });
});

test("the rows are known by their columns, whether testlib.h is beside them or not, and are not code-tests'", async () => {
  const file = join(folder, "rows.jsonl");
  writeFileSync(file, `${JSON.stringify(row())}\n`);
  for (const there of [true, false]) {
    if (!there) rmSync(header);
    expect(await tellKind(file)).toMatchObject({ kind: "code-contests-plus" });
  }
  const { leftOut } = await readAs({ kind: "code-tests" }, [row()]);
  expect(leftOut).toEqual({ "checker: a program judges; kind code-contests-plus runs it": 1 });
});
