import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { type ConvertOptions, type ConvertReport, exportModel } from "../inference/index.ts";
import { readRunManifest } from "../metrics/index.ts";

export interface ExportRequest extends ConvertOptions {
  readonly run: string;
  /** Name of a checkpoint in the run folder ("step-000040"); default the newest. */
  readonly checkpoint?: string;
}

export interface RunExport extends ConvertReport {
  readonly checkpoint: string;
  /** The folder the run began from; absent if it began from random weights. */
  readonly source?: string;
}

/**
 * Writes a run's weights as a folder that transformers loads. `folderOf` finds the model that the recipe names.
 * Throws HONE_ERR_IO or HONE_ERR_FORMAT for the run folder, HONE_ERR_CHECKPOINT if there is no such checkpoint, and what
 * exportModel and `folderOf` throw.
 */
export async function exportRun(
  { run, checkpoint, ...options }: ExportRequest,
  folderOf: (nameOrPath: string) => Promise<string>,
): Promise<RunExport> {
  const { config } = readRunManifest(run);
  const path = checkpointOf(run, checkpoint);
  const named = (config as { readonly model?: { readonly folder?: unknown } } | null)?.model?.folder;
  const source = typeof named === "string" ? await folderOf(named) : undefined;
  const report = await exportModel(source, { ...options, checkpoint: path });
  return { ...report, checkpoint: path, ...(source !== undefined && { source }) };
}

function checkpointOf(run: string, wanted: string | undefined): string {
  const folder = join(run, "checkpoints");
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const name = wanted ?? names.filter((n) => /^step-\d{6}$/.test(n)).at(-1);
  if (name !== undefined && names.includes(name)) return join(folder, name);
  throw new HoneError("HONE_ERR_CHECKPOINT", `${folder} has no ${wanted ?? "checkpoint of a step"}`, {
    hint: names.length > 0 ? `There: ${names.join(", ")}.` : "The run saved none yet.",
  });
}
