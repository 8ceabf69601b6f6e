import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadBuiltIn, VERIFIERS } from "../../lib/domains/index.ts";
import type { ScoredVerdict } from "../../lib/records.ts";
import { sandboxChoice } from "../../lib/sandbox/index.ts";
import { nativeHere } from "../fixtures/native-sandbox.ts";
import { longest } from "../long.ts";
import { examplesFor, respond } from "./examples.ts";

// Requirements for every registered verifier.

/** Verifiers whose easiest problems a damaged answer may still solve; their own tests have near misses. */
const LOOSE: ReadonlySet<string> = new Set([
  "assertions",
  "checker",
  "word-list",
  "math",
  "logic",
  "code",
  "choice",
  "countdown",
]);

/** Verifiers that also judge a response that is cut off or never ends its thought: they look for a box, or check constraints. */
const MARKED: ReadonlySet<string> = new Set([
  "assertions",
  "checker",
  "math",
  "function-calling",
  "logic",
  "instruction-following",
  "code",
  "choice",
  "countdown",
]);

const MEGABYTE = 1 << 20;
const STATUSES = ["correct", "partial", "wrong", "no_answer", "unparsable"];

function expectSound(verdict: ScoredVerdict): void {
  expect(STATUSES).toContain(verdict.status);
  expect(verdict.score >= 0 && verdict.score <= 1).toBe(true);
  expect(verdict.score === 1).toBe(verdict.status === "correct");
  expect(verdict.reason).not.toBe("");
  expect(verdict.reason.length).toBeLessThan(200);
}

test("names are unique", () => {
  expect(new Set(VERIFIERS.map(({ name }) => name)).size).toBe(VERIFIERS.length);
});

/** The slower sandboxes need minutes for hundreds of programs and have their own tests. */
const runsPrograms = (await sandboxChoice()).sandbox?.name === "bubblewrap";
const runsCheckers = (await nativeHere()) !== undefined;
const judged = VERIFIERS.filter(({ name }) =>
  name === "checker" ? runsCheckers : name !== "code" || runsPrograms,
);
const loaded = await Promise.all(judged.map(async ({ name }) => (await loadBuiltIn(name))!));
if (!runsPrograms) test.skip("verifier code: no bubblewrap here", () => {});
if (!runsCheckers) test.skip("verifier checker: no bubblewrap or C++ compiler here", () => {});

describe.each(loaded)("verifier $name", (verifier) => {
  const examples = examplesFor(verifier.name);
  const judge = async (text: string, reference: unknown, finish: "eos" | "length" | "abort" = "eos") =>
    await verifier.verify({ text, finish }, verifier.parseReference(reference));

  test("has examples", () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  test("scores right answers 1", async () => {
    for (const { reference, answer } of examples) {
      expect(await judge(respond(answer), reference)).toMatchObject({ status: "correct", score: 1 });
    }
  });

  if (!LOOSE.has(verifier.name))
    test("scores damaged right answers below 1", async () => {
      for (const { reference, answer } of examples) {
        for (const damaged of [
          `${answer}!`,
          `?${answer}`,
          `${answer} ${answer}_`,
          answer.slice(0, -1).concat("~"),
        ]) {
          expect((await judge(respond(damaged), reference)).score).toBeLessThan(1);
        }
      }
    });

  test("judges other problems' answers soundly", async () => {
    for (const { reference, others } of examples) {
      for (const other of others) expectSound(await judge(respond(other), reference));
    }
  });

  test.skipIf(MARKED.has(verifier.name))(
    "scores a right answer 0 when cut off or never done thinking",
    async () => {
      const { reference, answer } = examples[0]!;
      for (const [text, finish] of [
        [respond(answer), "length"],
        [respond(answer), "abort"],
        [`<think>${answer}<eos>`, "eos"],
        [answer, "eos"],
      ] as const) {
        expect(await judge(text, reference, finish)).toMatchObject({ status: "no_answer", score: 0 });
      }
    },
  );

  test("takes the answer after the last thought only", async () => {
    const { reference, answer } = examples[0]!;
    expect((await judge(`<think>a</think>junk</think>${answer}<eos>`, reference)).status).toBe("correct");
    expect((await judge(`<think>${answer}</think><eos>`, reference)).score).toBe(0);
  });

  test.each([
    "",
    " ",
    "\0",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "[object Object]",
    "undefined",
    "null",
    "NaN",
    "-0",
    "\ud800",
    "\u202e4",
    "<eos><eos>",
    "<think>",
    "(".repeat(150),
    "9".repeat(150),
    ",".repeat(150),
  ])("scores %j 0", async (junk) => {
    for (const { reference } of examples.slice(0, 4)) {
      const verdict = await judge(respond(junk), reference);
      expectSound(verdict);
      expect(verdict.score).toBe(0);
    }
  });

  test.each([
    ["letters", "a".repeat(MEGABYTE)],
    ["digits", "1".repeat(MEGABYTE)],
    ["parentheses", "(".repeat(MEGABYTE)],
    ["ends of thinking", "</think>".repeat(MEGABYTE / 8)],
    ["spaces before an end", " ".repeat(MEGABYTE)],
    ["backslashes and quotes", "\\'".repeat(MEGABYTE / 2)],
  ])("gets through a megabyte of %s, thought or answered", async (_, bulk) => {
    const { reference, answer } = examples[0]!;
    expectSound(await judge(bulk, reference));
    expect((await judge(respond(bulk), reference)).score).toBe(0);
    expect((await judge(`<think>${bulk}</think>${answer}<eos>`, reference)).status).toBe("correct");
  });

  test("never throws on a completion and gives the same verdict twice", async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.constantFrom(...examples.flatMap(({ answer, others }) => [answer, ...others])),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...examples), text, text, async ({ reference }, left, right) => {
        for (const answer of [left, left + right]) {
          const verdict = await judge(respond(answer), reference);
          expectSound(verdict);
          expect(await judge(respond(answer), structuredClone(reference))).toEqual(verdict);
        }
      }),
      { numRuns: longest ? 60 : 10 },
    );
  });

  test.each([
    [undefined],
    [null],
    [0],
    ["text"],
    [[]],
    [{}],
    [JSON.parse('{"__proto__":{"table":"01","value":1,"modulus":2}}')],
  ])("refuses the reference %j", (reference) => {
    expect(() => verifier.parseReference(reference)).toThrow();
  });
});
