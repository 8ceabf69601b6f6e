import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../metrics/index.ts";
import { formatTable, standaloneFigure, TABLE_FORMATS, type TableFormat } from "../report/index.ts";
import type { JobEntry } from "./job-states.ts";
import { sweepPage } from "./page.ts";
import { readCells } from "./results.ts";
import { type Section, sectionsOf } from "./sections.ts";
import type { SweepPlan } from "./sweep.ts";

/** Published results in a sweep's folder, all regenerated from the runs. */
export interface Published {
  readonly sections: readonly Section[];
  readonly page: string;
}

const ENDINGS: Readonly<Record<Exclude<TableFormat, "text">, string>> = {
  markdown: "md",
  latex: "tex",
  csv: "csv",
};
const WIDE = 1_000;

/**
 * Writes sweep.html, tables/ (each as Markdown, LaTeX and CSV) and figures/ (SVG) from the runs that are finished. Throws
 * HONE_ERR_IO, HONE_ERR_FORMAT naming the file of a run.
 */
export function publish(dir: string, plan: SweepPlan, jobs: readonly JobEntry[]): Published {
  const names = plan.cells.map(({ name }) => name);
  const cells = readCells(dir, names, jobs);
  const sections = cells.some(({ runs }) => runs.length > 0) ? sectionsOf(cells, plan.studies) : [];
  for (const folder of ["tables", "figures"]) rmSync(join(dir, folder), { recursive: true, force: true });
  for (const { name, tables, figures } of sections) {
    for (const table of tables) writeTable(join(dir, "tables"), table);
    for (const figure of figures) {
      const slug = figure.title.toLowerCase().replaceAll(/\W+/g, "-");
      writeWhole(join(dir, "figures", `${name}-${slug}.svg`), standaloneFigure(figure));
    }
  }
  const page = join(dir, "sweep.html");
  writeWhole(page, sweepPage(plan, jobs, sections));
  return { sections, page };
}

function writeTable(folder: string, { name, caption, table }: Section["tables"][number]): void {
  for (const format of TABLE_FORMATS) {
    if (format === "text") continue;
    const text = formatTable(table, format, WIDE);
    const above = format === "csv" ? "" : format === "latex" ? `% ${caption}\n` : `${caption}\n\n`;
    writeWhole(join(folder, `${name}.${ENDINGS[format]}`), `${above}${text}\n`);
  }
}
