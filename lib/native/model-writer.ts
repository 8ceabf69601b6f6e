import { awaited, translated } from "./errors.ts";
import { binding } from "./load.ts";
import type { ModelWriterOptions, ModelWriterReport } from "./model-face.ts";

/**
 * Writes a model folder on a thread of its own; it appears complete or not at all. Throws HONE_ERR_IO;
 * HONE_ERR_FORMAT naming file and tensor; HONE_ERR_DATA naming tensor, element and value that does not fit
 * the dtype; HONE_ERR_ABORTED if `signal` aborts.
 */
export async function writeModelFolder(
  options: ModelWriterOptions,
  onProgress: (doneBytes: number, totalBytes: number) => void = () => {},
  signal?: AbortSignal,
): Promise<ModelWriterReport> {
  const { NativeModelWriter } = binding();
  const writer = translated(() => new NativeModelWriter(options));
  const cancel = () => writer.cancel();
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel);
  try {
    return await awaited(() => writer.run(onProgress));
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
