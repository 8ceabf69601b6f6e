import { expect, test } from "vitest";
import type { AttemptTokens } from "../../lib/native/attempt-tokens.ts";
import type {
  EngineFace,
  EngineHandlers,
  EngineMessage,
  EngineStats,
  GenerationRequest,
} from "../../lib/native/face.ts";
import { type Completion, Generations } from "../../lib/native/generations.ts";
import { request } from "./small-model.ts";

/** An engine that records its calls; the test acts as its thread. */
function scripted() {
  const calls: string[] = [];
  let handlers!: EngineHandlers;
  const face: EngineFace = {
    submit: (r: GenerationRequest) => calls.push(`submit ${r.id}`),
    abort: (id: number, attempt?: number) =>
      calls.push(`abort ${id}${attempt === undefined ? "" : `/${attempt}`}`),
    stats: () => ({}) as EngineStats,
    close: async () => {
      calls.push("close");
    },
  };
  const generations = new Generations((h) => {
    handlers = h;
    return face;
  });
  return { generations, calls, handlers };
}

type Row = readonly [id: number, attempt: number, token: number, finish: number];

function message(
  rows: readonly Row[],
  ended: readonly (readonly [number, number, number])[] = [],
): EngineMessage {
  return {
    request: Float64Array.from(rows, (r) => r[0]),
    attempt: Int32Array.from(rows, (r) => r[1]),
    token: Int32Array.from(rows, (r) => r[2]),
    logprob: Float32Array.from(rows, (r) => -r[2]),
    entropy: Float32Array.from(rows, (r) => r[2] / 2),
    version: Uint32Array.from(rows, (r) => r[2] + 100),
    oldestKv: Uint32Array.from(rows, (r) => r[2] + 50),
    finish: Uint8Array.from(rows, (r) => r[3]),
    endedRequest: Float64Array.from(ended, (e) => e[0]),
    endedAttempt: Int32Array.from(ended, (e) => e[1]),
    endedFinish: Uint8Array.from(ended, (e) => e[2]),
  };
}

test("attempts are put together from the rows of many messages", async () => {
  const { generations, handlers } = scripted();
  const done = generations.generate(request(1, { count: 2 }));
  handlers.onMessage(
    message([
      [1, 0, 10, 0],
      [1, 1, 20, 0],
    ]),
  );
  handlers.onMessage(
    message([
      [1, 1, 21, 1],
      [1, 0, 11, 0],
      [1, 0, 12, 3],
    ]),
  );
  const [first, second] = await done;
  expect(first).toEqual({
    request: 1,
    attempt: 0,
    tokens: Int32Array.of(10, 11, 12),
    logprobs: Float32Array.of(-10, -11, -12),
    entropies: Float32Array.of(5, 5.5, 6),
    versions: Uint32Array.of(110, 111, 112),
    oldestKvVersions: Uint32Array.of(60, 61, 62),
    finish: "length",
  });
  expect([second!.finish, [...second!.tokens]]).toEqual(["eos", [20, 21]]);
  expect(generations.inFlight).toBe(0);
});

test("long attempts outgrow their first arrays", async () => {
  const { generations, handlers } = scripted();
  const done = generations.generate(request(1, { count: 1 }));
  for (let t = 0; t < 300; t++) handlers.onMessage(message([[1, 0, t, t === 299 ? 2 : 0]]));
  const [only] = await done;
  expect([...only!.tokens]).toEqual(Array.from({ length: 300 }, (_, t) => t));
  expect(only!.finish).toBe("stop");
});

test("a sink hears of all that one message finished in one call", () => {
  const { generations, handlers } = scripted();
  const deliveries: Completion[][] = [];
  const sink = { deliver: (c: Completion[]) => deliveries.push(c), fail() {} };
  generations.submit(request(1, { count: 2 }), sink);
  generations.submit(request(2, { count: 1 }), sink);
  handlers.onMessage(
    message([
      [1, 0, 1, 1],
      [2, 0, 2, 1],
      [1, 1, 3, 0],
    ]),
  );
  expect(deliveries.map((d) => d.map((c) => [c.request, c.attempt]))).toEqual([
    [
      [1, 0],
      [2, 0],
    ],
  ]);
  expect(generations.inFlight).toBe(1);
});

