import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { identityOf } from "../../lib/data/problem-identity.ts";
import type { Problem } from "../../lib/records.ts";
import { twoPlusTwo as problem } from "./two-plus-two.ts";

const sha = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);

test("a row is told by what is asked and the reference, whatever its id, level and verifier", () => {
  const known = identityOf(problem, true);
  const asked = JSON.stringify(["2 + 2?", null, null]);
  expect(known).toBe(sha(JSON.stringify(["row", "math", asked, '{"answer":"4"}'])));
  expect(identityOf({ ...problem, id: 8, level: 3, verifier: "residue" }, true)).toBe(known);
  const others: Problem[] = [
    { ...problem, domain: "code" },
    { ...problem, question: "2 + 3?" },
    { ...problem, reference: { answer: "5" } },
    { ...problem, reference: undefined },
    { ...problem, messages: [{ role: "user", content: "2 + 2?" }] },
    { ...problem, tools: "[]" },
  ];
  const told = others.map((other) => identityOf(other, true));
  expect(new Set([known, ...told]).size).toBe(1 + others.length);
});

test("a generated problem is told by its id", () => {
  expect(identityOf(problem, false)).toBe(sha('["generated","math","7"]'));
  expect(identityOf({ ...problem, question: "3 + 3?" }, false)).toBe(identityOf(problem, false));
});
