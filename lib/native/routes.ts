import type { Routes } from "../records.ts";
import type { MessageRoutes } from "./route-face.ts";

/** Reads a message's routes token by token, in order; undefined for a token that brings none. */
export function routeReader({ routeRows, routes }: MessageRoutes): (token: number) => Routes | undefined {
  if (routeRows === undefined || routes === undefined) return () => undefined;
  const width = routes.length / routeRows.reduce((sum, rows) => sum + rows, 0);
  let at = 0;
  return (token) => {
    const begin = at;
    at += routeRows[token]! * width;
    return at === begin ? undefined : { width, bytes: routes.subarray(begin, at) };
  };
}

/** Collects the routes that each token brings into the routes part of an engine's message. */
export function routesOfMessage(all: readonly (Routes | undefined)[]): MessageRoutes {
  if (all.every((routes) => routes === undefined)) return {};
  return { routeRows: Int32Array.from(all, rowsOf), routes: joinedBytes(all) };
}

/**
 * Routes of an attempt divided among its n tokens as an engine would report them: one row each, all others with the
 * first.
 */
export function routesByToken(routes: Routes | undefined, n: number): (Routes | undefined)[] {
  const first = rowsOf(routes) - n + 1;
  return Array.from(
    { length: n },
    (_, i) => routes && rowsFrom(routes, i === 0 ? 0 : first + i - 1, first + i),
  );
}

export const rowsOf = (routes: Routes | undefined): number =>
  routes === undefined ? 0 : routes.bytes.length / routes.width;

/** Rows [from, to), a view. */
export const rowsFrom = ({ width, bytes }: Routes, from: number, to?: number): Routes => ({
  width,
  bytes: bytes.subarray(from * width, to === undefined ? bytes.length : to * width),
});

/** Undefined unless both exist: rows after a gap would have the wrong places. */
export function joinedRoutes(a: Routes | undefined, b: Routes | undefined): Routes | undefined {
  return a && b && { width: a.width, bytes: joinedBytes([a, b]) };
}

export function joinedBytes(all: readonly (Routes | undefined)[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(all.reduce((sum, routes) => sum + (routes?.bytes.length ?? 0), 0));
  let at = 0;
  for (const routes of all) {
    if (routes === undefined) continue;
    bytes.set(routes.bytes, at);
    at += routes.bytes.length;
  }
  return bytes;
}

/** Routes of a growing sequence, in memory that doubles when full and is used again. */
export class RouteBuffer {
  #bytes = new Uint8Array(0);
  #length = 0;
  #width = 1;

  get rows(): number {
    return this.#length / this.#width;
  }

  /**
   * Appends what a token brings: the row that it was drawn from, or, where a prompt was computed, all rows of the
   * sequence up to there, of which those after the ones here count.
   */
  add(brought: Routes): void {
    const rows = rowsOf(brought);
    const { width, bytes } = rows > 1 ? rowsFrom(brought, this.rows) : brought;
    this.#width = width;
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }

  /** Returns a copy of the rows from `first` on; undefined if there are no such rows. */
  from(first: number): Routes | undefined {
    if (this.#length === 0) return undefined;
    return { width: this.#width, bytes: this.#bytes.slice(first * this.#width, this.#length) };
  }

  clear(): void {
    this.#length = 0;
  }
}
