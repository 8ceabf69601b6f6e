import { type ResolveOptions, resolveModelFolder } from "../inference/index.ts";
import { type ProgressOptions, progress, showBytes } from "./progress.ts";

/**
 * The folder of a model given by path or Hub name; a download's progress is told, and Ctrl-C calls it off (what
 * arrived is kept). Throws what resolveModelFolder throws.
 */
export async function modelFolder(
  nameOrPath: string,
  options: Pick<ResolveOptions, "withWeights" | "env"> = {},
  told: ProgressOptions = {},
): Promise<string> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once("SIGINT", stop);
  const line = progress(told);
  try {
    return await resolveModelFolder(nameOrPath, {
      ...options,
      signal: controller.signal,
      onProgress: ({ file, bytes, totalBytes }) => showBytes(line, file, bytes, totalBytes),
    });
  } finally {
    line.end();
    process.removeListener("SIGINT", stop);
  }
}
