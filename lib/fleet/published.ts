import type { Membership } from "./membership.ts";
import type { TransferPlan } from "./messages.ts";
import type { Senders } from "./transport.ts";

/** Senders of one update. */
export interface Sending extends Senders {
  readonly version: number;
  /** To the members of the plan. Rejects where one of them is not there in time. */
  send(plan: TransferPlan): Promise<void>;
  /** Whether `send` ends without the members, who are told afterwards: it writes a folder. Default: false. */
  readonly sendsFirst?: boolean;
}

/** Source of the weights to send. */
export interface WeightSource extends Sending {
  /** Another number whenever its weights are others, whatever their version. */
  readonly state: number;
}

/** An engine that gets its weights from a source: one of actors. */
export interface WeightTaker {
  /** Within `Updates.exclusive`; resolves with their version when actors may use them. */
  takeFrom(source: WeightSource): Promise<number>;
}

/** Version that actors may sample with on one engine, and its source. */
export interface Published {
  readonly version: number;
  readonly source: WeightSource;
  readonly state: number;
  /** Actors that have it. */
  readonly members: ReadonlySet<string>;
  /** Members from which another member failed to receive: they are not asked again. */
  readonly unable: ReadonlySet<string>;
}

/** The version that actors may sample with, by engine. */
export class PublishedVersions extends Map<string, Published> {
  readonly #members: Pick<Membership, "alive" | "isAlive">;

  constructor(members: Pick<Membership, "alive" | "isAlive">) {
    super();
    this.#members = members;
  }

  /** Version that requests have to wait for; undefined before the first. */
  version(engine: string): number | undefined {
    return this.get(engine)?.version;
  }

  /** Actors that do not have what is current. */
  lagging(engine: string): string[] {
    const members = this.get(engine)?.members;
    return this.#members.alive.map(({ member }) => member).filter((member) => members?.has(member) === false);
  }

  /** True if an actor that has what is current is alive. */
  isServed(engine: string): boolean {
    const members = this.get(engine)?.members ?? [];
    return [...members].some((member) => this.#members.isAlive(member));
  }
}
