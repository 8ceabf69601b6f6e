import { expect, test } from "vitest";
import { identityOf } from "../../../lib/data/index.ts";
import { beginning, identityOfLine } from "../../../lib/orchestration/records/problem-identity.ts";
import { twoPlusTwo as problem } from "../../data/two-plus-two.ts";

test("a line keeps its identity; one without is told by its prompt, or without one by its id", () => {
  const { question: _, ...line } = problem;
  expect(identityOfLine({ ...line, identity: "f".repeat(32), prompt: "x" })).toBe("f".repeat(32));
  const old = identityOfLine({ ...line, prompt: "<bos>2 + 2?" });
  expect(identityOfLine({ ...line, id: 9, prompt: "<bos>2 + 2?" })).toBe(old);
  expect(identityOfLine({ ...line, prompt: "<bos>2 + 2?", reference: 5 })).not.toBe(old);
  expect(identityOfLine(line)).toBe(identityOf(problem, false));
});

test("the beginning is one line of sixty characters, none of them cut in two", () => {
  expect(beginning("  a\n\n b\tc ")).toBe("a b c");
  expect(beginning("😀".repeat(80))).toBe("😀".repeat(60));
  expect(beginning(`${"x".repeat(59)} y`)).toBe(`${"x".repeat(59)} `);
});
