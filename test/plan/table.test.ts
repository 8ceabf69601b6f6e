import { expect, test } from "vitest";
import { CARDS, planTable } from "../../lib/plan/index.ts";

const rows = planTable();
const row = (model: string, way: string) => rows.find((one) => one.model.endsWith(model) && one.way === way)!;

test("five models, each trained in as many ways, on four cards", () => {
  expect(new Set(rows.map(({ model }) => model)).size).toBe(5);
  for (const { tokens } of rows) expect(tokens).toHaveLength(CARDS.length);
  expect(rows).toHaveLength(5 * new Set(rows.map(({ way }) => way)).size);
});

test("a larger card keeps more tokens: what it has more, by the bytes of a token", () => {
  // 28 layers, 8 heads of 128 for keys and for values, bf16
  const token = 2 * 28 * 8 * 128 * 2;
  const { tokens } = row("0.6B", "LoRA, recompute");
  expect(Math.abs(tokens[3]! - tokens[2]! - 61e9 / token)).toBeLessThanOrEqual(16);
});

test("less than one longest answer is nothing", () => {
  for (const { tokens } of rows)
    for (const count of tokens) expect(count === 0 || count >= 18_000).toBe(true);
  expect(row("8B", "full").tokens).toEqual([0, 0, 0, 0]);
});

test("what is needed and the keys and values that fit make up the card", () => {
  const token = 2 * 36 * 8 * 128 * 2;
  const { needed, tokens } = row("Qwen3-8B", "LoRA, recompute");
  expect(needed + tokens[2]! * token).toBeLessThanOrEqual(80e9);
  expect(needed + (tokens[2]! + 16) * token).toBeGreaterThan(80e9);
});
