import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EventLog, hashRollout, readEvents } from "../../../lib/orchestration/records/event-log.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-events-"));
  path = join(dir, "events.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const step = (s: number, v = s + 1) => ({ e: "step", s, v, k: [] }) as const;

test("writes whole lines at each flush; appending cuts off a torn one", () => {
  const log = new EventLog(path, false);
  log.add(step(0));
  expect(readFileSync(path, "utf8")).toBe("");
  log.flush();
  log.close();
  appendFileSync(path, '{"e":"st');
  const again = new EventLog(path, true);
  again.add({ e: "resume", s: 1 });
  again.close();
  expect(readEvents(path)).toEqual([step(0), { e: "resume", s: 1 }]);
});

test("a log in a place that cannot be written is a typed error", () => {
  expect(() => new EventLog("/dev/null/events.jsonl", false)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_IO" }),
  );
});

test("a full disk is a typed error", () => {
  const log = new EventLog("/dev/full", false);
  log.add(step(0));
  expect(() => log.flush()).toThrowError(expect.objectContaining({ code: "HONE_ERR_IO" }));
});

test("a damaged line is named", () => {
  appendFileSync(path, '{"e":"end","s":1,"v":1,"w":"x"}\nnonsense\n');
  expect(() => readEvents(path)).toThrow(/events.jsonl:2: not an event/);
});

test.each([
  "null",
  "[]",
  '{"e":"fin","s":3}',
  '{"e":"group","g":1}',
  '{"e":"group","g":1,"r":[[0]]}',
  '{"e":"submit","g":-1,"d":"math","i":0,"v":0}',
  '{"e":"step","s":0,"v":"1","k":[]}',
])("%s is no event", (line) => {
  appendFileSync(path, `${line}\n`);
  expect(() => readEvents(path)).toThrowError(expect.objectContaining({ code: "HONE_ERR_FORMAT" }));
});

test("any token, any bit of a log-prob and any order changes the hash", () => {
  const tokens = Int32Array.of(5, 6, 7);
  const logprobs = Float32Array.of(-0.5, -1, -2);
  const base = hashRollout({ tokens, logprobs });
  expect(base).toMatch(/^[0-9a-f]{16}$/);
  expect(hashRollout({ tokens: tokens.slice(), logprobs: logprobs.slice() })).toBe(base);
  const oneBit = logprobs.slice();
  new Uint32Array(oneBit.buffer)[1]! ^= 1;
  const others = [
    { tokens: Int32Array.of(5, 7, 6), logprobs },
    { tokens: Int32Array.of(5, 6, 8), logprobs },
    { tokens, logprobs: oneBit },
    { tokens: tokens.slice(0, 2), logprobs: logprobs.slice(0, 2) },
  ];
  expect(new Set([base, ...others.map(hashRollout)]).size).toBe(5);
});

test("a group tells where its rollouts were taken up, which a turn that begins is not", () => {
  const log = new EventLog(path, false);
  const rollout = (attempt: number, oldestKv: number[], given?: number[]) => ({
    attempt,
    tokens: new Int32Array(oldestKv.length),
    logprobs: new Float32Array(oldestKv.length),
    versions: Uint32Array.from(oldestKv, () => 7),
    oldestKvVersions: Uint32Array.from(oldestKv),
    ...(given && { finish: "eos", episode: { given: Uint8Array.from(given), toolCalls: 0 } }),
  });
  const settled = (rollouts: object[]) => ({ request: { group: 3 }, group: { rollouts: [] }, rollouts });
  log.settled(settled([rollout(0, [3, 3, 5, 5, 7]), rollout(1, [3, 3])]) as never, 1);
  log.settled(settled([rollout(0, [3, 5, 5, 6], [0, 1, 0, 0])]) as never, 1);
  log.settled(settled([rollout(0, [3, 3])]) as never, 1);
  log.close();
  expect(readEvents(path).map((e) => (e as { t?: unknown }).t)).toEqual([[[0, 2, 4]], [[0, 3]], undefined]);
});
