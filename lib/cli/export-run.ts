import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import {
  type ConvertOptions,
  type ConvertReport,
  changedWeights,
  exportAdapters,
  exportModel,
  holdsAdapters,
  type WeightChange,
} from "../inference/index.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { modelCard } from "./model-card.ts";
import {
  adapterBase,
  mergedCheckpoint,
  type RunCheckpoint,
  runCheckpoint,
  vocabularyFiles,
} from "./run-model.ts";
import { type RunTemplate, runTemplate, templateFiles, templateWarning } from "./run-template.ts";

export interface ExportRequest extends ConvertOptions {
  readonly run: string;
  /** Name of a checkpoint in the run folder ("step-000040"); default the newest. */
  readonly checkpoint?: string;
}

/** Files written for a run that trained adapters. */
export interface AdapterExport {
  readonly checkpoint: string;
  /** Base model, which PEFT loads first. */
  readonly base: string;
  readonly target: string;
  readonly template?: Omit<RunTemplate, "text">;
}

export interface RunExport extends ConvertReport {
  readonly checkpoint: string;
  /** The folder the run began from; absent if it began from random weights. */
  readonly source?: string;
  /** How much the exported weights differ from the initial ones in the written dtype; absent if the initial weights were not kept. */
  readonly change?: WeightChange;
  /** Difference from the initial weights in the checkpoint's f32. */
  readonly changeInF32?: WeightChange;
  /** The chat template of a run that sets its own: the exported folder includes it unless it has a fault. */
  readonly template?: Omit<RunTemplate, "text">;
}

/**
 * Writes a run's weights, with adapters merged into them, as a folder that transformers loads, with a model
 * card, the chat template that the recipe named and, for the procedural vocabulary, a tokenizer; then
 * measures how much of the training survived rounding. `folderOf` finds the model that the recipe names.
 * Throws HONE_ERR_IO or HONE_ERR_FORMAT for the run folder, HONE_ERR_CHECKPOINT if there is no such
 * checkpoint, and what exportModel and `folderOf` throw.
 */
export async function exportRun(
  { run, checkpoint: wanted, ...options }: ExportRequest,
  folderOf: (nameOrPath: string) => Promise<string>,
): Promise<RunExport> {
  const found = runCheckpoint(run, wanted);
  if (found === undefined)
    throw new HoneError(
      "HONE_ERR_IO",
      `${join(run, RUN_FILES.manifest)} does not exist; is ${run} a run folder?`,
    );
  const checkpoint = holdsAdapters(found.checkpoint)
    ? await mergedCheckpoint(found, folderOf)
    : found.checkpoint;
  const named = found.recipe.model?.folder;
  const source = named === undefined ? undefined : await folderOf(named);
  const template = runTemplate(found);
  const files = [
    ...vocabularyFiles(found),
    ...templateFiles(template ?? {}, source),
    { name: "README.md", text: modelCard({ ...found, checkpoint: nameOf(found.checkpoint), source }) },
  ];
  const report = await exportModel(source, { ...options, checkpoint, files });
  const began = source ?? warmStartOf(found);
  const changes = began === undefined ? {} : await changesSince(began, checkpoint, options.target);
  const told = { ...(source !== undefined && { source }), ...withoutText(template) };
  return { ...report, checkpoint: found.checkpoint, ...told, ...changes };
}

const withoutText = (template: RunTemplate | undefined) => {
  if (template === undefined) return {};
  const { text: _, ...told } = template;
  return { template: told };
};

/**
 * Writes the adapters of a run as a PEFT folder; returns undefined and writes nothing for a run that trained all
 * weights. Throws the errors of exportRun.
 */
export async function exportRunAdapters(
  { run, checkpoint: wanted, ...options }: ExportRequest,
  folderOf: (nameOrPath: string) => Promise<string>,
): Promise<AdapterExport | undefined> {
  const found = runCheckpoint(run, wanted);
  if (found === undefined || !holdsAdapters(found.checkpoint)) return undefined;
  const { target, force = false, dtype, shardBytes } = options;
  if (dtype !== undefined || shardBytes !== undefined) {
    throw new HoneError(
      "HONE_ERR_USAGE",
      "--dtype and --shard-size apply to whole models; the run has LoRA adapters, which are exported in f32",
      {
        hint: "Give --merge to write the model with its adapters merged in.",
      },
    );
  }
  const { checkpoint, recipe } = found;
  const base = recipe.model.folder ?? (await adapterBase(found, folderOf));
  const card = modelCard({ ...found, checkpoint: nameOf(checkpoint), source: undefined });
  const template = runTemplate(found);
  exportAdapters(checkpoint, { base, target, force, card, files: templateFiles(template ?? {}, undefined) });
  return { checkpoint, base, target, ...withoutText(template) };
}

const nameOf = (checkpoint: string) => checkpoint.slice(checkpoint.lastIndexOf("/") + 1);

/** The warm-start weights of a run from random weights. */
function warmStartOf({ checkpoint, run }: RunCheckpoint): string | undefined {
  const path = join(run, "checkpoints", "warm-start");
  return existsSync(path) && path !== checkpoint ? path : undefined;
}

async function changesSince(began: string, checkpoint: string, target: string) {
  return {
    change: await changedWeights(began, target),
    changeInF32: await changedWeights(began, checkpoint),
  };
}

/** Describes the written files, and how much of the training survived rounding. */
export function exportText(
  { checkpoint, tensors, source, change, changeInF32, template }: RunExport,
  size: string,
): string {
  const as = source === undefined ? "" : ` as in ${source}`;
  const lines = [`${checkpoint}: ${tensors} tensors${as}; ${size}`, templateWarning(template) ?? []].flat();
  if (change === undefined || change.weights === 0) return lines.join("\n");
  const began = source ?? "the weights that training began with";
  const all = change.weights.toLocaleString("en");
  if (change.changed === 0) lines.push(`warning: none of ${all} weights differs from ${began}`);
  else lines.push(`${shareOf(change)} of ${all} weights differ from ${began}`);
  if (changeInF32 && changeInF32.weights > 0 && part(change) < part(changeInF32) * NOTICEABLE)
    lines.push(
      `warning: in f32 ${shareOf(changeInF32)} of the weights differ: rounding removes the smaller changes; --dtype f32 keeps them`,
    );
  return lines.join("\n");
}

/** Warn if less than this fraction of the changed weights survived. */
const NOTICEABLE = 0.9;

const part = ({ weights, changed }: WeightChange) => changed / weights;

function shareOf(change: WeightChange): string {
  const percent = 100 * part(change);
  return percent > 0 && percent < 0.05 ? "less than 0.1 %" : `${percent.toFixed(1)} %`;
}
