import type { SubmittedGroup } from "./attempt.ts";
import type { SharedCores } from "./shared-cores.ts";

type Pull = (passes: (group: SubmittedGroup) => boolean) => SubmittedGroup | undefined;

/** Brings groups to one engine: at once, or, where engines are processes that share cores, one after the other. */
export class GroupService {
  /** A group has come. */
  onReady: () => void = () => {};
  readonly #queue: Pull;
  readonly #cores: (() => SharedCores) | undefined;
  #busy = false;
  #ready: SubmittedGroup | undefined;

  /** @param queue takes the oldest group that nobody has @param cores that are shared */
  constructor(queue: Pull, cores?: () => SharedCores) {
    this.#queue = queue;
    this.#cores = cores;
  }

  /** Whether a group is on its way. */
  get busy(): boolean {
    return this.#busy;
  }

  /** What the engine may begin now. */
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
