import { expect, test } from "vitest";
import { formatTable, TABLE_FORMATS } from "../../lib/report/table-formats.ts";

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
      "a\\textbar{}b\\_c & 1.0, 2 \\\\",
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

test("what pdfLaTeX has no glyph for in a plain document is spelled, and arrows are arrows", () => {
  const signs = { head: ["Δ tokens", "κ"], rows: [["1.0 -> 2.0 <x> 3×4·λ", "−1"]] };
  const [, , head, , row] = formatTable(signs, "latex", 80).split("\n");
  expect(head).toBe("$\\Delta$ tokens & $\\kappa$ \\\\");
  expect(row).toBe("1.0 $\\to$ 2.0 \\textless{}x\\textgreater{} 3$\\times$4$\\cdot$$\\lambda$ & $-$1 \\\\");
});

test("an untrusted name is neither a command to a terminal nor markup, and keeps to its line", () => {
  const strange = { head: ["name", "n"], rows: [["\u001b[31mred\nx\ty", "<b>*1*</b>`"]] };
  for (const format of TABLE_FORMATS) {
    const lines = formatTable(strange, format, 80).split("\n");
    expect(lines.some((line) => line.includes("31mred x y"))).toBe(true);
    expect(lines.join("")).not.toContain("\u001b");
  }
  expect(formatTable(strange, "markdown", 80)).toContain("\\<b>\\*1\\*\\</b>\\`");
});
