import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Delivery } from "../../lib/trackers/index.ts";
import { JsonlTracker } from "../../lib/trackers/jsonl.ts";
import { NO_DETAILS } from "../metrics/details.ts";
import { eventually, runIn, scratch, stepOf } from "./fixtures.ts";

const run = runIn("/runs/demo");
const signal = AbortSignal.timeout(60_000);
const sending = { run, signal, memory: undefined };

test("a file grows by a line an entry", async () => {
  const path = join(scratch(), "all.jsonl");
  const tracker = new JsonlTracker(path, undefined);
  await tracker.send([stepOf(1)], sending);
  await tracker.send([stepOf(2), { kind: "end", at: 5, sitting: 1, state: "stopped" }], sending);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { run: run.id, name: "demo", kind: "step", step: 1, metrics: { "score/mean": 0.1 } },
    { kind: "step", step: 2 },
    { kind: "end", state: "stopped" },
  ]);
});

test("a stream whose reader stalls gets every line once, however often its portion was given up", async () => {
  const got: string[] = [];
  let go: (() => void) | undefined;
  const stalled = new Writable({
    highWaterMark: 10,
    write(chunk: Buffer, _encoding, done) {
      got.push(chunk.toString());
      go = done;
    },
  });
  const warnings: string[] = [];
  const delivery = new Delivery(new JsonlTracker("-", stalled), {
    run: runIn(scratch()),
    sitting: 1,
    warn: (text) => void warnings.push(text),
    timeoutMs: 20,
    firstPauseMs: 1,
    longestPauseMs: 2,
  });
  const write = (step: number) => delivery.write({ step, version: step, metrics: {} }, NO_DETAILS);
  write(1);
  await eventually(() => delivery.state.failures >= 4);
  write(2);
  expect(got).toHaveLength(1);
  const flowing = setInterval(() => {
    const done = go;
    go = undefined;
    done?.();
  }, 2);
  await eventually(() => delivery.state.waiting === 0);
  clearInterval(flowing);
  const steps = got
    .join("")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { step: number }).step);
  expect(steps).toEqual([1, 2]);
  await delivery.close();
});

test("a stream that is closed rejects, so that its lines wait", async () => {
  const closed = new Writable({ write: (_chunk, _encoding, done) => done() });
  closed.destroy();
  await expect(new JsonlTracker("-", closed).send([stepOf(1)], sending)).rejects.toThrow(/closed/);
});

test("a FIFO without a reader holds nothing up, and its lines come when there is one", async () => {
  const path = join(scratch(), "fifo");
  execFileSync("mkfifo", [path]);
  const sent = new JsonlTracker(path, undefined).send([stepOf(1)], sending);
  await new Promise((resolve) => setTimeout(resolve, 30));
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  await sent;
  const bytes = Buffer.alloc(4096);
  const length = readSync(fd, bytes);
  closeSync(fd);
  expect(JSON.parse(bytes.toString("utf8", 0, length))).toMatchObject({ step: 1 });
});
