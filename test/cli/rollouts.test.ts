import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolloutLines } from "../../lib/cli/rollouts.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import type { ScoredRollout } from "../../lib/records.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

let dir: string;
/** The rollouts of step 2 as the run's listener received them. */
const told: (ScoredRollout & { readonly id: number })[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-rollouts-verb-"));
  const rollouts = { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: true };
  await using run = await createRun(smallRecipe({ steps: 3 }, { rollouts }), {
    dir,
    verifiers,
    core: standInCore(),
  });
  run.on("group", (group, { id, step }) => {
    if (step === 2) told.push(...group.rollouts.map((r) => ({ ...r, id })));
  });
  await run.finished;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const lines = async (flags: Parameters<typeof rolloutLines>[1]) => {
  const all: string[] = [];
  for await (const line of rolloutLines(dir, flags)) all.push(line);
  return all;
};
const cells = (line: string) => line.trim().split(/ +/);

test("a row a step", async () => {
  const [head, ...rows] = await lines({});
  expect(cells(head!)).toEqual([
    "step",
    "version",
    "groups",
    "kept",
    "sequences",
    "tokens",
    "loss",
    "gradient",
  ]);
  expect(rows.map((line) => cells(line).slice(0, 2))).toEqual([
    ["1", "0"],
    ["2", "1"],
    ["3", "2"],
  ]);
  expect(Number(cells(rows[1]!)[5])).toBe(told.reduce((n, { rollout }) => n + rollout.tokens.length, 0));
});

test("a row a rollout of one step", async () => {
  const [, ...rows] = await lines({ step: "2" });
  expect(rows).toHaveLength(told.length);
  for (const [i, { id, rollout, verdict, reward, advantage }] of told.entries()) {
    const numbers = [
      id,
      rollout.problem.id,
      rollout.attempt,
      verdict.score,
      reward,
      advantage,
      rollout.tokens.length,
    ];
    expect(cells(rows[i]!).slice(0, 7).map(Number)).toEqual(numbers.map((n) => expect.closeTo(n, 2)));
    expect(rows[i]).toContain(`${rollout.problem.domain} ${rollout.problem.family}, ${verdict.status}`);
  }
});

test("as JSON, with arrays", async () => {
  expect((await lines({ json: true })).map((line) => JSON.parse(line).step)).toEqual([1, 2, 3]);
  const [head, ...groups] = (await lines({ step: "2", json: true })).map((line) => JSON.parse(line));
  expect(head.step).toBe(2);
  const found = groups.flatMap(({ prompt, rollouts }) => rollouts.map((r: object) => ({ prompt, ...r })));
  for (const [i, { rollout }] of told.entries()) {
    expect(found[i].prompt).toEqual([...rollout.promptTokens]);
    expect(found[i].tokens).toEqual([...rollout.tokens]);
    expect(found[i].logprobs).toEqual([...rollout.logprobs]);
  }
});

test.each(["7", "0", "x"])(
  "step %s, which is not there, is a typed error that says what is",
  async (step) => {
    await expect(lines({ step })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("3 between 1 and 3"),
    });
  },
);
