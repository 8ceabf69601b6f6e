import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RUN_FILES, writeRunManifest } from "../../lib/metrics/index.ts";
import { writeReport } from "../../lib/report/index.ts";
import { chartLibrary } from "../../lib/report/write-report.ts";
import { writeSyntheticRun } from "./synthetic-run-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-report-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a run folder becomes one file that holds its library and every step", () => {
  writeSyntheticRun(folder, 15);
  const path = writeReport(folder);
  expect(path).toBe(join(folder, RUN_FILES.report));
  const page = readFileSync(path, "utf8");
  expect(page).toContain(chartLibrary().script);
  const json = /<script type="application\/json" id="charts">(.*?)<\/script>/s.exec(page)![1]!;
  const charts = JSON.parse(json) as { x: number[] }[];
  expect(charts.length).toBeGreaterThan(10);
  for (const { x } of charts) expect(x).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
});

test("is the same for the same folder", () => {
  writeSyntheticRun(folder, 3);
  const first = readFileSync(writeReport(folder), "utf8");
  expect(readFileSync(writeReport(folder), "utf8")).toBe(first);
});

test("a run that wrote only its manifest has a report", () => {
  writeRunManifest(folder, { name: "young", config: {}, seeds: {}, versions: {} });
  expect(readFileSync(writeReport(folder), "utf8")).toContain("young");
});

test("a folder that is no run is refused by name", () => {
  expect(() => writeReport(folder)).toThrow(expect.objectContaining({ code: "HONE_ERR_IO" }));
});
