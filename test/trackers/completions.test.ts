// Deliberate faults (mutants) that these tests detect: only the first groups have rows, long texts are not cut, the
// cut splits a character.
import { expect, test } from "vitest";
import type { RolloutGroup } from "../../lib/records.ts";
import { completionTable, isDue, MOST_CHARS, MOST_ROWS } from "../../lib/trackers/completions.ts";
import { trackedStep } from "../../lib/trackers/tracker.ts";
import { group, rollout } from "../metrics/tiny-facts.ts";

const member = (text: string) => {
  const scored = rollout({ versions: [1] });
  return { ...scored, rollout: { ...scored.rollout, text } };
};
const groupOf = (size: number, name: string): RolloutGroup => ({
  ...group([]),
  rollouts: Array.from({ length: size }, (_, i) => member(`${name}${i}`)),
});

test("a row says what was asked, answered, judged and trained with", () => {
  const scored = member("an answer");
  const dropped = { ...group([scored]), dropped: "zero-advantage" as const };
  const { columns, data } = completionTable(7, [dropped]);
  expect(Object.fromEntries(columns.map((name, i) => [name, data[0]![i]]))).toEqual({
    step: 7,
    domain: scored.rollout.problem.domain,
    problem: scored.rollout.problem.id,
    attempt: scored.rollout.attempt,
    prompt: scored.rollout.problem.question,
    completion: "an answer",
    verdict: scored.verdict.status,
    score: scored.verdict.score,
    reward: scored.reward,
    advantage: scored.advantage,
    tokens: scored.rollout.tokens.length,
    finish: scored.rollout.finish,
    reason: scored.verdict.reason,
    dropped: "zero-advantage",
  });
});

test("of many completions there are some of every group", () => {
  const texts = (groups: RolloutGroup[]) => completionTable(1, groups).data.map((row) => row[5]);
  expect(texts([groupOf(2, "a"), groupOf(0, "b"), groupOf(1, "c")])).toEqual(["a0", "a1", "c0"]);
  const many = texts([groupOf(40, "a"), groupOf(40, "b"), groupOf(3, "c")]);
  expect(many).toHaveLength(MOST_ROWS);
  expect(["a", "b", "c"].map((name) => many.filter((one) => String(one).startsWith(name)).length)).toEqual([
    15, 14, 3,
  ]);
  expect(completionTable(1, []).data).toEqual([]);
});

test("a long text is cut in the middle, and holds no half of a character", () => {
  const text = `b${"😀".repeat(MOST_CHARS)}e`;
  const [row] = completionTable(1, [{ ...group([]), rollouts: [member(text)] }]).data;
  const shown = String(row![5]);
  expect(shown.length).toBeLessThan(MOST_CHARS + 10);
  expect([shown[0], shown.at(-1), /[\ud800-\udfff]/u.test(shown)]).toEqual(["b", "e", false]);
});

test("a step carries a table where its tracker asks for one", () => {
  const details = { groups: [groupOf(1, "a")], endedAt: 1, epochMs: 0 };
  const at = (step: number, every?: number) =>
    trackedStep({ step, version: 1, metrics: {} }, details, 1, every);
  expect([at(4, 2), at(5, 2), at(4)].map(({ completions }) => completions?.data.length)).toEqual([
    1,
    undefined,
    undefined,
  ]);
  expect(isDue(10, 5)).toBe(true);
});
