import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { Engine, Generations, info, Trainer } from "../../lib/native/index.ts";
import {
  bareEngine,
  engineOptions,
  modelConfig,
  request,
  stepOptions,
  trainerAndGenerations,
  trainerOptions,
  VOCABULARY,
} from "./small-model.ts";

describe("routes of a mixture", () => {
  const mixture = JSON.stringify({
    ...JSON.parse(modelConfig),
    model_type: "mixtral",
    num_local_experts: 5,
    num_experts_per_tok: 2,
  });

  test("are reported row by row, and with them a step counts what it replaced", async () => {
    const trainer = new Trainer(mixture, { ...trainerOptions, device: "cpu" });
    const options = { ...engineOptions, device: "cpu", routes: true } as const;
    const generations = new Generations((handlers) => new Engine(mixture, options, handlers));
    await trainer.initialize(3n);
    await trainer.publish(generations.engine);
    const { prompt } = request(1);
    const [completion] = await generations.generate(request(1, { count: 1, maxTokens: 9, stopIds: [] }));
    const { width, bytes } = completion!.routes!;
    expect([width, bytes.length]).toEqual([4, 4 * (prompt.length + 8)]);
    for (let i = 0; i < bytes.length; i += 2)
      expect(bytes[i]! < bytes[i + 1]! && bytes[i + 1]! < 5).toBe(true);
    const tokens = Int32Array.of(...prompt, ...completion!.tokens);
    const behaviorLogprobs = new Float32Array(tokens.length);
    behaviorLogprobs.set(completion!.logprobs, prompt.length);
    const mask = new Uint8Array(tokens.length).fill(1, prompt.length);
    const routes = new Uint8Array(4 * tokens.length).fill(255);
    routes.set(bytes);
    const advantages = Float32Array.of(1);
    const batch = { tokens, mask, cuSeqlens: Int32Array.of(0, tokens.length), behaviorLogprobs, advantages };
    const report = await trainer.step({ ...batch, routes }, { ...stepOptions, lr: 0 });
    const choices = tokens.length - 1 + completion!.tokens.length; // of the first layer and of the last
    expect(report).toMatchObject({ givenRoutes: choices, replacedRoutes: 0 });
    expect(report.logprobs.subarray(prompt.length)).toEqual(completion!.logprobs);
    const other = routes.map((byte, i) => (byte === 255 ? 255 : 2 + (i % 2)));
    const forced = await trainer.step({ ...batch, routes: other }, { ...stepOptions, lr: 0 });
    expect(forced.replacedRoutes).toBeGreaterThan(choices / 2);
    expect(forced.logprobs).not.toEqual(report.logprobs);
    await expect(trainer.step({ ...batch, routes: routes.subarray(1) }, stepOptions)).rejects.toThrow(
      /routes has \d+ entries/,
    );
    await generations.close();
    await trainer.close();
  });

  test("are refused of a dense model", () => {
    const options = { ...engineOptions, routes: true };
    const handlers = { onMessage: () => {}, onError: () => {} };
    expect(() => new Engine(modelConfig, options, handlers)).toThrow(
      /routes are to be recorded, but llama has no experts/,
    );
  });
});

