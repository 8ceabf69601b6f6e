import { join } from "node:path";
import { writeWhole } from "../metrics/index.ts";
import { formatTable, standaloneBars } from "../report/index.ts";
import { type PageContent, tracesPage } from "./page.ts";

const ENDINGS = { markdown: "md", latex: "tex", csv: "csv" } as const;
const WIDE = 1000;

/**
 * Writes traces.html, tables/ (each as Markdown, LaTeX and CSV), figures/ (SVG) and traces.json into a
 * folder. Returns the page's path. Throws HONE_ERR_IO.
 */
export function publishTraces(dir: string, content: PageContent, numbers: unknown): string {
  for (const { name, caption, table } of content.tables) {
    for (const format of ["markdown", "latex", "csv"] as const) {
      const above = format === "csv" ? "" : format === "latex" ? `% ${caption}\n` : `${caption}\n\n`;
      const path = join(dir, "tables", `${name}.${ENDINGS[format]}`);
      writeWhole(path, `${above}${formatTable(table, format, WIDE)}\n`);
    }
  }
  for (const figure of content.figures) {
    const name = figure.title.toLowerCase().replaceAll(/\W+/g, "-");
    writeWhole(join(dir, "figures", `${name}.svg`), standaloneBars(figure));
  }
  writeWhole(join(dir, "traces.json"), `${JSON.stringify(numbers, null, 2)}\n`);
  const page = join(dir, "traces.html");
  writeWhole(page, tracesPage(content));
  return page;
}
