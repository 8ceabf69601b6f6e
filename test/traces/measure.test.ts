import { expect, test } from "vitest";
import type { Category } from "../../lib/traces/categories.ts";
import { measureTraces } from "../../lib/traces/measure.ts";
import { stepsAt } from "../../lib/traces/split.ts";
import type { Labels, ReadSide, ReadTrace } from "../../lib/traces/trace.ts";

interface Change {
  readonly problem?: string;
  readonly tokens?: number | undefined;
  readonly correct?: boolean;
  readonly second?: Labels;
}

/** A trace whose steps have these categories and numbers of characters. */
function read(steps: readonly (readonly [Category | undefined, number])[], change: Change = {}): ReadTrace {
  const text = steps.map(([, length]) => "x".repeat(length)).join("");
  const starts = steps.map((_, i) => steps.slice(0, i).reduce((sum, [, length]) => sum + length, 0));
  const trace = { problem: "p", question: undefined, text, tokens: 100, correct: true, ...change };
  const { second, ...own } = trace as typeof trace & { second?: Labels };
  return { trace: own, steps: stepsAt(text, starts), labels: steps.map(([label]) => label), second };
}
const side = (name: string, ...reads: readonly ReadTrace[]): ReadSide => ({
  name,
  read: reads,
  outages: {},
  unsplit: 0,
});
const V = "verification";
const F = "forward reasoning";

test("steps per trace, tokens per step and shares, worked out by hand", () => {
  const measures = measureTraces([
    side(
      "a",
      read(
        [
          [F, 30],
          [V, 10],
        ],
        { tokens: 80, problem: "p" },
      ),
      read(
        [
          [F, 10],
          [undefined, 10],
          [F, 20],
          ["backtracking", 40],
        ],
        { tokens: 160, problem: "q", correct: false },
      ),
    ),
  ]);
  const value = (list: typeof measures.sizes, name: string) =>
    list.find((one) => one.name === name)!.sides[0]?.value;
  expect(measures.unit).toBe("tokens");
  expect(value(measures.sizes, "steps per trace")).toBe(3);
  expect(value(measures.sizes, "tokens per trace")).toBe(120);
  expect(value(measures.sizes, "tokens per step")).toBe(40);
  expect(value(measures.sizes, "steps per trace, right answers")).toBe(2);
  expect(value(measures.sizes, "tokens per step, right answers")).toBe(40);
  expect(value(measures.ofSteps, F)).toBeCloseTo(3 / 5, 12);
  expect(value(measures.ofSteps, "non-linear, together")).toBeCloseTo(2 / 5, 12);
  // 80 tokens over 40 characters, 160 over 80: two per character; 20 tokens are unclassified.
  expect(value(measures.ofLength, F)).toBeCloseTo((60 + 60) / 220, 12);
  expect(value(measures.ofLength, V)).toBeCloseTo(20 / 220, 12);
  expect(measures.sides[0]).toMatchObject({
    traces: 2,
    problems: 2,
    steps: 6,
    unclassified: 1,
    agreement: undefined,
  });
});

test("a difference is the second less the first, paired over problems: what moves all alike has no spread", () => {
  const many = (steps: number) =>
    Array.from({ length: 12 }, (_, i) =>
      read(
        Array.from({ length: steps + i }, () => [F, 5] as const),
        { problem: `p${i}` },
      ),
    );
  const [steps] = measureTraces([side("a", ...many(3)), side("b", ...many(5))]).sizes;
  expect(steps!.difference!.value).toBeCloseTo(2, 12);
  expect(steps!.difference!.interval!.low).toBeCloseTo(2, 9);
  expect(steps!.difference!.interval!.high).toBeCloseTo(2, 9);
  const { low, high } = steps!.sides[0]!.interval!;
  // The standard error of the mean of 3..14 is 3.452 / sqrt(12) = 0.997.
  expect(low).toBeGreaterThan(8.5 - 2.6);
  expect(low).toBeLessThan(8.5 - 1.4);
  expect(high).toBeGreaterThan(8.5 + 1.4);
  expect(high).toBeLessThan(8.5 + 2.6);
});

test("without counts of tokens lengths are characters on both sides; what a side lacks is undefined", () => {
  const measures = measureTraces([
    side("a", read([[F, 30]], { tokens: undefined, correct: false })),
    side(
      "b",
      read([
        [V, 10],
        [V, 10],
      ]),
    ),
  ]);
  expect(measures.unit).toBe("characters");
  const [, perTrace, perStep, right] = measures.sizes;
  expect([perTrace!.name, perTrace!.sides[0]!.value]).toEqual(["characters per trace", 30]);
  expect(perStep!.sides[1]!.value).toBe(10);
  expect(right!.sides.map((one) => one?.value)).toEqual([undefined, 2]);
  expect(right!.difference).toBeUndefined();
});

test("agreement is over the steps of both passes", () => {
  const own = read(
    [
      [F, 5],
      [V, 5],
      [V, 5],
      [undefined, 5],
    ],
    { second: [F, V, F, F] },
  );
  expect(measureTraces([side("a", own)]).sides[0]!.agreement).toMatchObject({ count: 3, share: 2 / 3 });
});
