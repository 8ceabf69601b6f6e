import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRun } from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { inlineVerifiers } from "./inline-verifiers.ts";
import { smallRecipe } from "./small-recipe.ts";
import { standInCore } from "./stand-in-core.ts";

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
        busyMs: calls * 2,
        timeouts: 0,
        crashes: 0,
        retries: 0,
        unscored: 0,
        overrunMs: 0,
      },
    }),
  };
  try {
    await using run = await createRun(smallRecipe({ schedule: "sync", steps: 3 }), {
      dir,
      verifiers,
      core: standInCore(),
    });
    const records: StepRecord[] = [];
    for await (const record of run) records.push(record);
    for (const { metrics } of records) {
      // P = 4 groups of 4 a step; in step they are all that is verified
      expect(metrics).toMatchObject({ "groups/count": 4, "verifier/calls/residue": 16, "lag/max": 0 });
      expect(metrics["credits/free"]).toBeGreaterThanOrEqual(0);
    }
    const targets = ["math", "logic", "code"].map((d) => records[2]!.metrics[`mixture/target/${d}`]);
    expect(targets).toEqual([0.5, 0.3, 0.2]);
    const adjustment = records[0]!.metrics["sampler/adjustment/math"]!;
    const realized = records[0]!.metrics["mixture/completed/math"]!;
    expect(adjustment).toBeCloseTo(Math.min(10, Math.max(0.1, 0.5 / realized)), 9);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
