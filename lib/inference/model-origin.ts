import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { HoneError } from "../errors.ts";
import { weightFiles } from "./inspect.ts";

/** The files of a model folder that decide a run's results, as kept in run.json. */
export interface ModelOrigin {
  /** Absolute path, only for display: a folder may move. */
  readonly folder: string;
  /** SHA-256 in hex by file name; of weights, of their size and a sample of their bytes. */
  readonly files: Readonly<Record<string, string>>;
}

const SMALL_FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
] as const;
const SAMPLES = 64;
const SAMPLE_BYTES = 1 << 16;

/**
 * Hashes the files of a model folder. @param template a chat template of the recipe's own, if it has one.
 * Throws HONE_ERR_IO naming the file that cannot be read.
 */
export function originOf(folder: string, template?: string): ModelOrigin {
  const small = SMALL_FILES.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const digests = [...small, ...(template === undefined ? [] : [template])].map((path) =>
    reading(
      path,
      () => [basename(path), createHash("sha256").update(readFileSync(path)).digest("hex")] as const,
    ),
  );
  const weights = weightFiles(folder).map((path) =>
    reading(path, () => [basename(path), sampleDigest(path)] as const),
  );
  return { folder: resolve(folder), files: Object.fromEntries([...digests, ...weights]) };
}

/**
 * Throws HONE_ERR_CONFIG naming the files that are not what they were when the run began.
 * @param dir the run folder, for the message. @param field the recipe's field that names the folder
 */
export function checkOrigin(
  dir: string,
  recorded: ModelOrigin | undefined,
  found: ModelOrigin | undefined,
  field = "model.folder",
): void {
  const [before, now] = [recorded?.files ?? {}, found?.files ?? {}];
  const changed = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) => before[name] !== now[name],
  );
  if (changed.length === 0) return;
  const none = field === "model.folder" ? "a new model" : "none";
  const began = recorded === undefined ? `with ${none}` : `from ${recorded.folder}`;
  throw new HoneError(
    "HONE_ERR_CONFIG",
    `${field}: the run in ${dir} began ${began}; now the field gives ${found?.folder ?? none}, and ${changed.join(", ")} differ`,
    { hint: "Give the folder that the run began with, or start another run (--dir).", details: { changed } },
  );
}

function reading<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Digest of a file of many gigabytes: its size, and blocks from its first bytes (a safetensors header) to its last. */
function sampleDigest(path: string): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const hash = createHash("sha256").update(String(size));
    const block = Buffer.alloc(Math.min(SAMPLE_BYTES, size));
    const span = size - block.length;
    for (let i = 0; i < SAMPLES; i++) {
      const at = Math.floor((span / (SAMPLES - 1)) * i);
      hash.update(block.subarray(0, readSync(fd, block, 0, block.length, at)));
    }
    return hash.digest("hex");
  } finally {
    closeSync(fd);
  }
}
