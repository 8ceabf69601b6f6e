/** Reads files of a run folder, for tests. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RecordedGroup, readRolloutRecord } from "../../lib/orchestration/index.ts";

/** The metrics of the last session, step by step. */
export const metricsOf = (dir: string): Record<string, number>[] =>
  readFileSync(join(dir, "steps.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { metrics: Record<string, number> }).metrics);

/** The groups of a step as rollouts.record stores them. */
export async function recordedGroups(dir: string, step: number): Promise<RecordedGroup[]> {
  const groups: RecordedGroup[] = [];
  for await (const line of readRolloutRecord(dir, step)) if ("rollouts" in line) groups.push(line);
  return groups;
}
