import { expect, test } from "vitest";
import { named, problemKey } from "../../lib/suites/suite.ts";

const body = {
  domain: "math",
  family: "f",
  level: 0,
  question: "1 + 1?",
  verifier: "math",
  reference: { answer: "2" },
};

test("a problem is named by what is asked and how it is judged, not by where it was read", () => {
  expect(problemKey({ ...body, family: "g", level: 3, domain: "x" })).toBe(problemKey(body));
  const others = [
    { ...body, question: "1 + 2?" },
    { ...body, reference: { answer: "3" } },
    { ...body, verifier: "choice" },
    { ...body, tools: "[]" },
    { ...body, messages: [{ role: "user", content: "1 + 1?" }] },
  ];
  expect(new Set([body, ...others].map(problemKey)).size).toBe(6);
});

test("its id is 32 bits of that", () => {
  expect(named(body).id).toBe(Number.parseInt(problemKey(body).slice(0, 8), 16));
});
