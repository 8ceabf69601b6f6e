// Deliberate faults (mutants) that these tests detect: the MAD is divided by the sum instead of the number of
// domains, windows are compared with the total, domains without completions are left out.
import { expect, test } from "vitest";
import { MetricSheet } from "../../lib/metrics/distribution.ts";
import type { StageCounts } from "../../lib/metrics/index.ts";
import { putMixtureMetrics } from "../../lib/metrics/mixture-metrics.ts";
import { counts } from "./tiny-facts.ts";

const mixture = (now: Record<string, StageCounts>) => ({
  targets: { math: 0.6, code: 0.4 },
  counts: now,
  probabilities: { math: 0.7, code: 0.3 },
  adjustments: { math: 1.5, code: 0.5 },
});

function collect(
  now: Record<string, StageCounts>,
  before: Record<string, StageCounts> = {},
): Record<string, number> {
  const sheet = new MetricSheet();
  putMixtureMetrics(sheet, mixture(now), before);
  return sheet.values;
}

test("shares at every stage, against the target, since the beginning and in the step", () => {
  const before = { math: counts({ completed: 10 }), code: counts({ completed: 10 }) };
  const now = {
    math: counts({ submitted: 30, inFlight: 4, completed: 26, retained: 10, trained: 8, trainedTokens: 100 }),
    code: counts({ submitted: 10, inFlight: 0, completed: 14, retained: 10, trained: 2, trainedTokens: 300 }),
  };
  const m = collect(now, before);
  expect(m).toMatchObject({
    "mixture/target/math": 0.6,
    "mixture/submitted/math": 0.75,
    "mixture/in-flight/math": 1,
    "mixture/in-flight/code": 0,
    "mixture/completed/math": 0.65,
    "mixture/completed/window/math": 0.8,
    "mixture/completed/window/code": 0.2,
    "mixture/retained/math": 0.5,
    "mixture/trained/code": 0.2,
    "mixture/trained-tokens/code": 0.75,
    "sampler/probability/math": 0.7,
    "sampler/adjustment/code": 0.5,
  });
  expect(m["mixture/completed/mad"]).toBeCloseTo(0.05, 12);
  expect(m["mixture/completed/window/mad"]).toBeCloseTo(0.2, 12);
  expect(m["mixture/retained/max-error"]).toBeCloseTo(0.1, 12);
  expect(m).not.toHaveProperty("mixture/in-flight/window/math");
});

test("a domain that has none yet has share 0 and its whole target as error", () => {
  const m = collect({ math: counts({ completed: 5 }) });
  expect(m["mixture/completed/code"]).toBe(0);
  expect(m["mixture/completed/max-error"]).toBeCloseTo(0.4, 12);
});

test("drops by reason and domain, in the step and since the beginning", () => {
  const before = { math: counts({ dropped: { "zero-advantage": 8 } }) };
  const now = { math: counts({ dropped: { "zero-advantage": 24, unscored: 1 } }), code: counts() };
  expect(collect(now, before)).toMatchObject({
    "dropped/zero-advantage/math": 16,
    "dropped/total/zero-advantage/math": 24,
    "dropped/unscored/math": 1,
    "dropped/total/unscored/math": 1,
  });
});

test("before anything happened there are targets and probabilities only", () => {
  const names = Object.keys(collect({}));
  expect(names.every((name) => /^(mixture\/target|sampler)\//.test(name))).toBe(true);
});
