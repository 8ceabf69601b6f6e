import { foldCase } from "./pattern-characters.ts";
import { PatternError } from "./pattern-cursor.ts";
import { type Assertion, type Node, readPattern, type SyntaxOptions } from "./pattern-syntax.ts";
import { isWordChar } from "./text.ts";

/** A match as [start, end) in UTF-16 units. */
export type Span = readonly [start: number, end: number];

type Instruction =
  | { readonly op: "char"; readonly test: (char: string) => boolean }
  | { readonly op: "assert"; readonly holds: Assertion }
  | { readonly op: "split"; readonly first: number; readonly second: number }
  | { readonly op: "match" };

const MAX_INSTRUCTIONS = 2000;
/** Most instructions that are executed for one text; only a hostile pattern with a hostile text needs more. */
const MAX_STEPS = 20_000_000;

/**
 * A regular expression matched without backtracking: follows all alternatives simultaneously, so a search takes time
 * proportional to pattern times text. Matches are those of Python's `re`.
 * Source: Thompson 1968; Pike's virtual machine as described by Cox, "Regular Expression Matching: the Virtual
 * Machine Approach".
 */
export class Pattern {
  readonly #program: Instruction[] = [];
  readonly #ignoreCase: boolean;

  /**
   * Throws PatternError, also for a pattern that can match the empty text ("a*"), because its matches cannot be
   * counted meaningfully.
   */
  constructor(source: string, options: Partial<SyntaxOptions> = {}) {
    this.#ignoreCase = options.ignoreCase ?? false;
    const node = readPattern(source, { ignoreCase: this.#ignoreCase, multiline: options.multiline ?? false });
    if (matchesEmpty(node)) throw new PatternError("unsupported", "it matches an empty text");
    this.#emit(node);
    this.#program.push({ op: "match" });
  }

  /**
   * All non-overlapping matches from left to right; at most `limit`. If the step limit is reached, the search ends
   * early and returns the matches so far.
   */
  matches(text: string, limit = Number.POSITIVE_INFINITY): Span[] {
    const run = new Run(this.#program, this.#ignoreCase ? foldCase(text) : text);
    const found: Span[] = [];
    while (found.length < limit) {
      const span = run.search(found.at(-1)?.[1] ?? 0);
      if (span === undefined) break;
      found.push(span);
    }
    return found;
  }

  found(text: string): boolean {
    return this.matches(text, 1).length > 0;
  }

  count(text: string): number {
    return this.matches(text).length;
  }

  #push(instruction: Instruction): number {
    if (this.#program.length >= MAX_INSTRUCTIONS) throw new PatternError("unsupported", "it is too long");
    return this.#program.push(instruction) - 1;
  }

  #emit(node: Node): void {
    switch (node.kind) {
      case "char":
        this.#push({ op: "char", test: node.test });
        return;
      case "assert":
        this.#push({ op: "assert", holds: node.holds });
        return;
      case "sequence":
        for (const part of node.parts) this.#emit(part);
        return;
      case "choice":
        this.#emitChoice(node.parts);
        return;
      case "repeat":
        this.#emitRepeat(node);
    }
  }

  /** Compiles alternatives: each ends in a jump behind the last one, encoded as a split with two equal targets. */
  #emitChoice(parts: readonly Node[]): void {
    const jumps: number[] = [];
    for (const [i, part] of parts.entries()) {
      if (i === parts.length - 1) {
        this.#emit(part);
        break;
      }
      const split = this.#push({ op: "match" });
      this.#emit(part);
      jumps.push(this.#push({ op: "match" }));
      this.#program[split] = { op: "split", first: split + 1, second: this.#program.length };
    }
    const end = this.#program.length;
    for (const jump of jumps) this.#program[jump] = { op: "split", first: end, second: end };
  }

  #emitRepeat({ part, least, most, lazy }: Node & { kind: "repeat" }): void {
    // Engines disagree about a repetition that reads nothing.
    if (matchesEmpty(part)) throw new PatternError("unsupported", "it repeats what matches an empty text");
    for (let i = 0; i < least; i++) this.#emit(part);
    const exits: number[] = [];
    const unbounded = most === Number.POSITIVE_INFINITY;
    for (let i = least; i < (unbounded ? least + 1 : most); i++) {
      exits.push(this.#push({ op: "match" }));
      this.#emit(part);
    }
    if (unbounded) this.#push({ op: "split", first: exits[0]!, second: exits[0]! });
    const end = this.#program.length;
    for (const exit of exits)
      this.#program[exit] = { op: "split", first: lazy ? end : exit + 1, second: lazy ? exit + 1 : end };
  }
}

function matchesEmpty(node: Node): boolean {
  switch (node.kind) {
    case "char":
      return false;
    case "assert":
      return true;
    case "sequence":
      return node.parts.every(matchesEmpty);
    case "choice":
      return node.parts.some(matchesEmpty);
    case "repeat":
      return node.least === 0 || matchesEmpty(node.part);
  }
}

/** Matches one text with one program: threads in order of preference, each an instruction and the start of its match. */
class Run {
  readonly #program: readonly Instruction[];
  readonly #text: string;
  readonly #seenAt: Int32Array;
  #threads: number[] = [];
  #starts: number[] = [];
  #steps = 0;

  constructor(program: readonly Instruction[], text: string) {
    this.#program = program;
    this.#text = text;
    this.#seenAt = new Int32Array(program.length);
  }

  /** The leftmost match that begins at `from` or later, with backtracking's preferences; undefined if there is none. */
  search(from: number): Span | undefined {
    let best: Span | undefined;
    this.#threads = [];
    this.#starts = [];
    this.#seenAt.fill(-1);
    for (let at = from; at <= this.#text.length && this.#steps < MAX_STEPS; ) {
      if (best === undefined) this.#enter(0, at, at);
      else if (this.#threads.length === 0) return best;
      const char = at < this.#text.length ? String.fromCodePoint(this.#text.codePointAt(at)!) : "";
      const next = at + Math.max(1, char.length);
      best = this.#step(char, at, next) ?? best;
      at = next;
    }
    return best;
  }

  #step(char: string, at: number, next: number): Span | undefined {
    const [threads, starts] = [this.#threads, this.#starts];
    this.#threads = [];
    this.#starts = [];
    for (const [i, thread] of threads.entries()) {
      const instruction = this.#program[thread]!;
      if (instruction.op === "match") return [starts[i]!, at];
      if (instruction.op === "char" && char !== "" && instruction.test(char))
        this.#enter(thread + 1, starts[i]!, next);
    }
    return undefined;
  }

  /**
   * Adds the threads that instruction `first` leads to at position `at` without reading a character, most
   * preferred first.
   */
  #enter(first: number, start: number, at: number): void {
    const pending = [first];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (this.#seenAt[index] === at) continue;
      this.#seenAt[index] = at;
      this.#steps += 1;
      const instruction = this.#program[index]!;
      if (instruction.op === "split") pending.push(instruction.second, instruction.first);
      else if (instruction.op === "assert") {
        if (this.#holds(instruction.holds, at)) pending.push(index + 1);
      } else {
        this.#threads.push(index);
        this.#starts.push(start);
      }
    }
  }

  #holds(assertion: Assertion, at: number): boolean {
    const text = this.#text;
    switch (assertion) {
      case "textStart":
        return at === 0;
      case "textEnd":
        return at === text.length;
      case "lastLineEnd":
        return at === text.length || (at === text.length - 1 && text[at] === "\n");
      case "lineStart":
        return at === 0 || text[at - 1] === "\n";
      case "lineEnd":
        return at === text.length || text[at] === "\n";
      default:
        return (isWordBefore(text, at) !== isWordAt(text, at)) === (assertion === "word");
    }
  }
}

function isWordAt(text: string, at: number): boolean {
  return at < text.length && isWordChar(String.fromCodePoint(text.codePointAt(at)!));
}

function isWordBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const low = text.charCodeAt(at - 1);
  const pair = low >= 0xdc00 && low <= 0xdfff && at > 1;
  return isWordAt(text, pair ? at - 2 : at - 1);
}

/** A pattern that matches exactly this text: re.escape. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}\-#&~\s]/g, "\\$&");

/** The pattern, or undefined if Python refuses it too; throws PatternError for one that only this matcher does not support. */
export function tryPattern(source: string, options: Partial<SyntaxOptions> = {}): Pattern | undefined {
  try {
    return new Pattern(source, options);
  } catch (error) {
    if (error instanceof PatternError && error.kind === "invalid") return undefined;
    throw error;
  }
}
