import type { SubmittedGroup } from "./attempt.ts";
import type { SharedCores } from "./shared-cores.ts";

type Pull = (passes: (group: SubmittedGroup) => boolean) => SubmittedGroup | undefined;

/** Delivers groups to one engine: immediately, or, if engines are processes that share cores, one after the other. */
export class GroupService {
  /** Called when a group was delivered. */
  onReady: () => void = () => {};
  readonly #queue: Pull;
  readonly #cores: (() => SharedCores) | undefined;
  #busy = false;
  #ready: SubmittedGroup | undefined;

  /**
   * @param queue returns the oldest unassigned group @param cores the cores that engines share, if they do
   */
  constructor(queue: Pull, cores?: () => SharedCores) {
    this.#queue = queue;
    this.#cores = cores;
  }

  /** True if a group is being delivered. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Returns a group that the engine may begin now. */
  readonly pull: Pull = (passes) => {
    if (this.#cores === undefined) return this.#queue(passes);
    const ready = this.#ready;
    this.#ready = undefined;
    if (!this.#busy) this.#fetch(passes);
    return ready;
  };

  #fetch(passes: (group: SubmittedGroup) => boolean): void {
    const group = this.#queue(passes);
    if (group === undefined) return;
    this.#busy = true;
    this.#cores!().serve(() => {
      this.#busy = false;
      this.#ready = group;
      this.onReady();
    });
  }
}
