import { expect, test } from "vitest";
import { byAge, submittedGroup } from "../../lib/simulate/attempt.ts";
import { DecodeProgress } from "../../lib/simulate/decode-progress.ts";
import { requestOf } from "../orchestration/pipeline-accounting.ts";

const group = (number: number) =>
  submittedGroup(
    { ...requestOf(number, 0), attempts: 2 },
    { promptTokens: 10, lengths: [30, 40], verify: [1, 1], kept: true },
  );

test("an attempt that is interrupted goes on where it was, with the versions of its parts", () => {
  const progress = new DecodeProgress({ fixed: 1, perSequence: 0, perContextToken: 0 });
  const [attempt] = group(0).attempts;
  progress.version = 2;
  attempt!.begin(progress);
  expect([progress.batch, progress.context, attempt!.endStep]).toEqual([1, 10, 30]);
  progress.reach(12, 12);
  attempt!.leave(progress);
  expect([progress.batch, progress.context, attempt!.done]).toEqual([0, 0, 12]);
  progress.version = 5;
  attempt!.begin(progress);
  progress.reach(30, 30);
  attempt!.leave(progress);
  expect([attempt!.done, attempt!.firstVersion, attempt!.versions]).toEqual([30, 2, 12 * 2 + 18 * 5]);
  attempt!.startAgain();
  expect([attempt!.done, attempt!.firstVersion, attempt!.versions]).toEqual([0, -1, 0]);
});

test("age is the order of submission, then of attempts", () => {
  const [a, b] = [group(3), group(2)];
  expect(
    [...a.attempts, ...b.attempts].sort(byAge).map(({ group: g, number }) => [g.request.group, number]),
  ).toEqual([
    [2, 0],
    [2, 1],
    [3, 0],
    [3, 1],
  ]);
});
