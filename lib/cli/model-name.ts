import {
  type FoundConfig,
  findConfig,
  isUnreachable,
  parseHubName,
  type ResolveOptions,
  resolveModelFolder,
} from "../inference/index.ts";
import type { ChatChoice } from "../text/index.ts";
import { type ProgressOptions, type Told, withProgress } from "./progress.ts";
import { linkedModel, runAt, runCheckpoint } from "./run-model.ts";

/**
 * Resolves to the folder of a model given by path or Hub name, or of a run's weights given by its folder, a
 * checkpoint or "run@step". Shows download progress; Ctrl-C stops it and keeps the downloaded part. Throws the errors
 * of resolveModelFolder.
 */
export async function modelFolder(
  nameOrPath: string,
  options: Pick<ResolveOptions, "withWeights" | "env"> = {},
  where: ProgressOptions = {},
): Promise<string> {
  const run = runCheckpoint(nameOrPath) ?? runAt(nameOrPath);
  if (run !== undefined)
    return linkedModel(run, (base) => modelFolder(base, { ...options, withWeights: false }, where));
  const resolve = (told: Told) => resolveModelFolder(nameOrPath, { ...options, ...downloadTold(told) });
  return withProgress(resolve, where);
}

/**
 * Facts about a model without its weights: the result of findConfig, or, for an unknown Hub name, its config,
 * tokenizer and template, which are downloaded. Throws the error of findConfig if the Hub cannot be reached, else the
 * Hub's errors.
 */
export async function knownModel(nameOrPath: string, where: ProgressOptions = {}): Promise<FoundConfig> {
  try {
    return await findConfig(nameOrPath);
  } catch (unknown) {
    if (parseHubName(nameOrPath) === undefined) throw unknown;
    await modelFolder(nameOrPath, { withWeights: false }, where).catch((cause: unknown) => {
      throw isUnreachable(cause) ? unknown : cause;
    });
    return findConfig(nameOrPath);
  }
}

/** Chat template and end tokens that a run's recipe sets; undefined for a model that is not a run's. */
export function chatOf(nameOrPath: string): ChatChoice {
  const recipe = (runCheckpoint(nameOrPath) ?? runAt(nameOrPath))?.recipe;
  const stopIds = recipe?.rollouts.stopIds;
  return { ...recipe?.chatTemplate, ...(stopIds && { stopIds }) };
}

/** The options of a download that shows its progress. */
export const downloadTold = ({ show, signal }: Told): Pick<ResolveOptions, "onProgress" | "signal"> => ({
  onProgress: ({ file, bytes, totalBytes }) => show(file, bytes, totalBytes),
  signal,
});
