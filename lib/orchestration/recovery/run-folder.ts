import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Recipe, recipeDemands } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import { ConfigError, HoneError } from "../../errors.ts";
import { checkOrigin } from "../../inference/index.ts";
import {
  clearLeft,
  RUN_FILES,
  RunLogReader,
  readJson,
  readRunManifest,
  type StoredManifest,
  writeRunManifest,
  writeWhole,
} from "../../metrics/index.ts";
import { lockFolder } from "../../shared/files/folder-lock.ts";
import type { Arithmetic } from "../../shared/models/weight-types.ts";
import { moduleHashes } from "../../trust.ts";
import { inTodaysNames, recipeChanges } from "../records/index.ts";
import type { HeldOut, HubCommits, RunResources } from "../setup/index.ts";
import { Checkpoints } from "./checkpoints.ts";
import { expectCheckpoints } from "./lost-checkpoints.ts";

/** Options of a run that determine how its folder is used. */
interface FolderOptions {
  readonly dir: string;
  readonly resume?: string | undefined;
  readonly overwrite?: boolean;
}

/**
 * Locks the folder for this run until disposed. Throws HONE_ERR_USAGE if another run has locked it, or if it contains
 * a run that would be overwritten; HONE_ERR_CHECKPOINT if the run to resume has lost its checkpoints; HONE_ERR_IO.
 */
