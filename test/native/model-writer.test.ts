import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeModelFolder } from "../../lib/native/index.ts";
import { binding } from "../../lib/native/load.ts";
import { readFolder, writeSafetensors } from "../fixtures/safetensors.ts";
import { patient } from "../patience.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-writer-"));
  mkdirSync(join(dir, "from"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const BYTES = 24 << 20;
const options = () => ({ source: join(dir, "from"), target: join(dir, "to"), extras: [] });
const store = () =>
  writeSafetensors(join(dir, "from/model.safetensors"), {
    a: { dtype: "F32", shape: [BYTES / 4], bytes: Buffer.alloc(BYTES, 1) },
  });

test("tells how far it is, on this thread, and resolves with what was written", async () => {
  store();
  const told: [number, number][] = [];
  const report = await writeModelFolder(options(), (done, total) => told.push([done, total]));
  expect(report).toEqual({ tensors: 1, converted: 0, replaced: 0, files: 1, bytes: BYTES });
  expect(told.at(-1)).toEqual([BYTES, BYTES]);
  const written = (folder: string) => readFileSync(join(dir, folder, "model.safetensors"));
  expect(written("to").equals(written("from"))).toBe(true);
});

test("is not collected while it writes, whoever holds it", async () => {
  store();
  const gc = (globalThis as { gc?: () => void }).gc;
  if (!gc) throw new Error("run with --expose-gc (vitest.config.ts does)");
  const writing = (() => new (binding().NativeModelWriter)(options()).run(() => {}))();
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect(writing).resolves.toMatchObject({ bytes: BYTES });
});

test(
  "called off while it writes, it rejects and leaves nothing",
  async () => {
    store();
    const target = join(dir, "to");
    for (let attempt = 0; attempt < 20; attempt++) {
      const controller = new AbortController();
      const stopped = writeModelFolder(options(), () => controller.abort(), controller.signal);
      const error: unknown = await stopped.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      // the write may be complete before this thread hears of its beginning
      if (error === undefined) rmSync(target, { recursive: true });
      else {
        expect(error).toMatchObject({ code: "HONE_ERR_ABORTED" });
        expect(readdirSync(dir)).toEqual(["from"]);
        return;
      }
    }
    expect.unreachable("20 times it was done before it was called off");
  },
  patient(30_000),
);

test("many at once, and more than one after another, do not disturb each other", async () => {
  writeSafetensors(join(dir, "from/model.safetensors"), {
    a: { dtype: "U8", shape: [3], bytes: Buffer.from("abc") },
  });
  const targets = [..."12345678"].map((n) => join(dir, n));
  await Promise.all(targets.map((target) => writeModelFolder({ ...options(), target })));
  for (const target of targets) expect(readFolder(target)).toEqual(readFolder(join(dir, "from")));
});

test("run is for one time, and wants a function", async () => {
  store();
  const { NativeModelWriter } = binding();
  const writer = new NativeModelWriter(options());
  expect(() => writer.run(undefined as never)).toThrow(expect.objectContaining({ code: "HONE_ERR_CONFIG" }));
  const first = writer.run(() => {});
  expect(() => writer.run(() => {})).toThrow(expect.objectContaining({ code: "HONE_ERR_STATE" }));
  await first;
});

test.each([
  ["no source", { source: undefined }],
  ["a dtype nobody trains in", { dtype: "f64" }],
  ["shards of less than nothing", { shardBytes: -1 }],
  ["extras that are no list", { extras: {} }],
  ["an extra without a name", { extras: [{}] }],
])("%s is a typed error", async (_, wrong) => {
  await expect(writeModelFolder({ ...options(), ...wrong } as never)).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
  });
});

test("what the core says comes with its code", async () => {
  await expect(writeModelFolder(options())).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining("model.safetensors"),
  });
});
