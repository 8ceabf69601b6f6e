// This reader follows the format's description alone: LevelDB's log with W&B's header and CRC, and the field numbers of
// wandb_internal.proto. docs/how-to/trackers.md reports how the real client read the files.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import { WandbOfflineRun } from "../../lib/trackers/wandb.ts";
import type { TableFile } from "../../lib/trackers/wandb-tables.ts";
import { NO_DETAILS } from "../metrics/details.ts";
import { group, rollout } from "../metrics/tiny-facts.ts";
import { runIn, scratch } from "./fixtures.ts";

function bitwiseCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

function* records(file: Buffer): Generator<Buffer> {
  expect(file.toString("latin1", 0, 4)).toBe(":W&B");
  expect([file.readUInt16LE(4), file[6]]).toEqual([0xbee1, 0]);
  let parts: Buffer[] = [];
  for (let at = 7; at < file.length; ) {
    const left = 32_768 - (at % 32_768);
    if (left < 7) {
      expect(file.subarray(at, at + left).every((byte) => byte === 0)).toBe(true);
      at += left;
      continue;
    }
    const length = file.readUInt16LE(at + 4);
    const type = file[at + 6]!;
    const data = file.subarray(at + 7, at + 7 + length);
    expect(7 + length).toBeLessThanOrEqual(left);
    expect(file.readUInt32LE(at)).toBe(bitwiseCrc(Buffer.concat([Buffer.of(type), data])));
    at += 7 + length;
    expect(parts.length === 0).toBe(type === 1 || type === 2);
    parts.push(data);
    if (type === 2 || type === 3) continue;
    yield Buffer.concat(parts);
    parts = [];
  }
}

