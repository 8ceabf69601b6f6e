/** Cuts a template into tokens. Source: jinja2/lexer.py of Jinja 3.1 with trim_blocks and lstrip_blocks. */
import { type Lexeme, lexemeAt } from "./lexeme.ts";
import { matchAt } from "./match.ts";
import { TemplateSyntaxError } from "./syntax.ts";

export type TokenKind =
  | "text"
  | "open-output"
  | "close-output"
  | "open-block"
  | "close-block"
  | Lexeme["kind"]
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  readonly line: number;
}

const OPENING = /\{\{[-+]?|\{%[-+]?|\{#[-+]?/g;
const RAW = /\{%([-+]?)\s*raw\s*(-?)%\}/y;
const ENDRAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
const SPACE = /\s+/y;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** The tokens of a template, the last one of kind "end". Throws TemplateSyntaxError. */
export function tokenize(source: string): Token[] {
  const text = source.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  return new Lexer(text).tokens();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;
  #line = 1;
  /** Position up to which #line has counted the line ends. */
  #counted = 0;
  /** True if `#at` is at the start of a line. */
  #lineStarts = true;

  constructor(source: string) {
    this.#source = source;
  }

  tokens(): Token[] {
    while (this.#at < this.#source.length) this.#part();
    this.#push("end", "", this.#source.length);
    return this.#tokens;
  }

  #lineAt(place: number): number {
    for (; this.#counted < place; this.#counted++) if (this.#source[this.#counted] === "\n") this.#line += 1;
    return this.#line;
  }

  #push(kind: TokenKind, value: string, place: number): void {
    this.#tokens.push({ kind, value, line: this.#lineAt(place) });
  }

  /** Reads the text up to the next tag, and the tag. */
  #part(): void {
    OPENING.lastIndex = this.#at;
    const opening = OPENING.exec(this.#source);
    if (opening === null) {
      this.#text(this.#source.length, "");
      this.#at = this.#source.length;
      return;
    }
    this.#text(opening.index, opening[0]);
    const raw = matchAt(RAW, this.#source, opening.index);
    if (raw !== undefined) this.#raw(opening.index, raw);
    else if (opening[0].startsWith("{#")) this.#comment(opening.index);
    else this.#tag(opening.index, opening[0]);
    this.#lineStarts = this.#source[this.#at - 1] === "\n";
  }

  /** Reads the text up to `end`, where the tag begins; the tag may strip white space from its end. */
  #text(end: number, opening: string): void {
    let text = this.#source.slice(this.#at, end);
    if (opening.endsWith("-")) text = text.trimEnd();
    else if (opening !== "" && !opening.startsWith("{{") && !opening.endsWith("+"))
      text = this.#unindented(text);
    if (text !== "") this.#push("text", text, this.#at);
  }

  /** Removes the spaces and tabs before a block or comment that is the first thing on its line. */
  #unindented(text: string): string {
    const start = text.lastIndexOf("\n") + 1;
    const alone = start > 0 || this.#lineStarts;
    return alone && text.slice(start).trim() === "" ? text.slice(0, start) : text;
  }

  /**
   * Moves past a closing mark. A mark with "-" also strips the white space after it; the end of a block also strips a
   * line end.
   */
  #after(end: number, sign: string, trims: boolean): void {
    this.#at = end;
    if (sign === "-") this.#at += /^\s*/.exec(this.#source.slice(end))![0].length;
    else if (trims && sign !== "+" && this.#source[end] === "\n") this.#at += 1;
  }

  #comment(begin: number): void {
    const end = this.#source.indexOf("#}", begin + 2);
    if (end < 0) throw new TemplateSyntaxError("a comment is not closed", this.#lineAt(begin));
    const sign = end > begin + 2 ? this.#source[end - 1]! : "";
    this.#after(end + 2, sign, true);
  }

  #raw(begin: number, opening: string): void {
    const from = begin + opening.length;
    ENDRAW.lastIndex = from;
    const close = ENDRAW.exec(this.#source);
    if (close === null) throw new TemplateSyntaxError("raw is not closed by endraw", this.#lineAt(begin));
    this.#at = from;
    this.#after(from, opening.at(-3) === "-" ? "-" : "", false);
    if (this.#at < close.index) {
      const text = this.#source.slice(this.#at, close.index);
      this.#lineStarts = false;
      const kept = close[1] === "-" ? text.trimEnd() : close[1] === "+" ? text : this.#unindented(text);
      if (kept !== "") this.#push("text", kept, this.#at);
    }
    this.#after(close.index + close[0].length, close[2]!, true);
  }

  #tag(begin: number, opening: string): void {
    const output = opening.startsWith("{{");
    const closing = output ? /([-+]?)\}\}/y : /([-+]?)%\}/y;
    this.#push(output ? "open-output" : "open-block", opening, begin);
    this.#at = begin + opening.length;
    const open: string[] = [];
    for (;;) {
      this.#skip(SPACE);
      const close = open.length === 0 ? matchAt(closing, this.#source, this.#at) : undefined;
      if (close !== undefined) {
        this.#push(output ? "close-output" : "close-block", close, this.#at);
        this.#after(this.#at + close.length, close.length === 3 ? close[0]! : "", !output);
        return;
      }
      this.#inside(open);
    }
  }

  #skip(pattern: RegExp): void {
    this.#at += matchAt(pattern, this.#source, this.#at)?.length ?? 0;
  }

  /** Reads one token of an expression. `open`: the unclosed brackets, innermost last. */
  #inside(open: string[]): void {
    const found = lexemeAt(this.#source, this.#at);
    if (found === undefined) throw new TemplateSyntaxError(this.#strange(), this.#lineAt(this.#at));
    if (found.kind === "operator") this.#balance(found.value, open);
    this.#push(found.kind, found.value, this.#at);
    this.#at += found.length;
  }

  /** Describes the fault at a place where no token begins. */
  #strange(): string {
    const rest = this.#source.slice(this.#at, this.#at + 1);
    if (rest === "'" || rest === '"') return "a string is not closed";
    return rest === "" ? "the template ends inside a tag" : `unexpected character ${JSON.stringify(rest)}`;
  }

  #balance(operator: string, open: string[]): void {
    const closing = CLOSING[operator];
    if (closing !== undefined) open.push(closing);
    if (!")]}".includes(operator)) return;
    const expected = open.pop();
    if (expected === operator) return;
    const message =
      expected === undefined
        ? `unexpected "${operator}"`
        : `unexpected "${operator}", expected "${expected}"`;
    throw new TemplateSyntaxError(message, this.#lineAt(this.#at));
  }
}
