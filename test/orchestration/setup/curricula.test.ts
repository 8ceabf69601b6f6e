import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../../lib/config/index.ts";
import { openCurricula, type ProblemHistory, weighBy } from "../../../lib/orchestration/setup/curricula.ts";
import { openProblems } from "../../../lib/orchestration/setup/problems.ts";
import { minimal } from "../../config/recipes.ts";

const root = mkdtempSync(join(tmpdir(), "hone-curricula-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const rows = join(root, "rows.jsonl");
writeFileSync(
  rows,
  Array.from(
    { length: 40 },
    (_, n) => `${JSON.stringify({ question: `What is ${n} + 1?`, answer: `${n + 1}`, hard: n % 4 })}\n`,
  ).join(""),
);
const module = join(root, "weights.mjs");
writeFileSync(
  module,
  "export const mine = ({ difficulty }) => difficulty - 1;\nexport const bad = () => -1;\n",
);

type Rule = NonNullable<RecipeInput["domains"][string]["curriculum"]>;
const recipeOf = (curriculum: Rule, source = `jsonl:${rows}`, judged = {}) =>
  defineRecipe({ ...minimal(), domains: { math: { weight: 1, source, curriculum, ...judged } } });
const open = async (curriculum: Rule, source?: string, judged = {}) => {
  const recipe = recipeOf(curriculum, source, judged);
  const { sources } = await openProblems(recipe);
  return { source: sources.get("math")!, math: (await openCurricula(recipe, sources)).get("math")! };
};

const history = (given: Partial<ProblemHistory>): ProblemHistory => ({
  identity: "",
  solveRate: undefined,
  attempts: 0,
  difficulty: 0,
  easier: 0,
  since: undefined,
  step: 0,
  ...given,
});
const ruleOf = (curriculum: Rule) => recipeOf(curriculum).domains["math"]!.curriculum!;

test("weights by solve rate, window, re-entry and difficulty are those of the table, and are multiplied", () => {
  const rate = weighBy(ruleOf({ solveRate: {} }));
  expect([undefined, 0, 0.5, 0.9, 1].map((s) => Number(rate(history({ solveRate: s })).toFixed(6)))).toEqual([
    1, 0.05, 1, 0.36, 0.05,
  ]);
  const window = weighBy(ruleOf({ window: [0.1, 0.9], again: { unsolved: 5, solved: 20 } }));
  const at = (solveRate: number | undefined, since: number) => window(history({ solveRate, since }));
  expect([at(undefined, 0), at(0.1, 0), at(0.9, 0)]).toEqual([1, 1, 1]);
  expect([at(0.05, 4), at(0.05, 5), at(1, 5), at(1, 19), at(1, 20)]).toEqual([0, 1, 0, 0, 1]);
  const easy = weighBy(ruleOf({ difficulty: { from: 0.2, steps: 10 } }));
  // shares of the problems: a fifth at step 0, three fifths at step 5, all from step 10 on
  const opened = (step: number) =>
    [0, 0.19, 0.2, 0.59, 0.61, 0.99].map((easier) => easy(history({ easier, step })));
  expect(opened(0)).toEqual([1, 1, 0, 0, 0, 0]);
  expect(opened(5)).toEqual([1, 1, 1, 1, 0, 0]);
  expect(opened(10)).toEqual([1, 1, 1, 1, 1, 1]);
  const both = weighBy(ruleOf({ solveRate: {}, window: [0.1, 0.9] }));
  expect([both(history({ solveRate: 0.75, since: 1 })), both(history({ solveRate: 0, since: 1 }))]).toEqual([
    0.75, 0,
  ]);
});

test.each([
  ["a verifier", {}],
  ["a reward of the recipe", { reward: () => 1 }],
])(
  "every training row has its identity and its number, by the place that its index says, under %s",
  async (_, judged) => {
    const { source, math } = await open({ difficulty: { column: "hard", steps: 5 } }, undefined, judged);
    const count = source.trainingCount!;
    expect(count).toBeGreaterThan(25);
    expect(new Set(math.identities).size).toBe(count);
    for (let n = 0; n < count; n++) {
      const { question } = source.problem(n);
      const number = Number(/\d+/.exec(question)![0]);
      expect(math.difficulties[n]).toBe(number % 4);
      expect(source.problem(3 * count + n).question).toBe(question);
      const easier = Array.from(math.difficulties).filter((other) => other < number % 4).length;
      expect(math.easier[n]).toBeCloseTo(easier / count, 12);
    }
  },
);

test("a function of a module weighs, by the hash that its file had", async () => {
  const weight = `${module}#mine`;
  const { math } = await open({ difficulty: { column: "hard", from: 1, steps: 1 }, weight });
  expect(math.weigh(history({ difficulty: 3 }))).toBe(2);
  expect(() => math.weigh(history({ difficulty: 0 }))).toThrow(/weights.mjs#mine gave -1 for problem/);
  const sha256 = createHash("sha256").update(readFileSync(module)).digest("hex");
  expect(recipeOf({ weight }).domains["math"]!.curriculum!.weight).toEqual({ module: weight, sha256 });
  await expect(open({ weight: { module: weight, sha256: "0".repeat(64) } })).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining("domains.math.curriculum.weight"),
  });
});

test("what cannot be chosen among is refused: problems made on the spot, a row without the number", async () => {
  await expect(open({ solveRate: {} }, "procedural/math")).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining("chooses among rows"),
  });
  await expect(open({ difficulty: { column: "level", steps: 5 } })).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: expect.stringMatching(/rows\.jsonl:\d+: column level, by which .* holds nothing/),
  });
});
