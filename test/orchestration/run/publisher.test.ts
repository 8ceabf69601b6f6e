import { expect, test } from "vitest";
import type { Sink } from "../../../lib/metrics/index.ts";
import type { StepOutcome } from "../../../lib/orchestration/pipeline/index.ts";
import { Publisher } from "../../../lib/orchestration/run/publisher.ts";
import { rolloutOf, settledOf } from "../pipeline-accounting.ts";

const TIMES = { endedAt: 5, epochMs: 2 };
const recordOf = (step: number) => ({ step, version: step, metrics: {} });
const outcomeOf = (update?: unknown) =>
  ({ batch: { groups: [settledOf(7, [rolloutOf([1], [2, 3], 0.5)])] }, update }) as unknown as StepOutcome;

test("a step goes to every sink, to listeners with its groups' numbers, and to whoever iterates", async () => {
  const written: (number | string)[] = [];
  const sink: Sink = {
    name: "numbers",
    write: ({ step }, { groups, endedAt, epochMs }) =>
      void written.push(step, `${groups[0]!.problem.id}:${endedAt}:${epochMs}`),
    ended: (state) => void written.push(state),
    close: () => void written.push(-1),
  };
  const publisher = new Publisher([sink, sink]);
  const heard: unknown[] = [];
  publisher.listeners.on("step", ({ step }) => heard.push(step));
  publisher.listeners.on("group", (_, of) => heard.push(of));
  publisher.step(recordOf(3), outcomeOf(), TIMES);
  publisher.records.end();
  publisher.ended("stopped");
  await publisher.close();
  expect(written).toEqual([3, "7:5:2", 3, "7:5:2", "stopped", "stopped", -1, -1]);
  expect(heard).toEqual([{ id: 7, step: 3 }, 3]);
  const taken: number[] = [];
  for await (const { step } of publisher.records) taken.push(step);
  expect(taken).toEqual([3]);
});

test("records that nobody takes are counted after the first thousand, and the run goes on", () => {
  const publisher = new Publisher([]);
  for (let step = 1; step <= 1003; step++) publisher.step(recordOf(step), outcomeOf(), TIMES);
  expect([publisher.records.length, publisher.missedRecords]).toEqual([1000, 3]);
});

test("a skipped update is a warning that names whose loss was not finite", () => {
  const publisher = new Publisher([]);
  const warnings: string[] = [];
  publisher.listeners.on("warning", (message) => warnings.push(message));
  const culprit = rolloutOf([1], [2, 3], 0.5);
  publisher.step(recordOf(1), outcomeOf({ report: { skipped: false } }), TIMES);
  publisher.step(recordOf(2), outcomeOf({ report: { skipped: true } }), TIMES);
  publisher.step(recordOf(3), outcomeOf({ report: { skipped: true }, culprit }), TIMES);
  expect(warnings).toEqual([
    "step 2 was skipped",
    expect.stringMatching(
      /^step 3 was skipped; the loss of \S+ problem \d+ \(.*\), attempt 0 was not finite$/,
    ),
  ]);
});

test("a sink that fails when the run has ended keeps nobody from being told", () => {
  const told: string[] = [];
  const failing: Sink = {
    name: "mine",
    write: () => {},
    ended: () => {
      throw new Error("no room");
    },
    close: () => {},
  };
  const publisher = new Publisher([failing, { ...failing, ended: (state) => void told.push(state) }]);
  publisher.listeners.on("warning", (message) => told.push(message));
  publisher.ended("finished");
  expect(told).toEqual(["mine failed at the end of the run: Error: no room", "finished"]);
});
