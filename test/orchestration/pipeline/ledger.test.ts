import { expect, test } from "vitest";
import { Ledger } from "../../../lib/orchestration/pipeline/ledger.ts";
import { OutstandingGroups } from "../../../lib/orchestration/pipeline/outstanding-groups.ts";
import { requestOf } from "../pipeline-accounting.ts";

test("the law holds through a group's life, and counts say where it is", () => {
  const [ledger, outstanding] = [new Ledger(["math", "code"]), new OutstandingGroups()];
  const request = requestOf(0, 0);
  ledger.submitted("math", 4);
  outstanding.add(request);
  ledger.check(outstanding);
  expect(ledger.counts(outstanding)["math"]).toMatchObject({ submitted: 4, inFlight: 4, completed: 0 });
  outstanding.complete(request, 3, 1);
  ledger.completed("math", 3);
  ledger.failed("math", 1);
  ledger.check(outstanding);
  outstanding.remove(0);
  ledger.dropped("math", "unscored", 1);
  ledger.trained("math", 2, 30);
  ledger.check(outstanding);
  expect(ledger.counts(outstanding)["math"]).toMatchObject({
    inFlight: 0,
    trained: 2,
    trainedTokens: 30,
    dropped: { unscored: 1 },
  });
});

test("a rollout that is trained again is in the law once, and in the checkpoint as often as it was", () => {
  const [ledger, outstanding] = [new Ledger(["math"]), new OutstandingGroups()];
  ledger.submitted("math", 4);
  ledger.completed("math", 4);
  ledger.trained("math", 4, 30);
  ledger.replayed("math", 4);
  ledger.replayed("math", 3);
  ledger.check(outstanding);
  const restored = new Ledger(["math"], ledger.saved(outstanding));
  restored.replayed("math", 1);
  const counted = { trained: 4, trainedTokens: 30, replayed: 8 };
  expect(restored.counts(outstanding)["math"]).toMatchObject(counted);
  expect(restored.progress(outstanding)["math"]).toMatchObject({ trained: 4, replayed: 8 });
  const { replayed: _, ...older } = ledger.saved(outstanding)["math"]!;
  expect(new Ledger(["math"], { math: older }).counts(outstanding)["math"]).toMatchObject({ replayed: 0 });
});

test.each([
  ["a rollout that vanished in flight", (ledger: Ledger) => ledger.submitted("math", 1)],
  ["a rollout trained twice", (ledger: Ledger) => ledger.trained("math", 1, 5)],
  ["a rollout dropped that never completed", (ledger: Ledger) => ledger.dropped("math", "hook", 1)],
  ["a completion nobody waits with", (ledger: Ledger) => ledger.completed("math", 1)],
])("%s is found", (_, sin) => {
  const ledger = new Ledger(["math"]);
  sin(ledger);
  expect(() => ledger.check(new OutstandingGroups())).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_INTERNAL" }),
  );
});

test("saved, groups in the pipeline count as never submitted", () => {
  const [ledger, outstanding] = [new Ledger(["math"]), new OutstandingGroups()];
  outstanding.add(requestOf(0, 0));
  outstanding.complete(requestOf(0, 0), 4, 0);
  ledger.submitted("math", 4);
  ledger.completed("math", 4);
  const restored = new Ledger(["math"], ledger.saved(outstanding));
  restored.check(new OutstandingGroups());
  expect(restored.counts(new OutstandingGroups())["math"]).toMatchObject({ submitted: 0, completed: 0 });
});
