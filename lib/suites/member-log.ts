import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { HoneError } from "../errors.ts";
import { fileWork } from "../metrics/index.ts";
import { APPENDING } from "../shared/files/plain-file.ts";

/** Magic, deflate, FEXTRA, no time, no system, 8 bytes of extra: subfield "HN" with the member's size. Source: RFC 1952. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x48, 0x4e, 4, 0]);
const HEAD_BYTES = HEAD.length + 4;
const TAIL_BYTES = 8;
/** Compression level of zlib: a fifth of its default's time, for files a tenth larger. */
const FASTEST = 1;

/**
 * A gzip file that only grows: each append adds one member of whole lines. A process that is killed leaves at
 * most an incomplete last member, which the next process to open the file cuts off. Each member states its
 * own length, so that finding the last one reads no other; `zcat` reads the file like any other.
 */
export class MemberLog implements Disposable {
  readonly path: string;
  #fd: number | undefined;

  /** Makes file and folder if needed. Throws HONE_ERR_IO naming the file. */
  constructor(path: string) {
    this.path = path;
    this.#fd = fileWork(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      return openSync(path, APPENDING);
    });
    let whole = 0;
    for (const { end } of membersOf(path, this.#fd)) whole = end;
    if (whole < fstatSync(this.#fd).size) ftruncateSync(this.#fd, whole);
  }

  /** One write: the lines survive the process when this returns. Throws HONE_ERR_IO naming the file. */
  append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const fd = this.#fd;
    if (fd === undefined) throw new HoneError("HONE_ERR_STATE", `${this.path}: write after close`);
    const bytes = member(Buffer.from(`${lines.join("\n")}\n`));
    fileWork(this.path, () => {
      const { size } = fstatSync(fd);
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(fd, bytes, written);
      } finally {
        if (written < bytes.length) ftruncateSync(fd, size); // disk full: keep the existing members intact
      }
    });
  }

  /** The lines in order. Throws HONE_ERR_FORMAT naming a member before the last that is damaged. */
  *lines(): Generator<string, void, undefined> {
    yield* linesOf(this.path, this.#fd!);
  }

  /** Waits until the file is on the disk, and closes it. Idempotent. */
  [Symbol.dispose](): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd === undefined) return;
    fdatasyncSync(fd);
    closeSync(fd);
  }
}

/** The lines of a log that another process may be writing; skips a torn last member. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function* readMemberLog(path: string): Generator<string, void, undefined> {
  const fd = fileWork(path, () => openSync(path, "r"));
  try {
    yield* linesOf(path, fd);
  } finally {
    closeSync(fd);
  }
}

function member(text: Buffer): Buffer {
  const body = deflateRawSync(text, { level: FASTEST });
  const out = Buffer.alloc(HEAD_BYTES + body.length + TAIL_BYTES);
  HEAD.copy(out);
  out.writeUInt32LE(out.length, HEAD.length);
  body.copy(out, HEAD_BYTES);
  out.writeUInt32LE(crc32(text), out.length - TAIL_BYTES);
  out.writeUInt32LE(text.length, out.length - 4);
  return out;
}

interface Member {
  readonly start: number;
  readonly end: number;
}

function* linesOf(path: string, fd: number): Generator<string, void, undefined> {
  for (const { start, end } of membersOf(path, fd)) {
    const text = inflated(bytesAt(fd, start, end - start));
    if (text === undefined) throw damaged(path, start);
    yield* text.toString("utf8").trimEnd().split("\n");
  }
}

/** The complete gzip members of the file; skips an incomplete last one. Throws HONE_ERR_FORMAT for other data. */
function* membersOf(path: string, fd: number): Generator<Member, void, undefined> {
  const { size } = fstatSync(fd);
  for (let start = 0; start + HEAD_BYTES <= size; ) {
    const head = bytesAt(fd, start, HEAD_BYTES);
    const end = start + head.readUInt32LE(HEAD.length);
    if (!head.subarray(0, HEAD.length).equals(HEAD) || end < start + HEAD_BYTES + TAIL_BYTES)
      throw damaged(path, start);
    if (end > size) return;
    yield { start, end };
    start = end;
  }
}

function bytesAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let read = 0; read < length; ) {
    const n = readSync(fd, bytes, read, length - read, at + read);
    if (n === 0) return bytes.subarray(0, read);
    read += n;
  }
  return bytes;
}

function inflated(bytes: Buffer): Buffer | undefined {
  try {
    const text = inflateRawSync(bytes.subarray(HEAD_BYTES, bytes.length - TAIL_BYTES));
    return crc32(text) === bytes.readUInt32LE(bytes.length - TAIL_BYTES) ? text : undefined;
  } catch {
    return undefined;
  }
}

const damaged = (path: string, at: number): HoneError =>
  new HoneError("HONE_ERR_FORMAT", `${path}: damaged at byte ${at}`, {
    hint: "Something else wrote to it, or the disk lost a part: evaluate into another folder.",
  });
