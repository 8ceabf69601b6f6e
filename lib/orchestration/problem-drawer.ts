import type { ProblemSource } from "../data/index.ts";
import type { DomainName } from "../records.ts";
import type { Credits } from "./credits.ts";
import type { DomainSampler } from "./domain-sampler.ts";
import type { SavedTicket, Ticket } from "./ticket.ts";

/** Where drawing stood: with it and the sampler's state, a resumed run draws what the uninterrupted one would have. */
export interface SavedDraws {
  readonly nextGroup: number;
  /** Next index in each domain's source. */
  readonly cursors: Readonly<Record<DomainName, number>>;
}

/** Draws the next group's problem: its domain from the sampler, the problem from the domain's source in order. */
export class ProblemDrawer {
  readonly #sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly #sampler: DomainSampler;
  readonly #groupSize: number;
  readonly #cursors: Map<DomainName, number>;
  readonly #again: SavedTicket[];
  #nextGroup: number;

  /** @param again groups that were outstanding when the run was saved; they come first, under their old numbers. */
  constructor(
    sources: ReadonlyMap<DomainName, ProblemSource>,
    sampler: DomainSampler,
    groupSize: number,
    saved?: SavedDraws,
    again: readonly SavedTicket[] = [],
  ) {
    this.#sources = sources;
    this.#sampler = sampler;
    this.#groupSize = groupSize;
    this.#cursors = new Map([...sources.keys()].map((d) => [d, saved?.cursors[d] ?? 0]));
    this.#nextGroup = saved?.nextGroup ?? 0;
    this.#again = [...again];
  }

  /** Groups drawn so far; those still to be submitted again do not count. */
  get drawn(): number {
    return this.#nextGroup - this.#again.length;
  }

  next(): Ticket {
    const again = this.#again.shift();
    if (again !== undefined) return this.ticket(again);
    const domain = this.#sampler.pick();
    const index = this.#cursors.get(domain)!;
    this.#cursors.set(domain, index + 1);
    this.#nextGroup += 1;
    return this.ticket({ group: this.#nextGroup - 1, domain, index });
  }

  /** The same group with the same problem, whenever asked. */
  ticket({ group, domain, index }: SavedTicket): Ticket {
    const problem = this.#sources.get(domain)!.problem(index);
    const unset = { submittedVersion: 0, submittedMs: 0, finished: 0, failed: 0 };
    return { group, domain, index, problem, attempts: this.#groupSize, ...unset };
  }

  /** Groups still to be submitted again, for the next checkpoint. */
  get again(): readonly SavedTicket[] {
    return this.#again;
  }

  saved(): SavedDraws {
    return { nextGroup: this.#nextGroup, cursors: Object.fromEntries(this.#cursors) };
  }
}

/**
 * One ticket per credit, until the credits are closed or `limit` groups of the run are drawn. A ticket is drawn
 * after its credit is had, so that the sampler sees every completion before it; `onDraw` is told at once, so that
 * no ticket is ever between two books.
 */
export async function* drawProblems(
  drawer: ProblemDrawer,
  credits: Credits,
  limit: number,
  onDraw: (ticket: Ticket) => void,
): AsyncGenerator<Ticket, void, undefined> {
  while (drawer.drawn < limit && (await credits.take())) {
    const ticket = drawer.next();
    onDraw(ticket);
    yield ticket;
  }
}
