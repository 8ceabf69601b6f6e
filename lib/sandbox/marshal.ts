import type { PythonValue } from "../python/value.ts";

/**
 * Python's own serialisation, format 2: transfers values in both directions with their exact types and without
 * importing anything there. Supports only plain values; `marshal.dumps` itself refuses instances of other classes.
 * Source: CPython, Python/marshal.c.
 */
const CODE = {
  none: "N",
  true: "T",
  false: "F",
  int32: "i",
  long: "l",
  float: "g",
  text: "u",
  bytes: "s",
  list: "[",
  tuple: "(",
  dict: "{",
  set: "<",
  end: "0",
} as const;

/** Largest nesting depth: more than any JSON that is read has, with room for the job that contains it. */
const MAX_DEPTH = 600;
/** Largest integer, a million bits: comparing longer ones would take seconds. */
const MAX_INT_BYTES = 1 << 17;
const DIGIT_BITS = 15n;

/** Bytes that `marshal.loads` reads as the value. Throws RangeError on complex numbers and `...`, and beyond 600 levels. */
export function dumps(value: PythonValue): Buffer {
  const parts: Buffer[] = [];
  write(value, parts, 0);
  return Buffer.concat(parts);
}

function write(value: PythonValue, parts: Buffer[], depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  const sized = (code: string, items: readonly PythonValue[]) => {
    parts.push(head(code, items.length));
    for (const item of items) write(item, parts, depth + 1);
  };
  switch (value.type) {
    case "NoneType":
      parts.push(Buffer.from(CODE.none));
      return;
    case "bool":
      parts.push(Buffer.from(value.value ? CODE.true : CODE.false));
      return;
    case "int":
      parts.push(writeInt(value.value));
      return;
    case "float": {
      const bytes = Buffer.alloc(9);
      bytes.write(CODE.float, "latin1");
      bytes.writeDoubleLE(value.value, 1);
      parts.push(bytes);
      return;
    }
    case "str": {
      const bytes = utf8(value.value);
      parts.push(head(CODE.text, bytes.length), bytes);
      return;
    }
    case "bytes":
      parts.push(head(CODE.bytes, value.value.length), Buffer.from(value.value, "latin1"));
      return;
    case "list":
      sized(CODE.list, value.items);
      return;
    case "tuple":
      sized(CODE.tuple, value.items);
      return;
    case "set":
      sized(CODE.set, value.items);
      return;
    case "dict":
      parts.push(Buffer.from(CODE.dict));
      for (const [key, item] of value.entries) {
        write(key, parts, depth + 1);
        write(item, parts, depth + 1);
      }
      parts.push(Buffer.from(CODE.end));
      return;
    default:
      throw new RangeError(`${value.type} cannot be sent`);
  }
}

function head(code: string, size: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.write(code, "latin1");
  bytes.writeInt32LE(size, 1);
  return bytes;
}

function writeInt(value: bigint): Buffer {
  if (BigInt.asIntN(32, value) === value) return head(CODE.int32, Number(value));
  const digits: number[] = [];
  const mask = (1n << DIGIT_BITS) - 1n;
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= DIGIT_BITS)
    digits.push(Number(rest & mask));
  const bytes = Buffer.alloc(5 + 2 * digits.length);
  head(CODE.long, value < 0n ? -digits.length : digits.length).copy(bytes);
  for (const [k, digit] of digits.entries()) bytes.writeUInt16LE(digit, 5 + 2 * k);
  return bytes;
}

/** UTF-8 with lone surrogates kept, as Python's `surrogatepass` writes them. */
function utf8(text: string): Buffer {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text, "utf8");
  const parts = Array.from(text, (char) => {
    const code = char.codePointAt(0)!;
    if (code < 0xd800 || code > 0xdfff) return Buffer.from(char, "utf8");
    return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
  });
  return Buffer.concat(parts);
}

/**
 * Decodes untrusted bytes; undefined if they are truncated, contain other than plain values, nest deeper than 600
 * levels, have an int of over a million bits, or continue after the value. Linear in the bytes.
 */
export function loads(bytes: Buffer): PythonValue | undefined {
  const reader = new Reader(bytes);
  try {
    const value = reader.value(0);
    return reader.atEnd ? value : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(depth: number): PythonValue {
    const code = String.fromCharCode(this.#take(1)[0]! & 0x7f);
    if (code === CODE.end) throw new RangeError("end of a dict, outside one");
    return this.#valueOf(code, depth);
  }

  #valueOf(code: string, depth: number): PythonValue {
    if (depth > MAX_DEPTH) throw new RangeError("too deep");
    switch (code) {
      case CODE.none:
        return { type: "NoneType" };
      case CODE.true:
      case CODE.false:
        return { type: "bool", value: code === CODE.true };
      case CODE.int32:
        return { type: "int", value: BigInt(this.#size()) };
      case CODE.long:
        return { type: "int", value: this.#long() };
      case CODE.float:
        return { type: "float", value: this.#take(8).readDoubleLE() };
      case CODE.text:
        return { type: "str", value: decode(this.#take(this.#size())) };
      case CODE.bytes:
        return { type: "bytes", value: this.#take(this.#size()).toString("latin1") };
      case CODE.list:
        return { type: "list", items: this.#items(depth) };
      case CODE.tuple:
        return { type: "tuple", items: this.#items(depth) };
      case CODE.set:
        return { type: "set", items: this.#items(depth) };
      case CODE.dict:
        return { type: "dict", entries: this.#entries(depth) };
      default:
        throw new RangeError(`code ${code}`);
    }
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (count < 0 || end > this.#bytes.length) throw new RangeError("cut off");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  #size(): number {
    return this.#take(4).readInt32LE();
  }

  #items(depth: number): PythonValue[] {
    const count = this.#size();
    if (count < 0 || count > this.#bytes.length - this.#at) throw new RangeError("cut off");
    return Array.from({ length: count }, () => this.value(depth + 1));
  }

  #entries(depth: number): [PythonValue, PythonValue][] {
    const entries: [PythonValue, PythonValue][] = [];
    for (;;) {
      const code = String.fromCharCode(this.#take(1)[0]!);
      if (code === CODE.end) return entries;
      entries.push([this.#valueOf(code, depth + 1), this.value(depth + 1)]);
    }
  }

  /** Digits of 15 bits, the least first, become bytes, the greatest first. */
  #long(): bigint {
    const size = this.#size();
    const digits = this.#take(2 * Math.abs(size));
    if (digits.length > MAX_INT_BYTES) throw new RangeError("int too large");
    const bytes = Buffer.alloc(digits.length + 2);
    let [held, bits, at] = [0, 0, bytes.length];
    for (let k = 0; k < digits.length; k += 2) {
      held |= (digits.readUInt16LE(k) & 0x7fff) << bits;
      for (bits += 15; bits >= 8; bits -= 8, held >>>= 8) bytes[--at] = held & 0xff;
    }
    bytes[--at] = held;
    const value = BigInt(`0x${bytes.toString("hex")}`);
    return size < 0 ? -value : value;
  }
}

function decode(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (!text.includes("\ufffd")) return text;
  // Lone surrogates come as three bytes that UTF-8 does not allow.
  return bytes
    .toString("latin1")
    .replace(/\xed([\xa0-\xbf])([\x80-\xbf])|[^\xed]+|\xed/g, (part, high: string, low: string) =>
      high === undefined
        ? Buffer.from(part, "latin1").toString("utf8")
        : String.fromCharCode(0xd000 | ((high.charCodeAt(0) & 0x3f) << 6) | (low.charCodeAt(0) & 0x3f)),
    );
}
