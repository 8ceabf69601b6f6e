import { expect, test } from "vitest";
import { readAs } from "../../../data/filtered.ts";

const spec = { kind: "human-eval" } as const;
const row = {
  task_id: "HumanEval/0",
  prompt: 'from typing import List\n\n\ndef first(xs: List[int]) -> int:\n    """ The first. """\n',
  canonical_solution: "    return xs[0]\n",
  test: "\n\ndef check(candidate):\n    assert candidate([1, 2]) == 1\n",
  entry_point: "first",
};

test("the head is shown and comes before the program; the tests are not shown", async () => {
  const { kept } = await readAs(spec, [row]);
  const { question, reference, gold } = kept[0]!;
  expect(question).toContain('def first(xs: List[int]) -> int:\n    """ The first. """\n```');
  expect(question).not.toContain("assert");
  expect(reference).toEqual({
    entryPoint: "first",
    prelude: `${row.prompt.trimEnd()}\n    pass\n`,
    tests: [`${row.test}\ncheck(candidate)\n`],
  });
  expect(gold!()).toEqual([`\`\`\`python\n${row.prompt}${row.canonical_solution}\n\`\`\``]);
});

test("rows without a check or a name are bad", async () => {
  const { bad } = await readAs(spec, [
    { ...row, test: "assert 1" },
    { ...row, prompt: "x", entry_point: "a b" },
  ]);
  expect(Object.keys(bad).sort()).toEqual([
    "entry_point: no name of a function",
    expect.stringMatching(/^test: /),
  ]);
});
