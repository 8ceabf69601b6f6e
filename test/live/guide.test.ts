import { expect, test } from "vitest";
import { guideRows, parseGuide } from "../../lib/live/guide.ts";

test("reads names, definitions and units out of tables", () => {
  const page =
    "## Speed\n\n| name | definition | unit | absent when |\n|---|---|---|---|\n| `a/<b>` | the **mean** of [x](y.md), `c` | s | never |\n| no name | x | y | z |\n";
  expect(parseGuide(page)).toEqual([
    { name: "a/<b>", definition: "the mean of x, c", unit: "s", section: "Speed" },
  ]);
});

test("knows the metrics of this package", () => {
  const rows = guideRows();
  expect(rows.length).toBeGreaterThan(120);
  expect(rows.find(({ name }) => name === "grad/norm")).toMatchObject({ section: "Optimizer" });
});
