import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProblemSource } from "../../../lib/data/index.ts";
import type { RewardFunction } from "../../../lib/domains/index.ts";
import { admissionOf } from "../../../lib/orchestration/setup/admission.ts";
import { openProblems } from "../../../lib/orchestration/setup/problems.ts";
import { openVerifiers } from "../../../lib/orchestration/setup/resources.ts";
import { smallRecipe } from "../small-recipe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-problems-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** Writes a file of rows that ask for these numbers. */
function rows(name: string, from: number, to: number): string {
  const path = join(dir, name);
  const lines = Array.from({ length: to - from }, (_, i) =>
    JSON.stringify({ question: `What is ${from + i}?`, answer: `${from + i}` }),
  );
  writeFileSync(path, lines.join("\n"));
  return path;
}
const asked = (source: ProblemSource, side: "problem" | "heldOut", count: number) =>
  new Set(Array.from({ length: count }, (_, i) => source[side](i).question));

test("a benchmark is refused as what a domain trains on, before its files are read", async () => {
  const recipe = smallRecipe({}, { domains: { math: { weight: 1, source: "gsm8k:no/such/folder" } } });
  await expect(openProblems(recipe)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringMatching(/^domains\.math\.source is gsm8k:no\/such\/folder, a benchmark: /),
    hint: expect.stringContaining("evaluation: { sets: { math: { source: ... } } }"),
  });
});

test("a domain must get its own kind of problems", async () => {
  const recipe = smallRecipe({}, { domains: { math: { weight: 1, source: "procedural/logic" } } });
  await expect(openProblems(recipe)).rejects.toThrow(
    /domains.math.source is procedural\/logic, whose domain is logic/,
  );
});

test("of a validation set all rows are asked, in any domain, and none is trained on", async () => {
  const math = {
    weight: 1,
    source: { kind: "jsonl" as const, path: rows("train.jsonl", 0, 60), heldOut: 10 },
  };
  const sets = {
    twenty: {
      source: { kind: "jsonl" as const, path: rows("renamed.jsonl", 40, 80), verifier: "math" },
      problems: 20,
    },
    made: {
      source: "procedural/logic",
      verifier: { compat: "reference" as const },
      attempts: 3,
      maxTokens: 7,
    },
  };
  const recipe = smallRecipe({}, { domains: { math }, evaluation: { sets } });
  const opened = await openProblems(recipe);
  const source = opened.sources.get("math")!;
  expect(source.report).toMatchObject({
    rows: 60,
    training: 30,
    heldOut: 10,
    leftOut: [{ reason: "asked in a validation set", rows: 20 }],
  });
  const { twenty, made } = Object.fromEntries(opened.sets);
  expect(twenty).toMatchObject({ problems: 20, source: { heldOutCount: 40 } });
  expect(made).toMatchObject({ attempts: 3, maxTokens: 7, source: { domain: "logic" } });
  expect(made!.source.heldOut(0).reference).toMatchObject({ compat: "reference" });
  const evaluated = asked(twenty!.source, "heldOut", 40);
  for (const question of asked(source, "problem", 30)) expect(evaluated.has(question)).toBe(false);
  const ids = [source.heldOut(0), twenty!.source.heldOut(0), made!.source.heldOut(0)].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});

test("a set that says which rows are held out leaves the others to training", async () => {
  const path = rows("both.jsonl", 0, 50);
  const set = { source: { kind: "jsonl" as const, path, verifier: "math", heldOut: 15 } };
  const math = { weight: 1, source: { kind: "jsonl" as const, path, heldOut: 5 } };
  const { sources, sets } = await openProblems(
    smallRecipe({}, { domains: { math }, evaluation: { sets: { fifteen: set } } }),
  );
  expect(sets.get("fifteen")!.source.heldOutCount).toBe(15);
  expect(sources.get("math")!.report).toMatchObject({ training: 30, heldOut: 5 });
});

