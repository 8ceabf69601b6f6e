import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recipeOf } from "./machines.ts";

/** The rates from which the log below is made; a fit must find them again. */
export const TRUTH = { fixed: 0.002, perSequence: 5e-5, trainFixed: 0.1, perToken: 2e-4, speed: 0.5 };

/**
 * Writes the folder of a run of 20 steps on a machine with the rates above. Groups of math are kept and have 10
 * tokens per completion in the first half, 20 in the second; groups of code are dropped and have 5.
 */
export function recordedRun(steps = 20): string {
  return written(recipeOf({ steps }), steps, metricsOf);
}

/** Seconds of a step in the log of an actor and a trainer: for weights, for waiting, and the rest. */
export const FLEET_TRUTH = { update: 0.02, waiting: 0.5, beside: 0.6 };

/** The same steps on an actor and a trainer that share two cores and work in turn. */
export function recordedFleet({
  schedule = "sync" as "sync" | "async",
  actors = 1,
  trainers = 1,
  counted = true,
} = {}): string {
  const hardware = { processes: { actors, trainers } };
  const metrics = (i: number) => fleetMetricsOf(i, counted);
  return written(
    recipeOf({ steps: 20, schedule, groupsPerStep: 2, countGroups: "completed" }, { hardware }),
    20,
    metrics,
  );
}

function fleetMetricsOf(i: number, counted: boolean): Record<string, number> {
  const { update, waiting, beside } = FLEET_TRUTH;
  const batch = 4 + (i % 5);
  const training = TRUTH.trainFixed + TRUTH.perToken * (1000 + 100 * (i % 7));
  const total = waiting + training + update;
  const busy = 0.1;
  const generated = (busy / (TRUTH.fixed + TRUTH.perSequence * batch)) * batch;
  return {
    ...metricsOf(i),
    "time/step": total,
    "time/waiting": waiting,
    "time/publishing": update,
    "engine/idle": 1 - busy / total,
    "engine/occupancy": batch / 64,
    "speed/generated": generated / total,
    "speed/decode": generated / busy,
    ...(counted && { "speed/processors": (busy + training + beside) / total }),
  };
}

function written(
  config: ReturnType<typeof recipeOf>,
  steps: number,
  metricsAt: (i: number) => Record<string, number>,
): string {
  const dir = mkdtempSync(join(tmpdir(), "recorded-"));
  const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const numbers = Array.from({ length: steps }, (_, i) => i);
  const records = numbers.map((i) => ({ step: i + 1, version: i + 1, metrics: metricsAt(i) }));
  let elapsed = 0;
  for (const { metrics } of records) metrics["run/elapsed"] = elapsed += metrics["time/step"]!;
  writeFileSync(join(dir, "run.json"), JSON.stringify({ schema: 1, config, versions: { threads: 2 } }));
  writeFileSync(join(dir, "steps.jsonl"), lines(records));
  writeFileSync(join(dir, "events.jsonl"), lines(numbers.flatMap((i) => eventsOf(i, steps))));
  writeFileSync(join(dir, "verdicts.jsonl"), lines(JUDGED));
  return dir;
}

function metricsOf(i: number): Record<string, number> {
  const batch = 4 + (i % 5);
  const tokens = 1000 + 100 * (i % 7);
  const training = TRUTH.trainFixed + TRUTH.perToken * tokens;
  const waiting = 0.3 + 0.1 * (i % 3);
  // the engine works during all of the waiting, and during half of the training
  const work = waiting + TRUTH.speed * training;
  const stepSeconds = TRUTH.fixed + TRUTH.perSequence * batch;
  const generated = (work / stepSeconds) * batch;
  const total = waiting + training;
  return {
    "time/step": total,
    "time/waiting": waiting,
    "time/forward": training / 2,
    "time/backward": training / 2,
    "trained/tokens": tokens / 2,
    "packing/counted": 0.5,
    "engine/idle": 0,
    "engine/occupancy": batch / 64,
    "engine/weight-swap-seconds": 0.01,
    "speed/generated": generated / total,
    "speed/decode": generated / total,
    "speed/prefill": 5000,
    "prompt-length/mean": 12,
    "verifier/calls/rule": 4,
    "verifier/seconds/rule": 0.08,
    "verifier/p50-ms/rule": 10,
    "verifier/p95-ms/rule": 10 * Math.exp(1.645),
  };
}

function eventsOf(i: number, steps: number): unknown[] {
  const rollouts = (tokens: number) => [0, 1, 2, 3].map((attempt) => [attempt, tokens, "0", 0, i]);
  const [math, code] = [2 * i, 2 * i + 1];
  return [
    { e: "submit", g: math, d: "math", i, v: i },
    { e: "submit", g: code, d: "code", i, v: i },
    { e: "group", g: math, s: i, r: rollouts(i < steps / 2 ? 10 : 20) },
    { e: "group", g: code, s: i, x: "zero-advantage", r: rollouts(5) },
    { e: "step", s: i, v: i + 1, k: [math] },
  ];
}

const judged = (name: string, domain: string) => [
  { problem: name, id: 1, domain, family: "f", level: 0, verifier: "rule", reference: null },
  { completion: `c${name}`, of: name, finish: "eos", text: "1" },
  { verdict: { status: "correct", score: 1, reason: "" }, on: `c${name}`, version: 1 },
];
const JUDGED = [...judged("p", "math"), ...judged("q", "code")];
