import type { Tables } from "./tables.ts";

/** The members in a run's history: a session voids members taken by steps after its starting step. */
export class LiveRows {
  readonly #tables: Pick<Tables, "members" | "sessions">;
  #rows = new Uint32Array(0);
  #count = 0;
  #entered = 0;
  #sessions = 0;

  constructor(tables: Pick<Tables, "members" | "sessions">) {
    this.#tables = tables;
  }

  /** The live rows, ascending. Valid until rows are added. */
  rows(): Uint32Array {
    const { members, sessions } = this.#tables;
    if (sessions.rows !== this.#sessions) this.#begin();
    if (this.#entered < members.rows) this.#enter();
    return this.#rows.subarray(0, this.#count);
  }

  /** Starts over, since a session may void any row. */
  #begin(): void {
    this.#sessions = this.#tables.sessions.rows;
    this.#entered = 0;
    this.#count = 0;
  }

  #enter(): void {
    const { members } = this.#tables;
    if (this.#rows.length < members.rows) {
      const grown = new Uint32Array(Math.max(1024, 2 * members.rows));
      grown.set(this.#rows.subarray(0, this.#count));
      this.#rows = grown;
    }
    const { step } = members.columns;
    const last = this.#lastSteps();
    let session = 0;
    for (let row = this.#entered; row < members.rows; row++) {
      while (session < last.length && row >= last[session]!.members) session += 1;
      if (session < last.length && step[row]! > last[session]!.step) continue;
      this.#rows[this.#count] = row;
      this.#count += 1;
    }
    this.#entered = members.rows;
  }

  /** For each session, the last step of the rows before it that no later session discards. */
  #lastSteps(): { readonly members: number; readonly step: number }[] {
    const { rows, columns } = this.#tables.sessions;
    const last: { members: number; step: number }[] = [];
    let step = Number.POSITIVE_INFINITY;
    for (let row = rows - 1; row >= 0; row--) {
      step = Math.min(step, columns.step[row]!);
      last.unshift({ members: columns.members[row]!, step });
    }
    return last;
  }
}
