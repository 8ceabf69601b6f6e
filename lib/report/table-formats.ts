import { visibleText } from "../shared/text/visible-text.ts";
import { textTable } from "./text-table.ts";

/** Formats of tables. */
export const TABLE_FORMATS = ["text", "markdown", "latex", "csv"] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

export interface PlainTable {
  /** Column titles. The first column has the names of the rows. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * A table for a terminal of `columns`, a README, a paper (booktabs; it compiles with pdfLaTeX where no name is in another
 * script) or a spreadsheet. Names may be untrusted: control characters are escaped.
 */
export function formatTable(table: PlainTable, format: TableFormat, columns: number): string {
  const [head, ...rows] = [table.head, ...table.rows].map((cells) => cells.map(plainCell)) as [
    string[],
    ...string[][],
  ];
  switch (format) {
    case "text":
      return textTable({ head, rows }, columns).join("\n");
    case "markdown": {
      const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(" | ")} |`;
      const rule = `|${head.map((_, c) => (c === 0 ? "---" : "---:")).join("|")}|`;
      return [line(head), rule, ...rows.map(line)].join("\n");
    }
    case "latex": {
      const line = (cells: readonly string[]) => `${cells.map(latexCell).join(" & ")} \\\\`;
      const begin = `\\begin{tabular}{l${"r".repeat(head.length - 1)}}`;
      const body = ["\\toprule", line(head), "\\midrule", ...rows.map(line), "\\bottomrule"];
      return [begin, ...body, "\\end{tabular}"].join("\n");
    }
    case "csv":
      return [head, ...rows].map((cells) => cells.map(csvCell).join(",")).join("\n");
  }
}

/** Puts a cell's text on one line. */
const plainCell = (text: string): string => visibleText(text.replace(/\s+/g, " "));

const markdownCell = (text: string): string => text.replace(/[\\|<*`]/g, "\\$&");

const LATEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  "->": "$\\to$",
  "±": "$\\pm$",
  "–": "--",
  "−": "$-$",
  "×": "$\\times$",
  "·": "$\\cdot$",
  Δ: "$\\Delta$",
  κ: "$\\kappa$",
  λ: "$\\lambda$",
};
const latexCell = (text: string): string =>
  text.replace(/->|[\\{}$&#%_~^<>|±–−×·Δκλ]/g, (character) => LATEX[character] ?? `\\${character}`);

/** Source: RFC 4180. */
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
