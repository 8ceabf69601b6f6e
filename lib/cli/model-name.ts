import { type ResolveOptions, resolveModelFolder } from "../inference/index.ts";
import { type ProgressOptions, type Told, withProgress } from "./progress.ts";

/**
 * The folder of a model given by path or Hub name; a download's progress is told, and Ctrl-C calls it off (what
 * arrived is kept). Throws what resolveModelFolder throws.
 */
export function modelFolder(
  nameOrPath: string,
  options: Pick<ResolveOptions, "withWeights" | "env"> = {},
  where: ProgressOptions = {},
): Promise<string> {
  const resolve = (told: Told) => resolveModelFolder(nameOrPath, { ...options, ...downloadTold(told) });
  return withProgress(resolve, where);
}

/** The options of a download that tells how far it is. */
export const downloadTold = ({ show, signal }: Told): Pick<ResolveOptions, "onProgress" | "signal"> => ({
  onProgress: ({ file, bytes, totalBytes }) => show(file, bytes, totalBytes),
  signal,
});
