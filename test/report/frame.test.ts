import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collectStepMetrics, MetricsHistory, STEP_STAGES } from "../../lib/metrics/index.ts";
import { COLORED, PLAIN, wholeCells, width } from "../../lib/report/ansi.ts";
import { type FrameState, renderFrame, trendsOf } from "../../lib/report/frame.ts";
import { SyntheticRun, TARGETS } from "../metrics/synthetic-facts.ts";

const run = new SyntheticRun(3, 40);
const history = new MetricsHistory();
const steps = Array.from({ length: 40 }, (_, i) => ({
  step: i + 1,
  version: i + 1,
  metrics: collectStepMetrics(run.step(i + 1), history),
}));
const state: FrameState = {
  title: "quickstart, seed 0",
  phase: "training",
  done: 40,
  total: 120,
  elapsedSeconds: 20,
  note: "",
  domains: Object.keys(TARGETS),
  steps,
};

test.each([200, 100, 80, 40, 1, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  "no line is wider than %d columns, plain or coloured",
  (columns) => {
    for (const style of [PLAIN, COLORED]) {
      const lines = renderFrame(state, columns, style);
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(wholeCells(columns));
    }
  },
);

test("of steps before the last one it needs their trends alone", () => {
  const reduced = [...steps.slice(0, -1).map(trendsOf), steps.at(-1)!];
  expect(Object.keys(reduced[0]!.metrics).length).toBeLessThan(20);
  expect(renderFrame({ ...state, steps: reduced }, 120, PLAIN)).toEqual(renderFrame(state, 120, PLAIN));
});

test("whatever is measured, in 1 to 300 columns and in terminals without a size, it draws, and never wider", () => {
  const any = fc.oneof(
    fc.double(),
    fc.constantFrom(0, -0, 1, Number.NaN, Infinity, -Infinity, 5e-324, 1e308),
  );
  const names = [...new Set(steps.flatMap(({ metrics }) => Object.keys(metrics)))];
  const metrics = fc
    .tuple(fc.subarray(names), fc.array(any, { minLength: names.length, maxLength: names.length }))
    .map(([some, values]) => Object.fromEntries(some.map((name, i) => [name, values[i]!])));
  const states = fc.record<FrameState>({
    title: fc.string({ unit: "grapheme", maxLength: 120 }),
    phase: fc.constantFrom("warm start", "evaluation before", "training"),
    done: any,
    total: any,
    elapsedSeconds: any,
    note: fc.string({ unit: "grapheme", maxLength: 40 }),
    domains: fc.array(fc.oneof(fc.constantFrom(...state.domains), fc.string({ unit: "grapheme" })), {
      maxLength: 6,
    }),
    steps: fc.array(
      metrics.map((some) => ({ step: 1, version: 1, metrics: some })),
      { maxLength: 4 },
    ),
  });
  const room = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(0, -1, 0.5, Number.NaN, Infinity));
  fc.assert(
    fc.property(states, room, fc.constantFrom(PLAIN, COLORED), (drawn, columns, style) => {
      for (const line of renderFrame(drawn, columns, style))
        expect(width(line)).toBeLessThanOrEqual(wholeCells(columns));
    }),
    { numRuns: 200 },
  );
});

test("in every width of a terminal the bars are as wide as their lines", () => {
  for (const columns of [...Array.from({ length: 110 }, (_, i) => i + 1), 299, 300]) {
    const [, progress, ...rest] = renderFrame(state, columns, PLAIN);
    expect(width(progress!)).toBe(Math.min(100, columns));
    const stacked = rest.find((line) => line.includes("█") && line.startsWith(" step"));
    if (stacked !== undefined) expect(width(stacked)).toBeLessThanOrEqual(Math.min(100, columns));
  }
});

test("in 80 columns nothing is cut off: target shares, health and the busiest part are all there", () => {
  const text = renderFrame(state, 79, PLAIN).join("\n");
  const whole = renderFrame(state, 100, PLAIN).join("\n");
  const words = (frame: string) => new Set(frame.replace(/[▁▂▃▄▅▆▇█━─]/g, "").split(/\s+/));
  expect(words(text)).toEqual(words(whole));
});

test("colour changes nothing but colour", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences
  const bare = renderFrame(state, 100, COLORED).map((line) => line.replace(/\u001b\[\d+m/g, ""));
  expect(bare).toEqual(renderFrame(state, 100, PLAIN));
});

