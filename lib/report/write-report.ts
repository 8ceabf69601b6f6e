import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { RUN_FILES, writeWhole } from "../metrics/index.ts";
import { type ChartLibrary, reportPage } from "./page.ts";
import { readRunFolder } from "./run-reader.ts";

/**
 * Writes `report.html` into a run folder from what lies there and returns its path: one file that needs nothing
 * else, neither network nor server. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming the file at fault.
 */
export function writeReport(runDir: string): string {
  const path = join(runDir, RUN_FILES.report);
  writeWhole(path, reportPage(readRunFolder(runDir), chartLibrary()));
  return path;
}

/** uPlot as its package ships it, to be put into the page whole. */
export function chartLibrary(): ChartLibrary {
  const dist = dirname(createRequire(import.meta.url).resolve("uplot"));
  return {
    script: readFileSync(join(dist, "uPlot.iife.min.js"), "utf8"),
    style: readFileSync(join(dist, "uPlot.min.css"), "utf8"),
  };
}
