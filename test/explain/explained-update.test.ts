import { afterAll, describe, expect, test } from "vitest";
import { explainStep } from "../../lib/explain/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { readStep, record, removeFolders, STEPS } from "./recording.ts";

afterAll(removeFolders);

describe.skipIf(noAddon !== undefined)("a step of several updates", () => {
  test("each attempt is explained in its own update, against the record to the bit", async () => {
    const { dir } = await record({
      objective: { kind: "grpo", clipLow: 0.02, clipHigh: 0.02, correction: { kind: "tis", high: 1.5 } },
      training: { steps: STEPS, groupsPerStep: 6, updatesPerBatch: 2 },
    });
    const { step, groups } = await readStep(dir, STEPS);
    const kept = groups.filter(({ dropped }) => dropped === undefined);
    const seen: string[] = [];
    for (const { problem, rollouts } of kept) {
      const { attempt } = rollouts.find(({ sequence }) => sequence !== undefined)!;
      const asked = { step: STEPS, problem, attempt, set: ["objective.kind=gspo"] };
      const { settings } = await explainStep(dir, asked);
      const [trained, otherwise] = settings.map((one) => one.step!);
      const { number, of } = trained!.update!;
      const { loss, gradNorm, tokens } = step.trained!.updates![number - 1]!;
      expect(trained).toMatchObject({ loss, gradNorm, tokens });
      expect(otherwise!.update).toEqual({ number, of });
      seen.push(`${number} of ${of}`);
      // from the second update on, tokens have moved away from the recorded log-probs
      const moved = settings[0]!.tokens.some(({ ratio }) => ratio !== 1);
      expect(moved).toBe(number > 1);
    }
    expect([...new Set(seen)]).toEqual(["1 of 2", "2 of 2"]);
  });

  test("an attempt of a group that was left out is shown beside the update of its neighbours", async () => {
    let groups = 0;
    const onGroup = () => (groups++ % 3 === 1 ? ("drop" as const) : undefined);
    const { dir } = await record(
      { training: { steps: STEPS, groupsPerStep: 6, updatesPerBatch: 2 } },
      { onGroup },
    );
    // Which step a dropped group belongs to depends on the order in which its neighbours end.
    const steps = await Promise.all(Array.from({ length: STEPS }, (_, i) => readStep(dir, i + 1)));
    const dropped = steps.map(({ groups }) => groups.find((group) => group.dropped === "hook"));
    const step = dropped.findIndex((group) => group !== undefined);
    const { problem, rollouts } = dropped[step]!;
    const asked = { step: step + 1, problem, attempt: rollouts[0]!.attempt };
    const { settings } = await explainStep(dir, asked);
    expect(settings[0]!.sequence).toBeUndefined();
    expect(settings[0]!.step!.update!.of).toBe(2);
  });
});
