import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { type PipelineStatus, RUN_FILES, writeRunManifest, writeWhole } from "../../lib/metrics/index.ts";

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Makes a folder that is removed after the test. */
export function temporary(): string {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-"));
  folders.push(dir);
  return dir;
}

/** Makes a run folder of some steps with metric a = step and, in even steps, b = -step. */
export function smallRun(steps: number, name = "small"): string {
  const dir = temporary();
  writeRunManifest(dir, {
    name,
    config: { training: { steps: 20 }, domains: { math: {}, code: {} } },
    seeds: { run: 7 },
    versions: {},
  });
  writeFileSync(join(dir, RUN_FILES.log), "");
  for (let step = 1; step <= steps; step++) addStep(dir, step);
  return dir;
}

export function addStep(dir: string, step: number, metrics: Record<string, number> = {}): void {
  const own = { a: step, ...(step % 2 === 0 && { b: -step }), ...metrics };
  appendFileSync(join(dir, RUN_FILES.log), `${JSON.stringify({ step, version: step, metrics: own })}\n`);
}

/** Writes line.json as a training run does. */
export function writeStatus(dir: string, change: Partial<PipelineStatus> = {}): PipelineStatus {
  const status: PipelineStatus = {
    schema: 1,
    pid: process.pid,
    writtenMs: Date.now(),
    sittingStartedMs: Date.now() - 60_000,
    phase: { name: "training", done: 3, total: 20 },
    step: 3,
    steps: 20,
    paused: false,
    waits: { sentence: "trainer is in step 4", sinceMs: Date.now(), stuck: false },
    stages: [
      { name: "prompts", holds: 12, of: 32, unit: "groups", busy: false, detail: "12 of 32 credits free" },
      { name: "engine", holds: 64, of: 128, unit: "sequences", busy: true, detail: "64 sequences running" },
      { name: "verifiers", holds: 2, unit: "groups", busy: true, detail: "2 groups" },
      { name: "batcher", holds: 5, of: 8, unit: "groups", busy: true, detail: "5 of 8 groups ready" },
      { name: "trainer", holds: 1, of: 1, unit: "groups", busy: true, detail: "in step 4" },
    ],
    credits: { free: 12, total: 32 },
    version: { trainer: 3, engine: 3 },
    engine: { pagesUsed: 100, pagesTotal: 400, tokensPerSecond: 26_100 },
    verifiers: [
      {
        name: "python",
        out: 14,
        oldestMs: 9000,
        limitMs: 10_000,
        calls: 1200,
        timeouts: 9,
        crashes: 0,
        unscored: 0,
        p50Ms: 12,
        p95Ms: 9800,
      },
    ],
    verifierWorkers: 2,
    machine: {
      rssBytes: 431 * 2 ** 20,
      heapBytes: 61 * 2 ** 20,
      threads: 14,
      processors: 1.8,
      device: "cpu",
    },
    requests: [],
    ...change,
  };
  writeWhole(join(dir, RUN_FILES.line), JSON.stringify(status));
  return status;
}

/** Rewrites line.json twice a second, so that the run's process looks alive on a slow machine too. */
export function breathing(dir: string): Disposable {
  const path = join(dir, RUN_FILES.line);
  const breath = setInterval(() => {
    const status = JSON.parse(readFileSync(path, "utf8")) as PipelineStatus;
    writeWhole(path, JSON.stringify({ ...status, writtenMs: Date.now() }));
  }, 500);
  return { [Symbol.dispose]: () => clearInterval(breath) };
}
