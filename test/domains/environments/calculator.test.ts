import { expect, test } from "vitest";
import { calculator, computed, computing } from "../../../lib/domains/environments/calculator.ts";
import { readCalls } from "../../../lib/episodes/tool-calls.ts";
import { CounterRandom } from "../../../lib/random.ts";

const call = { signal: new AbortController().signal };
const about = {
  id: 0,
  question: "",
  family: "compute",
  level: 0,
  reference: { expression: "34*57", value: "1938" },
};
const said = (answer: string, turn = 0) => ({ turn, text: answer, answer, ...readCalls(answer, "plain") });

async function play(...messages: string[]) {
  const state = await calculator.reset(about, call);
  const outcomes = [];
  for (const [turn, message] of messages.entries())
    outcomes.push(await calculator.step(state, said(message, turn), call));
  return { outcomes, score: await calculator.score(state, { finish: "eos", turns: messages.length }, call) };
}

test("expressions are computed by the rules of arithmetic, anything else is none", () => {
  const right = {
    "34+57": 91n,
    "2+3*4": 14n,
    "(2+3)*4": 20n,
    "10-4-3": 3n,
    "--2": 2n,
    "2*-3": -6n,
    "99999999999*99999999999": 9999999999800000000001n,
  };
  for (const [text, value] of Object.entries(right)) expect(computed(text)).toBe(value);
  for (const text of ["", "1+", "*2", "(1", "1)", "1 2 x", "2**3", "1/2", "()", "1".repeat(201)])
    expect(computed(text)).toBeUndefined();
});

test("a call gives the value, the answer after it ends the episode and is worth 1", async () => {
  expect(await play("Compute(34*57)", "1938")).toEqual({
    outcomes: [{ observation: "1938\n" }, { done: true }],
    score: 1,
  });
  expect(await play("1938")).toMatchObject({ score: 1 });
});

test("what is right in part is worth less than 0.7 and more the more is right", async () => {
  const scores = [];
  for (const messages of [
    ["x"],
    ["Compute(99*57)", "0"],
    ["Compute(34*57)", "0"],
    ["Compute(34*57)", "1937"],
  ])
    scores.push((await play(...messages)).score as number);
  expect([...scores].sort((a, b) => a - b)).toEqual(scores);
  expect(scores.at(-1)).toBeLessThan(0.7);
  expect(new Set(scores).size).toBe(4);
});

test("calls that cannot be read or computed are told so and cost a turn", async () => {
  const { outcomes } = await play("Compute(34", "Compute(1/0)", "other(1)", "0");
  expect(outcomes).toEqual([
    { observation: "error: a call that does not close\n" },
    { observation: "error\n" },
    { observation: "error: no such tool\n" },
    { done: true },
  ]);
});

test("problems of every level have the value of their expression", () => {
  for (let i = 0; i < 40; i++) {
    const { question, reference } = computing.draw(new CounterRandom(1, i), i % 4);
    const { expression, value } = reference as { expression: string; value: string };
    expect(question).toBe(`Compute ${expression}`);
    // biome-ignore lint/security/noGlobalEval: an independent reading of expressions that were drawn here
    expect(value).toBe(String(eval(expression)));
  }
});

test("the expert calls and says what came back, or answers where nothing can be called; a careless one is wrong", () => {
  const said = (turn: number, observations: string[], more: object = {}) =>
    calculator.expert!(about, {
      turn,
      maxTurns: 3,
      messages: observations.map(() => "Compute(34*57)"),
      observations,
      careless: false,
      random: new CounterRandom(1, turn),
      ...more,
    });
  expect(said(0, [])).toEqual({ call: { name: "Compute", arguments: { expression: "34*57" } } });
  expect(said(1, ["1938\n"])).toBe("1938");
  expect(said(0, [], { maxTurns: 1 })).toBe("1938");
  expect(said(0, [], { careless: true })).toMatch(/^(?!1938$)-?\d+$/);
});
