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
 * The folder of a model given by path or Hub name, or of a run's weights by its folder, one of its checkpoints or "run@step".
 * Shows the progress of a download; Ctrl-C stops it (what arrived is kept). Throws what resolveModelFolder throws.
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
 * What is known of a model without its weights: what findConfig knows, and of another name of the Hub its config, tokenizer
 * and template, which are downloaded. Throws what findConfig throws where the Hub is not reached, else the Hub's errors.
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

/** How the recipe of a run asks its model and where answers end; nothing for a model that is no run's. */
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
