import { expect, test } from "vitest";
import { CATEGORIES, DEFINITIONS } from "../../lib/traces/categories.ts";
import { labelPrompt, ORDERS, splitPrompt } from "../../lib/traces/prompts.ts";

const step = (text: string, place: "thought" | "answer" = "thought") => ({ text, place, from: 0, to: 1 });

test("a prompt tells every category with its meaning, the task, the end of what came before, the steps by number", () => {
  const before = `${"x".repeat(7000)}END`;
  const steps = [step("one"), step("two", "answer")];
  const prompt = labelPrompt({ question: "Why?", before, steps, order: CATEGORIES });
  for (const name of CATEGORIES) expect(prompt).toContain(`- "${name}": ${DEFINITIONS[name]}.`);
  expect(prompt).toContain("<task>\nWhy?\n</task>");
  expect(prompt).toContain("xEND\n</before>");
  expect(prompt).not.toContain("x".repeat(6000));
  expect(prompt).toContain("[1] one\n[2] (after the thought) two");
});

test("without a question there is no task, and pieces are numbered from 1", () => {
  const prompt = splitPrompt(undefined, ["a", "b"]);
  expect(prompt).not.toContain("<task>");
  expect(prompt).toContain("<pieces>\n[1] a\n[2] b\n</pieces>");
  expect(splitPrompt("y".repeat(9000), ["a"]).length).toBeLessThan(5000);
});

test("both orders have all of them", () => {
  for (const order of ORDERS) expect([...order].sort()).toEqual([...CATEGORIES].sort());
});
