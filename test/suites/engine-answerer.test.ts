// Deliberate faults (mutants) that these tests detect: one seed for all draws; the model's number of positions is
// ignored; a problem gets another problem's prompt.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Environment } from "../../lib/domains/index.ts";
import type { Play } from "../../lib/episodes/index.ts";
import type { Answer, Draws } from "../../lib/suites/answerer.ts";
import { EngineAnswerer } from "../../lib/suites/engine-answerer.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import { scratchFolder, sums } from "./scripted.ts";

let folder: string;
beforeAll(async () => {
  folder = await tinyModel(scratchFolder(), tinyConfig({ max_position_embeddings: 128 }));
});

const suite = sums(6);
const problems = Array.from({ length: 6 }, (_, i) => suite.problem(i));
const OPTIONS = { temperature: 1, topP: 0.95, maxTokens: 40, maxRunning: 8 };

/** The answers to each draw, by "problem attempt seed". */
async function answers(
  draws: readonly Draws[],
  options = OPTIONS,
  asked = problems,
): Promise<Map<string, Answer>> {
  await using answerer = new EngineAnswerer(folder, options);
  await answerer.prepare(asked);
  const found = new Map<string, Answer>();
  await Promise.all(
    draws.map((draw) =>
      answerer.ask(draw, (seed, drawn) =>
        found.set(`${draw.problem.id} ${draw.attempt} ${seed}`, drawn as Answer),
      ),
    ),
  );
  return found;
}

test("a draw depends on seed, problem and attempt, not on what else is asked, nor on how much at once", async () => {
  const all = problems.flatMap((problem) =>
    [0, 1].map((attempt) => ({ problem, attempt, seeds: [42, 43, 44] })),
  );
  const together = await answers(all);
  expect(together.size).toBe(36);
  expect(new Set([...together.values()].map(({ text }) => text)).size).toBeGreaterThan(30);
  const alone = await answers(
    [{ problem: problems[3]!, attempt: 1, seeds: [44] }],
    { ...OPTIONS, maxRunning: 1 },
    [problems[3]!],
  );
  const [[key, answer]] = [...alone] as [[string, Answer]];
  expect(together.get(key)).toEqual(answer);
  expect(await answers(all.reverse())).toEqual(together);
});

test("closed while its model is loaded, it closes that too", async () => {
  const answerer = new EngineAnswerer(folder, OPTIONS);
  const order: string[] = [];
  const preparing = answerer.prepare(problems).then(() => void order.push("loaded"));
  await answerer[Symbol.asyncDispose]();
  order.push("closed");
  await preparing;
  expect(order).toEqual(["loaded", "closed"]);
  expect(() => answerer.ask({ problem: problems[0]!, attempt: 0, seeds: [1] }, () => {})).toThrow();
});

test("an episode depends on seed, problem and attempt too; its environment judges, and one that fails is an outage", async () => {
  const talking: Environment<{ text: string }> = {
    reset: () => ({ text: "" }),
    step: (state, { text, turn }) => {
      state.text += text;
      if ((state.text.codePointAt(0) ?? 0) % 7 === 6) throw new Error("down");
      return turn === 2 ? { done: true } : { observation: ` ok ${turn} ` };
    },
    score: ({ text }) => (text.length % 5) / 5,
  };
  const play = { environment: talking, maxTurns: 4, maxTurnTokens: 5, timeoutMs: 60_000 } as Play;
  const all = problems.flatMap((problem) =>
    [0, 1].map((attempt) => ({ problem, attempt, seeds: [42, 43], play })),
  );
  const together = await answers(all);
  expect(together.size).toBe(24);
  const outages = [...together.values()].filter((drawn) => "outage" in drawn);
  expect(outages.length).toBeGreaterThan(0);
  expect(outages.length).toBeLessThan(24);
  const [[key, played]] = [...together].filter(([, drawn]) => !("outage" in drawn)) as [[string, Answer]];
  expect(played.given!.length % 2).toBe(0);
  expect(played.text.slice(played.given![0], played.given![1])).toContain(" ok 0 ");
  expect(played.tokens).toBeLessThanOrEqual(15);
  expect(played.verdict).toMatchObject({ score: expect.any(Number) });
  const one = all.find(({ problem, attempt }) => key.startsWith(`${problem.id} ${attempt} `))!;
  const seeds = [Number(key.split(" ")[2])];
  const alone = await answers([{ ...one, seeds }], { ...OPTIONS, maxRunning: 1 }, [one.problem]);
  expect(alone.get(key)).toEqual(played);
});

test("the budget is the model's positions where those are fewer", async () => {
  const found = await answers([{ problem: problems[0]!, attempt: 0, seeds: [1, 2] }], {
    ...OPTIONS,
    maxTokens: 1000,
  });
  for (const { tokens, finish } of found.values())
    expect(tokens === 128 || finish === "eos" || tokens < 128).toBe(true);
  const cut = await answers([{ problem: problems[0]!, attempt: 0, seeds: [1] }], {
    ...OPTIONS,
    maxTokens: 3,
  });
  expect([...cut.values()]).toEqual([{ text: expect.any(String), finish: "length", tokens: 3 }]);
});

test("a prompt that has no room is refused with its place and why", async () => {
  await using answerer = new EngineAnswerer(folder, OPTIONS);
  const long = { ...problems[1]!, question: "x".repeat(500) };
  const refused = await answerer.prepare([problems[0]!, long, problems[2]!]);
  expect([...refused]).toEqual([[1, expect.stringContaining("128 tokens")]]);
});

test("its identity is that of the weights and the sampling, not of the folder", async () => {
  const { identity } = new EngineAnswerer(folder, OPTIONS);
  expect(Object.keys(identity)).toEqual(["weights", "temperature", "topP", "maxTokens", "vocabulary"]);
  const other = await tinyModel(scratchFolder(), tinyConfig({ max_position_embeddings: 128 }));
  expect(new EngineAnswerer(other, OPTIONS).identity).toEqual(identity);
  writeFileSync(join(other, "generation_config.json"), '{"eos_token_id": 3}');
  expect(new EngineAnswerer(other, OPTIONS).identity["weights"]).not.toBe(identity["weights"]);
});

test("weights are kept as the folder says, which is part of its identity; f32 is as it always was", async () => {
  const config = { dtype: "bfloat16", max_position_embeddings: 128 };
  const stored = await tinyModel(scratchFolder(), tinyConfig(config));
  const draw = { problem: problems[0]!, attempt: 0, seeds: [42] };
  for (const weights of [undefined, "f32", "bf16"] as const) {
    await using answerer = new EngineAnswerer(stored, { ...OPTIONS, weights });
    expect(answerer.identity["weightStorage"]).toBe(weights === "f32" ? undefined : "bf16");
    await answerer.prepare([problems[0]!]);
    const drawn: unknown[] = [];
    await answerer.ask(draw, (_, answer) => drawn.push(answer));
    expect(drawn).toEqual([expect.objectContaining({ tokens: expect.any(Number) })]);
  }
});

test("it asks as the recipe of a run did, which is part of its identity", async () => {
  const draws = [{ problem: problems[0]!, attempt: 0, seeds: [42] }];
  const [own] = (await answers(draws)).values();
  const chat = { plain: true, stopIds: [3] };
  const [asked] = (await answers(draws, { ...OPTIONS, chat } as typeof OPTIONS)).values();
  expect(asked!.text).not.toBe(own!.text);
  expect(new EngineAnswerer(folder, { ...OPTIONS, chat }).identity).toMatchObject({ chat });
});