function fields(message: Buffer): [number, bigint | Buffer][] {
  const found: [number, bigint | Buffer][] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    if ((tag & 7) === 0) found.push([tag >> 3, varint()]);
    else {
      expect(tag & 7).toBe(2);
      const length = Number(varint());
      found.push([tag >> 3, message.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}

const one = (message: Buffer, field: number) => fields(message).find(([n]) => n === field)?.[1];
const text = (message: Buffer, field: number) => String(one(message, field));
const items = (message: Buffer) =>
  Object.fromEntries(
    fields(message)
      .filter(([n]) => n === 1)
      .map(([, item]) => [text(item as Buffer, 1), JSON.parse(text(item as Buffer, 16)) as unknown]),
  );

const KINDS: Readonly<Record<number, string>> = {
  2: "history",
  3: "summary",
  6: "files",
  17: "run",
  18: "exit",
  20: "final",
  21: "header",
};

const read = (path: string) =>
  [...records(readFileSync(path))].map((record) => {
    const [[, number], [kind, body]] = fields(record) as [[number, bigint], [number, Buffer]];
    return { number: Number(number), kind: KINDS[kind]!, body };
  });

const details = (at: number) => ({ ...NO_DETAILS, endedAt: at });
const T0 = 1_700_000_000_000;

test("a run's header, recipe, steps, summary and end, in the order in which the client reads them", () => {
  const dir = scratch();
  const sink = new WandbOfflineRun({ project: "p", entity: "us", run: runIn(dir), createdAt: T0 });
  expect(sink.path).toBe(
    join(dir, "wandb", "offline-run-20231114_221320-0123456789abcdef", "run-0123456789abcdef.wandb"),
  );
  sink.write({ step: 1, version: 1, metrics: { "score/mean": 0.25 } }, details(T0 + 1500));
  sink.write({ step: 2, version: 2, metrics: { "score/mean": 0.5 } }, details(T0 + 2500));
  sink.ended("finished");
  sink.close();
  sink.close();
  const all = read(sink.path);
  expect(all.map(({ kind }) => kind)).toEqual([
    "header",
    "run",
    "history",
    "history",
    "summary",
    "exit",
    "final",
  ]);
  expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const [, run, first, , summary, exit] = all.map(({ body }) => body) as Buffer[];
  expect([1, 2, 3, 8].map((field) => text(run!, field))).toEqual(["0123456789abcdef", "us", "p", "demo"]);
  expect(items(one(run!, 4) as Buffer)).toEqual({
    name: "demo",
    optimizer: { lr: 0.001 },
    domains: { math: { weight: 1 } },
  });
  expect(one(one(run!, 17) as Buffer, 1)).toBe(BigInt(T0 / 1000));
  expect(items(first!)).toEqual({ "score/mean": 0.25, _step: 1, _runtime: 1.5, _timestamp: T0 / 1000 + 1.5 });
  expect(one(one(first!, 2) as Buffer, 1)).toBe(1n);
  expect(items(summary!)).toMatchObject({ "score/mean": 0.5, _step: 2 });
  expect([one(exit!, 1), one(exit!, 2)]).toEqual([0n, 3n]);
});

test("records longer than a block, and those that end next to a block's end, are read back", () => {
  const dir = scratch();
  const sink = new WandbOfflineRun({ project: "p", run: runIn(dir), createdAt: T0 });
  for (let step = 1; step <= 60; ++step) {
    const metrics: Record<string, number> = { [`m/${"x".repeat(step * 37)}`]: step };
    if (step % 20 === 0) for (let i = 0; i < 4000; ++i) metrics[`m/${i}`] = i;
    sink.write({ step, version: step, metrics }, details(T0));
  }
  sink.close();
  const steps = read(sink.path).filter(({ kind }) => kind === "history");
  expect(steps.map(({ body }) => items(body)["_step"])).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  expect(Object.keys(items(steps[39]!.body))).toHaveLength(4004);
});

test("a resumed run has each step once, from the run log, and is to be uploaded anew", () => {
  const dir = scratch();
  mkdirSync(dir, { recursive: true });
  const options = { project: "p", run: runIn(dir), createdAt: T0 };
  const first = new WandbOfflineRun(options);
  const lines: string[] = [];
  for (const step of [1, 2, 3]) {
    const record = { step, version: step, metrics: { "run/elapsed": step } };
    first.write(record, details(T0));
    lines.push(JSON.stringify(record));
  }
  first.close();
  writeFileSync(join(dir, RUN_FILES.log), `${lines.join("\n")}\n`);
  writeFileSync(`${first.path}.synced`, "");
  const second = new WandbOfflineRun(options);
  expect(second.path).toBe(first.path);
  second.write({ step: 3, version: 3, metrics: { "run/elapsed": 30 } }, details(T0 + 30_000));
  second.ended("failed");
  second.close();
  const all = read(second.path);
  const steps = all.filter(({ kind }) => kind === "history").map(({ body }) => items(body));
  expect(steps.map((values) => [values["_step"], values["run/elapsed"]])).toEqual([
    [1, 1],
    [2, 2],
    [3, 30],
  ]);
  expect(one(all.find(({ kind }) => kind === "exit")!.body, 1)).toBe(1n);
  expect(existsSync(`${first.path}.synced`)).toBe(false);
});

test("tables of completions are files of the run that the history names; a resume keeps those before it", () => {
  const dir = scratch();
  const options = { project: "p", run: runIn(dir), createdAt: T0, completions: 2 };
  const groups = [group([rollout({ versions: [1] })])];
  const session = (steps: readonly number[]) => {
    const sink = new WandbOfflineRun(options);
    for (const step of steps) sink.write({ step, version: step, metrics: {} }, { ...details(T0), groups });
    sink.close();
    return read(sink.path);
  };
  session([1, 2, 3, 4]);
  const lines = [1, 2, 3].map((step) => JSON.stringify({ step, version: step, metrics: {} }));
  writeFileSync(join(dir, RUN_FILES.log), `${lines.join("\n")}\n`);
  const files = join(dir, "wandb", "offline-run-20231114_221320-0123456789abcdef", "files");
  expect(readdirSync(join(files, "media/table"))).toHaveLength(2);
  const all = session([4]);
  const tables = all.flatMap(({ kind, body }) => {
    const { completions, _step } = kind === "history" ? items(body) : {};
    return completions === undefined ? [] : [{ step: _step, ...(completions as TableFile) }];
  });
  expect(tables.map(({ step, _type, ncols, nrows }) => [step, _type, ncols, nrows])).toEqual([
    [2, "table-file", 14, 1],
    [4, "table-file", 14, 1],
  ]);
  for (const { path, size, sha256 } of tables) {
    const bytes = readFileSync(join(files, path));
    expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([size, sha256]);
    expect(JSON.parse(String(bytes)).columns[0]).toBe("step");
  }
  const uploads = all.filter(({ kind }) => kind === "files").map(({ body }) => one(body, 1) as Buffer);
  expect(uploads.map((file) => [text(file, 1), one(file, 2)])).toEqual(tables.map(({ path }) => [path, 0n]));
  expect(readdirSync(join(files, "media/table"))).toHaveLength(2);
});
