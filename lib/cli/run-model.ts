import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { loraOptions, type Recipe, storageOf } from "../config/index.ts";
import { QUICKSTART_LEXICON } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { readValidations, select } from "../evaluation/index.ts";
import { holdsAdapters, mergeAdapters, modelFacts, readModelFile } from "../inference/index.ts";
import { RUN_FILES, readRunManifest } from "../metrics/index.ts";
import { checkpointName } from "../orchestration/index.ts";
import { LexiconTokenizer, lexiconFiles, type TextFile } from "../text/index.ts";

/** A checkpoint of a run, and the recipe of its model. */
export interface RunCheckpoint {
  readonly run: string;
  readonly recipe: Recipe;
  readonly checkpoint: string;
}

/** Files of a checkpoint that do not belong to the model. */
const NOT_THE_MODEL = /^(?:manifest\.json|optimizer.*|README\.md)$/;
/** Files of a model folder that concern text (tokenizer, template), in addition to config and weights. */
const TEXT_FILES =
  /^(?:tokenizer.*|special_tokens_map|added_tokens|vocab|chat_template|generation_config)\.(?:json|jinja|model)$|^merges\.txt$/;

/** The run that a path names by its folder or one of its checkpoints; undefined for any other path. */
export function runCheckpoint(path: string, wanted?: string): RunCheckpoint | undefined {
  const above = dirname(resolve(path));
  const within = basename(above) === "checkpoints" && existsSync(join(dirname(above), RUN_FILES.manifest));
  const run = within ? dirname(above) : path;
  if (!existsSync(join(run, RUN_FILES.manifest))) return undefined;
  const recipe = readRunManifest(run).config as Recipe;
  return { run, recipe, checkpoint: checkpointOf(run, within ? basename(path) : wanted) };
}

/** Parses a run and checkpoint as "runs/x@step-000040" or "runs/x@40"; undefined for any other text. */
export function runAt(text: string): RunCheckpoint | undefined {
  const at = text.lastIndexOf("@");
  if (at <= 0) return undefined;
  return runCheckpoint(text.slice(0, at), checkpointCalled(text.slice(at + 1)));
}

/** Folder name of a step's checkpoint: "40" is step-000040; other names are unchanged. */
export const checkpointCalled = (step: string): string =>
  /^\d+$/.test(step) ? checkpointName(Number(step)) : step;

/**
 * Path of a run's checkpoint: the wanted one, the best or the newest. Throws HONE_ERR_CHECKPOINT if there is
 * none.
 */
export function checkpointOf(run: string, wanted: string | undefined): string {
  const folder = join(run, "checkpoints");
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const name =
    (wanted === "best" ? bestOf(run) : wanted) ?? names.filter((n) => /^step-\d{6}$/.test(n)).at(-1);
  if (name !== undefined && names.includes(name)) return join(folder, name);
  throw new HoneError("HONE_ERR_CHECKPOINT", `${folder} has no ${wanted ?? "checkpoint of a step"}`, {
    hint: names.length > 0 ? `The run has ${names.join(", ")}.` : "The run has saved no checkpoint yet.",
  });
}

/** Name of the checkpoint with the best held-out score. Throws HONE_ERR_CHECKPOINT if none was evaluated. */
function bestOf(run: string): string {
  const selection = select(readValidations(join(run, RUN_FILES.validation)));
  if (selection !== undefined) return checkpointName(selection.best.step);
  throw new HoneError("HONE_ERR_CHECKPOINT", `${run}: no step was evaluated, so none is known to be best`, {
    hint: "Train with evaluation.everySteps and checkpoint.keepBest, or name a checkpoint.",
  });
}

/**
 * Base weights of a run's adapters: its saved initial weights, or those of the model that its recipe names.
 */
export async function adapterBase(
  { run, recipe }: RunCheckpoint,
  folderOf: (name: string) => Promise<string>,
): Promise<string> {
  const whole = join(run, "checkpoints", "warm-start");
  if (existsSync(join(whole, "config.json")) && !holdsAdapters(whole)) return resolve(whole);
  return await folderOf(recipe.model.folder!);
}

/** Merges adapters into a temporary checkpoint of all weights, which is removed when the process ends. */
export async function mergedCheckpoint(
  found: RunCheckpoint,
  folderOf: (name: string) => Promise<string>,
): Promise<string> {
  const { recipe, checkpoint } = found;
  const folder = mkdtempSync(join(tmpdir(), "hone-merged-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const target = join(folder, "model");
  const weightStorage = recipe.device === "cuda" ? "bf16" : storageOf(recipe);
  const { lora } = loraOptions(recipe);
  const base = await adapterBase(found, folderOf);
  await mergeAdapters({ base, adapters: checkpoint, lora: lora!, weightStorage }, target);
  return target;
}

/** Tokenizer files of a model with the procedural vocabulary; none for a model with its own tokenizer. */
export function vocabularyFiles({ recipe, checkpoint }: RunCheckpoint): TextFile[] {
  if (recipe.tokenizer !== "lexicon/quickstart") return [];
  const { maxPositions } = modelFacts(readModelFile(checkpoint, "config.json"), checkpoint);
  return lexiconFiles(new LexiconTokenizer(QUICKSTART_LEXICON), maxPositions);
}

/**
 * Creates a temporary model folder for a run's weights: links to the checkpoint and to the tokenizer and
 * template files of the initial model, or the files of the procedural vocabulary. `folderOf` finds the model
 * that the recipe names.
 */
export async function linkedModel(
  found: RunCheckpoint,
  folderOf: (name: string) => Promise<string>,
): Promise<string> {
  const { recipe, checkpoint } = found;
  const folder = mkdtempSync(join(tmpdir(), "hone-model-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const link = (from: string, take: (name: string) => boolean) => {
    for (const name of readdirSync(from).filter(take)) symlinkSync(resolve(from, name), join(folder, name));
  };
  const weights = holdsAdapters(checkpoint) ? await mergedCheckpoint(found, folderOf) : checkpoint;
  link(weights, (name) => !NOT_THE_MODEL.test(name));
  const files = vocabularyFiles(found);
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  if (files.length === 0 && recipe.model.folder !== undefined)
    link(await folderOf(recipe.model.folder), (name) => TEXT_FILES.test(name));
  return folder;
}