describe("what it says", () => {
  const text = renderFrame(state, 100, PLAIN).join("\n");
  const m = steps.at(-1)!.metrics;

  /** In a step without a completion of the domain its last value is shown. */
  const lastOf = (name: string) => steps.findLast((s) => s.metrics[name] !== undefined)!.metrics[name]!;

  test("progress and time left at the pace so far", () => {
    expect(text).toContain("training 40/120");
    expect(text).toContain("0:20  ETA 0:40");
  });

  test("a row per domain with score, tokens, share and target", () => {
    for (const domain of Object.keys(TARGETS)) {
      const row = text.split("\n").find((line) => line.includes(` ${domain} `))!;
      expect(row).toContain(lastOf(`score/mean/${domain}`).toFixed(2));
      expect(row).toContain(lastOf(`length/mean/${domain}`).toFixed(1));
      expect(row).toContain(`/ ${(100 * m[`mixture/target/${domain}`]!).toFixed(1)} %`);
    }
  });

  test("health, speed and where the step's time goes", () => {
    for (const word of [
      "reward",
      "truncated",
      "entropy",
      "lag",
      "ratio",
      "clipped",
      "generated",
      "MiB",
      "busiest engine",
    ]) {
      expect(text).toContain(word);
    }
    expect(text).toContain("mismatch 0 exactly");
    expect(text).toContain(`step ${m["time/step"]!.toFixed(2)} s`);
  });
});

test("every stage of a step is in the bar and in the legend, in the order in which it passes", () => {
  const shares = STEP_STAGES.map((name, i) => [name, 4 + i] as const);
  const metrics = Object.fromEntries(shares.map(([name, share]) => [`time/${name}`, share]));
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const last = { step: 1, version: 1, metrics: { ...metrics, "time/step": total } };
  const cells = new Map<number, number>();
  const hue = (i: number, text: string) => {
    if (text.startsWith("█")) cells.set(i, text.length);
    return text;
  };
  const text = renderFrame({ ...state, steps: [last] }, 100, { ...PLAIN, hue }).join(" ");
  expect([...text.matchAll(/■ (\w+) (\d+) %/g)].map(([, name, share]) => [name, Number(share)])).toEqual(
    shares.map(([name, share]) => [name, Math.round((100 * share) / total)]),
  );
  expect([...cells.keys()]).toEqual([...STEP_STAGES.keys()]);
  for (const [i, [name, share]] of shares.entries())
    expect(Math.abs(cells.get(i)! - (86 * share) / total), name).toBeLessThan(1);
});

test("before the first step there is progress only; with nothing done, no time left is claimed", () => {
  const lines = renderFrame({ ...state, steps: [], done: 0, phase: "warm start" }, 80, PLAIN);
  expect(lines).toHaveLength(2);
  expect(lines[0]).not.toContain("ETA");
});

test("metrics that a step does not have leave no holes and no NaN", () => {
  const lines = renderFrame(
    { ...state, steps: [{ step: 1, version: 1, metrics: { "time/step": 1 } }] },
    100,
    PLAIN,
  );
  expect(lines.join("\n")).not.toMatch(/NaN|undefined|Infinity/);
});

test("a phase that has ended, done or stopped, has no time left; no speed is shown where nothing was generated", () => {
  const text = (more: Partial<FrameState>) => renderFrame({ ...state, ...more }, 120, PLAIN).join("\n");
  expect(text({})).toContain("ETA ");
  expect(text({ isOver: true })).not.toContain("ETA");
  const last = steps.at(-1)!;
  const waited = { ...last, metrics: { ...last.metrics, "speed/generated": 0 } };
  expect(text({})).toContain("generated ");
  expect(text({ steps: [...steps.slice(0, -1), waited] })).not.toContain("generated");
});

test("one domain is all: no second row with the same numbers, and no mixture", () => {
  const step = { step: 1, version: 1, metrics: { "score/mean": 0.5, "score/mean/sorting": 0.5 } };
  const state = { title: "sorting", phase: "training", done: 1, total: 9, elapsedSeconds: 1, note: "" };
  const text = renderFrame({ ...state, domains: ["sorting"], steps: [step] }, 90, PLAIN).join("\n");
  expect(text).toMatch(/^ sorting/m);
  expect(text).not.toMatch(/^ all|mix \/ target|MAD/m);
  const two = renderFrame({ ...state, domains: ["sorting", "math"], steps: [step] }, 90, PLAIN).join("\n");
  expect(two).toMatch(/^ all .*MAD/m);
});
