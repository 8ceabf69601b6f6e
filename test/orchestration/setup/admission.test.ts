import { describe, expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { admissionOf } from "../../../lib/orchestration/setup/admission.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";

const format = plainFormat(new LexiconTokenizer(QUICKSTART_LEXICON));
const admit = admissionOf(
  {
    rollouts: { maxPromptTokens: 20 },
    verification: { modules: { mine: "file:///mine.ts" } },
  },
  format,
);
const problem = (question: string, reference: unknown, verifier = "math") => ({
  domain: "math",
  family: "f",
  level: 0,
  question,
  verifier,
  reference,
});

describe("a row of a data set", () => {
  test.each([
    ["that its verifier reads and that fits", problem("1+1", { answer: "2" }), undefined],
    [
      "whose gold answer is empty",
      problem("1+1", { answer: "" }),
      /^reference refused: math: nothing to compare/,
    ],
    [
      "whose reference has another shape",
      problem("1+1", 3),
      /^reference refused: math: the reference is not/,
    ],
    [
      "that is too long",
      problem("1+1+1+1+1+1+1+1+1+1+1", { answer: "11" }),
      /^prompt longer than 20 tokens$/,
    ],
    [
      "with characters the tokenizer lacks",
      problem("€", { answer: "2" }),
      /^prompt the tokenizer cannot spell$/,
    ],
    ["whose verifier is the user's own", problem("1+1", 3, "mine"), undefined],
  ])("%s", async (_, row, refusal) => {
    const said = await admit(row);
    if (refusal === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(refusal);
  });
});
