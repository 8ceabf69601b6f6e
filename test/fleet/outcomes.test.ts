import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  decodeOutcome,
  encodeOutcome,
  engineMessageOf,
  OutcomeBatcher,
  type SettledOutcome,
  wordsOf,
} from "../../lib/fleet/outcomes.ts";
import type { Completion } from "../../lib/native/generations.ts";
import { routeReader } from "../../lib/native/routes.ts";

const attempt = (which: number, tokens: readonly number[], finish: Completion["finish"]): Completion => ({
  request: 5,
  attempt: which,
  tokens: Int32Array.from(tokens),
  logprobs: Float32Array.from(tokens, (token) => -1 / token),
  entropies: Float32Array.from(tokens, (token) => 1 / (token + 1)),
  versions: Uint32Array.from(tokens, () => 2 ** 32 - 1),
  oldestKvVersions: Uint32Array.from(tokens, (_, i) => i),
  finish,
});

test("attempts come out as an engine would have said them, numbers to the bit, from anywhere in memory", () => {
  const words = wordsOf([attempt(3, [7, -2], "eos"), attempt(1, [], "abort"), attempt(0, [3], "length")]);
  const elsewhere = new Int32Array(new ArrayBuffer(words.byteLength + 12), 8, words.length);
  elsewhere.set(words);
  for (const each of [words, elsewhere])
    expect(engineMessageOf(each, 3)).toEqual({
      request: new Float64Array(3),
      attempt: Int32Array.of(3, 3, 0),
      token: Int32Array.of(7, -2, 3),
      logprob: Float32Array.of(-1 / 7, 1 / 2, -1 / 3),
      entropy: Float32Array.of(1 / 8, 1 / -1, 1 / 4),
      version: Uint32Array.of(2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1),
      oldestKv: Uint32Array.of(0, 1, 0),
      finish: Uint8Array.of(0, 1, 3),
      endedRequest: new Float64Array(1),
      endedAttempt: Int32Array.of(1),
      endedFinish: Uint8Array.of(4),
    });
});

test("routes come with the tokens that brought them, for attempts that have some", () => {
  const bytes = (n: number) => Uint8Array.from({ length: 2 * n }, (_, i) => i);
  const routed = { ...attempt(3, [7, 2, 4], "eos"), routes: { width: 2, bytes: bytes(5) } };
  const sent = {
    number: 4,
    by: { member: "actor.0#1" },
    completions: [attempt(1, [], "abort"), routed, attempt(0, [3], "length")],
  };
  const decoded = decodeOutcome(encodeOutcome(sent)) as { message: ReturnType<typeof engineMessageOf> };
  const read = [0, 1, 2, 3].map(routeReader(decoded.message));
  const rows = (from: number, to: number) => ({ width: 2, bytes: bytes(5).subarray(2 * from, 2 * to) });
  expect(read).toEqual([rows(0, 3), rows(3, 4), rows(4, 5), undefined]);
});

test("words that are not those of so many attempts are refused", () => {
  const words = wordsOf([attempt(0, [1, 2], "eos"), attempt(1, [3], "eos")]);
  for (const n of [0, 1, 3, 1000, undefined as unknown as number])
    expect(() => engineMessageOf(words, n)).toThrow(/a length that does not fit its/);
  words[2]! += 1; // changes an attempt's length
  expect(() => engineMessageOf(words, 2)).toThrow(/a length that does not fit its 2 attempts/);
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const outcome = (number: number) => ({ number, answer: { poison: true } }) as unknown as SettledOutcome;

function sent() {
  const batches: number[][] = [];
  const outcomes = new OutcomeBatcher((batch) => batches.push(batch.map(({ number }) => number)));
  return { batches, outcomes };
}

test("outcomes of one moment go together, in their order, and none waits longer than that", () => {
  const { batches, outcomes } = sent();
  outcomes.add(outcome(2), false);
  vi.advanceTimersByTime(6);
  outcomes.add(outcome(1), false);
  expect(batches).toEqual([]);
  vi.advanceTimersByTime(6);
  expect(batches).toEqual([[2, 1]]);
  outcomes.add(outcome(3), false);
  vi.advanceTimersByTime(6);
  expect(batches).toHaveLength(1);
  vi.advanceTimersByTime(6);
  expect(batches).toEqual([[2, 1], [3]]);
});

test("the last one under way waits for nothing, and takes with it what waits", () => {
  const { batches, outcomes } = sent();
  outcomes.add(outcome(0), false);
  outcomes.add(outcome(1), true);
  expect(batches).toEqual([[0, 1]]);
  vi.advanceTimersByTime(100);
  expect(batches).toHaveLength(1);
});

test("what waits at the end is sent", () => {
  const { batches, outcomes } = sent();
  outcomes.flush();
  expect(batches).toEqual([]);
  outcomes.add(outcome(0), false);
  outcomes.flush();
  expect(batches).toEqual([[0]]);
});
