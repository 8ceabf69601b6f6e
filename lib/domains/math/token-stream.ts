import { SyntaxFault, type Token } from "./token.ts";

const END: Token = { kind: "end", text: "" };

/** Reads tokens from first to last; past the end there are only empty "end" tokens. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Kind of the next token. */
  protected peek(): string {
    return this.upcoming().kind;
  }
  protected upcoming(): Token {
    return this.#tokens[this.#at] ?? END;
  }
  protected next(): Token {
    return this.#tokens[this.#at++] ?? END;
  }
  protected accept(kind: string): boolean {
    if (this.peek() !== kind) return false;
    this.#at++;
    return true;
  }
  protected expect(kind: string): void {
    if (!this.accept(kind)) throw new SyntaxFault(`expected ${kind}, found ${this.peek()}`);
  }
}
