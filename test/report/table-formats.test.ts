import { expect, test } from "vitest";
import { formatTable } from "../../lib/report/table-formats.ts";

const table = {
  head: ["suite", "± 95 %"],
  rows: [
    ["a|b_c", "1.0, 2"],
    ['"x" & {y}', "–"],
  ],
};

test("text, Markdown, LaTeX and CSV, with what each of them would misread spelled out", () => {
  expect(formatTable(table, "text", 80)).toBe('suite      ± 95 %\na|b_c      1.0, 2\n"x" & {y}       –');
  expect(formatTable(table, "markdown", 80)).toBe(
    '| suite | ± 95 % |\n|---|---:|\n| a\\|b_c | 1.0, 2 |\n| "x" & {y} | – |',
  );
  expect(formatTable(table, "latex", 80)).toBe(
    [
      "\\begin{tabular}{lr}",
      "\\toprule",
      "suite & $\\pm$ 95 \\% \\\\",
      "\\midrule",
      "a|b\\_c & 1.0, 2 \\\\",
      '"x" \\& \\{y\\} & -- \\\\',
      "\\bottomrule",
      "\\end{tabular}",
    ].join("\n"),
  );
  expect(formatTable(table, "csv", 80)).toBe('suite,± 95 %\na|b_c,"1.0, 2"\n"""x"" & {y}",–');
});

test("text keeps to the columns there are", () => {
  const wide = { head: ["name", "one", "two"], rows: [["a", "1".repeat(30), "2".repeat(30)]] };
  for (const line of formatTable(wide, "text", 40).split("\n")) expect(line.length).toBeLessThanOrEqual(40);
});
