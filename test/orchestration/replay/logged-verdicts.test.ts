import { describe, expect, test } from "vitest";
import type { GroupEvent } from "../../../lib/orchestration/records/index.ts";
import { judgesOf, LOST, loggedVerdicts } from "../../../lib/orchestration/replay/logged-verdicts.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";

const group = (rest: Partial<GroupEvent> = {}): GroupEvent => ({ e: "group", g: 0, r: [], ...rest });
const history = (...groups: GroupEvent[]) => {
  const steps = [{ event: { e: "step", s: 0, v: 1, k: [] } as const, groups }];
  return { steps, stretches: [{ recipe: undefined, steps }], drawn: new Map() };
};

describe("what a log has of verdicts", () => {
  test("is said again, with the parts of several rewards, and of a lost one that it was lost", () => {
    const said = loggedVerdicts(group({ j: [["correct", 1], null], p: [{ digits: 1 }, null] }));
    expect(said).toEqual([
      { status: "correct", score: 1, reason: "as it was in the run", parts: { digits: 1 } },
      LOST,
    ]);
    expect(loggedVerdicts(group())).toBeUndefined();
  });

  test("no verifier is opened where every group's are logged", async () => {
    const whole = group({ j: [["wrong", 0]] });
    const judges = judgesOf(history(whole), undefined);
    await expect(judges!.verify([])).rejects.toThrow("the log has every verdict");
    expect(judgesOf(history(whole, group()), undefined)).toBeUndefined();
    expect(judgesOf(history(whole), inlineVerifiers)).toBe(inlineVerifiers);
  });
});
