const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** A protobuf message, encoded field by field. Source: Protocol Buffers, "Encoding". */
export class Message {
  #bytes = Buffer.allocUnsafe(64);
  #length = 0;

  /** @param value any safe integer. */
  int(field: number, value: number): this {
    this.#tag(field, WIRE_VARINT);
    if (value >= 0) this.#varint(value);
    else this.#negative(value);
    return this;
  }

  double(field: number, value: number): this {
    this.#tag(field, WIRE_FIXED64);
    const at = this.#grow(8);
    this.#bytes.writeDoubleLE(value, at);
    return this;
  }

  float(field: number, value: number): this {
    this.#tag(field, WIRE_FIXED32);
    const at = this.#grow(4);
    this.#bytes.writeFloatLE(value, at);
    return this;
  }

  /** A packed repeated double; writes nothing for an empty list. */
  doubles(field: number, values: readonly number[]): this {
    const bytes = Buffer.alloc(8 * values.length);
    values.forEach((value, i) => void bytes.writeDoubleLE(value, 8 * i));
    return this.bytes(field, bytes);
  }

  message(field: number, inner: Message): this {
    return this.bytes(field, inner.finish());
  }

  bytes(field: number, value: Uint8Array | string): this {
    const size = typeof value === "string" ? Buffer.byteLength(value) : value.length;
    this.#tag(field, WIRE_BYTES);
    this.#varint(size);
    const at = this.#grow(size);
    if (typeof value === "string") this.#bytes.write(value, at);
    else this.#bytes.set(value, at);
    return this;
  }

  /** Bytes written so far; valid until the next field. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #tag(field: number, wire: number): void {
    this.#varint((field << 3) | wire);
  }

  /** Encodes a natural number without BigInt, which would take most of the time of a step's event. */
  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      const at = this.#grow(1);
      this.#bytes[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    const at = this.#grow(1);
    this.#bytes[at] = rest;
  }

  /** Encodes a negative number as 64-bit two's complement: ten bytes. */
  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) {
      const at = this.#grow(1);
      this.#bytes[at] = Number(rest & 0x7fn) | 0x80;
    }
    this.#varint(Number(rest));
  }

  /** Grows the buffer by `count` bytes; returns the offset of the new ones. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}
