import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import type { TrainerFace } from "../../native/face.ts";

const NAME = /^reference-(\d{6,})$/;
/** Temporary folders left by a process that was killed while it saved or removed reference weights. */
const LEFTOVER = /^reference-\d{6,}\.(tmp-\d+|trash)$/;

/**
 * Reference weights that replaced the initial ones, one folder per refresh, beside the checkpoints of a run; complete
 * if it exists.
 */
export class ReferenceWeights {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws HONE_ERR_CHECKPOINT if a run needs the weights of `step`, and they are missing. */
  at(step: number): string {
    const path = this.#pathOf(step);
    if (existsSync(path)) return path;
    throw new HoneError("HONE_ERR_CHECKPOINT", `${path} is missing: the weights of the reference policy`, {
      hint: "Continue from a checkpoint before that step (--resume <checkpoint>), or set objective.referenceEverySteps to 0.",
    });
  }

  /** Removes incomplete folders, and the weights of later steps, which an abandoned branch saved. */
  cut(step: number): void {
    for (const name of this.#names().filter((one) => LEFTOVER.test(one)))
      rmSync(join(this.#directory, name), { recursive: true, force: true });
    for (const later of this.#steps().filter((one) => one > step)) this.#remove(later);
  }

  /**
   * Saves the trainer's weights as those of `step`, and removes saved weights that no resumed run can need any more,
   * because it would resume from the oldest checkpoint or a later one; without a checkpoint a run restarts with its
   * initial policy. Calls `oldest` after saving, which for a trainer waits until a checkpoint in progress is
   * complete.
   */
  async save(trainer: TrainerFace, step: number, oldest: () => number | undefined): Promise<string> {
    mkdirSync(this.#directory, { recursive: true });
    this.#remove(step);
    await trainer.save(this.#pathOf(step), JSON.stringify({ schema: 1, kind: "reference" }));
    const from = oldest() ?? step;
    const needed = this.#steps().findLast((one) => one <= from) ?? 0;
    for (const older of this.#steps().filter((one) => one < needed)) this.#remove(older);
    return this.#pathOf(step);
  }

  #names(): string[] {
    return existsSync(this.#directory) ? readdirSync(this.#directory) : [];
  }

  /** Steps with saved weights, ascending. */
  #steps(): number[] {
    const steps = this.#names().flatMap((name) => (NAME.test(name) ? [Number(NAME.exec(name)![1])] : []));
    return steps.sort((a, b) => a - b);
  }

  #pathOf(step: number): string {
    return join(this.#directory, `reference-${String(step).padStart(6, "0")}`);
  }

  #remove(step: number): void {
    rmSync(this.#pathOf(step), { recursive: true, force: true });
  }
}
