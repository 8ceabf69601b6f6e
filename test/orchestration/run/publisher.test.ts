import { expect, test } from "vitest";
import type { Sink } from "../../../lib/metrics/index.ts";
import type { StepOutcome } from "../../../lib/orchestration/line/index.ts";
import { Publisher } from "../../../lib/orchestration/run/publisher.ts";
import { rolloutOf, settledOf } from "../lines-books.ts";

const recordOf = (step: number) => ({ step, version: step, metrics: {} });
const outcomeOf = (update?: unknown) =>
  ({ batch: { groups: [settledOf(7, [rolloutOf([1], [2, 3], 0.5)])] }, update }) as unknown as StepOutcome;

test("a step goes to every sink, to listeners with its groups' numbers, and to whoever iterates", async () => {
  const written: number[] = [];
  const sink: Sink = {
    name: "numbers",
    write: ({ step }) => void written.push(step),
    close: () => void written.push(-1),
  };
  const publisher = new Publisher([sink, sink]);
  const heard: unknown[] = [];
  publisher.listeners.on("step", ({ step }) => heard.push(step));
  publisher.listeners.on("group", (_, of) => heard.push(of));
  publisher.step(recordOf(3), outcomeOf());
  publisher.records.end();
  publisher.close();
  expect(written).toEqual([3, 3, -1, -1]);
  expect(heard).toEqual([{ id: 7, step: 3 }, 3]);
  const taken: number[] = [];
  for await (const { step } of publisher.records) taken.push(step);
  expect(taken).toEqual([3]);
});

test("records that nobody takes are counted after the first thousand, and the run goes on", () => {
  const publisher = new Publisher([]);
  for (let step = 1; step <= 1003; step++) publisher.step(recordOf(step), outcomeOf());
  expect([publisher.records.length, publisher.missedRecords]).toEqual([1000, 3]);
});

test("a skipped update is a warning that names whose loss was not finite", () => {
  const publisher = new Publisher([]);
  const warnings: string[] = [];
  publisher.listeners.on("warning", (message) => warnings.push(message));
  const culprit = rolloutOf([1], [2, 3], 0.5);
  publisher.step(recordOf(1), outcomeOf({ report: { skipped: false } }));
  publisher.step(recordOf(2), outcomeOf({ report: { skipped: true } }));
  publisher.step(recordOf(3), outcomeOf({ report: { skipped: true }, culprit }));
  expect(warnings).toEqual([
    "step 2 was skipped",
    expect.stringMatching(
      /^step 3 was skipped; the loss of \S+ problem \d+ \(.*\), attempt 0 was not finite$/,
    ),
  ]);
});
