import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import type { TrainerFace } from "../../native/face.ts";

const NAME = /^reference-(\d{6,})$/;
/** Of a process that was killed while it saved or removed one. */
const LEFTOVER = /^reference-\d{6,}\.(tmp-\d+|trash)$/;

/** What a reference policy was refreshed to, a folder for each time, beside the checkpoints of a run; whole where it exists. */
export class ReferenceWeights {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws HONE_ERR_CHECKPOINT where a run needs those of `step`, and they are gone. */
  at(step: number): string {
    const path = this.#pathOf(step);
    if (existsSync(path)) return path;
    throw new HoneError("HONE_ERR_CHECKPOINT", `${path} is missing: the weights of the reference policy`, {
      hint: "Go on from a checkpoint of before that step (--resume <checkpoint>), or set objective.referenceEverySteps to 0.",
    });
  }

  /** Removes those of later steps, of a branch that was left behind, and what was left half done. */
  cut(step: number): void {
    for (const name of this.#names().filter((one) => LEFTOVER.test(one)))
      rmSync(join(this.#directory, name), { recursive: true, force: true });
    for (const later of this.#steps().filter((one) => one > step)) this.#remove(later);
  }

  /**
   * Saves the trainer's weights as those of `step`, and removes what no run needs that goes on from the oldest checkpoint or
   * later; without one a run begins again, with the policy that it began with. `oldest` is asked after saving, for which
   * a trainer waits until a checkpoint on its way is there.
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

  /** Ascending. */
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
