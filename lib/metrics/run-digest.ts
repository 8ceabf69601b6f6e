import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";
import { type Line, linesOf } from "./append-file.ts";
import { parseRecord } from "./run-log.ts";
import { fileWork } from "./sink.ts";
import { type Stretch, stretchOf } from "./stretch.ts";

/**
 * The head of a digest line: its first and last step, the number of steps that it summarises, the byte range [start,
 * end) of the log that contains them, and the offset of its last line.
 */
const HEAD = /^\{"first":(\d+),"step":(\d+),"steps":(\d+),"start":(\d+),"last":(\d+),"end":(\d+),/;
const RECORD_HEAD = /^\{"step":(\d+),/;
const HEAD_BYTES = 32;

/** A line of the log or of the digest: its steps, and its byte range. */
interface Piece {
  readonly first: number;
  readonly step: number;
  readonly steps: number;
  readonly file: "log" | "digest";
  readonly start: number;
  readonly end: number;
  /** The bytes of the log that a line of the digest summarises. */
  readonly covers?: Line["bytes"] | undefined;
}

/**
 * A run log as stretches in ascending order: 16 steps from the digest, or one step from the log; the steps are those
 * of `RunLogReader`. Keeps only byte ranges in memory.
 * Throws HONE_ERR_IO, and HONE_ERR_FORMAT naming a damaged line it had to read, unless damaged lines are skipped.
 */
export class RunDigest implements Iterable<Stretch> {
  readonly #paths: Readonly<Record<Piece["file"], string>>;
  readonly #pieces: Piece[] = [];
  /** Offsets of damaged lines; undefined: the first damaged line is an error. */
  readonly #damaged: Set<number> | undefined;

  /** @param leavesOut true: damaged lines are left out and counted. */
  constructor(log: string, digest: string, leavesOut = false) {
    this.#paths = { log, digest };
    this.#damaged = leavesOut ? new Set() : undefined;
    let read = 0;
    for (const piece of this.#digested()) {
      for (const line of this.#lines({ start: read, end: piece.covers!.start })) this.#take(line);
      this.#take(piece);
      read = piece.covers!.end;
    }
    for (const line of this.#lines({ start: read, end: Number.POSITIVE_INFINITY })) this.#take(line);
  }

  /** Number of steps. */
  get length(): number {
    return this.#pieces.reduce((n, { steps }) => n + steps, 0);
  }

  /** Number of damaged lines that were left out so far. */
  get damaged(): number {
    return this.#damaged?.size ?? 0;
  }

  /** Number of lines that an iteration parses. */
  get lines(): number {
    return this.#pieces.length;
  }

  /** The record of the last step, not a mean. */
  get last(): StepRecord | undefined {
    const top = this.#pieces.at(-1);
    const line = top?.covers === undefined ? top : [...this.#lines(top.covers)].at(-1);
    if (line === undefined) return undefined;
    const fd = openSync(this.#paths.log, "r");
    try {
      return stretchAt(fd, this.#paths.log, line);
    } finally {
      closeSync(fd);
    }
  }

  *[Symbol.iterator](): Generator<Stretch, void, undefined> {
    const open = new Map<string, number>();
    try {
      for (const piece of this.#pieces) {
        const path = this.#paths[piece.file];
        const fd = open.get(path) ?? fileWork(path, () => openSync(path, "r"));
        open.set(path, fd);
        const stretch = this.#unlessDamaged(piece, () => stretchAt(fd, path, piece));
        if (stretch !== undefined) yield stretch;
        else if (piece.covers !== undefined) yield* this.#stepsIn(piece.covers);
      }
    } finally {
      for (const fd of open.values()) closeSync(fd);
    }
  }

  /** The steps one by one, from the log alone. */
  *steps(): Generator<Stretch, void, undefined> {
    for (const range of this.#ranges()) yield* this.#stepsIn(range);
  }

  *#stepsIn(range: Line["bytes"]): Generator<Stretch> {
    const { log } = this.#paths;
    for (const { text, bytes } of linesOf(log, range)) {
      const record = this.#unlessDamaged(bytes, () => parsed(text, log, bytes.start));
      if (record !== undefined) yield stretchOf(record);
    }
  }

  /** The byte ranges of the log with valid steps: each damaged or superseded section splits a range. */
  *#ranges(): Generator<Line["bytes"]> {
    let range = { start: 0, end: 0 };
    for (const piece of this.#pieces) {
      const { start, end } = piece.covers ?? piece;
      if (start > range.end) {
        yield range;
        range = { start, end };
      } else range.end = end;
    }
    yield range;
  }

  #unlessDamaged<T>({ start, covers }: Pick<Piece, "start" | "covers">, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (this.#damaged === undefined || !HoneError.is(error) || error.code !== "HONE_ERR_FORMAT")
        throw error;
      if (covers === undefined) this.#damaged.add(start); // a digest line was damaged: its steps are in the log
      return undefined;
    }
  }

  /** A step that does not follow its predecessor replaces everything from it on. */
  #take(piece: Piece): void {
    for (let top = this.#pieces.at(-1); top !== undefined && top.step >= piece.first; ) {
      this.#pieces.pop();
      if (top.first < piece.first && top.covers !== undefined) this.#pieces.push(...this.#lines(top.covers));
      top = this.#pieces.at(-1);
    }
    this.#pieces.push(piece);
  }

  *#lines(within: Line["bytes"]): Generator<Piece> {
    if (within.start >= within.end) return;
    for (const { text, bytes } of linesOf(this.#paths.log, within)) {
      const head = RECORD_HEAD.exec(text)?.[1];
      const step =
        head === undefined
          ? this.#unlessDamaged(bytes, () => parsed(text, this.#paths.log, bytes.start).step)
          : Number(head);
      if (step !== undefined) yield { first: step, step, steps: 1, file: "log", ...bytes };
    }
  }

  /** The digest's lines that still agree with the log: it may have been edited or replaced. */
  *#digested(): Generator<Piece> {
    const { log, digest } = this.#paths;
    if (!existsSync(digest)) return;
    const fd = fileWork(log, () => openSync(log, "r"));
    try {
      let covered = 0;
      for (const { text, bytes } of linesOf(digest)) {
        const [first, step, steps, start, last, end] = (HEAD.exec(text) ?? []).slice(1).map(Number);
        if (!(start! >= covered && end! > last!)) continue;
        if (!stepAt(fd, first!, start!) || !stepAt(fd, step!, last!) || !lineEndsAt(fd, end!)) continue;
        covered = end!;
        const covers = { start: start!, end: end! };
        yield { first: first!, step: step!, steps: steps!, file: "digest", ...bytes, covers };
      }
    } finally {
      closeSync(fd);
    }
  }
}

function stepAt(fd: number, step: number, start: number): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  const length = readSync(fd, head, 0, head.length, start);
  return head.toString("latin1", 0, length).startsWith(`{"step":${step},`);
}

function lineEndsAt(fd: number, end: number): boolean {
  const last = Buffer.alloc(1);
  return readSync(fd, last, 0, 1, end - 1) === 1 && last[0] === 0x0a;
}

function stretchAt(fd: number, path: string, { start, end, file }: Piece): Stretch {
  const line = Buffer.allocUnsafe(end - start);
  const length = fileWork(path, () => readSync(fd, line, 0, line.length, start));
  const record = parsed(line.toString("utf8", 0, length), path, start);
  return file === "log" ? stretchOf(record) : (record as Stretch);
}

/** Line numbers are counted only when an error needs one. */
function parsed(text: string, path: string, at: number): StepRecord {
  return parseRecord(text, () => `${path}:${[...linesOf(path, { start: 0, end: at })].length + 1}`);
}
