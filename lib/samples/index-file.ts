import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { APPENDING, REWRITING } from "../shared/files/plain-file.ts";
import { FORMAT, type Tables, tables } from "./tables.ts";

/** Extent of the tables: the journal's bytes before `end`, identified by `tail`. */
export interface Covered {
  readonly end: number;
  readonly tail: Buffer;
}

const MAGIC = 0x484d5053;
const HEAD_BYTES = 96;
const TAIL_BYTES = 16;
const BLOCK_BYTES = 1 << 16;
/** Number of small segments from which on they are merged into one. */
const MOST_SEGMENTS = 256;
const TABLE_NAMES = ["problems", "completions", "verdicts", "members", "sessions"] as const;
/** The extent of an empty index. */
export const NOTHING: Covered = { end: 0, tail: Buffer.alloc(TAIL_BYTES) };

const aligned = (bytes: number): number => 8 * Math.ceil(bytes / 8);
const countsOf = (of: Tables): number[] => TABLE_NAMES.map((name) => of[name].rows);

/** Header of a segment. Numbers are in this machine's byte order: an index with the other byte order is rebuilt. */
interface Head {
  readonly from: number;
  readonly to: Covered;
  readonly bodyBytes: number;
  readonly crc: number;
  /** Row counts of each table, then bytes of the names. */
  readonly counts: readonly number[];
}

/**
 * The tables of a run folder and the file that stores them: segments, each with the rows added since the previous
 * one. The file is derived data: an inconsistent one is discarded, and in a read-only folder there is none.
 */
export class IndexFile {
  readonly tables = tables();
  readonly names: string[] = [];
  covered = NOTHING;
  readonly #path: string;
  /** Length of the part of the file that this object has read or written. */
  #bytes = 0;
  #segments = 0;
  /** Extent of the tables at the last save. */
  #saved = { counts: countsOf(this.tables), names: 0, end: 0 };
  /** True if the file ends with bytes that are not a complete segment. */
  #torn = false;

