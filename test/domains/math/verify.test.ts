import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Compat } from "../../../lib/domains/compat.ts";
import { math } from "../../../lib/domains/math/verify.ts";
import { HoneError } from "../../../lib/errors.ts";
import { boxed, judge } from "./verdicts.ts";

// Deliberate faults (mutants) that these tests detect: no text comparison, strict reads the reasoning, every exploit
// check is removed in turn, reference labels come from strict reading or comparison, unclosed boxes are read, the
// gold is endless, an exceeded budget throws.

describe("a bad reference is refused with its reason", () => {
  test.each([
    [undefined],
    [null],
    ["5"],
    [{}],
    [{ answer: 5 }],
    [{ answer: [] }],
    [{ answer: "5", after: "so" }],
    [{ answer: "5", compat: "lax" }],
    [["5"]],
  ])("%j", (raw) =>
    expect(() => math.parseReference(raw)).toThrow("reference is not { answer, after?, compat?, anywhere? }"),
  );
  test("empty or endless gold", () => {
    for (const answer of ["", " ", "\\boxed{}", "9".repeat(5000)]) {
      expect(() => math.parseReference({ answer })).toThrow(HoneError);
    }
  });
});

test("every whole number that is read late can be read", () => {
  const digits = fc.stringMatching(/^-?\d{1,15}$/);
  fc.assert(
    fc.property(digits, fc.constantFrom<Compat>("strict", "reference"), (answer, compat) => {
      const { golds } = math.parseReference({ answer, compat });
      expect(golds).toHaveLength(1);
      expect(golds).toEqual(math.parseReference({ answer: [answer], compat }).golds);
    }),
  );
});

/** Each answer is legal input whose evaluation only the budget ends. None may throw or equal 2. */
describe("hostile answers end", () => {
  const repeat = (s: string, n: number) => s.repeat(n);
  const hostile: Record<string, string> = {
    braces: `${repeat("{", 480)}1${repeat("}", 480)}`,
    calls: `${repeat("f(", 240)}x${repeat(")", 240)}`,
    products: `${repeat("x(", 240)}1${repeat("+1)", 120)}`,
    bars: repeat("|", 900),
    tower: "9^{9^{9^{9^9}}}",
    power: "(1+\\sqrt{2})^{100000}",
    expansion: "((x+1)^{20}+(y+1)^{20})^{20}",
    expansions: repeat("(x+y+1)^{20}", 60),
    factorials: `9${repeat("!", 900)}`,
    binomial: "\\binom{1000000}{500000}",
    digits: repeat("9", 980),
    series: "\\sum_{a=1}^{400}\\sum_{b=1}^{400}\\sum_{c=1}^{400} \\sin a",
    endless: "\\sum_{n=1}^{1000000000} n",
    roots: Array.from({ length: 80 }, (_, i) => `\\sqrt{${i + 2}}`).join("+"),
    nested: `${repeat("\\sqrt{2+", 110)}3${repeat("}", 110)}`,
    degree: "\\sqrt[1000000007]{2}",
    sines: Array.from({ length: 60 }, (_, i) => `\\sin(${i + 1}x)`).join("+"),
    angle: "\\sin(10^{3000})",
    list: Array.from({ length: 240 }, (_, i) => `x+${i}`).join(","),
    chain: `${repeat("x=", 480)}1`,
    words: repeat("answer: 1 + ", 80),
    dollars: repeat("$", 970),
    fractions: repeat("\\frac1", 160),
    prime: `\\sqrt{${repeat("7", 900)}}`,
    exponent: "1E999999999",
  };
  const golds = ["2", "x^2+1", "x=5", "\\lfloor\\frac{n}{2}\\rfloor"];
  test.each(Object.entries(hostile))("%s", async (_, answer) => {
    for (const gold of golds) {
      for (const compat of ["strict", "reference"] as const) {
        expect(await judge(gold, `\\boxed{${answer}}`, compat)).not.toMatch(/^correct|no_answer/);
      }
    }
    if (answer.length < 900) expect(await judge(answer, `\\boxed{${answer}}`)).toMatch(/^correct: same text/);
  });

  test("in a list against its reverse", async () => {
    const list = Array.from({ length: 150 }, (_, i) => `x+${i}`);
    const gold = list.join(",");
    expect(await judge(gold, `\\boxed{${list.reverse().join(",")}}`)).toBe("wrong: too costly to compare");
  });

  test("in ten megabytes", async () => {
    expect(await judge("5", `${repeat("a", 1e7)}\\boxed{5}`)).toBe("correct: same text");
    expect(await judge("5", repeat("\\boxed{", 1e6))).toMatch(/^unparsable/);
    expect(await judge("5", `\\boxed{${repeat("{", 1e5)}`)).toMatch(/^unparsable/);
  });

  test("in any characters at all", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(
        "\\frac",
        "{",
        "}",
        "(",
        ")",
        "^",
        "_",
        "\\sqrt",
        "1",
        "x",
        ",",
        "=",
        "\\pm",
        "|",
        "\\sin",
        "&",
        "\\\\",
      ),
    );
    const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom<Compat>("strict", "reference"), async (answer, compat) => {
        const once = await judge("x^2+1", boxed(answer), compat);
        expect(await judge("x^2+1", boxed(answer), compat)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });
});

