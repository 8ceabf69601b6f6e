import type { SavedTicket, Ticket } from "./ticket.ts";

/** The groups between submission and training, in order of submission. */
export class Roster {
  readonly #tickets = new Map<number, Ticket>();

  get size(): number {
    return this.#tickets.size;
  }

  /** Attempts without a verdict, and with one. */
  get attempts(): { readonly unfinished: number; readonly finished: number } {
    let [unfinished, finished] = [0, 0];
    for (const ticket of this.#tickets.values()) {
      unfinished += ticket.attempts - ticket.finished - ticket.failed;
      finished += ticket.finished;
    }
    return { unfinished, finished };
  }

  add(ticket: Ticket): void {
    this.#tickets.set(ticket.group, ticket);
  }

  remove(group: number): void {
    this.#tickets.delete(group);
  }

  *[Symbol.iterator](): Iterator<Ticket> {
    yield* this.#tickets.values();
  }

  saved(): SavedTicket[] {
    return [...this.#tickets.values()].map(({ group, domain, index }) => ({ group, domain, index }));
  }

  /**
   * The groups the step at weight version v has to take so that no later step trains a token older than
   * `maxLag` versions: the oldest r of them, where
   *   r = max_j ( N(submitted at version <= v - maxLag + j) - j P ),  j = 0, 1, ...
   * (a later step can take P, so what is due within j steps must fit into j P). With at most P (maxLag + 1)
   * groups outstanding, r <= P.
   */
  due(version: number, maxLag: number, groupsPerStep: number): Ticket[] {
    const byAge = [...this.#tickets.values()].sort(
      (a, b) => a.submittedVersion - b.submittedVersion || a.group - b.group,
    );
    let due = 0;
    byAge.forEach((ticket, position) => {
      const stepsLeft = Math.max(0, ticket.submittedVersion + maxLag - version);
      due = Math.max(due, position + 1 - stepsLeft * groupsPerStep);
    });
    return byAge.slice(0, due);
  }
}
