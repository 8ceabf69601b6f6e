import { CounterRandom } from "../random.ts";
import { Actor } from "./actor.ts";
import type { Attempt, SubmittedGroup } from "./attempt.ts";
import { GroupService } from "./group-service.ts";
import type { Machine } from "./machine.ts";
import { SharedCores } from "./shared-cores.ts";
import type { Timeline } from "./timeline.ts";

const FAILURES = 0x4641494c;

/** The engines, and the queue of groups not yet in an engine: an engine with room takes the oldest. */
export class Actors {
  readonly all: readonly Actor[];
  readonly #cores: SharedCores | undefined;
  /** Service of each engine, in the order of `all`. */
  readonly #services: GroupService[] = [];
  readonly #timeline: Timeline;
  readonly #speedDuringStep: number;
  readonly #queue: SubmittedGroup[] = [];
  #head = 0;
  #areReceiving = false;

  constructor(machine: Machine, seed: number, timeline: Timeline, finished: (attempt: Attempt) => void) {
    this.#timeline = timeline;
    this.#speedDuringStep = machine.actor.speedDuringStep;
    const { shared } = machine;
    const cores = shared && (() => this.#cores!);
    this.all = Array.from({ length: machine.actors }, () => {
      const service = new GroupService(this.#pull.bind(this), cores);
      const lost = this.#lost.bind(this);
      const busy = shared && ((change: 1 | -1) => this.#cores!.engine(change));
      const actor = new Actor(machine.actor, timeline, { pull: service.pull, finished, lost, busy });
      service.onReady = () => actor.look();
      this.#services.push(service);
      return actor;
    });
    this.#cores = shared && new SharedCores(shared, timeline, this.all);
    if (machine.failures !== undefined) this.#failNowAndThen(machine.failures, seed);
  }

  /** Groups that no engine has begun. */
  get queued(): number {
    return this.#queue.length - this.#head;
  }

  submit(group: SubmittedGroup): void {
    this.#queue.push(group);
    this.#offer();
  }

  /** Resolves when the engines have new weights; until then they begin no group. */
  async receive(seconds: number): Promise<void> {
    this.#areReceiving = true;
    await this.#timeline.after(seconds);
    this.#areReceiving = false;
  }

  update(version: number): void {
    for (const actor of this.all) actor.update(version);
  }

  /** Resolves when the trainer has done this many seconds of work concurrently with the engines. */
  async besideStep(seconds: number): Promise<void> {
    if (this.#cores !== undefined) return this.#cores.train(seconds, this.all.length);
    this.#setSpeed(this.#speedDuringStep);
    await this.#timeline.after(seconds);
    this.#setSpeed(1);
  }

  #setSpeed(speed: number): void {
    if (this.#speedDuringStep < 1) for (const actor of this.all) actor.setSpeed(speed);
  }

  sum(of: (actor: Actor) => number): number {
    return this.all.reduce((sum, actor) => sum + of(actor), 0);
  }

  /** Lets the engine with the fewest running attempts look first. */
  #offer(): void {
    let best: Actor | undefined;
    for (let i = 0; i < this.all.length; i++) {
      const actor = this.all[i]!;
      if (best !== undefined && actor.running >= best.running) continue;
      if (actor.hasRoom && !this.#services[i]!.busy) best = actor;
    }
    best?.look();
  }

  #pull(passes: (group: SubmittedGroup) => boolean): SubmittedGroup | undefined {
    const group = this.#queue[this.#head];
    if (group === undefined || this.#areReceiving || !passes(group)) return undefined;
    this.#head += 1;
    if (2 * this.#head >= this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    return group;
  }

  /** Queues the groups of lost attempts in front of groups that no engine has begun. */
  #lost(attempts: readonly Attempt[]): void {
    const groups = [...new Set(attempts.map(({ group }) => group))];
    this.#queue.splice(0, this.#head, ...groups);
    this.#head = 0;
    for (const _ of groups) this.#offer();
  }

  /** Simulates independent failures of the engines at exponential intervals. */
  #failNowAndThen({ mtbf, restart }: NonNullable<Machine["failures"]>, seed: number): void {
    this.all.forEach((actor, i) => {
      const random = new CounterRandom(seed, FAILURES, i);
      const next = () => this.#timeline.seconds - mtbf * Math.log(1 - random.next());
      const fail = () => {
        actor.fail(restart);
        this.#timeline.at(next(), fail);
      };
      this.#timeline.at(next(), fail);
    });
  }
}
