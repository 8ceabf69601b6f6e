import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import {
  type Control,
  decodeAnswer,
  decodeControl,
  decodeOutcome,
  decodeRequest,
  encodeAnswer,
  encodeControl,
  encodeOutcome,
  encodeRequest,
} from "../../lib/fleet/messages.ts";
import { NO_STATS } from "../../lib/fleet/roster.ts";
import type { GenerationRequest } from "../../lib/native/face.ts";
import type { Completion } from "../../lib/native/generations.ts";

const request: GenerationRequest = {
  id: 9,
  prompt: Int32Array.of(3, 1, 4),
  count: 2,
  problem: 77,
  firstAttempt: 1,
  seeds: [2n ** 63n, 5n],
  sampling: { temperature: 0.7, topP: 0.9 },
  maxTokens: 12,
  stopIds: [2],
  stopStrings: ["end"],
};

test("a request is read as it was written, 64-bit seeds included", () => {
  expect(decodeRequest(encodeRequest({ number: 4, version: 6, request }))).toEqual({
    number: 4,
    version: 6,
    request,
  });
});

test("a plan of versions is refused: no actor could keep to it", () => {
  const planned = { ...request, plan: [[{ fromToken: 0, version: 1 }]] };
  expect(() => encodeRequest({ number: 0, version: 0, request: planned })).toThrow(/plan of versions/);
});

const completion = (attempt: number, n: number, finish: Completion["finish"]): Completion => ({
  request: 0,
  attempt,
  tokens: Int32Array.from({ length: n }, (_, i) => 10 * attempt + i),
  logprobs: Float32Array.from({ length: n }, (_, i) => -i / 8),
  entropies: new Float32Array(n).fill(0.5),
  versions: Uint32Array.from({ length: n }, (_, i) => 3 + i),
  oldestKvVersions: new Uint32Array(n).fill(3),
  finish,
});

test("an outcome is read as an engine would have said it", () => {
  const by = { member: "actor.1#2", stats: { ...NO_STATS, steps: 5 } };
  const completions = [completion(1, 2, "eos"), completion(0, 3, "length"), completion(2, 0, "abort")];
  const read = decodeOutcome(encodeOutcome({ number: 8, by, completions }));
  if (!("message" in read)) throw new Error("no message");
  expect(read).toMatchObject({ number: 8, by });
  expect(read.message).toEqual({
    request: new Float64Array(5),
    attempt: Int32Array.of(1, 1, 0, 0, 0),
    token: Int32Array.of(10, 11, 0, 1, 2),
    logprob: Float32Array.of(-0, -1 / 8, -0, -1 / 8, -2 / 8),
    entropy: new Float32Array(5).fill(0.5),
    version: Uint32Array.of(3, 4, 3, 4, 5),
    oldestKv: new Uint32Array(5).fill(3),
    finish: Uint8Array.of(0, 1, 0, 0, 3),
    endedRequest: new Float64Array(1),
    endedAttempt: Int32Array.of(2),
    endedFinish: Uint8Array.of(4),
  });
});

test("outcomes without completions keep what they say", () => {
  const by = { member: "actor.0#1", stats: NO_STATS };
  const fault = { code: "HONE_ERR_CONFIG", message: "too long", hint: "less" } as const;
  expect(decodeOutcome(encodeOutcome({ number: 1, by, fault }))).toEqual({ number: 1, by, fault });
  expect(decodeOutcome(encodeOutcome({ number: 1, by, poison: true }))).toEqual({
    number: 1,
    by,
    poison: true,
  });
});

test("what the coordinator says is read as it was said, bytes of tokens included", () => {
  const options = {
    maxRunning: 4,
    pageTokens: 16,
    pages: 8,
    maxContext: 64,
    stepTokens: 32,
    weightStorage: "f32",
    runSeed: 2n ** 60n,
  } as const;
  const tokenBytes = [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(255)];
  const controls: Control[] = [
    { kind: "open", engine: "engine-0", config: "{}", options },
    { kind: "open", engine: "engine-1", config: "{}", options: { ...options, tokenBytes } },
    { kind: "close", engine: "engine-0" },
    { kind: "abort", engine: "engine-0", request: 3 },
    {
      kind: "update",
      update: 1,
      engine: "engine-0",
      version: 2,
      way: "communicator",
      groups: [{ number: 3, sender: "trainer.1#2", members: ["actor.0#1"] }],
    },
    { kind: "commit", update: 1, engine: "engine-0", version: 2, members: [] },
  ];
  for (const control of controls) expect(decodeControl(encodeControl(control))).toEqual(control);
});

test("an answer keeps its fault", () => {
  for (const fault of [undefined, { code: "HONE_ERR_FORMAT", message: "damaged" } as const]) {
    const answer = { update: 3, member: "actor.0#1", ...(fault && { fault }) };
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  }
});

test("a message that is damaged, or of another kind, is refused", () => {
  const bytes = encodeRequest({ number: 4, version: 6, request });
  expect(() => decodeOutcome(bytes)).toThrow(/kind "request" where "outcome"/);
  bytes[bytes.length - 1]! ^= 1;
  expect(() => decodeRequest(bytes)).toThrow(HoneError);
});
