import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRun } from "../../../lib/orchestration/index.ts";
import type { StepRecord } from "../../../lib/records.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";

test("a record counts what the stages counted: since the last step, or since the run began", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-facts-"));
  let calls = 0;
  const verifiers = {
    verify: (group: Parameters<typeof inlineVerifiers.verify>[0]) => {
      calls += group.length;
      return inlineVerifiers.verify(group);
    },
    stats: () => ({
      residue: {
        calls,
        latencyMs: { p50: 1, p95: 2, p99: 3 },
        totalMs: calls * 3,
        busyMs: calls * 2,
        timeouts: 0,
        crashes: 0,
        retries: 0,
        judged: calls,
        correct: calls / 2,
        partial: calls / 4,
        unscored: 0,
        overrunMs: 0,
        judge: {
          calls: calls * 2,
          cached: 0,
          tokens: calls * 10,
          unreadable: 0,
          compared: calls,
          disagreement: calls / 4,
          budgetLeft: 0.5,
        },
      },
    }),
  };
  try {
    await using run = await createRun(smallRecipe({ schedule: "sync", steps: 4 }), {
      dir,
      verifiers,
      core: standInCore(),
    });
    const records: StepRecord[] = [];
    for await (const record of run) records.push(record);
    for (const { metrics } of records) {
      // P = 4 groups of 4 a step; with schedule "sync" a step verifies only these
      expect(metrics).toMatchObject({ "groups/count": 4, "verifier/calls/residue": 16, "lag/max": 0 });
      expect(metrics).toMatchObject({
        "verifier/judged/residue": 16,
        "verifier/correct/residue": 8,
        "verifier/partial/residue": 4,
        "verifier/unscored/residue": 0,
      });
      expect(metrics["verifier/seconds/residue"]).toBeCloseTo(0.048, 12);
      expect(metrics).toMatchObject({
        "judge/calls/residue": 32,
        "judge/tokens/residue": 160,
        "judge/disagreement/residue": 0.25,
        "judge/budget-left/residue": 0.5,
      });
      expect(metrics["credits/free"]).toBeGreaterThanOrEqual(0);
    }
    // The stand-in reports a quarter of a second for each weight swap, an eighth for each engine step.
    const { metrics: second } = records[1]!;
    expect(second["engine/weight-swap-seconds"]).toBe(second["engine/weight-swaps"]! / 4);
    expect(second["engine/weight-swap-seconds"]).not.toBe(second["engine/page-swap-seconds"]);
    expect(second["engine/page-swap-seconds"]).toBeGreaterThan(0);
    const targets = ["math", "logic", "code"].map((d) => records[2]!.metrics[`mixture/target/${d}`]);
    expect(targets).toEqual([0.5, 0.3, 0.2]);
    // 16 rollouts a step: the sampler adjusts only after 50 have ended, in the fourth step
    const adjustments = records.map((r) => r.metrics["sampler/adjustment/math"]);
    expect(adjustments.slice(0, 3)).toEqual([1, 1, 1]);
    expect(adjustments[3]).toBeGreaterThanOrEqual(0.1);
    expect(adjustments[3]).not.toBe(1);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