export async function claimRunFolder({
  dir,
  resume = "never",
  overwrite = false,
}: FolderOptions): Promise<Disposable> {
  const lock = await lockFolder(dir);
  try {
    if (resume === "auto") expectCheckpoints(dir);
    if (resume !== "never" || overwrite || !existsSync(new Checkpoints(dir).directory)) return lock;
    throw new HoneError("HONE_ERR_USAGE", `${dir} holds a run with checkpoints`, {
      hint: "Continue with --resume, choose another --dir, or replace it with --overwrite (from a program: resume, dir, overwrite).",
    });
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/**
 * Throws the errors of claimRunFolder without creating a folder: for callers that start processes before the run
 * claims it.
 */
export async function expectClaimable(options: FolderOptions): Promise<void> {
  if (!existsSync(options.dir)) return;
  using _ = await claimRunFolder(options);
}

/** Start time of the run: the current date for chat templates, also after a resume. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function runClock({ dir, resume = "never" }: FolderOptions): Date {
  const goesOn = resume !== "never" && existsSync(join(dir, RUN_FILES.manifest));
  return goesOn ? recordedClock(readRunManifest(dir)) : new Date();
}

const heldOutSchema = z.record(z.string(), z.array(z.string()));

/**
 * Content keys of the held-out rows of a resumed run, regardless of changes to the data sets; undefined for a new
 * run, and for one of a version that wrote no list. Throws HONE_ERR_FORMAT.
 */
export function recordedHeldOut({ dir, resume = "never" }: FolderOptions): HeldOut | undefined {
  const path = join(dir, RUN_FILES.heldOut);
  if (resume === "never" || !existsSync(path)) return undefined;
  const parsed = heldOutSchema.safeParse(readJson(path));
  if (parsed.success)
    return new Map(Object.entries(parsed.data).map(([domain, keys]) => [domain, new Set(keys)]));
  throw new HoneError("HONE_ERR_FORMAT", `${path}: not the run's list of held-out rows`, {
    hint: "Restore the file: without it the run could train on problems that it was evaluated on.",
  });
}

const commitsSchema = z.record(
  z.string(),
  z.object({
    hub: z.array(z.object({ name: z.string(), commit: z.string().regex(/^[0-9a-f]{40}$/) })).optional(),
  }),
);

/** The commits of Hub data sets that a resumed run has read; undefined for a new run. Throws HONE_ERR_FORMAT. */
export function recordedCommits({ dir, resume = "never" }: FolderOptions): HubCommits | undefined {
  const path = join(dir, RUN_FILES.manifest);
  if (resume === "never" || !existsSync(path)) return undefined;
  const parsed = commitsSchema.safeParse(readRunManifest(dir).data ?? {});
  if (parsed.success)
    return new Map(Object.entries(parsed.data).map(([domain, { hub = [] }]) => [domain, hub]));
  throw new HoneError("HONE_ERR_FORMAT", `${path}: its field data is not a record of data sets`);
}

/** Arithmetic that a run recorded; versions that recorded none computed products in f32. */
export function recordedArithmetic({ versions }: Pick<StoredManifest, "versions">): Arithmetic {
  return versions["arithmetic"] === "bf16" ? "bf16" : "f32";
}

/**
 * Returns the arithmetic of a resumed run, undefined for a new run. Throws ConfigError if the recipe sets another, or
 * a weight type incompatible with it: the run would continue with different bits.
 */
export function keptArithmetic(
  recipe: Recipe,
  { dir, resume = "never" }: FolderOptions,
): Arithmetic | undefined {
  const { device, model } = recipe;
  if (device === "cuda" || resume === "never" || !existsSync(join(dir, RUN_FILES.manifest))) return undefined;
  const kept = recordedArithmetic(readRunManifest(dir));
  const has = `the run in ${dir} multiplies in ${kept}`;
  const issue = (path: string, is: string, more: string) =>
    new ConfigError("a resumed run must keep its original setting", [
      { path, message: `is "${is}"; ${has}${more}` },
    ]);
  if (model.arithmetic !== undefined && model.arithmetic !== kept)
    throw issue("model.arithmetic", model.arithmetic, "; leave the field out, or begin another run");
  if (kept === "bf16" && model.weightStorage === "f32")
    throw issue("model.weightStorage", "f32", ", which needs weights stored as bf16");
  return kept;
}

const storedSchema = z.object({ model: z.object({ weightStorage: z.enum(["f32", "bf16"]) }) });

/** Weight type of a resumed run; undefined for a new run. Throws ConfigError if the recipe sets another. */
export function keptStorage(
  { model: { weightStorage: asked } }: Recipe,
  { dir, resume = "never" }: FolderOptions,
): Recipe["model"]["weightStorage"] {
  if (resume === "never" || !existsSync(join(dir, RUN_FILES.manifest))) return undefined;
  const kept = storedSchema.safeParse(readRunManifest(dir).config).data?.model.weightStorage;
  if (asked === undefined || kept === undefined || asked === kept) return kept;
  const message = `is "${asked}"; the run in ${dir} stores weights in ${kept}; leave the field out, or begin another run`;
  throw new ConfigError("a resumed run must keep its original setting", [
    { path: "model.weightStorage", message },
  ]);
}

const maskedSchema = z.object({ rollouts: z.object({ maskPadding: z.boolean() }) });

/** True if a resumed run samples no padding ids; undefined for a new run. */
export function keptMasking({ dir, resume = "never" }: FolderOptions): boolean | undefined {
  if (resume === "never" || !existsSync(join(dir, RUN_FILES.manifest))) return undefined;
  return maskedSchema.safeParse(inTodaysNames(readRunManifest(dir).config)).data?.rollouts.maskPadding;
}

/** The date for chat templates; a run recorded without one had templates that do not use it. */
export const recordedClock = ({ clock, startedAt }: StoredManifest): Date => new Date(clock ?? startedAt);

/**
 * Prepares the folder: clears it for a new run; for a resumed run, checks its logs, and that model and
 * teacher are those of the run. Writes run.json. Returns the changes of the recipe. Throws HONE_ERR_IO,
 * HONE_ERR_CONFIG.
 */
export function prepareRunFolder(
  dir: string,
  resume: string,
  {
    recipe,
    core,
    clock,
    model,
    teacher,
    arithmetic,
    sources,
    sets,
  }: Pick<
    RunResources,
    "recipe" | "core" | "clock" | "model" | "teacher" | "arithmetic" | "sources" | "sets"
  >,
): string[] {
  if (resume === "never") clearRunFolder(dir);
  else expectRecords(dir);
  clearLeft(dir);
  let changes: string[] = [];
  if (existsSync(join(dir, RUN_FILES.manifest)) && existsSync(new Checkpoints(dir).directory)) {
    const before = readRunManifest(dir);
    checkOrigin(dir, before.model, model.origin);
    checkOrigin(dir, before.teacher, teacher?.origin, "teacher.folder");
    changes = recipeChanges(dir, inTodaysNames(before.config), recipe);
  }
  const asked = [...sources, ...[...sets].map(([name, { source }]) => [name, source] as const)];
  writeHeldOut(dir, recordedHeldOut({ dir, resume }), asked);
  const info = core.info();
  writeRunManifest(dir, {
    name: recipe.name,
    config: recipe,
    clock: clock.toISOString(),
    model: model.origin,
    teacher: teacher?.origin,
    data: Object.fromEntries(asked.flatMap(([name, { report }]) => (report ? [[name, report]] : []))),
    modules: moduleHashes(recipeDemands(recipe, ["problems", "verifiers", "objective"])),
    seeds: { run: recipe.seed },
    versions: { hone: info.version, isa: info.isa, threads: info.threads, arithmetic },
    command: process.argv,
  });
  return changes;
}

/**
 * The held-out rows of data sets, by domain and set: those listed so far, then new ones in the order in which
 * they are requested. The list only grows: a row that is missing from the files today was evaluated before
 * and may return.
 */
function writeHeldOut(
  dir: string,
  recorded: HeldOut | undefined,
  sources: readonly (readonly [string, ProblemSource])[],
): void {
  const lists = new Map([...(recorded ?? [])].map(([name, keys]) => [name, [...keys]]));
  for (const [name, { heldOutKeys }] of sources)
    if (heldOutKeys) lists.set(name, [...new Set([...(lists.get(name) ?? []), ...heldOutKeys])]);
  if (lists.size > 0)
    writeWhole(join(dir, RUN_FILES.heldOut), `${JSON.stringify(Object.fromEntries(lists))}\n`);
}

/** Throws early, before anything is trained, if a log is gone or has a damaged line. */
function expectRecords(dir: string): void {
  const steps = join(dir, RUN_FILES.log);
  if (existsSync(steps)) for (const _ of new RunLogReader(steps));
  const events = join(dir, RUN_FILES.events);
  if (existsSync(events) || new Checkpoints(dir).list().length === 0) return;
  throw new HoneError(
    "HONE_ERR_FORMAT",
    `${events} is missing; without it the run in this folder cannot be replayed`,
    {
      hint: "Restore it; or create an empty file of that name, to continue as a run that cannot be replayed.",
    },
  );
}

/** Removes the files of an earlier run from the folder, and nothing else. Throws HONE_ERR_IO. */
export function clearRunFolder(directory: string): void {
  try {
    for (const name of Object.values(RUN_FILES)) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    new Checkpoints(directory).clear();
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `${directory} cannot be a run folder: ${(cause as Error).message}`, {
      cause,
    });
  }
}
