import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { ConfigError, HoneError } from "../../errors.ts";
import { holdsAdapters } from "../../inference/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import { pipelineStateSchema } from "../pipeline/index.ts";
import type { Model } from "../setup/index.ts";

/** Everything of a run that is not in the trainer. */
const stateSchema = z.object({
  schema: z.literal(1),
  seed: z.int(),
  ...pipelineStateSchema.shape,
  trainingSeconds: z.number(),
  warmStartSeconds: z.number(),
  metrics: z.unknown(),
  /** Step after which the policy became the reference; absent if the reference is the initial policy. */
  reference: z.int().optional(),
});
export type RunState = z.infer<typeof stateSchema>;

/** Name of the checkpoint of a step, in the folder `checkpoints` of its run. */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, "0")}`;

const NAME = /^step-(\d{6})$/;
/** Leftovers of a process that was killed while it saved or removed a checkpoint. */
const LEFTOVER = /^(step-\d{6}|warm-start)\.(tmp-\d+|trash)$/;
/**
 * Other names that a run creates in the checkpoints folder. LEFTOVER lacks the temporary folders of
 * reference-weights.ts, which may be writing one during the cleanup after a checkpoint.
 */
const OURS = /^((step-\d{6}|warm-start)(\.aside-\d+)?|reference-\d{6,}(\.(tmp-\d+|trash))?)$/;

interface Beginnings {
  readonly model: Pick<Model, "origin" | "fill">;
  readonly recipe: { readonly lora?: unknown };
}

/** Rule for which old checkpoints are kept. */
export interface KeepRule {
  readonly keepLast: number;
  /** Steps divisible by this number are kept too; 0: none. */
  readonly keepEvery?: number;
}

/** The checkpoints of a run folder: directories that are complete if they exist. */
export class Checkpoints {
  readonly directory: string;
  /** Steps whose checkpoints are kept regardless of the rules. */
  kept: ReadonlySet<number> = new Set();
  readonly #rule: KeepRule;
  #saving = 0;

  constructor(runDir: string, rule: KeepRule = { keepLast: 1 }) {
    this.directory = join(runDir, "checkpoints");
    this.#rule = rule;
  }

  /** Path of the weights that training starts from. */
  get warmStart(): string {
    return join(this.directory, "warm-start");
  }

  /** Saves the weights training starts from. */
  async saveStart(trainer: TrainerFace): Promise<void> {
    mkdirSync(this.directory, { recursive: true });
    await trainer.save(this.warmStart, JSON.stringify({ schema: 1, kind: "start" }));
  }

  /** Loads the initial weights: saved ones, or those of the model folder. Adapters are applied to their base. */
  async loadStart(trainer: TrainerFace, { model, recipe }: Beginnings): Promise<void> {
    const saved = existsSync(this.warmStart);
    if (recipe.lora !== undefined) {
      await this.loadBase(trainer, model);
      if (saved && holdsAdapters(this.warmStart)) await trainer.load(this.warmStart);
    } else if (model.origin !== undefined && !saved) await model.fill(trainer);
    else await trainer.load(this.warmStart);
  }

  /** Loads the base of adapters: all weights after the warm start or from `startFrom`, or those of the model. */
  async loadBase(trainer: TrainerFace, model: Pick<Model, "fill">): Promise<void> {
    if (existsSync(this.warmStart) && !holdsAdapters(this.warmStart)) await trainer.loadHf(this.warmStart);
    else await model.fill(trainer);
  }

  /** Paths of the checkpoints, newest first. */
  list(): string[] {
    if (!existsSync(this.directory)) return [];
    const names = readdirSync(this.directory).filter((name) => NAME.test(name));
    return names
      .sort()
      .reverse()
      .map((name) => join(this.directory, name));
  }

  /** Step of the oldest kept checkpoint; undefined without a checkpoint. */
  get oldest(): number | undefined {
    const path = this.list().at(-1);
    return path === undefined ? undefined : stepOf(path);
  }

  /** Path of the checkpoint of a step, whether or not it exists. */
  pathOf(step: number): string {
    return join(this.directory, checkpointName(step));
  }

  /**
   * Renames the checkpoints that are newer than the step of a resumed run (they are damaged, or belong to an
   * abandoned branch). Otherwise the next resume would take them as the newest, and they would displace new ones.
   * Returns the new paths.
   */
  setAside(step: number): string[] {
    const newer = this.list().filter((path) => stepOf(path) > step);
    return newer.map((path) => {
      let n = 1;
      while (existsSync(`${path}.aside-${n}`)) n += 1;
      renameSync(path, `${path}.aside-${n}`);
      return `${path}.aside-${n}`;
    });
  }

  /** Removes all checkpoints, including renamed and incomplete ones, and the folder if it is then empty. */
  clear(): void {
    if (!existsSync(this.directory)) return;
    for (const name of readdirSync(this.directory)) {
      if (OURS.test(name) || LEFTOVER.test(name))
        rmSync(join(this.directory, name), { recursive: true, force: true });
    }
    if (readdirSync(this.directory).length === 0) rmdirSync(this.directory);
  }

  /** Saves a checkpoint, then removes those that no rule keeps and incomplete ones. Throws the trainer's HONE_ERR_IO. */
  async save(trainer: TrainerFace, state: RunState): Promise<string> {
    mkdirSync(this.directory, { recursive: true });
    const path = this.pathOf(state.step);
    this.#saving += 1;
    await trainer.save(path, JSON.stringify(state)).finally(() => (this.#saving -= 1));
    this.#tidy();
    return path;
  }

  /** Like `save`, but resolves once the trainer has copied the state; `written` gives the path later. */
  async stage(trainer: TrainerFace, state: RunState): Promise<{ readonly written: Promise<string> }> {
    mkdirSync(this.directory, { recursive: true });
    const path = this.pathOf(state.step);
    this.#saving += 1; // before the copy, since the trainer may write before `copied` resolves
    const copied = trainer.stage(path, JSON.stringify(state));
    const whole = copied.then(() => trainer.written()).finally(() => (this.#saving -= 1));
    whole.catch(() => {}); // if copying failed, this is not awaited
    await copied;
    return { written: whole.then(() => this.#tidy()).then(() => path) };
  }

  #tidy(): void {
    if (this.#saving > 0) return; // the cleanup would remove the files of another save in progress, which itself cleans up
    const { keepLast, keepEvery = 0 } = this.#rule;
    const isKept = (step: number) => this.kept.has(step) || (keepEvery > 0 && step % keepEvery === 0);
    for (const old of this.list().slice(keepLast)) if (!isKept(stepOf(old))) remove(old);
    for (const name of readdirSync(this.directory).filter((entry) => LEFTOVER.test(entry))) {
      rmSync(join(this.directory, name), { recursive: true, force: true });
    }
  }

  /** Restores the trainer from one checkpoint. Throws HONE_ERR_CHECKPOINT (or HONE_ERR_FORMAT) naming it. */
  async load(trainer: TrainerFace, path: string): Promise<RunState> {
    const extra = await trainer.load(path);
    const parsed = stateSchema.safeParse(parseJson(extra));
    if (parsed.success) return parsed.data;
    throw new HoneError(
      "HONE_ERR_CHECKPOINT",
      `${path}: not the checkpoint of a run: ${z.prettifyError(parsed.error)}`,
      {
        hint: "If it is the checkpoint of a warm start, it has weights only: give it as startFrom.",
      },
    );
  }

  /**
   * Restores the newest complete checkpoint; `warn` receives a message for each damaged one, which is skipped.
   * Undefined if there is none; throws the last error if all are damaged.
   */
  async loadNewest(trainer: TrainerFace, warn: (message: string) => void): Promise<RunState | undefined> {
    let last: unknown;
    for (const path of this.list()) {
      try {
        return await this.load(trainer, path);
      } catch (error) {
        last = error;
        warn(`${path} cannot be used (${(error as Error).message}); trying the previous checkpoint`);
      }
    }
    if (last !== undefined) throw last;
    return undefined;
  }
}

/** Throws HONE_ERR_CONFIG if the state is of a run with another seed, which would have other problems and draws. */
export function expectSeed({ seed }: RunState, recipe: { readonly seed: number }): void {
  if (seed === recipe.seed) return;
  const message = `is ${recipe.seed}; the checkpoint is of a run with seed ${seed}`;
  throw new ConfigError("a resumed run must keep its original setting", [{ path: "seed", message }]);
}

/** Throws HONE_ERR_CONFIG if the recipe ends before the checkpoint: there is nothing left to train. */
export function expectStepsLeft(
  { step }: Pick<RunState, "step">,
  { training: { steps } }: { readonly training: { readonly steps: number } },
): void {
  if (step <= steps) return;
  const message = `is ${steps}, but the run has ${step} steps already; set it above ${step} to train on, or name an earlier checkpoint to go back to (--resume <checkpoint>)`;
  throw new ConfigError("a run resumes from its checkpoint", [{ path: "training.steps", message }]);
}

/** Type of the moments in a checkpoint; f32 if the manifest does not say. */
export function momentsOf(checkpoint: string): "f32" | "bf16" {
  const path = join(checkpoint, "manifest.json");
  if (!existsSync(path)) return "f32";
  const manifest = parseJson(readFileSync(path, "utf8")) as
    | { readonly body?: { readonly optimizer?: { readonly moments?: unknown } } }
    | undefined;
  return manifest?.body?.optimizer?.moments === "bf16" ? "bf16" : "f32";
}

const stepOf = (path: string): number => Number(NAME.exec(basename(path))![1]);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Deletes a checkpoint; renames its directory first, so that a directory with the name of a checkpoint is always
 * complete.
 */
function remove(path: string): void {
  const trash = `${path}.trash`;
  rmSync(trash, { recursive: true, force: true });
  renameSync(path, trash);
  rmSync(trash, { recursive: true, force: true });
}
