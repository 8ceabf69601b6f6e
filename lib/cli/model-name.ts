import { type ResolveOptions, resolveModelFolder } from "../inference/index.ts";
import { inUnits } from "../plan/index.ts";

/**
 * The folder of a model given by path or Hub name; a download's progress is told on one line that is written over and
 * over, and Ctrl-C calls it off (what arrived is kept). Throws what resolveModelFolder throws.
 * @param say writes to where people look, without a newline
 */
export async function modelFolder(
  nameOrPath: string,
  options: Pick<ResolveOptions, "withWeights" | "env"> = {},
  say: (text: string) => void = (text) => void process.stderr.write(text),
): Promise<string> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once("SIGINT", stop);
  const line = progressLine(say);
  try {
    return await resolveModelFolder(nameOrPath, {
      ...options,
      signal: controller.signal,
      onProgress: ({ file, bytes, totalBytes }) => line.show(file, bytes, totalBytes),
    });
  } finally {
    line.end();
    process.removeListener("SIGINT", stop);
  }
}

/** "what  1.0 GiB of 2.0 GiB (50 %)", at most ten times a second; nothing if nothing was shown. */
export function progressLine(say: (text: string) => void): {
  show(what: string, done: number, total: number): void;
  end(): void;
} {
  let shownAt = Number.NEGATIVE_INFINITY;
  let width = 0;
  return {
    show(what, done, total) {
      const now = performance.now();
      if (now - shownAt < 100 && done < total) return;
      shownAt = now;
      const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
      const text = `${what}  ${inUnits(done)} of ${inUnits(total)} (${percent} %)`;
      say(`\r${text.padEnd(width)}`);
      width = text.length;
    },
    end: () => (width > 0 ? say("\n") : undefined),
  };
}
