import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { HoneError } from "../errors.ts";
import { readRunManifest } from "../metrics/index.ts";
import { readPlainFile } from "../shared/files/plain-file.ts";
import type { TextFile } from "../text/index.ts";
import type { RunCheckpoint } from "./run-model.ts";

/** The chat template that a recipe sets, with which its run prompted the model. */
export interface RunTemplate {
  readonly file: string;
  /** Text of the template; absent if the template file differs from the one that the run used. */
  readonly text?: string;
  /** Reason why `text` is absent. */
  readonly fault?: string;
}

const MOST_BYTES = 1 << 24;
const TEMPLATE = "chat_template.jinja";
const CONFIG = "tokenizer_config.json";

/**
 * The template that `chatTemplate.file` named; undefined for a run that used its model folder's. Accepts a file only
 * with the hash that the run recorded: a run folder from elsewhere may name any file of this machine.
 */
export function runTemplate({ run, recipe }: Pick<RunCheckpoint, "run" | "recipe">): RunTemplate | undefined {
  const file = recipe.chatTemplate?.file;
  if (file === undefined) return undefined;
  try {
    const bytes = readPlainFile(file, MOST_BYTES);
    const recorded = readRunManifest(run).model?.files[basename(file)];
    if (createHash("sha256").update(bytes).digest("hex") === recorded)
      return { file, text: bytes.toString() };
    return { file, fault: `${file} has changed since the run` };
  } catch (error) {
    if (HoneError.is(error)) return { file, fault: error.message };
    throw error;
  }
}

/**
 * Files that give a model folder this template alone: the one that transformers reads, and, for older readers, the
 * tokenizer_config.json of `source`.
 */
export function templateFiles({ text }: Pick<RunTemplate, "text">, source: string | undefined): TextFile[] {
  if (text === undefined) return [];
  const config = source === undefined ? undefined : join(source, CONFIG);
  const files = [{ name: TEMPLATE, text }];
  if (config === undefined || !existsSync(config)) return files;
  const told = { ...(JSON.parse(readFileSync(config, "utf8")) as object), chat_template: text };
  return [...files, { name: CONFIG, text: `${JSON.stringify(told, null, 2)}\n` }];
}

/** Warning for an exported folder whose template differs from the run's; undefined if they agree. */
export const templateWarning = (template: RunTemplate | undefined): string | undefined =>
  template?.fault === undefined
    ? undefined
    : `warning: the folder has the base model's chat template, not the run's: ${template.fault}. Write the run's template into the folder as ${TEMPLATE}`;