test("a signal aborts the request and rejects with its reason", async () => {
  const { generations, calls, handlers } = scripted();
  const controller = new AbortController();
  const done = generations.generate(request(4, { count: 2 }), controller.signal);
  controller.abort(new Error("stop it"));
  expect(calls).toEqual(["submit 4", "abort 4"]);
  handlers.onMessage(
    message(
      [[4, 0, 1, 0]],
      [
        [4, 0, 4],
        [4, 1, 4],
      ],
    ),
  );
  await expect(done).rejects.toThrow("stop it");
  await expect(generations.generate(request(5), controller.signal)).rejects.toThrow("stop it");
});

test("a dead engine fails every request, then and later", async () => {
  const { generations, handlers } = scripted();
  const done = [generations.generate(request(1)), generations.generate(request(2))];
  handlers.onError(new Error("engine died"));
  for (const d of done) await expect(d).rejects.toThrow("engine died");
  await expect(generations.generate(request(3))).rejects.toThrow("engine died");
});

test("abandon forgets what runs: late rows are nobody's", () => {
  const { generations, calls, handlers } = scripted();
  const deliveries: Completion[][] = [];
  generations.submit(request(1, { count: 1 }), { deliver: (c) => deliveries.push(c), fail() {} });
  generations.abandon();
  handlers.onMessage(message([[1, 0, 1, 1]], [[1, 0, 4]]));
  expect([deliveries, calls]).toEqual([[], ["submit 1", "abort 1"]]);
});

test("by recordEveryTokens the sink is told what is new of all attempts of a request, ends included", () => {
  const { generations, handlers } = scripted();
  const told: (readonly [attempt: number, from: number, tokens: number[], finish: number])[] = [];
  const sink = {
    deliver() {},
    fail() {},
    record: (_: number, tokens: readonly AttemptTokens[]) => {
      for (const { attempt, from, tokens: ids, finish } of tokens)
        told.push([attempt, from, [...ids], finish]);
    },
  };
  generations.submit(request(1, { count: 3, recordEveryTokens: 2 }), sink);
  generations.submit(request(2, { count: 1 }), sink);
  handlers.onMessage(
    message([
      [1, 0, 10, 0],
      [1, 1, 20, 1],
      [2, 0, 1, 0],
      [2, 0, 2, 0],
    ]),
  );
  expect(told).toEqual([]);
  expect(generations.stats().unrecordedTokens).toBe(2);
  handlers.onMessage(message([[1, 0, 11, 0]]));
  expect(told.splice(0)).toEqual([
    [1, 0, [20], 1],
    [0, 0, [10, 11], 0],
  ]);
  expect(generations.stats().unrecordedTokens).toBe(0);
  handlers.onMessage(
    message([
      [1, 2, 30, 0],
      [1, 0, 12, 3],
      [1, 2, 31, 0],
      [1, 2, 32, 0],
    ]),
  );
  expect(told.splice(0)).toEqual([
    [0, 2, [12], 3],
    [2, 0, [30, 31, 32], 0],
  ]);
  handlers.onMessage(message([[1, 2, 33, 1]]));
  handlers.onMessage(message([[2, 0, 3, 1]]));
  expect(told, "what is over is delivered").toEqual([]);
});

test("what a request has begun with is not told again, and what another process tells is passed on", () => {
  const { generations, handlers } = scripted();
  const told: number[][] = [];
  const record = (id: number, tokens: readonly AttemptTokens[]) =>
    told.push([id, ...tokens.flatMap(({ from, tokens: ids }) => [from, ...ids])]);
  const sink = { deliver() {}, fail() {}, record };
  const one = Float32Array.of(-1, -1);
  const versions = Uint32Array.of(0, 0);
  const tokens = Int32Array.of(5, 6);
  const begun = [
    { attempt: 0, from: 0, tokens, logprobs: one, entropies: one, versions, oldestKv: versions, finish: 0 },
  ];
  generations.submit(request(1, { count: 1, recordEveryTokens: 2, begun }), sink);
  handlers.onMessage(
    message([
      [1, 0, 5, 0],
      [1, 0, 6, 0],
      [1, 0, 7, 0],
    ]),
  );
  expect(told).toEqual([]);
  handlers.onMessage(message([[1, 0, 8, 0]]));
  expect(told.splice(0)).toEqual([[1, 2, 7, 8]]);
  handlers.onRecord!(1, begun);
  handlers.onRecord!(9, begun);
  expect(told).toEqual([[1, 0, 5, 6]]);
});
