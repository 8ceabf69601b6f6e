import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AttemptTokens, firstTokens } from "../../lib/native/attempt-tokens.ts";
import { FINISH, type GenerationRequest } from "../../lib/native/face.ts";
import type { Completion, Generations } from "../../lib/native/generations.ts";
import type { Trainer } from "../../lib/native/index.ts";
import { request, trainerAndGenerations, VOCABULARY } from "./small-model.ts";

const asTokens = (c: Completion): AttemptTokens => ({
  attempt: c.attempt,
  from: 0,
  tokens: c.tokens,
  logprobs: c.logprobs,
  entropies: c.entropies,
  versions: c.versions,
  oldestKv: c.oldestKvVersions,
  finish: FINISH.indexOf(c.finish as (typeof FINISH)[number]),
});

/** Omits the request from completions, since it differs. */
const contents = (completions: readonly Completion[]) => completions.map(({ request: _, ...rest }) => rest);

describe("with weights", () => {
  let trainer: Trainer;
  let generations: Generations;
  beforeAll(async () => {
    ({ trainer, generations } = await trainerAndGenerations());
  });
  afterAll(async () => {
    await generations.close();
    await trainer.close();
  });

  const asked = (id: number, more: Partial<GenerationRequest> = {}) =>
    request(id, { problem: 7, prompt: request(1).prompt, count: 4, maxTokens: 30, stopIds: [], ...more });

  test("attempts that are taken up anywhere end as they would have, to the bit", async () => {
    const whole = await generations.generate(asked(1));
    const before = generations.engine.stats();
    const begun = whole.flatMap((c, i) => (i === 3 ? [] : [firstTokens(asTokens(c), [1, 17, 30][i]!)]));
    const again = await generations.generate(asked(2, { begun }));
    expect(contents(again)).toEqual(contents(whole));
    const { decodeTokens, prefillTokens } = generations.engine.stats();
    const prompt = asked(1).prompt.length;
    // attempt 2 is complete, attempt 3 starts anew, and each prefill gives a first token
    expect(prefillTokens - before.prefillTokens).toBe(3 * prompt + 1 + 17);
    expect(decodeTokens - before.decodeTokens).toBe(28 + 12 + 29);
  });

  test("seeds of a request stay those of its attempts", async () => {
    const seeds = [3n, 5n, 7n, 9n];
    const whole = await generations.generate(asked(3, { seeds, firstAttempt: 2 }));
    const begun = whole.map((c) => firstTokens(asTokens(c), 11));
    expect(contents(await generations.generate(asked(4, { seeds, firstAttempt: 2, begun })))).toEqual(
      contents(whole),
    );
  });

  test("what is all over samples nothing, and is told all the same", async () => {
    const whole = await generations.generate(asked(5));
    const { decodeTokens } = generations.engine.stats();
    expect(contents(await generations.generate(asked(6, { begun: whole.map(asTokens) })))).toEqual(
      contents(whole),
    );
    expect(generations.engine.stats().decodeTokens).toBe(decodeTokens);
    expect(generations.inFlight).toBe(0);
  });

  test("one that is aborted ends by its caller's name", async () => {
    const whole = await generations.generate(asked(7, { count: 2 }));
    const controller = new AbortController();
    const begun = [firstTokens(asTokens(whole[0]!), 5)];
    const { decodeTokens } = generations.engine.stats();
    const again = generations.generate(asked(8, { count: 64, begun, maxTokens: 100 }), controller.signal);
    controller.abort(new Error("enough"));
    await expect(again).rejects.toThrow("enough");
    expect(generations.inFlight).toBe(0);
    await vi.waitFor(() => expect(generations.engine.stats().running).toBe(0), { timeout: 10_000 });
    // sampling all attempts to their ends would take some 6,300
    expect(generations.engine.stats().decodeTokens - decodeTokens).toBeLessThan(3000);
  });

  test("keys that are computed anew under new weights make other log-probs, which a plan repeats", async () => {
    const first = asked(9);
    const whole = await generations.generate(first);
    const begun = whole.map((c, i) => firstTokens(asTokens(c), 4 + 5 * i));
    await trainer.setVersion(1);
    await trainer.initialize(99n);
    await trainer.publish(generations.engine);
    const mixed = await generations.generate(asked(10, { begun }));
    for (const [i, c] of mixed.entries()) {
      expect([...c.oldestKvVersions]).toEqual(Array.from(c.tokens, (_, t) => +(t >= 4 + 5 * i)));
      expect(c.tokens.subarray(0, 4 + 5 * i)).toEqual(whole[i]!.tokens.subarray(0, 4 + 5 * i));
    }
    const replayed = async (anew: boolean) => {
      const other = await trainerAndGenerations();
      const plan = begun.map(({ tokens: { length } }) => [
        { fromToken: 0, version: 0 },
        { fromToken: length, version: 1, anew },
      ]);
      const generated = other.generations.generate(asked(11, { plan }));
      if (anew) await other.generations.engine.takenUp!(0);
      await other.trainer.setVersion(1);
      await other.trainer.initialize(99n);
      await other.trainer.publish(other.generations.engine);
      if (anew) await other.generations.engine.takenUp!(1);
      const completions = await generated;
      await other.generations.close();
      await other.trainer.close();
      return completions;
    };
    expect(contents(await replayed(true))).toEqual(contents(mixed));
    const kept = await replayed(false);
    expect(kept.map((c) => [...c.logprobs])).not.toEqual(mixed.map((c) => [...c.logprobs]));
  });
});

test("a stop string may begin in what was sampled before", async () => {
  const tokenBytes = Array.from({ length: VOCABULARY }, (_, i) => new TextEncoder().encode(`${i},`));
  const { trainer, generations } = await trainerAndGenerations({ tokenBytes });
  const asked = (id: number, more: Partial<GenerationRequest>) =>
    request(id, { problem: 1, prompt: request(1).prompt, count: 1, maxTokens: 30, stopIds: [], ...more });
  const free = (await generations.generate(asked(1, {})))[0]!;
  const stopStrings = [`${free.tokens[8]},${free.tokens[9]},${free.tokens[10]},`];
  const whole = await generations.generate(asked(2, { stopStrings }));
  expect(whole[0]!.finish).toBe("stop");
  for (const length of [9, 10]) {
    const begun = [firstTokens(asTokens(whole[0]!), length)];
    const again = await generations.generate(asked(10 + length, { stopStrings, begun }));
    expect(contents(again)).toEqual(contents(whole));
  }
  await generations.close();
  await trainer.close();
});
