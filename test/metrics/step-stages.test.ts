// Deliberate faults (mutants) that these tests detect: a stage is missing in the table, "other" omits a stage, two
// stages are exchanged.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { collectStepMetrics, STEP_STAGES, stagesOf } from "../../lib/metrics/index.ts";
import { facts, rollout, trained } from "./tiny-facts.ts";

const gradients = { parts: [{ domain: "math", groups: 1 }], products: Float64Array.of(1), seconds: 0.125 };
const update = { ...trained([rollout()]), referenceSeconds: 0.0625, teacherSeconds: 0.03125, gradients };
const timing = { total: 1, waiting: 0.2, checkpointing: 0.1, logging: 0.02, recording: 0.5 };
const measured = collectStepMetrics(facts({ update, timing }));
const page = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8");

test("every time of a step that measured everything is a stage, and the stages are the step", () => {
  const times = Object.keys(measured).filter((name) => name.startsWith("time/"));
  expect(times).toEqual([...STEP_STAGES.map((name) => `time/${name}`), "time/step", "time/recording"]);
  const stages = stagesOf(measured);
  expect(stages.map(({ name }) => name)).toEqual(STEP_STAGES);
  for (const { name, seconds } of stages) expect(seconds, name).toBe(measured[`time/${name}`]);
  expect(stages.every(({ seconds }) => seconds > 0)).toBe(true);
  expect(stages.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(1, 12);
});

test("a step that trained nothing has no time of training, and its stages are the step too", () => {
  const stages = stagesOf(collectStepMetrics(facts({ timing })));
  expect(stages.filter(({ part, seconds }) => part === "training" && seconds > 0)).toEqual([]);
  expect(stages.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(1, 12);
});

test("the docs name them all, in this order", () => {
  const rows = [...page("reference/metrics").matchAll(/^\| `time\/([^`]+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(["step", ...STEP_STAGES, "recording"]);
  const [, spans] = /A step is a span `step` with one child[^:]*: ([^(]*) \(/.exec(page("how-to/trackers"))!;
  expect([...spans!.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(STEP_STAGES.slice(0, -1));
});
