const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** A protobuf message: fields, written one after another. Source: Protocol Buffers, "Encoding". */
export class Message {
  readonly #parts: Uint8Array[] = [];

  #tag(field: number, wire: number): void {
    this.#parts.push(varint(BigInt((field << 3) | wire)));
  }

  int(field: number, value: number): this {
    this.#tag(field, WIRE_VARINT);
    this.#parts.push(varint(BigInt(value)));
    return this;
  }

  double(field: number, value: number): this {
    this.#tag(field, WIRE_FIXED64);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.#parts.push(bytes);
    return this;
  }

  float(field: number, value: number): this {
    this.#tag(field, WIRE_FIXED32);
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.#parts.push(bytes);
    return this;
  }

  /** A repeated double, packed; nothing for none. */
  doubles(field: number, values: readonly number[]): this {
    const bytes = Buffer.alloc(8 * values.length);
    values.forEach((value, i) => void bytes.writeDoubleLE(value, 8 * i));
    return this.bytes(field, bytes);
  }

  message(field: number, inner: Message): this {
    return this.bytes(field, inner.finish());
  }

  bytes(field: number, value: Uint8Array | string): this {
    const bytes = typeof value === "string" ? Buffer.from(value) : value;
    this.#tag(field, WIRE_BYTES);
    this.#parts.push(varint(BigInt(bytes.length)), bytes);
    return this;
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
