import { expect, test } from "vitest";
import type { LoggedRollout, RunEvent } from "../../../lib/orchestration/records/event-log.ts";
import { expectPlayable, readHistory } from "../../../lib/orchestration/records/run-history.ts";

// Deliberate faults (mutants) that these tests detect: each check of expectPlayable removed, a resume keeps the old
// recipe.

const step = (s: number, v = s + 1, k: number[] = []) => ({ e: "step", s, v, k }) as const;
const rollout = (attempt: number, ...runs: number[]): LoggedRollout => [attempt, 9, "00", ...runs];
const group = (g: number, ...r: LoggedRollout[]) => ({ e: "group", g, r }) as const;
const submit = (g: number, i = g) => ({ e: "submit", g, d: "math", i, v: 0 }) as const;

test("a resume takes back the steps after its checkpoint and what they took", () => {
  const history = readHistory([
    submit(0, 7),
    group(0),
    step(0),
    submit(1, 8),
    group(1),
    step(1),
    group(2),
    { e: "end", s: 2, v: 2, w: "old" } as const,
    { e: "resume", s: 1 } as const,
    submit(1, 8),
    group(1),
    step(1),
    { e: "end", s: 2, v: 2, w: "new" } as const,
  ]);
  expect(history.steps.map(({ groups }) => groups.map(({ g }) => g))).toEqual([[0], [1]]);
  expect(history.drawn.get(1)).toEqual({ domain: "math", index: 8 });
  expect(history.weights).toBe("new");
});

test("each step belongs to the recipe it went by; sessions with the same one make one stretch", () => {
  const resume = (s: number, c?: unknown) => ({ e: "resume", s, ...(c !== undefined && { c }) }) as const;
  const told = (events: RunEvent[]) =>
    readHistory(events).stretches.map(({ recipe, steps }) => [recipe, steps.map(({ event }) => event.s)]);
  const [one, two] = [{ lr: 1 }, { lr: 2 }];
  const start: RunEvent[] = [{ e: "start", c: one }, step(0), step(1), step(2)];
  expect(told([...start, resume(3, { lr: 1 }), step(3)])).toEqual([[one, [0, 1, 2, 3]]]);
  expect(told([...start, resume(1, two), step(1), step(2)])).toEqual([
    [one, [0]],
    [two, [1, 2]],
  ]);
  expect(told([step(0), resume(1), step(1)])).toEqual([[undefined, [0, 1]]]);
  expect(told([])).toEqual([]);
});

const whole = [submit(0), group(0, rollout(0, 0, 0), rollout(1, 0, 0)), step(0, 1, [0])];
const next = [submit(1), group(1, rollout(0, 0, 0, 4, 1)), step(1, 2, [1])];

test.each<[string, RunEvent[], RegExp | undefined]>([
  ["a whole log", [...whole, ...next], undefined],
  [
    "a step that trained nothing",
    [submit(0), { ...group(0, rollout(0, 0, 0)), x: "hook" }, step(0, 0)],
    undefined,
  ],
  [
    "a log that begins late",
    [submit(1), group(1, rollout(0, 0, 0)), step(1, 2, [1])],
    /it has step 1 where step 0/,
  ],
  ["a missing step", [...whole, { ...step(2, 2) }], /it has step 2 where step 1/],
  ["a group from nowhere", [group(5, rollout(0, 0, 0)), step(0, 1, [5])], /group 5 was never submitted/],
  [
    "a verdict too few",
    [submit(0), { ...group(0, rollout(0, 0, 0)), j: [] }, step(0, 1, [0])],
    /group 0 has 1 rollouts and 0 verdicts/,
  ],
  ["a group twice", [...whole, group(0, rollout(0, 0, 0)), step(1, 2, [0])], /group 0 occurs twice/],
  ["a group without rollouts", [submit(0), group(0), step(0, 1, [0])], /group 0 has rollouts/],
  ["a missing attempt", [submit(0), group(0, rollout(1, 0, 0)), step(0, 1, [0])], /group 0 has rollouts/],
  ["weights from the future", [submit(0), group(0, rollout(0, 0, 1)), step(0, 1, [0])], /up to version 0/],
  ["a rollout without versions", [submit(0), group(0, rollout(0)), step(0, 1, [0])], /group 0 has/],
  ["half a version run", [submit(0), group(0, rollout(0, 0, 0, 4)), step(0, 1, [0])], /group 0 has/],
  ["versions that begin late", [submit(0), group(0, rollout(0, 1, 0)), step(0, 1, [0])], /group 0 has/],
  [
    "versions that go back",
    [...whole, submit(1), group(1, rollout(0, 0, 1, 4, 0)), step(1, 2, [1])],
    /group 1 has/,
  ],
  [
    "a version past the end",
    [...whole, submit(1), group(1, rollout(0, 0, 0, 9, 1)), step(1, 2, [1])],
    /group 1 has/,
  ],
  [
    "other groups trained",
    [...whole.slice(0, 2), step(0, 1, [3])],
    /step 0 trained groups 3, but 0 were kept/,
  ],
  ["a group trained again", [...whole, ...next, { ...step(2, 3), b: [0, 1] }], undefined],
  [
    "a group trained again before it was trained",
    [...whole, submit(1), group(1, rollout(0, 0, 0)), { ...step(1, 2, [1]), b: [1] }],
    /step 1 trained group 1 again, which no step before it did/,
  ],
  [
    "a dropped group trained again",
    [submit(0), { ...group(0, rollout(0, 0, 0)), x: "hook" as const }, step(0, 0), { ...step(1, 1), b: [0] }],
    /step 1 trained group 0 again/,
  ],
  ["a version left out", [...whole.slice(0, 2), step(0, 2, [0])], /step 0 leads from version 0 to version 2/],
])("%s is playable or refused, by name", (_, events, message) => {
  const look = () => expectPlayable(readHistory(events), "a/events.jsonl");
  if (message === undefined) expect(look).not.toThrow();
  else
    expect(look).toThrowError(
      expect.objectContaining({ code: "HONE_ERR_FORMAT", message: expect.stringMatching(message) }),
    );
});
