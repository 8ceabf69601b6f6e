import type { Membership } from "./membership.ts";
import type { TransferPlan } from "./messages.ts";
import type { Senders } from "./transport.ts";

/** Senders of one update. */
export interface Sending extends Senders {
  readonly version: number;
  /** Sends weights to the members of the plan. Rejects if one of them does not connect in time. */
  send(plan: TransferPlan): Promise<void>;
  /** True if `send` finishes before members are notified, because it writes a folder. Default: false. */
  readonly sendsFirst?: boolean;
}

/** Source of the weights to send. */
export interface WeightSource extends Sending {
  /** A number that changes whenever the weights change, even if their version does not. */
  readonly state: number;
}

/** An engine that takes its weights from a source, such as an actors' engine. */
export interface WeightTaker {
  /** Called within `Updates.exclusive`; resolves with the version once actors may use it. */
  takeFrom(source: WeightSource): Promise<number>;
}

/** The version with which actors may sample on one engine, and its source. */
export interface Published {
  readonly version: number;
  readonly source: WeightSource;
  readonly state: number;
  /** Names of the actors that have this version. */
  readonly members: ReadonlySet<string>;
  /** Members from which a transfer failed: they are not used as senders again. */
  readonly unable: ReadonlySet<string>;
}

/** The version that actors may sample with, by engine. */
export class PublishedVersions extends Map<string, Published> {
  readonly #members: Pick<Membership, "alive" | "isAlive">;

  constructor(members: Pick<Membership, "alive" | "isAlive">) {
    super();
    this.#members = members;
  }

  /** Weight version with which an engine's requests may be sampled; undefined before the first. */
  version(engine: string): number | undefined {
    return this.get(engine)?.version;
  }

  /** Live actors that do not have the current version. */
  lagging(engine: string): string[] {
    const members = this.get(engine)?.members;
    return this.#members.alive.map(({ member }) => member).filter((member) => members?.has(member) === false);
  }

  /** True if a live actor has the current version. */
  isServed(engine: string): boolean {
    const members = this.get(engine)?.members ?? [];
    return [...members].some((member) => this.#members.isAlive(member));
  }
}
