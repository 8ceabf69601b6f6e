// docs/reference/models.md contains the table that the command prints.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { planTableText } from "../../lib/cli/plan-table.ts";
import { planTable } from "../../lib/plan/index.ts";

test("docs/reference/models.md has the table that hone plan --table prints", () => {
  const page = readFileSync("docs/reference/models.md", "utf8");
  expect(page).toContain(`\n${planTableText(planTable())}\n`);
});

test("a cell is the thousands of tokens that fit, or a dash", () => {
  const row = { model: "a/B", way: "full", needed: 3 * 2 ** 30, tokens: [0, 18_000, 18_999, 1_234_567] };
  expect(planTableText([row]).split("\n")[2]).toBe(
    "| B | full | 3.0 GiB | – | 18,000 | 18,000 | 1,234,000 |",
  );
});
