import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";
import { fileWork, type Sink } from "./sink.ts";

const CASTAGNOLI_REFLECTED = 0x82f63b78;
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI_REFLECTED : crc >>> 1;
  return crc;
});

/** CRC-32C of the bytes. Source: RFC 3720, appendix B.4 (test vectors). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** A CRC stored beside its own data is rotated and offset, so that a CRC of CRCs stays meaningful. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** One TFRecord: u64 length, masked CRC of it, the bytes, masked CRC of them; little-endian. */
export function tfRecord(data: Uint8Array): Buffer {
  const record = Buffer.alloc(16 + data.length);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length);
  return record;
}

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/** Protobuf fields, written one after another. */
class Message {
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

/** Event {1 wall_time double, 2 step int64, 5 summary {1 value {1 tag, 2 simple_value float}*}}. */
export function scalarEvent(
  wallSeconds: number,
  step: number,
  metrics: Readonly<Record<string, number>>,
): Buffer {
  const summary = new Message();
  for (const [tag, value] of Object.entries(metrics)) {
    summary.bytes(1, new Message().bytes(1, tag).float(2, value).finish());
  }
  return new Message().double(1, wallSeconds).int(2, step).bytes(5, summary.finish()).finish();
}

/** Event {1 wall_time, 3 file_version}: must be the first of a file. */
function versionEvent(wallSeconds: number): Buffer {
  return new Message().double(1, wallSeconds).bytes(3, "brain.Event:2").finish();
}

/**
 * Event files that TensorBoard (and W&B's import) reads: one new file each time a run is opened, scalars only.
 * Throws HONE_ERR_IO naming the file. Source: tensorflow/core/util/event.proto, lib/io/record_writer.h.
 */
export class TensorBoardSink implements Sink {
  readonly name = "tensorboard";
  readonly path: string;
  readonly #nowSeconds: () => number;
  #fd: number | undefined;

  /** @param nowSeconds wall clock since 1970, seconds. */
  constructor(directory: string, nowSeconds: () => number = () => Date.now() / 1000) {
    this.#nowSeconds = nowSeconds;
    const started = Math.floor(nowSeconds());
    this.path = join(directory, `events.out.tfevents.${started}.${hostname()}.${process.pid}`);
    fileWork(this.path, () => {
      mkdirSync(directory, { recursive: true });
      this.#fd = openSync(this.path, "a");
    });
    this.#append(versionEvent(nowSeconds()));
  }

  write(record: StepRecord): void {
    this.#append(scalarEvent(this.#nowSeconds(), record.step, record.metrics));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #append(event: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) throw new HoneError("HONE_ERR_STATE", `${this.path}: write after close`);
    const record = tfRecord(event);
    fileWork(this.path, () => {
      for (let written = 0; written < record.length; ) written += writeSync(fd, record, written);
    });
  }
}
