// Deliberate faults (mutants) that these tests detect: a failure cancels nothing, the first failure in time counts,
// faults are swallowed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Outcome, runTests } from "../../../lib/domains/code/test-runner.ts";

const PASS: Outcome = { end: false };
const FAIL: Outcome = { end: true };

/** Tests that end on command, with a record of which were started, ran together, and were cancelled. */
function stage(count: number) {
  const ends = new Map<number, (outcome: Outcome | Error) => void>();
  const started: number[] = [];
  const calledOff: number[] = [];
  const run = (index: number, signal: AbortSignal) => {
    started.push(index);
    return new Promise<Outcome>((resolve, reject) => {
      ends.set(index, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      signal.addEventListener("abort", () => {
        calledOff.push(index);
        reject(new Error("called off"));
      });
    });
  };
  const end = async (index: number, outcome: Outcome | Error) => {
    ends.get(index)!(outcome);
    await new Promise(setImmediate);
  };
  return { result: runTests(count, run), started, calledOff, end };
}

test("two run at a time, the next one as soon as one has ended", async () => {
  const { result, started, end } = stage(4);
  expect(started).toEqual([0, 1]);
  await end(1, PASS);
  expect(started).toEqual([0, 1, 2]);
  for (const index of [2, 3, 0]) await end(index, PASS);
  expect(await result).toEqual([PASS, PASS, PASS, PASS]);
});

test("a failure calls off what comes after it and starts no more", async () => {
  const { result, started, calledOff, end } = stage(4);
  await end(0, FAIL);
  expect(await result).toEqual([FAIL]);
  expect([started, calledOff]).toEqual([[0, 1], [1]]);
});

test("a failure waits for what comes before it, whose failure counts first", async () => {
  const { result, calledOff, end } = stage(4);
  await end(1, FAIL);
  expect(calledOff).toEqual([]);
  await end(0, { ...FAIL });
  expect(await result).toEqual([FAIL]);
});

describe("faults", () => {
  test("reject, and call off the rest", async () => {
    const { result, calledOff, end } = stage(3);
    result.catch(() => {});
    await end(0, new Error("down"));
    await expect(result).rejects.toThrow("down");
    expect(calledOff).toEqual([1]);
  });

  test("after a failure do not count, before it they do", async () => {
    const after = stage(2);
    await after.end(1, new Error("down"));
    await after.end(0, FAIL);
    expect(await after.result).toEqual([FAIL]);

    const before = stage(2);
    before.result.catch(() => {});
    await before.end(1, FAIL);
    await before.end(0, new Error("down"));
    await expect(before.result).rejects.toThrow("down");
  });
});

test("the outcomes are those of the tests up to the first failure, in whatever order they end", async () => {
  const plan = fc.array(fc.record({ fails: fc.boolean(), ms: fc.nat(3) }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(plan, async (tests) => {
      const outcomes = await runTests(tests.length, async (index) => {
        for (let k = 0; k < tests[index]!.ms; k++) await new Promise(setImmediate);
        return { ...(tests[index]!.fails ? FAIL : PASS), index };
      });
      const first = tests.findIndex(({ fails }) => fails);
      const expected = tests.slice(0, first < 0 ? tests.length : first + 1);
      expect(outcomes).toEqual(expected.map(({ fails }, index) => ({ ...(fails ? FAIL : PASS), index })));
    }),
    { numRuns: 100 },
  );
});