test("a set is judged by its own reward, the domain of the same problems by theirs", async () => {
  const length: RewardFunction = ({ completion, reference }) =>
    reference === undefined ? 0 : Math.min(1, completion.length / 10);
  const recipe = smallRecipe(
    {},
    {
      domains: { math: { weight: 1, source: "procedural/math" } },
      evaluation: {
        sets: {
          long: { source: "procedural/math", reward: length },
          both: {
            source: "procedural/math",
            rewards: { long: { weight: 1, reward: length }, right: { weight: 1, reward: "verifier" } },
          },
          plain: { source: "procedural/math" },
        },
      },
    },
  );
  const { sources, sets } = await openProblems(recipe);
  await using verifiers = openVerifiers(recipe);
  const verdictOf = async (source: ProblemSource) => {
    const [verdict] = await verifiers.verify([{ problem: source.heldOut(0), text: "12345", finish: "eos" }]);
    return verdict;
  };
  const [long, both, plain] = await Promise.all([...sets.values()].map(({ source }) => verdictOf(source)));
  expect(long).toMatchObject({ status: "partial", score: 0.5 });
  expect(both).toMatchObject({ score: 0.25, parts: { long: 0.5, right: 0 } });
  expect(plain).toEqual(await verdictOf(sources.get("math")!));
  expect(plain).toMatchObject({ score: 0 });
});

test("what a run held out is held out when it goes on", async () => {
  const math = {
    weight: 1,
    source: { kind: "jsonl" as const, path: rows("train.jsonl", 0, 60), heldOut: 10 },
  };
  const before = (await openProblems(smallRecipe({}, { domains: { math } }))).sources.get("math")!;
  const heldOut = new Map([["math", new Set(before.heldOutKeys)]]);
  const other = {
    weight: 1,
    source: { kind: "jsonl" as const, path: rows("longer.jsonl", 0, 90), heldOut: 0.5 },
  };
  const after = (await openProblems(smallRecipe({}, { domains: { math: other } }), { heldOut })).sources.get(
    "math",
  )!;
  expect(asked(after, "heldOut", 10)).toEqual(asked(before, "heldOut", 10));
  expect(after.report).toMatchObject({ training: 80, heldOut: 10 });
});

test("what a validation set asked is not trained on when the run goes on without the set", async () => {
  const path = rows("some.jsonl", 0, 60);
  const set = { source: { kind: "jsonl" as const, path: rows("set.jsonl", 40, 60), verifier: "math" } };
  const math = { weight: 1, source: { kind: "jsonl" as const, path, heldOut: 10 } };
  const { sources, sets } = await openProblems(
    smallRecipe({}, { domains: { math }, evaluation: { sets: { twenty: set } } }),
  );
  const heldOut = new Map([
    ["math", new Set(sources.get("math")!.heldOutKeys)],
    ["twenty", new Set(sets.get("twenty")!.source.heldOutKeys)],
  ]);
  const after = await openProblems(smallRecipe({}, { domains: { math } }), { heldOut });
  expect(after.sources.get("math")!.report).toMatchObject({ training: 30, heldOut: 10 });
});

test("rows of prompts alone are problems where a reward of the recipe's judges, and not where a verifier does", async () => {
  const path = join(dir, "prompts.jsonl");
  const lines = Array.from({ length: 40 }, (_, i) => JSON.stringify({ prompt: `Write ${i} words.` }));
  writeFileSync(path, lines.join("\n"));
  const reward: RewardFunction = ({ reference }) => (reference === undefined ? 1 : 0);
  const source = `jsonl:${path}`;
  const admit = admissionOf({ rollouts: { maxPromptTokens: 99 }, verification: { modules: {} } }, {
    mostTokens: () => 1,
  } as never);
  const opened = await openProblems(
    smallRecipe(
      {},
      { domains: { math: { weight: 1, source, reward }, poems: { weight: 1, source, reward } } },
    ),
    { admit },
  );
  for (const domain of ["math", "poems"]) {
    const problems = opened.sources.get(domain)!;
    expect(problems.report).toMatchObject({
      rows: 40,
      bad: [],
      leftOut: [],
      questions: [{ reason: "prompt" }],
    });
    expect(problems.problem(0).reference).toEqual({
      prompt: expect.stringMatching(/^Write/) as string,
      verifier: domain,
      reference: undefined,
    });
  }
  const judged = smallRecipe({}, { domains: { math: { weight: 1, source } } });
  await expect(openProblems(judged)).rejects.toThrow(/40 rows: row: neither reference nor answer/);
  const rewards = { short: { weight: 1, reward }, right: { weight: 1, reward: "verifier" as const } };
  const both = smallRecipe({}, { domains: { math: { weight: 1, source, rewards } } });
  await expect(openProblems(both)).rejects.toThrow(/neither reference nor answer/);
});
