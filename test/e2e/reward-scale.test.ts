// Tests rewards outside of [0, 1] in whole runs: what trains, what counts as solved, and that a replay gives the same.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { noAddon } from "./native-core.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-reward-scale-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const module = new URL("../fixtures/verifiers/even.mjs", import.meta.url).href;
const recipe = smallRecipe(
  { steps: 3, schedule: "async", maxLag: 1 },
  {
    domains: {
      math: { weight: 1, source: "procedural/math", reward: module },
      logic: { weight: 1, source: "procedural/logic", reward: module, range: [-1, 1.05], solvedAt: 1 },
    },
    advantages: { divideBy: "none", filter: "score" },
    lengthPenalty: { kind: "none" },
    rollouts: { groupSize: 4, maxOutputTokens: 80, maxPromptTokens: 48, record: true },
    optimizer: { lr: 1e-3, warmupSteps: 0 },
    verification: { workers: 1, timeoutMs: 20_000 },
  },
);

interface Group {
  readonly domain: string;
  readonly solveRate: number;
  readonly rollouts: readonly {
    readonly verdict: { status: string; score: number };
    readonly reward: number;
  }[];
}

test.skipIf(noAddon !== undefined)(
  "any number trains, a range maps it, and a replay has the same bits",
  async () => {
    await using run = await createRun(recipe, { dir });
    expect(await run.finished).toMatchObject({ reason: "done", steps: 3 });
    const files = readdirSync(join(dir, "rollouts")).map((name) =>
      readFileSync(join(dir, "rollouts", name), "utf8"),
    );
    const groups = files
      .flatMap((text) => text.trim().split("\n").slice(1))
      .map((line) => JSON.parse(line) as Group);
    const seen: Record<string, Set<string>> = { math: new Set(), logic: new Set() };
    for (const { domain, solveRate, rollouts } of groups) {
      for (const { verdict, reward } of rollouts) {
        expect(reward).toBe(verdict.score);
        seen[domain]!.add(`${verdict.status} ${Number(verdict.score.toFixed(4))}`);
      }
      const solved = rollouts.filter(({ verdict }) => verdict.status === "correct").length;
      expect(solveRate).toBe(solved / rollouts.length);
    }
    expect([...seen["math"]!].sort()).toEqual(["correct 1", "correct 1.05", "wrong -1"]);
    // true gives (1 + 1) / 2.05, and counts as solved too
    expect([...seen["logic"]!].sort()).toEqual(["correct 0.9756", "correct 1", "wrong 0"]);
    expect(await replayRun(dir)).toMatchObject({ steps: 3, weightsCompared: true });
  },
);
