// Deliberate faults (mutants) that these tests detect: the table lacks a family; strict mode does not require a word;
// a constraint's arguments are read under another name.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IFBENCH } from "../../../../lib/domains/instruction-following/ifbench/ifbench.ts";
import { ResponseText } from "../../../../lib/domains/instruction-following/text/response-text.ts";
import { longest } from "../../../long.ts";
import { holds } from "./hand-made.ts";

const PROMPTS = fileURLToPath(
  new URL("../../../../../shared/reference/data/ifeval/ifbench_test.jsonl", import.meta.url),
);

interface Prompt {
  readonly prompt: string;
  readonly instruction_id_list: readonly string[];
  readonly kwargs: readonly Readonly<Record<string, unknown>>[];
}

const given = (args: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));

/** A constraint whose checker needs a model that the package does not have. */
const TAGGED = "words:start_verb";

/** Arguments that satisfy every constraint's needs. */
const ARGS = {
  N: 2,
  n: 1,
  m: 2,
  small_n: 1,
  min_words: 1,
  max_words: 9,
  percentage: 50,
  n_start: 0,
  n_end: 3,
  keyword: "cat",
  word: "cat",
  sep: "-",
  options: "yes/no",
  reference_text: "the cat",
  prompt_to_repeat: "A cat",
  keyword1: "a",
  keyword2: "b",
  keyword3: "c",
  keyword4: "d",
  keyword5: "e",
};

test("there are 58 of them", () => {
  const families = Object.keys(IFBENCH).map((id) => id.split(":")[0]!);
  const sizes = families.map((family) => [family, families.filter((other) => other === family).length]);
  expect(Object.fromEntries(sizes)).toEqual({
    count: 9,
    ratio: 5,
    words: 13,
    sentence: 3,
    format: 14,
    custom: 11,
    repeat: 3,
  });
});

describe.skipIf(!existsSync(PROMPTS))("the published prompts", () => {
  const rows = existsSync(PROMPTS)
    ? readFileSync(PROMPTS, "utf8")
        .trim()
        .split("\n")
        .map((line): Prompt => JSON.parse(line))
    : [];

  test("name every one of them, and each row's arguments are read", () => {
    const ids = new Set(rows.flatMap((row) => row.instruction_id_list));
    expect([...ids].sort()).toEqual(Object.keys(IFBENCH).sort());
    for (const row of rows) {
      for (const [k, id] of row.instruction_id_list.entries()) {
        if (id === TAGGED) continue;
        expect(IFBENCH[id]!.bind(given(row.kwargs[k]!))(new ResponseText(row.prompt))).toBeTypeOf("boolean");
      }
    }
  });
});

holds(IFBENCH, "strict", {
  "format:parentheses": [
    [false, "((((()"],
    [true, "(((((a)"],
  ],
  "words:prime_lengths": [
    [false, "!!!"],
    [true, "to go"],
  ],
  "words:repeats": [
    [false, "...", { small_n: 1 }],
    [true, "go", { small_n: 1 }],
  ],
});

const inReference = (id: string, raw: string) => IFBENCH[id]!.bindAsReference(ARGS)(new ResponseText(raw));
/** True if a sentence continues after its end mark, as with a closing quote. */
const endsInsideQuotes = (raw: string) =>
  new ResponseText(raw).sentences.some((one) => /[.?!]\s*[^\s\w.?!]+$/.test(one));

/**
 * Constraints for which the reference refuses right responses, each with a test or edit that explains the refusal
 * (docs/reference/verify.md).
 */
const CORRECTED: Readonly<Record<string, (raw: string) => boolean>> = {
  // Removes the stars that do not start a bullet: the reference would accept that response.
  "format:sub-bullets": (raw) => inReference("format:sub-bullets", raw.replace(/(?<!^\s*)\*|\*(?! )/gm, "")),
  "ratio:sentence_type": endsInsideQuotes,
  "ratio:sentence_balance": endsInsideQuotes,
};

test("what strict mode accepts, reference mode accepts, but for three corrections of it", () => {
  const piece = fc.constantFrom(
    ...[
      "cat",
      "Cat",
      "the",
      "yes",
      "A",
      "b",
      "Go",
      " ",
      " ",
      "\n",
      "\n\n",
      ". ",
      "? ",
      "! ",
      ", ",
      "- ",
      "* ",
      '"',
    ],
    ...[
      "'",
      "(",
      ")",
      "[",
      "]",
      "<i>",
      "</i>",
      "<em>",
      "</em>",
      "日本",
      "😀",
      "1",
      "20",
      "2,",
      "１８０１-02-03",
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const response = new ResponseText(pieces.join(""));
      const beyond = Object.entries(IFBENCH).filter(
        ([id, kind]) =>
          id !== TAGGED &&
          !CORRECTED[id]?.(response.raw) &&
          kind.bind(ARGS)(response) &&
          !kind.bindAsReference(ARGS)(response),
      );
      expect(beyond.map(([id]) => id)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

describe("a hostile response", () => {
  const kinds = Object.entries(IFBENCH).filter(([id]) => id !== TAGGED);
  test.each(
    [
      ["line ends", "\n".repeat(300_000)],
      ["spaces and a letter", `${" ".repeat(300_000)}a`],
      ["stars", "*".repeat(300_000)],
      ["open brackets", "([{".repeat(100_000)],
      ["quotes", `"'`.repeat(150_000)],
      ["questions", `Question 1${"\n".repeat(300_000)}Question`],
      ["commas", "1796-04-12,".repeat(30_000)],
      ["one long word", "a".repeat(300_000)],
      ["dots", ".".repeat(300_000)],
      ["a CSV field", `ID,Country,City,Year,Count\n"${"x\n".repeat(150_000)}`],
    ].filter(([what]) => longest || what === "stars"),
  )("of %s is judged by all of them in linear time", (_, text) => {
    const start = performance.now();
    for (const [id, kind] of kinds) {
      expect([id, kind.bindAsReference(ARGS)(new ResponseText(text))]).toEqual([id, expect.any(Boolean)]);
    }
    // 57 checks of 300 kB; quadratic time in one of them would be minutes.
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
