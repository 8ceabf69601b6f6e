// Deliberate faults (mutants) that these tests detect: an unmasked CRC, another rotation than 17, big-endian lengths,
// simple_value as a double, varints without the continuation bit.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { maskedCrc32c, TensorBoardSink, tfRecord } from "../../lib/metrics/tensorboard.ts";
import { scalars, summaryEvent } from "../../lib/metrics/tensorboard-events.ts";
import { NO_DETAILS } from "./details.ts";

test("a masked CRC-32C can be unmasked", () => {
  const masked = maskedCrc32c(Buffer.from("123456789"));
  const rotated = (masked - 0xa282ead8) >>> 0;
  expect(((rotated >>> 17) | (rotated << 15)) >>> 0).toBe(0xe3069283);
});

/** An independent reader: bitwise CRC, wire types read one after another. */
function bitwiseCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    for (let bit = 0; bit < 8; ++bit) {
      const carry = ((crc ^ (byte >> bit)) & 1) === 1;
      crc = crc >>> 1;
      if (carry) crc ^= 0x82f63b78;
    }
  }
  return ~crc >>> 0;
}

function* records(file: Buffer): Generator<Buffer> {
  const check = (bytes: Uint8Array, stored: number) => {
    const crc = bitwiseCrc(bytes);
    const masked =
      (Number((BigInt(crc) >> 15n) | ((BigInt(crc) << 17n) & 0xffffffffn)) + 0xa282ead8) % 2 ** 32;
    if (masked !== stored) throw new Error("checksum");
  };
  for (let at = 0; at < file.length; ) {
    const length = Number(file.readBigUInt64LE(at));
    check(file.subarray(at, at + 8), file.readUInt32LE(at + 8));
    const data = file.subarray(at + 12, at + 12 + length);
    check(data, file.readUInt32LE(at + 12 + length));
    yield data;
    at += 16 + length;
  }
}

type Field = [number, number | bigint | Buffer];

function fields(message: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [field, wire] = [tag >> 3, tag & 7];
    if (wire === 0) {
      found.push([field, varint()]);
      continue;
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
    const bytes = message.subarray(at, at + length);
    at += length;
    found.push([field, wire === 1 ? bytes.readDoubleLE() : wire === 5 ? bytes.readFloatLE() : bytes]);
  }
  return found;
}

interface Event {
  readonly wall: number;
  readonly step?: number;
  readonly version?: string;
  readonly scalars: Record<string, number>;
}

function decode(message: Buffer): Event {
  const all = new Map(fields(message));
  const summary = all.get(5);
  const scalars: Record<string, number> = {};
  for (const [, value] of summary === undefined ? [] : fields(summary as Buffer)) {
    const [[, tag], [, scalar]] = fields(value as Buffer) as [Field, Field];
    scalars[String(tag)] = scalar as number;
  }
  const [step, version] = [all.get(2), all.get(3)];
  return {
    wall: all.get(1) as number,
    scalars,
    ...(step !== undefined && { step: Number(step) }),
    ...(version !== undefined && { version: String(version) }),
  };
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-tensorboard-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("event files", () => {
  test("an independent reader gets back steps, times, tags and values", () => {
    let now = 1_700_000_000.5;
    const sink = new TensorBoardSink(join(folder, "tensorboard"), () => now);
    sink.write({ step: 1, version: 1, metrics: { "reward/mean": 0.5, "größe/x": -2.25 } }, NO_DETAILS);
    now += 1;
    sink.write({ step: 300, version: 9, metrics: { [`length/${"m".repeat(200)}`]: 1e-3 } }, NO_DETAILS);
    sink.close();
    const events = [...records(readFileSync(sink.path))].map(decode);
    expect(events).toEqual([
      { wall: 1_700_000_000.5, version: "brain.Event:2", scalars: {} },
      { wall: 1_700_000_000.5, step: 1, scalars: { "reward/mean": 0.5, "größe/x": -2.25 } },
      { wall: 1_700_000_001.5, step: 300, scalars: { [`length/${"m".repeat(200)}`]: Math.fround(1e-3) } },
    ]);
  });

  test("a file that does not begin with step 1 drops what others say of its first step and those behind it", () => {
    const sink = new TensorBoardSink(folder, () => 1);
    for (const step of [5, 6]) sink.write({ step, version: 1, metrics: { a: step } }, NO_DETAILS);
    sink.close();
    const events = [...records(readFileSync(sink.path))].map((record) => new Map(fields(record)));
    // file_version, session_log { status: START } at step 5, and the two steps
    expect(
      events.map((event) => [event.get(2), (event.get(7) as Buffer | undefined)?.toString("hex")]),
    ).toEqual([
      [undefined, undefined],
      [5n, "0801"],
      [5n, undefined],
      [6n, undefined],
    ]);
  });

  test("a known event in bytes", () => {
    // 09 wall_time double 1.0 | 10 05 step | 2a 09 summary { 0a 07 value { 0a 01 'a' tag | 15 simple_value 1.0f } }
    const expected = "09000000000000f03f10052a0a0a080a016115" + "0000803f";
    expect(summaryEvent(1, 5, scalars({ a: 1 })).toString("hex")).toBe(expected);
  });

  test("a record is 16 bytes longer than its data", () => {
    expect(tfRecord(new Uint8Array(5))).toHaveLength(21);
  });

  test("a step is in the file when write returns, and every opening has a file of its own", () => {
    const sink = new TensorBoardSink(folder, () => 1000);
    sink.write({ step: 1, version: 1, metrics: { a: 1 } }, NO_DETAILS);
    expect([...records(readFileSync(sink.path))]).toHaveLength(2);
    expect(new TensorBoardSink(folder, () => 2000).path).not.toBe(sink.path);
    sink.close();
    sink.close();
    expect(() => sink.write({ step: 2, version: 2, metrics: {} }, NO_DETAILS)).toThrow(HoneError);
  });
});