/** Labels made by the reference implementation, where they are at hand. */
const folder = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data");
const rows = <T>(file: string): T[] =>
  existsSync(resolve(folder, file))
    ? readFileSync(resolve(folder, file), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as T)
    : [];
const cases = rows<{ response: string; gold: string; kind: string; expected: string }>(
  "math/boxed_cases.jsonl",
);
const pairs = rows<{ gold: string; pred: string; expected: boolean }>("math/pair_examples.jsonl");
const golds = rows<{ 1: { ground_truth: { value: string } } }>("math/orz_sample.jsonl").map(
  (r) => r[1].ground_truth.value,
);

describe.skipIf(cases.length === 0)("agreement with the reference's labels", () => {
  const disagreements = async (compat: Compat) => {
    const found: string[] = [];
    for (const { response, gold, kind, expected } of cases) {
      const status = (await judge(gold, response, compat)).split(":")[0];
      if (status !== expected) found.push(`${kind} ${expected}->${status}`);
    }
    return found;
  };

  test("is complete in reference mode", async () => {
    expect(await disagreements("reference")).toEqual([]);
    for (const { gold, pred, expected } of pairs) {
      expect([gold, pred, await judge(gold, boxed(pred), "reference")]).toEqual([
        gold,
        pred,
        expect.stringMatching(expected ? /^correct/ : /^wrong/),
      ]);
    }
  });

  /**
   * Refused: approximations that are off, numbers fished from junk, a unit after a unit, an unclosed box, two boxes
   * with "or" between them. Accepted:
   * a period, \\text{} around a formula, "Answer = x = 2", 1\\,002, n + 0 for n, x = m for m.
   */
  const INTENDED: Readonly<Record<string, number>> = {
    "approx correct->wrong": 19,
    "two_rev correct->wrong": 3,
    "double correct->wrong": 4,
    "half correct->wrong": 2,
    "sq correct->wrong": 1,
    "unit correct->wrong": 4,
    "mathrm correct->wrong": 1,
    "unclosed correct->unparsable": 1,
    "period wrong->correct": 30,
    "text wrong->correct": 12,
    "ans_eq wrong->correct": 3,
    "minus0 wrong->correct": 3,
    "thousand_thin wrong->correct": 2,
    "double wrong->correct": 1,
    "x_eq wrong->correct": 1,
  };
  test("differs in strict mode only where strict closes an exploit or sees an equality", async () => {
    const found: Record<string, number> = {};
    for (const kind of await disagreements("strict")) found[kind] = (found[kind] ?? 0) + 1;
    expect(found).toEqual(INTENDED);
  });

  test("every training answer accepts itself and no neighbour of another value", async () => {
    for (const gold of golds)
      expect([gold, await judge(gold, boxed(gold))]).toEqual([gold, "correct: same text"]);
    const integers = golds.filter((g) => /^\s*-?\d+\s*$/.test(g)).slice(0, 300);
    for (const gold of integers) {
      for (const other of [BigInt(gold) + 1n, BigInt(gold) * 10n + 1n]) {
        expect([gold, await judge(gold, boxed(`${other}`))]).toEqual([gold, "wrong: not equal"]);
      }
    }
  });
});