describe("an engine with weights", () => {
  let trainer: Trainer;
  let generations: Generations;
  beforeAll(async () => {
    ({ trainer, generations } = await trainerAndGenerations());
  });
  afterAll(async () => {
    await generations.close();
    await trainer.close();
  });

  test("returns whole attempts with everything recorded", async () => {
    const completions = await generations.generate(request(1, { count: 3, maxTokens: 20, stopIds: [] }));
    expect(completions.map((c) => c.attempt)).toEqual([0, 1, 2]);
    for (const c of completions) {
      expect(c.finish).toBe("length");
      expect(c.tokens).toHaveLength(20);
      for (const array of [c.logprobs, c.entropies, c.versions, c.oldestKvVersions])
        expect(array).toHaveLength(20);
      expect(c.tokens.every((t) => t >= 0 && t < VOCABULARY)).toBe(true);
      expect(c.logprobs.every((l) => l <= 0 && Number.isFinite(l))).toBe(true);
    }
  });

  test("gives the same tokens whatever else runs", async () => {
    const alone = await generations.generate(request(2, { problem: 77 }));
    const crowd = Array.from({ length: 30 }, (_, i) => generations.generate(request(100 + i)));
    const together = await generations.generate(request(3, { problem: 77, prompt: request(2).prompt }));
    await Promise.all(crowd);
    expect(together.map((c) => [...c.tokens])).toEqual(alone.map((c) => [...c.tokens]));
    expect(together.map((c) => [...c.logprobs])).toEqual(alone.map((c) => [...c.logprobs]));
  });

  test("draws with the seeds of a request what engines of those run seeds draw", async () => {
    const seeds = [7n, 1n << 40n, 51n];
    const asked = { problem: 9, firstAttempt: 2, maxTokens: 25, stopIds: [] };
    const apart = await Promise.all(
      seeds.map(async (runSeed, i) => {
        const own = await trainerAndGenerations({ runSeed });
        const [drawn] = await own.generations.generate(
          request(40 + i, { ...asked, count: 1, prompt: request(1).prompt }),
        );
        await own.generations.close();
        await own.trainer.close();
        return [...drawn!.tokens];
      }),
    );
    const together = await generations.generate(
      request(40, { ...asked, count: 3, seeds, prompt: request(1).prompt }),
    );
    expect(together.map((c) => [...c.tokens])).toEqual(apart);
    expect(new Set(apart.map(String)).size).toBe(3);
  });

  test("stops at strings over token bytes", async () => {
    const tokenBytes = Array.from({ length: VOCABULARY }, (_, i) => new TextEncoder().encode(`${i},`));
    const other = await trainerAndGenerations({ tokenBytes });
    const free = (await other.generations.generate(request(1, { count: 1, stopIds: [] })))[0]!;
    const stop = `${free.tokens[3]},${free.tokens[4]},`;
    const stopped = (
      await other.generations.generate(
        request(2, { count: 1, stopIds: [], stopStrings: [stop], problem: 1, prompt: request(1).prompt }),
      )
    )[0]!;
    expect(stopped.finish).toBe("stop");
    expect(stopped.tokens.length).toBeLessThanOrEqual(5);
    await other.generations.close();
    await other.trainer.close();
  });

  test("aborts one request and leaves the others", async () => {
    const long = { maxTokens: 400, stopIds: [] };
    const controller = new AbortController();
    const doomed = generations.generate(request(10, long), controller.signal);
    const kept = generations.generate(request(11, { ...long, maxTokens: 40 }));
    controller.abort(new Error("enough"));
    await expect(doomed).rejects.toThrow("enough");
    expect((await kept).every((c) => c.tokens.length === 40)).toBe(true);
  });

  test("counts what it did", async () => {
    const before = generations.engine.stats();
    const done = await generations.generate(request(20));
    const after = generations.engine.stats();
    const tokens = done.reduce((n, c) => n + c.tokens.length, 0);
    expect(after.finished - before.finished).toBe(2);
    expect(after.prefillTokens - before.prefillTokens).toBe(3);
    expect(after.decodeTokens - before.decodeTokens).toBe(tokens - 2);
    expect(after.pagesUsed).toBe(0);
  });

  test.each([
    ["an empty prompt", { prompt: new Int32Array(0) }, "HONE_ERR_CONFIG", /prompt is empty/],
    ["a token outside the vocabulary", { prompt: Int32Array.of(61) }, "HONE_ERR_CONFIG", /token 0 is 61/],
    [
      "a prompt of another type",
      { prompt: [1, 2] as never },
      "HONE_ERR_SHAPE",
      /prompt must be an Int32Array/,
    ],
    ["too many tokens", { maxTokens: 1000 }, "HONE_ERR_CONFIG", /above engine.maxContext 500/],
    ["a count of half", { count: 1.5 }, "HONE_ERR_CONFIG", /request.count is 1.5/],
    ["an id that is no integer", { id: 0.5 }, "HONE_ERR_CONFIG", /request.id/],
    ["a negative temperature", { sampling: { temperature: -1 } }, "HONE_ERR_CONFIG", /temperature is -1/],
    ["stop strings without token bytes", { stopStrings: ["x"] }, "HONE_ERR_CONFIG", /tokenBytes/],
    ["seeds of another number", { seeds: [1n] }, "HONE_ERR_CONFIG", /seeds has 1 entries for 2 attempts/],
    ["a seed that is no bigint", { seeds: [1n, 2] as never }, "HONE_ERR_CONFIG", /request.seeds\[1\]/],
    [
      "a plan of another size",
      { plan: [[{ fromToken: 0, version: 0 }]] },
      "HONE_ERR_CONFIG",
      /covers 1 attempts of 2/,
    ],
  ])("refuses %s at once, typed", (_, change, code, message) => {
    const submit = () => generations.engine.submit(request(30, change));
    expect(submit).toThrow(message);
    expect(submit).toThrow(expect.objectContaining({ code, name: "HoneError" }));
  });
});

