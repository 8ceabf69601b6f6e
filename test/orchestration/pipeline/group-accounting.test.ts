import { expect, test } from "vitest";
import { GroupAccounting } from "../../../lib/orchestration/pipeline/group-accounting.ts";
import type { DrawnGroup, GroupRequest } from "../../../lib/orchestration/pipeline/group-request.ts";
import type { SettledGroup } from "../../../lib/orchestration/pipeline/grouper.ts";
import type { RunState } from "../../../lib/orchestration/recovery/checkpoints.ts";
import type { DropReason } from "../../../lib/records.ts";
import { problemOf, rolloutOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

// Deliberate faults (mutants) that these tests detect: the sampler ignores aborted attempts, a dropped group's
// rollouts count as trained, settling advances the step instead of batching, credits are returned before the check,
// saved counts include outstanding groups.

function open(state?: RunState, sampler: "adaptive" | "trained" = "adaptive") {
  const events: unknown[] = [];
  const clock = { version: 3, now: () => 17, sleep: async () => {} };
  const accounting = new GroupAccounting(
    {
      recipe: smallRecipe({}, { sampler }),
      domains: ["math", "logic", "code"],
      events: {
        submitted: (request) => events.push(["submitted", request.group, request.submittedVersion]),
        settled: ({ request }, step) => events.push(["settled", request.group, step]),
      },
      version: () => clock.version,
      clock: clock as never,
    },
    state,
  );
  const submit = (group: number): GroupRequest => accounting.submitted(drawn(group));
  return { accounting, events, clock, submit };
}

const drawn = (group: number): DrawnGroup => ({
  group,
  domain: "math",
  index: group,
  attempts: 4,
  problem: problemOf("math", group),
});

function settledOf(request: GroupRequest, kept: number, dropped?: DropReason): SettledGroup {
  const rollouts = Array.from({ length: kept }, () => rolloutOf([1], [2, 3, 4], 1));
  const group = { problem: request.problem, rollouts, solveRate: 0, submittedVersion: 3 };
  return {
    request,
    group: { ...group, ...(dropped && { dropped }) },
    rollouts: rollouts.map(({ rollout }) => rollout),
    unscored: [],
  };
}

test("a group's life: each event moves its rollouts, and the law holds all the way", async () => {
  const { accounting, events, submit } = open();
  const { total } = accounting.credits;
  await accounting.credits.take();
  const request = submit(0);
  expect(request).toMatchObject({ submittedVersion: 3, submittedMs: 17 });
  accounting.check();
  expect(accounting.mixture().counts["math"]).toMatchObject({ submitted: 4, inFlight: 4, completed: 0 });
  accounting.completed(request, 3, 1);
  accounting.check();
  expect(accounting.mixture().counts["math"]).toMatchObject({ inFlight: 0, completed: 3, trained: 0 });
  accounting.settled(settledOf(request, 3));
  accounting.batched();
  expect(accounting.outstanding).toBe(0);
  expect(accounting.credits.free).toBe(total - 1);
  accounting.trained(1);
  expect(accounting.credits.free).toBe(total);
  expect(accounting.trainedTokens).toBe(9);
  expect(events).toEqual([
    ["submitted", 0, 3],
    ["settled", 0, 0],
  ]);
});

test("a request is not changed by what becomes of it", () => {
  const { accounting, submit } = open();
  const request = Object.freeze(submit(0));
  const before = structuredClone(request);
  accounting.completed(request, 4, 0);
  accounting.settled(settledOf(request, 4, "zero-advantage"));
  expect(request).toEqual(before);
});

test("what is settled after a step has its batch is the next step's", () => {
  const { accounting, events, submit } = open();
  for (const group of [0, 1]) {
    const request = submit(group);
    accounting.completed(request, 4, 0);
    accounting.settled(settledOf(request, 4, "zero-advantage"));
    accounting.batched();
  }
  expect(events.filter((e) => (e as unknown[])[0] === "settled")).toEqual([
    ["settled", 0, 0],
    ["settled", 1, 1],
  ]);
  const { trained, dropped } = accounting.mixture().counts["math"]!;
  expect({ trained, dropped }).toEqual({ trained: 0, dropped: { "zero-advantage": 8 } });
});

test("the sampler counts what ended, whole or aborted, before any filter", () => {
  const { accounting, submit } = open();
  for (let group = 0; group < 15; group++) accounting.completed(submit(group), 3, 1);
  // all 60 completed rollouts are math's: its adjustment is 0.5 / 1, the others' the bound
  expect(accounting.mixture().adjustments).toEqual({ math: 0.5, logic: 10, code: 10 });
  expect(accounting.saved().sampler.completed["math"]).toBe(0); // a resume submits all groups again
});

test("a rollout that is lost on the way is found after the step, and no credit comes back", async () => {
  const { accounting, submit } = open();
  await accounting.credits.take();
  const free = accounting.credits.free;
  const request = submit(0);
  accounting.completed(request, 4, 0);
  accounting.settled(settledOf(request, 3));
  expect(() => accounting.trained(1)).toThrowError(expect.objectContaining({ code: "HONE_ERR_INTERNAL" }));
  expect(accounting.credits.free).toBe(free);
});

test("saved and restored, groups in the pipeline count as never submitted", () => {
  const { accounting, submit } = open();
  const [first, second] = [submit(0), submit(1)];
  accounting.generated(7);
  accounting.completed(first, 4, 0);
  accounting.completed(second, 4, 0);
  accounting.settled(settledOf(first, 4));
  const saved = accounting.saved();
  expect(saved).toMatchObject({
    generatedTokens: 7,
    outstanding: [{ group: 1, domain: "math", index: 1 }],
    sampler: { completed: { math: 4, logic: 0, code: 0 } },
  });
  const restored = open({ ...saved, step: 1 } as RunState).accounting;
  restored.check();
  expect(restored.mixture().counts["math"]).toMatchObject({ submitted: 4, completed: 4, trained: 4 });
  expect(restored.trainedTokens).toBe(12);
});

test("held by what is trained, a pick makes up for the groups that were dropped, also after a resume", () => {
  const { accounting, submit } = open(undefined, "trained");
  const first = accounting.pick();
  for (let group = 0; group < 20; group++) {
    const request = submit(group);
    accounting.completed(request, 4, 0);
    accounting.settled(settledOf(request, 4));
  }
  expect(first).toBe("math");
  expect(accounting.pick()).not.toBe("math");
  const { accounting: again } = open(
    { ...accounting.saved(), step: 1, draws: { nextGroup: 20, cursors: {} } } as unknown as RunState,
    "trained",
  );
  expect(again.pick()).toBe(accounting.pick());
  expect(again.mixture().probabilities).toEqual(accounting.mixture().probabilities);
});

test("masked rollouts of a kept group are dropped as overlong, and the law holds", async () => {
  const { accounting, submit } = open();
  await accounting.credits.take();
  const request = submit(0);
  accounting.completed(request, 4, 0);
  const settled = settledOf(request, 4);
  const rollouts = settled.group.rollouts.map((one, i) => ({ ...one, masked: i > 0 }));
  accounting.settled({ ...settled, group: { ...settled.group, rollouts } });
  accounting.batched();
  accounting.trained(1);
  const counts = accounting.mixture().counts["math"];
  expect(counts).toMatchObject({ completed: 4, retained: 1, trained: 1, dropped: { overlong: 3 } });
  expect(accounting.trainedTokens).toBe(3);
});
