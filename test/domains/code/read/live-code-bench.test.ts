import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "live-code-bench" } as const;

/** Writes what pickle.dumps(text) writes with protocol 4, in the layout that unpickle.test.ts has from CPython. */
function pickled(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.from([0x80, 4, 0x58, 0, 0, 0, 0]);
  head.writeUInt32LE(body.length, 3);
  return Buffer.concat([head, body, Buffer.from([0x94, 0x2e])]);
}
const packed = (tests: unknown) => deflateSync(pickled(JSON.stringify(tests))).toString("base64");

const stdin = (input: string, output: string) => ({ input, output, testtype: "stdin" });
const row = (more: object = {}) => ({
  question_title: "Double",
  question_content: "Print twice the number.",
  platform: "atcoder",
  question_id: "abc",
  contest_id: "abc",
  contest_date: "2024-08-03T00:00:00",
  starter_code: "",
  difficulty: "medium",
  public_test_cases: JSON.stringify([stdin("1\n", "2\n")]),
  private_test_cases: packed([stdin("2\n", "4\n"), stdin("é\n", "x")]),
  metadata: "{}",
  ...more,
});

test("public and packed private tests make one reference in the shape of TACO's", async () => {
  const { kept, bad } = await readAs(spec, [row()]);
  expect(bad).toEqual({});
  expect(kept).toMatchObject([
    {
      content: "Print twice the number.",
      question: expect.stringContaining("standard input"),
      family: "live-code-bench",
      level: 1,
      reference: {
        input_output: JSON.stringify({ inputs: ["1\n", "2\n", "é\n"], outputs: ["2\n", "4\n", "x"] }),
      },
    },
  ]);
});

test("functional tests name their function; the starter code is in the question; plain JSON is read too", async () => {
  const tests = [{ input: '[1,2]\n"x"', output: "3", testtype: "functional" }];
  const { kept } = await readAs(spec, [
    row({
      starter_code: "class Solution:\n    def f(self, a, s):\n",
      public_test_cases: JSON.stringify(tests),
      private_test_cases: "[]",
      metadata: JSON.stringify({ func_name: "f" }),
    }),
  ]);
  expect(kept).toMatchObject([
    {
      question: expect.stringMatching(/```python\nclass Solution:\n {4}def f\(self, a, s\):\n```$/),
      reference: { input_output: JSON.stringify({ inputs: ['[1,2]\n"x"'], outputs: ["3"] }), fn_name: "f" },
    },
  ]);
});

test("contests outside the window are left out, its ends are inside", async () => {
  const dates = ["2024-06-30", "2024-07-01T00:00:00", "2024-12-31T23:59:00", "2025-01-01", "soon"];
  const rows = dates.map((contest_date) => row({ contest_date, question_content: contest_date }));
  const { kept, leftOut, bad } = await readAs(spec, rows);
  expect(kept.map(({ content }) => content)).toEqual(dates.slice(1, 3));
  expect(leftOut).toEqual({ "contest date outside the window": 2 });
  expect(bad).toEqual({ "contest_date: no ISO date": 1 });
  const wide = await readAs({ ...spec, from: "2024-01-01", to: "2025-12-31" }, rows);
  expect(wide.kept).toHaveLength(4);
});

const notAStr = deflateSync(Buffer.from([0x80, 4, 0x63, 0x6f, 0x73, 0x0a])).toString("base64");
test.each([
  ["!!", "private_test_cases: neither JSON nor packed JSON"],
  [notAStr, "private_test_cases: neither JSON nor packed JSON"],
  [packed([stdin("1", "2")]).slice(0, 30), "private_test_cases: neither JSON nor packed JSON"],
  [packed({ input: 1 }), "private_test_cases: invalid input: expected array, received object"],
  [
    packed([{ input: 1, output: "2", testtype: "stdin" }]),
    "private_test_cases.#.input: invalid input: expected string, received number",
  ],
  [packed([{ input: "1", output: "2", testtype: "functional" }]), "tests of both kinds"],
])("private tests %j are bad", async (private_test_cases, reason) => {
  const { bad } = await readAs(spec, [row({ private_test_cases })]);
  expect(Object.keys(bad)).toEqual([expect.stringContaining(reason)]);
});

test("no tests at all, and functional tests without a name, are bad", async () => {
  const functional = JSON.stringify([{ input: "1", output: "2", testtype: "functional" }]);
  const { bad } = await readAs(spec, [
    row({ public_test_cases: "[]", private_test_cases: "[]" }),
    row({ public_test_cases: functional, private_test_cases: "[]" }),
  ]);
  expect(bad).toEqual({
    "metadata.func_name: invalid input: expected string, received undefined": 1,
    "no tests": 1,
  });
});