  /** @param path of the index, which is read if it exists and `fresh` is false */
  constructor(path: string, { fresh = false } = {}) {
    this.#path = path;
    if (!fresh) withFile(path, "r", (fd) => this.#read(fd));
  }

  /** Writes the rows added since the last call; nothing if another process has written meanwhile. */
  save(): void {
    if (this.covered.end === this.#saved.end && !this.#torn) return;
    if (this.#torn || this.#segments === 0 || this.#segments >= MOST_SEGMENTS) this.#rewrite();
    else withFile(this.#path, "a", (fd) => this.#append(fd));
  }

  #read(fd: number): void {
    const { size } = fstatSync(fd);
    this.#torn = true;
    while (this.#bytes < size) {
      const head = headOf(bytesAt(fd, this.#bytes, HEAD_BYTES));
      if (head === undefined || head.from !== this.covered.end) return;
      if (this.#bytes + HEAD_BYTES + head.bodyBytes > size) return;
      if (checksumOf(fd, this.#bytes + HEAD_BYTES, head.bodyBytes) !== head.crc) return;
      this.#take(head, fd, this.#bytes + HEAD_BYTES);
      this.#bytes += HEAD_BYTES + head.bodyBytes;
      this.#segments += 1;
    }
    this.#torn = false;
  }

  /** Reads one table at a time: otherwise all of a long run would be in memory twice. @param start of the body */
  #take({ counts, to }: Head, fd: number, start: number): void {
    const nameBytes = counts.at(-1)!;
    const names = Buffer.from(bytesAt(fd, start, nameBytes)).toString("utf8");
    this.names.push(...(JSON.parse(names) as string[]));
    let at = start + aligned(nameBytes);
    for (const [i, name] of TABLE_NAMES.entries()) {
      const table = this.tables[name];
      const bytes = table.bytesOf(counts[i]!);
      table.append(bytesAt(fd, at, bytes), counts[i]!);
      at += bytes;
    }
    this.covered = to;
    this.#markSaved();
  }

  #markSaved(): void {
    this.#saved = { counts: countsOf(this.tables), names: this.names.length, end: this.covered.end };
  }

  #append(fd: number): void {
    if (fstatSync(fd).size !== this.#bytes) return;
    const segment = this.#segment(this.#saved);
    this.#torn = true;
    writeAll(fd, segment);
    this.#torn = false;
    this.#bytes += lengthOf(segment);
    this.#segments += 1;
    this.#markSaved();
  }

  #rewrite(): void {
    const beside = `${this.#path}.${process.pid}.tmp`;
    const nothing = { counts: TABLE_NAMES.map(() => 0), names: 0, end: 0 };
    const segment = this.#segment(nothing);
    const written = withFile(beside, "w", (fd) => writeAll(fd, segment));
    if (!written || !attempted(() => renameSync(beside, this.#path))) {
      attempted(() => rmSync(beside, { force: true }));
      return;
    }
    this.#torn = false;
    this.#bytes = lengthOf(segment);
    this.#segments = 1;
    this.#markSaved();
  }

  #segment(since: {
    readonly counts: readonly number[];
    readonly names: number;
    readonly end: number;
  }): readonly Uint8Array[] {
    const names = Buffer.from(JSON.stringify(this.names.slice(since.names)));
    const counts = countsOf(this.tables).map((rows, i) => rows - since.counts[i]!);
    const parts = TABLE_NAMES.flatMap((name, i) => this.tables[name].encode(since.counts[i]!));
    const padding = Buffer.alloc(aligned(names.length) - names.length);
    const body = [names, padding, ...parts]; // never in one piece: a million completions are 200 MB
    const crc = body.reduce((sum, part) => crc32(part, sum), 0);
    const head = { from: since.end, to: this.covered, bodyBytes: lengthOf(body), crc };
    return [headBytes({ ...head, counts: [...counts, names.length] }), ...body];
  }
}

function headBytes({ from, to, bodyBytes, crc, counts }: Head): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  new Float64Array(bytes.buffer, bytes.byteOffset, 3).set([from, to.end, bodyBytes]);
  new Uint32Array(bytes.buffer, bytes.byteOffset + 24, 3 + counts.length).set([
    MAGIC,
    FORMAT,
    crc,
    ...counts,
  ]);
  to.tail.copy(bytes, HEAD_BYTES - TAIL_BYTES);
  return bytes;
}

/** Undefined if the bytes are not a header of this format. */
function headOf(bytes: Uint8Array): Head | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const [from, end, bodyBytes] = new Float64Array(bytes.buffer, bytes.byteOffset, 3) as unknown as number[];
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + 24, 3 + TABLE_NAMES.length + 1);
  const [magic, format, crc, ...counts] = [...words];
  if (magic !== MAGIC || format !== FORMAT) return undefined;
  const tail = Buffer.from(bytes.slice(HEAD_BYTES - TAIL_BYTES));
  return { from: from!, to: { end: end!, tail }, bodyBytes: bodyBytes!, crc: crc!, counts };
}

function checksumOf(fd: number, at: number, size: number): number {
  let sum = 0;
  for (let done = 0; done < size; done += BLOCK_BYTES)
    sum = crc32(bytesAt(fd, at + done, Math.min(BLOCK_BYTES, size - done)), sum);
  return sum;
}

/** Reads bytes of the file into a new buffer, so that typed arrays can start at the buffer's first byte. */
function bytesAt(fd: number, at: number, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let got = 0;
  while (got < size) {
    const n = readSync(fd, bytes, got, size - got, at + got);
    if (n === 0) break;
    got += n;
  }
  return bytes.subarray(0, got);
}

const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function writeAll(fd: number, parts: readonly Uint8Array[]): void {
  for (const bytes of parts)
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

const FLAGS = { r: "r", a: APPENDING, w: REWRITING } as const;

/** False if the file cannot be opened, or the work fails. */
function withFile(path: string, flags: "r" | "a" | "w", work: (fd: number) => void): boolean {
  return attempted(() => {
    const fd = openSync(path, FLAGS[flags]);
    try {
      work(fd);
    } finally {
      closeSync(fd);
    }
  });
}

function attempted(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
