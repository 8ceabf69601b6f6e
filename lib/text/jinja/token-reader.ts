import type { Token, TokenKind } from "./lexer.ts";
import { TemplateSyntaxError } from "./syntax.ts";

/** A place in a row of tokens. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  /** The last token must be of kind "end". */
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)]!;
  }

  get line(): number {
    return this.current.line;
  }

  next(): Token {
    const token = this.current;
    if (token.kind !== "end") this.#at += 1;
    return token;
  }

  /** True if the current token is of this kind, and has one of the values if any are given. */
  is(kind: TokenKind, ...values: readonly string[]): boolean {
    const { current } = this;
    return current.kind === kind && (values.length === 0 || values.includes(current.value));
  }

  /** Consumes the current token if it is of this kind and value, and returns whether it was. */
  take(kind: TokenKind, value?: string): boolean {
    const found = value === undefined ? this.is(kind) : this.is(kind, value);
    if (found) this.next();
    return found;
  }

  expect(kind: TokenKind, value?: string): Token {
    if (value === undefined ? this.is(kind) : this.is(kind, value)) return this.next();
    return this.fail(
      `expected ${value === undefined ? kind : JSON.stringify(value)}, found ${this.described()}`,
    );
  }

  described(): string {
    const { kind, value } = this.current;
    return kind === "end" ? "the end of the template" : JSON.stringify(value);
  }

  fail(message: string, line = this.line): never {
    throw new TemplateSyntaxError(message, line);
  }
}
