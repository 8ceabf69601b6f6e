import { afterAll, describe, expect, test } from "vitest";
import { explainStep } from "../../lib/explain/index.ts";
import type { StepReport } from "../../lib/native/face.ts";
import { type Core, nativeCore } from "../../lib/orchestration/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { record, removeFolders, STEPS, trainedAttempt } from "./recording.ts";

afterAll(removeFolders);

/** The core, with step reports changed by `altered`. */
async function lyingCore(altered: (report: StepReport) => StepReport): Promise<Core> {
  const core = await nativeCore();
  const trainer: Core["trainer"] = (...args) => {
    const made = core.trainer(...args);
    const step = made.step.bind(made);
    made.step = async (...batch) => altered(await step(...batch));
    return made;
  };
  return { ...core, trainer };
}

describe.skipIf(noAddon !== undefined)("a core that computed something else", () => {
  test.each<readonly [string, (report: StepReport) => StepReport]>([
    [
      "ratio of sequence 0, token 0",
      (report) => ({ ...report, ratios: report.ratios.map((r) => r * 1.000001) }),
    ],
    ["clip of sequence", (report) => ({ ...report, clipped: report.clipped.map((c) => 1 - c) })],
    ["loss", (report) => ({ ...report, logprobs: report.logprobs.map((x) => x - 0.001) })],
  ])("is refused: %s", async (what, altered) => {
    const run = await record({ objective: { kind: "dapo", clipLow: 0.02, clipHigh: 0.02 } });
    const asked = { ...(await trainedAttempt(run, STEPS)), core: await lyingCore(altered) };
    await expect(explainStep(run.dir, asked)).rejects.toMatchObject({
      code: "HONE_ERR_INTERNAL",
      message: expect.stringContaining(what),
    });
  });
});