test("weights published in mid-flight are stamped on the tokens they draw", async () => {
  const { trainer, generations } = await trainerAndGenerations();
  const pending = generations.generate(request(1, { count: 8, maxTokens: 450, stopIds: [] }));
  const seen = () => generations.engine.stats().version;
  for (let version = 1; version <= 5; version++) {
    await trainer.setVersion(version);
    expect(await trainer.publish(generations.engine)).toBe(version);
  }
  for (const c of await pending) {
    expect([...c.versions]).toEqual([...c.versions].sort((a, b) => a - b));
    expect(c.oldestKvVersions.every((v) => v === c.versions[0])).toBe(true);
  }
  await generations.generate(request(2));
  expect(seen()).toBe(5);
  await generations.close();
  await trainer.close();
});

test("an engine waits without weights and starts when they come", async () => {
  const { trainer, generations } = await trainerAndGenerations();
  await generations.close();
  const { engine, messages } = bareEngine();
  engine.submit(request(1));
  expect(engine.stats().steps).toBe(0);
  expect(messages).toEqual([]);
  await trainer.publish(engine);
  while (messages.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(messages[0]!.request[0]).toBe(1);
  await engine.close();
  await trainer.close();
});

test("a failure of the engine thread reaches onError, typed", async () => {
  const { engine, failed } = bareEngine();
  engine.submit(request(1));
  engine.submit(request(1)); // the id is in use, which only the engine's thread can know
  const error = await failed;
  expect(error).toBeInstanceOf(HoneError);
  expect(error).toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining("request id 1 is in use"),
  });
  // Otherwise its completions would never come, and the process would wait for them.
  expect(() => engine.submit(request(2))).toThrow(expect.objectContaining({ code: "HONE_ERR_STATE" }));
  await engine.close();
});

test.each([
  ["pageTokens", { pageTokens: 24 }, "HONE_ERR_CONFIG"],
  ["maxContext", { maxContext: 513 }, "HONE_ERR_CONFIG"],
  ["pages", { pages: 0 }, "HONE_ERR_CONFIG"],
  ["runSeed", { runSeed: 7 as never }, "HONE_ERR_CONFIG"],
  ["runSeed", { runSeed: -1n }, "HONE_ERR_CONFIG"],
])("a bad %s is named", (name, change, code) => {
  const open = () =>
    new Engine(modelConfig, { ...engineOptions, ...change }, { onMessage() {}, onError() {} });
  expect(open).toThrow(new RegExp(name));
  expect(open).toThrow(expect.objectContaining({ code }));
});

test("a GPU that is not there is refused with the reason and the next command", () => {
  const { cuda } = info();
  if (cuda.devices.length > 0) return;
  const message = `device "cuda" was asked for, but ${cuda.reason}. Run \`npx hone doctor\`, or ask for device "cpu".`;
  const refusal = expect.objectContaining({ code: "HONE_ERR_CUDA", message });
  const engine = () =>
    new Engine(modelConfig, { ...engineOptions, device: "cuda" }, { onMessage() {}, onError() {} });
  expect(engine).toThrow(refusal);
  expect(() => new Trainer(modelConfig, { ...trainerOptions, device: "cuda" })).toThrow(refusal);
});

test("a model config that is not JSON, or of an unknown kind, is refused", () => {
  const open = (config: string) => () => new Engine(config, engineOptions, { onMessage() {}, onError() {} });
  expect(open("{")).toThrow(expect.objectContaining({ code: "HONE_ERR_FORMAT" }));
  expect(open("{}")).toThrow(expect.objectContaining({ code: "HONE_ERR_CONFIG" }));
});

test("submit after close says so; close twice is fine", async () => {
  const { engine } = bareEngine();
  await Promise.all([engine.close(), engine.close()]);
  await engine.close();
  expect(() => engine.submit(request(1))).toThrow(expect.objectContaining({ code: "HONE_ERR_STATE" }));
});
