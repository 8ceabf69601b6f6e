import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import {
  RUN_FILES,
  RunDigest,
  RunLogReader,
  readJson,
  readRunManifest,
  type StoredManifest,
  type Stretch,
  stretchOf,
} from "../metrics/index.ts";
import { runningMeans } from "./running-means.ts";
import type { RunSummary } from "./summary.ts";

/** Most points of a metric that are kept: more than a chart has pixels. */
const MOST_POINTS = 2000;

/**
 * Up to this many lines, every line of the log is read; beyond, its digest still gives a quarter of that in points.
 */
const MOST_LINES = 8000;

/** Everything a report is made of; parts that a run did not reach are absent. */
export interface RunFolder {
  readonly manifest: StoredManifest;
  /** Steps in the log, or, for a long run, means over up to `stepsEach` steps in a row. */
  readonly steps: readonly Stretch[];
  readonly stepsEach?: number | undefined;
  readonly summary?: RunSummary | undefined;
}

/** Reads a run folder, finished or not. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming the file. */
export function readRunFolder(runDir: string): RunFolder {
  const manifest = readRunManifest(runDir);
  const steps = readSteps(join(runDir, RUN_FILES.log), join(runDir, RUN_FILES.digest));
  return {
    manifest,
    steps,
    stepsEach: steps.reduce((most, stretch) => Math.max(most, stretch.steps), 1),
    summary: readSummary(runDir),
  };
}

/**
 * Reads summary.json; undefined if the run has not written it yet. Throws HONE_ERR_IO or HONE_ERR_FORMAT
 * naming the file.
 */
export function readSummary(runDir: string): RunSummary | undefined {
  const path = join(runDir, RUN_FILES.summary);
  return existsSync(path) ? parseSummary(path) : undefined;
}

function readSteps(log: string, digest: string): Stretch[] {
  if (!existsSync(log)) return [];
  const stretches = new RunDigest(log, digest);
  const { length } = stretches;
  if (length > MOST_LINES) return runningMeans(stretches, length, MOST_POINTS);
  return runningMeans([...new RunLogReader(log)].map(stretchOf), length, MOST_POINTS);
}

function parseSummary(path: string): RunSummary {
  const value = readJson(path);
  if (typeof value !== "object" || value === null || !("schema" in value) || value.schema !== 2) {
    throw new HoneError(
      "HONE_ERR_FORMAT",
      `${path}: no summary of schema 2; another version of this package wrote it.`,
      { details: { path } },
    );
  }
  return value as RunSummary;
}
