import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import type { EvaluationTable, Score } from "../../lib/report/index.ts";

export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "hone-runs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const score = (value: number, standardError: number): Score => ({
  score: value,
  solveRate: value / 2,
  meanTokens: 100 * value,
  truncation: 0,
  n: 64,
  standardError,
  tokensStandardError: 4,
});

export const table = (math: number, code: number, standardError = 0.03): EvaluationTable => ({
  temperature: 1,
  version: 1,
  domains: { math: score(math, standardError), code: score(code, standardError) },
  mean: score((math + code) / 2, standardError),
});

export interface Written {
  /** False if the first session evaluated nothing. Default: true. */
  readonly isFirstScored?: boolean;
  readonly seed?: number;
  readonly steps?: number;
  readonly ofSteps?: number;
  readonly lr?: number;
  /** The state in summary.json. Without it the file is not written. */
  readonly state?: "done" | "stopped" | "failed";
  readonly summarySteps?: number;
  readonly after?: EvaluationTable;
  /** The last lines of events.jsonl. */
  readonly events?: string;
  readonly config?: object;
}

/** Writes a run folder as a session leaves it. */
export function writeRun(
  dir: string,
  {
    seed = 0,
    steps = 3,
    ofSteps = 3,
    lr = 0.001,
    state,
    summarySteps = steps,
    after,
    events,
    config,
    isFirstScored = true,
  }: Written = {},
): string {
  const recipe = {
    name: "demo",
    seed,
    optimizer: { lr, beta1: 0.9 },
    training: { steps: ofSteps },
    ...config,
  };
  writeRunManifest(dir, { name: "demo", config: recipe, seeds: {}, versions: {} });
  const line = (step: number) =>
    JSON.stringify({ step, version: step, metrics: { "score/mean": step / 10 } });
  writeFileSync(
    join(dir, "steps.jsonl"),
    Array.from({ length: steps }, (_, i) => `${line(i + 1)}\n`).join(""),
  );
  if (events !== undefined) writeFileSync(join(dir, "events.jsonl"), events);
  if (state === undefined) return dir;
  const summary = {
    schema: 2,
    state,
    steps: summarySteps,
    before: isFirstScored ? [table(0.2, 0.2)] : [],
    after: after ? [after] : [],
  };
  writeFileSync(join(dir, "summary.json"), JSON.stringify(summary));
  return dir;
}
