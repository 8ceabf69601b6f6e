import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAMILIES } from "../../lib/data/procedural/families.ts";
import { CounterRandom } from "../../lib/random.ts";
import type { ScoredVerdict } from "../../lib/records.ts";
import { loadBuiltIn, VERIFIERS } from "../../lib/rewards/index.ts";

/**
 * What every registered verifier must do, whatever it judges. Examples of right answers come from the problem
 * families that name the verifier; one without a family brings its own row here.
 */
interface Example {
  readonly reference: unknown;
  readonly answer: string;
  /** Answers of other problems of the same family and level. */
  readonly others: readonly string[];
}

/** Verifiers whose easiest problems a damaged answer may still solve; their own tests list near misses. */
const LOOSE: ReadonlySet<string> = new Set(["word-list", "math", "logic", "code"]);

/** Verifiers that judge a response wherever it ends (by a box, by each constraint), thought or no thought. */
const MARKED: ReadonlySet<string> = new Set([
  "math",
  "function-calling",
  "logic",
  "instruction-following",
  "code",
]);

const AREA_ENTRY = {
  id: "multiple_0",
  function: ["geo.area", "geo.length"].map((name) => ({
    name,
    parameters: {
      type: "dict",
      properties: { side: { type: "integer" }, unit: { type: "string" } },
      required: ["side"],
    },
  })),
  ground_truth: [{ "geo.area": { side: [7], unit: ["", "cm"] } }],
};

const OWN_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  code: [
    {
      reference: { input_output: { inputs: ["3"], outputs: ["6"] } },
      answer: "```python\nprint(2 * int(input()))\n```",
      others: ["```python\nprint(int(input()))\n```", "print(6)", "```python\nprint(\n```"],
    },
    {
      reference: { input_output: { fn_name: "f", inputs: [[3]], outputs: [[[1, 3]]] } },
      answer: "```python\ndef f(x):\n    return 1, x\n```",
      others: ["```python\ndef f(x):\n    return x\n```"],
    },
  ],
  "function-calling": [
    {
      reference: { entry: AREA_ENTRY },
      answer: "[geo.area(side=7, unit='cm')]",
      others: ["[geo.area(side=8)]", "[geo.length(side=7)]", "[]", "geo.area(7)", "[geo.area(side=7)]"],
    },
  ],
  "instruction-following": [
    {
      reference: {
        instruction_id_list: ["copy:copy", "keywords:existence"],
        kwargs: [{ prompt_to_repeat: "Say that again" }, { keywords: ["again"] }],
      },
      answer: "say that again",
      others: ["Again!", "say that", "AGAIN AND AGAIN"],
    },
    {
      reference: {
        instruction_id_list: ["copy:copying_multiple"],
        kwargs: [{ prompt_to_repeat: "once more", N: 2 }],
      },
      answer: "once more\n******\nonce more",
      others: ["once more", "******"],
    },
  ],
  logic: [
    {
      reference: { task: "boolean_expressions", game_data: { answer: "A,C" } },
      answer: "\\boxed{A, C}",
      others: ["\\boxed{A}", "\\boxed{A,B,C}", "A, C"],
    },
  ],
  math: [
    {
      reference: { answer: "\\frac{1}{2}" },
      answer: "\\boxed{0.5}",
      others: ["\\boxed{2}", "\\boxed{x=3}", "0.5"],
    },
    {
      reference: { answer: "(1,2)" },
      answer: "\\boxed{(1, 2)}",
      others: ["\\boxed{(2,1)}", "\\boxed{[1,2]}"],
    },
    {
      reference: { answer: "x^2-1" },
      answer: "\\boxed{(x-1)(x+1)}",
      others: ["\\boxed{x^2+1}", "\\boxed{}"],
    },
  ],
};

function examplesFor(verifier: string): readonly Example[] {
  const drawn = FAMILIES.filter((family) => family.verifier === verifier).flatMap((family) =>
    Array.from({ length: 12 }, (_, i) => {
      const level = i % 4;
      const draft = family.draw(new CounterRandom(21, i), level);
      const others = [1, 2, 3].map((k) => family.draw(new CounterRandom(21, i, k), level).answer);
      return { reference: draft.reference, answer: draft.answer, others };
    }),
  );
  return [...drawn, ...(OWN_EXAMPLES[verifier] ?? [])];
}

const respond = (answer: string) => `<think>working</think>${answer}<eos>`;
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

const loaded = await Promise.all(VERIFIERS.map(async ({ name }) => (await loadBuiltIn(name))!));

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
      { numRuns: 60 },
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
