import { expect, test } from "vitest";
import { contentKey } from "../../lib/data/content.ts";
import { type Admission, RowJudge } from "../../lib/data/row-judge.ts";
import { jsonl } from "../../lib/domains/jsonl.ts";

const options = { path: "x", domain: "math" };
const judge = (row: object, admit?: Admission, elsewhere?: ReadonlySet<string>) =>
  new RowJudge(jsonl(options), options, { admit, elsewhere }).judge({ file: "x", row: 1, value: row });
const sum = { question: "1+1?", answer: "2" };

test("says of a row alone why it is not used, and asks who admits last", async () => {
  expect(judge({})).toEqual({ as: "bad", reason: "row: neither question nor messages" });
  expect(judge({ ...sum, question: "\0" })).toEqual({ as: "bad", reason: "question: holds U+0000" });
  const key = contentKey(JSON.stringify([[{ role: "user", content: "1+1?" }], null]));
  expect(judge(sum, undefined, new Set([key]))).toEqual({
    as: "leftOut",
    reason: "asked in a validation set",
  });
  const asked: unknown[] = [];
  const admit: Admission = (problem) => {
    asked.push(problem);
    return "too dull";
  };
  expect(judge(sum, admit)).toEqual({ as: "leftOut", reason: "too dull" });
  expect(await judge(sum, async () => "too late")).toEqual({ as: "leftOut", reason: "too late" });
  expect(asked).toEqual([
    {
      domain: "math",
      verifier: "math",
      family: "jsonl",
      level: 0,
      question: "1+1?",
      reference: { answer: "2" },
    },
  ]);
});

test("the hashes of a sound row are those of its content and its reference", () => {
  const [one, spaced, other] = [sum, { ...sum, question: "1+1? " }, { ...sum, answer: "3" }].map((row) =>
    judge(row),
  ) as { hash: number; second: number; reference: number }[];
  expect([spaced!.hash, spaced!.second]).toEqual([one!.hash, one!.second]);
  expect(other!.hash).toBe(one!.hash);
  expect(other!.reference).not.toBe(one!.reference);
});
