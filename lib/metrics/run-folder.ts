import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoneError } from "../errors.ts";
import { REWRITING } from "../shared/files/plain-file.ts";
import { fileFailure, fileWork } from "./sink.ts";

/** Names inside a run folder. */
export const RUN_FILES = {
  manifest: "run.json",
  log: "steps.jsonl",
  digest: "steps.digest.jsonl",
  events: "events.jsonl",
  /** Completions and their verdicts. */
  verdicts: "verdicts.jsonl",
  /**
   * Folder with what each step trained on, if `rollouts.record` asks for it; one file per step, ROLLOUT_FILE.
   */
  rollouts: "rollouts",
  /** Tokens of rollouts in progress, if `rollouts.recordEveryTokens` asks for them. */
  unfinished: "unfinished.bin",
  /** Evaluation before training; kept for resumed sessions. */
  before: "before.json",
  summary: "summary.json",
  validation: "validation.json",
  heldOutBefore: "held-out-before.jsonl",
  heldOutAfter: "held-out-after.jsonl",
  heldOut: "held-out.json",
  /** Every answer of the run's evaluations, content-addressed. */
  heldOutCompletions: "held-out-completions.jsonl",
  report: "report.html",
  line: "line.json",
  requests: "requests",
  /** Index derived from the journal of verdicts, written by the first reader of samples (lib/samples). */
  samples: "samples.index",
  prometheus: "metrics.prom",
  tensorboard: "tensorboard",
  trackers: "trackers",
  wandb: "wandb",
} as const;

/** Name of a step's file in RUN_FILES.rollouts, with the step's number. */
export const ROLLOUT_FILE = /^step-(\d{6,})\.jsonl$/;

/** Describes a run: enough to start it again and to know what it ran on. */
export interface RunManifest {
  readonly name: string;
  /** Resolved recipe, plain JSON. */
  readonly config: unknown;
  /** The model folder it began with: where it was, and a hash of each file that matters; absent for a new model. */
  readonly model?: { readonly folder: string; readonly files: Readonly<Record<string, string>> } | undefined;
  /** Folder of the teacher, with the hashes of its files; absent without a teacher. */
  readonly teacher?: RunManifest["model"];
  /** Hashes (SHA-256) of the files of modules that the recipe names, by path, to detect changes. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** Number of used rows of data sets, and the columns from which they were read, by domain and validation set. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** The current time for chat templates (ISO 8601, UTC): when the run began, even in a later session. */
  readonly clock?: string | undefined;
  /** Seeds by use, e.g. {run: 0}. Decimal text, since a seed may exceed 2^53. */
  readonly seeds: Readonly<Record<string, number | string>>;
  /** Versions and environment: Hone, core, instruction set, threads, ... */
  readonly versions: Readonly<Record<string, string | number>>;
  readonly command?: readonly string[] | undefined;
}

export interface StoredManifest extends RunManifest {
  readonly schema: 1;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Commit of the working directory, with "+" if it has local changes; null outside a repository. */
  readonly commit: string | null;
}

/**
 * Makes the folder if needed and writes `run.json` in one rename; adds Node's version, platform, time and commit.
 * Throws HONE_ERR_IO naming the path.
 */
export function writeRunManifest(runDir: string, manifest: RunManifest): StoredManifest {
  const stored: StoredManifest = {
    schema: 1,
    ...manifest,
    versions: {
      ...manifest.versions,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    },
    startedAt: new Date().toISOString(),
    commit: gitCommit(process.cwd()),
  };
  writeWhole(join(runDir, RUN_FILES.manifest), `${JSON.stringify(stored, null, 2)}\n`);
  return stored;
}

/**
 * Reads run.json. Throws HONE_ERR_IO if it is missing or cannot be read, HONE_ERR_FORMAT if it is not a
 * manifest.
 */
export function readRunManifest(runDir: string): StoredManifest {
  const path = join(runDir, RUN_FILES.manifest);
  if (fileWork(path, () => statSync(path, { throwIfNoEntry: false })) === undefined)
    throw new HoneError("HONE_ERR_IO", `${runDir}: not a run folder (no ${RUN_FILES.manifest})`, {
      hint: "Give the folder that a run wrote (its --dir).",
      details: { path },
    });
  const value = readJson(path);
  if (typeof value !== "object" || value === null || !("schema" in value) || value.schema !== 1) {
    throw new HoneError("HONE_ERR_FORMAT", `${path}: no manifest of schema 1; is ${runDir} a run folder?`);
  }
  return value as StoredManifest;
}

/** Parsed JSON of a file. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming it. */
export function readJson(path: string): unknown {
  const text = fileWork(path, () => readFileSync(path, "utf8"));
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoneError("HONE_ERR_FORMAT", `${path}: not JSON: ${(cause as Error).message}`, {
      cause,
      details: { path },
    });
  }
}

/**
 * Writes beside the target and renames, so that a reader sees the old file or the new one, even if several
 * processes write it at the same time. Throws HONE_ERR_IO.
 */
export function writeWhole(path: string, text: string): void {
  fileWork(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(besideOf(path), text, LINKLESS);
    renameSync(besideOf(path), path);
  });
}

/**
 * Like writeWhole, without blocking the caller's thread: a rename over a file may wait for the disk. Allows
 * one call at a time per path.
 */
export async function writeWholeBeside(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(besideOf(path), text, LINKLESS);
    await rename(besideOf(path), path);
  } catch (cause) {
    throw fileFailure(path, cause);
  }
}

const LINKLESS = { flag: REWRITING as unknown as string }; // Node also accepts a number here

/**
 * A temporary path of this process: processes that shared one would rename each other's incomplete files. A kill
 * during a write leaves it.
 */
const besideOf = (path: string): string => `${path}.${process.pid}.tmp`;
/** Temporary names that `writeWhole` uses, and no others: the folder may contain its owner's files. */
const LEFT = /\.(jsonl?|html|mjs|prom)\.\d+\.tmp$/;
/** Age after which a temporary file counts as abandoned. Milliseconds. */
const LEFT_MS = 60_000;

/** Removes temporary files of processes that were killed during `writeWhole`. Throws HONE_ERR_IO. */
export function clearLeft(dir: string): void {
  fileWork(dir, () => {
    const left = readdirSync(dir, { withFileTypes: true }).filter(
      (each) => each.isFile() && LEFT.test(each.name),
    );
    for (const { name } of left) {
      const path = join(dir, name);
      const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (Date.now() - writtenMs > LEFT_MS) rmSync(path, { force: true });
    }
  });
}

function gitCommit(directory: string): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", directory, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  try {
    return (
      git("rev-parse", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+")
    );
  } catch {
    return null; // no git, or not a repository: a run from the npm package
  }
}
