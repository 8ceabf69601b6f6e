/** Tokens a second are those of so long a time. */
const WINDOW_MS = 5000;

/** Tokens a second of one that counts them, over the last few seconds. Ask it about once a second. */
export class TokenRate {
  #counts: readonly { readonly atMs: number; readonly tokens: number }[] = [];

  /** @param tokens all of them, by now */
  at(tokens: number): number {
    const atMs = performance.now();
    const recent = [...this.#counts, { atMs, tokens }].filter((count) => atMs - count.atMs <= WINDOW_MS);
    this.#counts = recent;
    const first = recent[0]!;
    return atMs > first.atMs ? Math.max(0, (1000 * (tokens - first.tokens)) / (atMs - first.atMs)) : 0;
  }
}
