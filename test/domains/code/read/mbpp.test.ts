import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "mbpp" } as const;
const row = {
  task_id: 11,
  text: "Write a function to double.",
  code: "def helper(x):\r\n  return x\r\ndef double(x):\r\n  return helper(x) * 2",
  test_list: ["assert double(2) == 4", "assert double(0) == 0"],
  test_setup_code: "import math",
  challenge_test_list: [],
};

test("in full and sanitized; the function is the one that the tests call, and they are shown", async () => {
  const { text, test_setup_code: _, ...rest } = row;
  const sanitized = {
    ...rest,
    source_file: "x",
    prompt: `${text} Again.`,
    test_imports: ["import re", "import math"],
  };
  const { kept } = await readAs(spec, [row, sanitized]);
  expect(kept.map(({ reference }) => reference)).toEqual([
    { entryPoint: "double", prelude: "import math", tests: row.test_list },
    { entryPoint: "double", prelude: "import re\nimport math", tests: row.test_list },
  ]);
  expect(kept[0]!.question).toContain("Write a function to double.\n");
  expect(kept[0]!.question).toContain("assert double(2) == 4\nassert double(0) == 0\n");
});

test("what cannot be judged is told apart", async () => {
  const { bad, leftOut, kept } = await readAs(spec, [
    { ...row, text: "a", test_list: ["assert other(2) == 4"] },
    { ...row, text: undefined },
    { ...row, text: "b", test_list: ["assert double(Pair(1, 2)) == 4"] },
    { ...row, text: "c", test_list: ["assert double(Counter('a')) == False"] },
  ]);
  expect(bad).toEqual({ "test_list: calls no function that code defines": 1, "text: missing": 1 });
  expect(leftOut).toEqual({ "tests that make instances of classes": 1 });
  expect(kept).toHaveLength(1);
});
