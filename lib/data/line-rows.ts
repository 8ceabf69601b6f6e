import { isAscii, isUtf8 } from "node:buffer";
import { skipSpace } from "./json-array.ts";
import { jsonFault } from "./json-fault.ts";
import type { Fault, RawRow } from "./raw-row.ts";

export const NEWLINE = 0x0a;
const BOM = [0xef, 0xbb, 0xbf];
/** Bytes of lines that are decoded together: few enough that their garbage is collected young. */
const TEXT_BYTES = 1 << 15;
const BLANK = /^[ \t\r]*$/;

export type RowBatch = readonly (RawRow | Fault)[];

interface LineRowsOptions {
  /** True if single rows can be read again from their file, as in a JSONL file that is not packed. */
  readonly isSpanned: boolean;
  /** True if the lines do not begin at the start of the file, so that none may begin with a byte order mark. */
  readonly isInside?: boolean;
}

/** Makes rows of one file from their bytes, and counts them. */
export class LineRows {
  readonly #file: string;
  readonly #isSpanned: boolean;
  readonly #isInside: boolean;
  #row = 0;

  constructor(file: string, { isSpanned, isInside = false }: LineRowsOptions) {
    this.#file = file;
    this.#isSpanned = isSpanned;
    this.#isInside = isInside;
  }

  /** Rows so far, blank ones included. */
  get read(): number {
    return this.#row;
  }

  /**
   * Parses the bytes of the next row, which begin at `start` in the file. Returns a Fault for bytes that are
   * no row.
   */
  parse(bytes: Buffer, start: number): RawRow | Fault {
    if (isUtf8(bytes)) return this.#parsed(bytes.toString("utf8"), start, bytes.length);
    this.#row += 1;
    const fault = isUtf16(bytes) ? "the file is UTF-16; convert it: iconv -f UTF-16 -t UTF-8" : "not UTF-8";
    return { file: this.#file, row: this.#row, fault };
  }

  /** The rows of whole lines, some at a time; blank lines are counted and left out. @param start of the lines in the file. */
  *lines(bytes: Buffer, start: number): Generator<RowBatch> {
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, from + TEXT_BYTES) + 1;
      const piece = bytes.subarray(from, end > 0 ? end : bytes.length);
      // in ASCII a character is a byte, so one decoding serves all lines
      yield isAscii(piece)
        ? this.#asciiLines(piece.toString("latin1"), start + from)
        : this.#mixedLines(piece, start + from);
      from += piece.length;
    }
  }

  #asciiLines(text: string, start: number): RowBatch {
    const rows: (RawRow | Fault)[] = [];
    eachLine(text, "\n", (from, to) => {
      const line = text.slice(from, to);
      if (BLANK.test(line)) this.#row += 1;
      else rows.push(this.#parsed(line, start + from, to - from));
    });
    return rows;
  }

  #mixedLines(bytes: Buffer, start: number): RowBatch {
    const rows: (RawRow | Fault)[] = [];
    eachLine(bytes, NEWLINE, (from, to) => {
      const line = bytes.subarray(from, to);
      const whole = this.#row === 0 && !this.#isInside ? withoutBom(line) : line;
      if (skipSpace(whole, 0) === whole.length) this.#row += 1;
      else rows.push(this.parse(whole, start + from + line.length - whole.length));
    });
    return rows;
  }

  #parsed(text: string, start: number, bytes: number): RawRow | Fault {
    const file = this.#file;
    const row = ++this.#row;
    try {
      const value: unknown = JSON.parse(text);
      return this.#isSpanned
        ? { file, row, value, text, span: { start, bytes } }
        : { file, row, value, text };
    } catch {
      return { file, row, fault: jsonFault(text) };
    }
  }
}

/** Start and end of each line, without its line end; a last line without one counts if it is not empty. */
function eachLine<T>(
  all: { readonly length: number; indexOf(what: T, from: number): number },
  end: T,
  take: (from: number, to: number) => void,
): void {
  let from = 0;
  for (let to = all.indexOf(end, 0); to >= 0; to = all.indexOf(end, from)) {
    take(from, to);
    from = to + 1;
  }
  if (from < all.length) take(from, all.length);
}

/** True if a file starts as UTF-16, which Windows programs call Unicode. */
const isUtf16 = ([first, second]: Buffer): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

export function withoutBom<T extends Uint8Array>(bytes: T): T {
  return BOM.every((byte, i) => bytes[i] === byte) ? (bytes.subarray(BOM.length) as T) : bytes;
}
