import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  collectStepMetrics,
  MetricsHistory,
  openSinks,
  RUN_FILES,
  writeRunManifest,
} from "../../lib/metrics/index.ts";
import type { EvaluationTable, RunSummary, Score } from "../../lib/report/index.ts";
import { NO_DETAILS } from "../metrics/details.ts";
import { SyntheticRun, TARGETS } from "../metrics/synthetic-facts.ts";

const BEFORE = [0.57, 0.51, 0.34, 0.63, 0.53];
const AFTER = [0.92, 0.82, 0.81, 0.83, 0.77];

function table(
  temperature: number,
  scores: readonly number[],
  tokens: number,
  version: number,
): EvaluationTable {
  const score = (value: number): Score => ({
    score: value,
    solveRate: value * 0.97,
    meanTokens: tokens * (0.8 + 0.4 * value),
    truncation: tokens > 20 ? 0.083 : 0.004,
    n: 96,
    standardError: Math.sqrt((value * (1 - value)) / 96),
  });
  const names = Object.keys(TARGETS);
  const domains = Object.fromEntries(names.map((d, i) => [d, score(scores[i]!)]));
  const mean = score(scores.reduce((a, b) => a + b, 0) / scores.length);
  return {
    temperature,
    ...(temperature < 1 && { topP: 0.95 }),
    version,
    domains,
    mean: { ...mean, n: 480, standardError: mean.standardError / Math.sqrt(5) },
  };
}

export function syntheticSummary(): RunSummary {
  return {
    schema: 2,
    name: "quickstart",
    seed: 0,
    state: "done",
    steps: 120,
    version: 120,
    startedAt: "2026-01-02T03:04:05.000Z",
    finishedAt: "2026-01-02T03:06:36.000Z",
    before: [
      table(1, BEFORE, 27.5, 0),
      table(
        0.6,
        BEFORE.map((r) => r + 0.18),
        25,
        0,
      ),
    ],
    after: [
      table(1, AFTER, 17.4, 120),
      table(
        0.6,
        AFTER.map((r) => Math.min(0.99, r + 0.06)),
        16.2,
        120,
      ),
    ],
    seconds: {
      "warm start": 84.2,
      "evaluation before": 6.1,
      training: 52.3,
      "evaluation after": 5.2,
      checkpoint: 0.4,
    },
    peakRssBytes: 431 * 2 ** 20,
    tokens: { generated: 612_000, trained: 401_000 },
    tokensPerSecond: { generated: 26_100, trained: 11_200 },
    demonstrations: { wrongAnswers: 0.15, endless: 0.08 },
  };
}

/** Fills a folder like a finished run of 120 steps. */
export function writeSyntheticRun(runDir: string, steps = 120): void {
  writeRunManifest(runDir, {
    name: "quickstart",
    config: {
      model: { width: 96, layers: 3 },
      objective: { kind: "gspo", clipLow: 0.003, clipHigh: 0.004 },
      groupSize: 8,
    },
    seeds: { run: 0 },
    versions: { hone: "0.1.0", isa: "avx512", threads: 2 },
    command: ["npm", "run", "quickstart"],
  });
  const sinks = openSinks(["jsonl", "tensorboard"], runDir);
  const run = new SyntheticRun(1, steps);
  const history = new MetricsHistory();
  for (let step = 1; step <= steps; ++step) {
    const metrics = collectStepMetrics(run.step(step), history);
    for (const sink of sinks) sink.write({ step, version: step, metrics }, NO_DETAILS);
  }
  for (const sink of sinks) sink.close();
  writeFileSync(join(runDir, RUN_FILES.summary), JSON.stringify(syntheticSummary()));
}
