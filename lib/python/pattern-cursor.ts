/**
 * `invalid`: Python refuses the pattern too. `unsupported`: Python accepts it; this matcher, which is linear in time,
 * cannot or does not.
 */
export class PatternError extends Error {
  readonly kind: "invalid" | "unsupported";

  constructor(kind: "invalid" | "unsupported", message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A place in the text of a pattern, which is read character by character. */
export class PatternCursor {
  readonly #chars: readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#chars = [...source];
  }

  get ended(): boolean {
    return this.#at >= this.#chars.length;
  }

  /** The character `ahead` of the next one; undefined past the end. */
  peek(ahead = 0): string | undefined {
    return this.#chars[this.#at + ahead];
  }

  /** Up to `count` characters from the next one on. */
  ahead(count: number): string {
    return this.#chars.slice(this.#at, this.#at + count).join("");
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** Consumes the next character if it equals `char`; returns whether it did. */
  take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  /** Throws PatternError at the end. */
  next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new PatternError("invalid", "ends too early");
    return char;
  }
}
