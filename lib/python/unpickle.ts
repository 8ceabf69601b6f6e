import { HoneError } from "../errors.ts";

const PROTO = 0x80;
const FRAME = 0x95;
const MEMOIZE = 0x94;
const BINPUT = 0x71;
const STOP = 0x2e;
/** Opcodes that push a str, with the bytes their length takes. */
const STRINGS: ReadonlyMap<number, number> = new Map([
  [0x8c, 1], // SHORT_BINUNICODE
  [0x58, 4], // BINUNICODE
  [0x8d, 8], // BINUNICODE8
]);

/**
 * The str of a pickle that contains exactly one str: PROTO 2 to 5, at most one string opcode among frames and one
 * memo, STOP as the last byte. Supports no other opcode, so nothing can be constructed or called. Throws
 * HONE_ERR_DATA for any other pickle.
 * Source: CPython, Lib/pickletools.py.
 */
export function unpickleString(pickle: Uint8Array): string {
  const bytes = Buffer.from(pickle.buffer, pickle.byteOffset, pickle.byteLength);
  if (bytes[0] !== PROTO || !(bytes[1]! >= 2 && bytes[1]! <= 5)) throw refused("no protocol 2 to 5", 0);
  let at = 2;
  let text: string | undefined;
  for (;;) {
    const opcode = bytes[at];
    const lengthBytes = STRINGS.get(opcode ?? -1);
    if (opcode === FRAME) at += 9;
    else if (lengthBytes !== undefined && text === undefined) {
      const start = at + 1 + lengthBytes;
      const length = start <= bytes.length ? readLength(bytes, at + 1, lengthBytes) : Number.NaN;
      if (!(start + length <= bytes.length)) throw refused("a str longer than the pickle", at);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
        bytes.subarray(start, start + length),
      );
      at = start + length;
    } else if (opcode === MEMOIZE && text !== undefined) at += 1;
    else if (opcode === BINPUT && text !== undefined) at += 2;
    else if (opcode === STOP && text !== undefined && at === bytes.length - 1) return text;
    else throw refused(opcode === undefined ? "no end" : `opcode 0x${opcode.toString(16)}`, at);
  }
}

function readLength(bytes: Buffer, at: number, width: number): number {
  return width === 8 ? Number(bytes.readBigUInt64LE(at)) : bytes.readUIntLE(at, width);
}

function refused(what: string, at: number): HoneError {
  return new HoneError("HONE_ERR_DATA", `not the pickle of one str: ${what} at byte ${at}`);
}
