import { expect, test } from "vitest";
import type { JournalLine } from "../../lib/orchestration/index.ts";
import { IndexBuilder } from "../../lib/samples/builder.ts";
import { tables } from "../../lib/samples/tables.ts";

const key = (n: number) => `${n}`.padStart(32, "0");
const problem = (n: number, reference: unknown = n): JournalLine => ({
  problem: key(n),
  id: n,
  domain: "math",
  family: "chain",
  level: 0.5,
  verifier: "math",
  reference,
});
const completion = (n: number, text: string): JournalLine => ({
  completion: key(n),
  of: key(1),
  finish: "stop",
  text,
});
const wrong = { status: "wrong", score: 0, reason: "no" } as const;
const verdict = (on: number, version = 1, given: object = wrong) =>
  ({ verdict: given, on: key(on), version }) as JournalLine;

function built(...lines: readonly JournalLine[]) {
  const made = tables();
  const names: string[] = [];
  const builder = new IndexBuilder(made, names);
  const taken = lines.map((line, i) => builder.add(line, { at: 100 * i, size: i }));
  return { made, names, taken };
}

test("a text that comes again has its row; a verdict that says nothing new has none", () => {
  const { made, taken } = built(
    problem(1),
    completion(2, "<think> a </think>\\boxed{x}"),
    verdict(2),
    completion(2, "<think> a </think>\\boxed{x}"),
    verdict(2),
    verdict(2, 2),
    verdict(2, 2),
    verdict(2, 2, { status: "unscored", cause: "lost" }),
    verdict(2, 2, { status: "unscored", cause: "lost again" }),
  );
  expect(taken.every(Boolean)).toBe(true);
  expect([made.completions.rows, made.verdicts.rows]).toEqual([1, 3]);
  const { at, thought, chars, finish } = made.completions.columns;
  expect([at[0], thought[0], chars[0], finish[0]]).toEqual([100, 1, 27, 1]);
});

test("a problem that comes again has a row that points to its first; names are numbered once", () => {
  const { made, names } = built(problem(1), problem(3, "other"), problem(1, "ignored"));
  expect([...made.problems.columns.same.subarray(0, 3)]).toEqual([0, 1, 0]);
  expect(names).toEqual(["math", "chain"]);
  expect(made.problems.columns.level[0]).toBe(0.5);
  expect(made.problems.columns.reference0[0]).not.toBe(made.problems.columns.reference0[1]);
});

test("a group whose members are not all known adds none of them", () => {
  const member = { completion: key(2), attempt: 0, tokens: 3, versions: [0, 1], status: "unscored" } as const;
  const group = (...members: readonly object[]) =>
    ({ step: 1, group: 1, of: key(1), submittedVersion: 0, members }) as unknown as JournalLine;
  const { made, taken } = built(
    problem(1),
    completion(2, "a"),
    group(member, { ...member, completion: key(9) }),
    group(member, { ...member, completion: null }),
    { ...group(member), members: "none" } as unknown as JournalLine,
    group(member),
  );
  expect(taken).toEqual([true, true, false, false, false, true]);
  expect(made.members.rows).toBe(1);
  expect(made.members.columns.reward[0]).toBeNaN();
});
