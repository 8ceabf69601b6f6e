import { expect, test } from "vitest";
import { isHeldOut } from "../../lib/data/index.ts";
import {
  type DemonstrationOptions,
  Demonstrator,
  loadBuiltIn,
  QUICKSTART_LEXICON,
} from "../../lib/domains/index.ts";
import { LexiconTokenizer } from "../../lib/text/index.ts";

// Deliberate faults (mutants) that these tests detect: endless text ends one re-check early, wrong answers are drawn
// until one equals the right one, one draw decides both fault and style.

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const options: DemonstrationOptions = {
  seed: 5,
  mixture: { math: 0.3, code: 0.14, logic: 0.18, "instruction-following": 0.18, "function-calling": 0.2 },
  maxTokens: 80,
  encode: (text) => tokenizer.encode(text),
};
const n = 4000;
const drawn = (() => {
  const demonstrator = new Demonstrator(options);
  return Array.from({ length: n }, (_, i) => demonstrator.demonstration(i));
})();
const share = (of: (d: (typeof drawn)[number]) => boolean) => drawn.filter(of).length / n;
const fourSd = (p: number) => 4 * Math.sqrt((p * (1 - p)) / n);

test("domains, styles and faults come in their shares", () => {
  for (const [domain, weight] of Object.entries(options.mixture)) {
    expect(Math.abs(share((d) => d.problem.domain === domain) - weight)).toBeLessThan(fourSd(weight));
  }
  expect(Math.abs(share((d) => d.style === "endless") - 0.08)).toBeLessThan(fourSd(0.08));
  expect(Math.abs(share((d) => d.style === "direct") - 0.35 * 0.92)).toBeLessThan(fourSd(0.32));
  expect(Math.abs(share((d) => d.style === "verbose") - 0.3 * 0.92)).toBeLessThan(fourSd(0.28) + 0.01);
  expect(Math.abs(share((d) => d.style !== "endless" && !d.faithful) - 0.15)).toBeLessThan(fourSd(0.15));
});

test("their mean length is that of the setting that was shown to learn, 27.5 tokens", () => {
  const mean = drawn.reduce((sum, d) => sum + d.tokens.length, 0) / n;
  expect(Math.abs(mean - 27.5)).toBeLessThan(1);
});

test("no demonstration is of a held-out question or over the budget, and all ids are distinct", () => {
  expect(drawn.every((d) => !isHeldOut(d.problem.question))).toBe(true);
  expect(drawn.every((d) => d.tokens.length <= 80)).toBe(true);
  expect(new Set(drawn.map((d) => d.problem.id)).size).toBe(n);
});

test("endless ones fill the budget without an end; the others are thought, answer, end", () => {
  for (const { tokens, style } of drawn) {
    const text = tokenizer.decode(tokens);
    if (style === "endless") {
      expect(tokens.length).toBe(80);
      expect(text).not.toMatch(/<\/think>|<eos>/);
    } else {
      expect(text).toMatch(/^<think>[^<]*<\/think>[^<]+<eos>$/);
      expect(text.startsWith("<think></think>")).toBe(style === "direct");
    }
  }
});

test("faithful answers are right; swapped ones are wrong but for lucky instructions", async () => {
  for (const { problem, tokens, style, faithful } of drawn.slice(0, 1500)) {
    const verifier = (await loadBuiltIn(problem.verifier))!;
    const completion = {
      text: tokenizer.decode(tokens),
      finish: style === "endless" ? "length" : "eos",
    } as const;
    const { status } = await verifier.verify(completion, verifier.parseReference(problem.reference));
    if (faithful) expect(status).toBe("correct");
    else if (problem.family !== "if") expect(status).not.toBe("correct");
  }
});

test("a demonstration is a function of options and index", () => {
  const again = new Demonstrator(options);
  for (const i of [3999, 0, 7]) expect(again.demonstration(i)).toEqual(drawn[i]);
  expect(new Demonstrator({ ...options, seed: 6 }).demonstration(0)).not.toEqual(drawn[0]);
});

test("a clean demonstrator makes no mistakes, on the same problems", () => {
  const clean = new Demonstrator({ ...options, wrongRate: 0, endlessRate: 0 });
  for (let i = 0; i < 500; i++) {
    const { faithful, style, problem } = clean.demonstration(i);
    expect(faithful && style !== "endless").toBe(true);
    expect(problem).toEqual(drawn[i]!.problem);
  }
});

test.each([
  ["an unknown domain", { mixture: { poetry: 1 } }, "poetry"],
  ["a zero weight", { mixture: { math: 0 } }, "mixture.math is 0"],
] as const)("%s is refused", (_, change, message) => {
  expect(() => new Demonstrator({ ...options, ...change })).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining(message) }),
  );
});

test("a budget that no demonstration fits in is refused with the numbers", () => {
  const cramped = new Demonstrator({ ...options, maxTokens: 6, endlessRate: 0 });
  expect(() => Array.from({ length: 50 }, (_, i) => cramped.demonstration(i))).toThrowError(
    expect.objectContaining({
      code: "HONE_ERR_CONFIG",
      message: expect.stringMatching(/takes \d+ tokens, rollouts\.maxOutputTokens is 6/),
    }),
  );
});
