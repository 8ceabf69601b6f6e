import { afterAll, describe, expect, test } from "vitest";
import { explainStep } from "../../lib/explain/index.ts";
import type { RunHooks } from "../../lib/orchestration/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { compareStep } from "./recomputation.ts";
import { record, removeFolders, STEPS, trainedAttempt } from "./recording.ts";

afterAll(removeFolders);

describe.skipIf(noAddon !== undefined)("rewards and advantages", () => {
  test("other settings from the same record", async () => {
    const run = await record({ objective: { kind: "gspo", clipLow: 3e-3, clipHigh: 4e-3 } });
    await compareStep(run, STEPS, [
      "lengthPenalty.kind=none",
      "objective.kind=cispo",
      "advantages.filter=none",
    ]);
    await compareStep(run, STEPS, [
      "lengthPenalty.kind=lp",
      "objective.kind=grpo",
      "advantages.divideBy=sample-std",
      "advantages.baseline=leave-one-out",
    ]);
  });

  test("a KL term cannot be added to a record without reference log-probs", async () => {
    const run = await record({});
    const asked = { ...(await trainedAttempt(run, STEPS)), set: ["objective.klCoef=0.1"] };
    await expect(explainStep(run.dir, asked)).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("no reference log-probs"),
    });
  });

  test("rewards of a hook", async () => {
    const onGroup: RunHooks["onGroup"] = ({ rollouts }) => ({ rewards: rollouts.map((_, i) => i * i) });
    const run = await record({}, { onGroup });
    const options = await trainedAttempt(run, STEPS);
    const { settings } = await explainStep(run.dir, { ...options, set: ["objective.kind=grpo"] });
    expect(settings.map(({ group }) => [group.byHook, group.mean])).toEqual([
      [true, 3.5],
      [true, 3.5],
    ]);
  });
});
