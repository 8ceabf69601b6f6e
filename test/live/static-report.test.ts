import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeReport } from "../../lib/live/index.ts";
import { reportData } from "../../lib/live/static-report.ts";
import { RUN_FILES, readRunLog, STEP_STAGES, writeRunManifest } from "../../lib/metrics/index.ts";
import { long } from "../long.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { smallRun, temporary } from "./live-run.ts";

test("holds every metric of every step, to five digits", async () => {
  const dir = temporary();
  writeSyntheticRun(dir, 30);
  const { series, overview } = await reportData(dir);
  const log = readRunLog(join(dir, RUN_FILES.log));
  expect(series.steps).toEqual(log.map(({ step }) => step));
  expect(overview.runs[0]).toMatchObject({ rows: 30, summary: true });
  expect(overview.stages).toEqual(STEP_STAGES);
  for (const name of Object.keys(log[0]!.metrics))
    for (const [i, { metrics }] of log.entries())
      expect(series.series[name]![i], name).toBe(
        name in metrics ? Number(metrics[name]!.toPrecision(5)) : null,
      );
});

test.runIf(long)("a long run becomes means, and at most 2 MB", async () => {
  const dir = temporary();
  writeSyntheticRun(dir, 1);
  const [first] = readRunLog(join(dir, RUN_FILES.log));
  const lines = Array.from({ length: 3000 }, (_, i) => {
    const metrics = Object.fromEntries(
      Object.keys(first!.metrics).map((name, k) => [name, Math.sin(i * 1.3 + k)]),
    );
    return JSON.stringify({ step: i + 1, version: i + 1, metrics: { ...metrics, steady: i + 1 } });
  });
  writeFileSync(join(dir, RUN_FILES.log), `${lines.join("\n")}\n`);
  const { series, overview } = await reportData(dir);
  expect(overview.runs[0]?.rows).toBe(3000);
  const each = series.steps[0]!;
  expect(each).toBeGreaterThan(1);
  expect(series.series["steady"]![0]).toBe((1 + each) / 2);
  expect(series.steps.at(-1)).toBe(3000);
  expect(statSync(await writeReport(dir)).size).toBeLessThan(2e6);
});

test("of a log with a damaged line, and steps that a later session replaced, holds those that count", async () => {
  const dir = temporary();
  writeSyntheticRun(dir, 1);
  const line = (step: number, value: number) => JSON.stringify({ step, version: step, metrics: { value } });
  const first = [1, 2, 3, 4, 5].map((step) => line(step, 10 * step));
  const second = [4, 5, 6].map((step) => line(step, 100 * step));
  writeFileSync(join(dir, RUN_FILES.log), `${[...first, '{"step":', ...second].join("\n")}\n`);
  const { series, overview } = await reportData(dir);
  expect(series).toEqual({
    steps: [1, 2, 3, 4, 5, 6],
    versions: [1, 2, 3, 4, 5, 6],
    series: { value: [10, 20, 30, 400, 500, 600] },
  });
  expect(overview.runs[0]).toMatchObject({ rows: 6, damaged: 1, names: ["value"] });
});

test("is the same for the same folder, and asks for nothing from elsewhere", async () => {
  const dir = smallRun(3);
  const first = readFileSync(await writeReport(dir), "utf8");
  expect(readFileSync(await writeReport(dir), "utf8")).toBe(first);
  expect(first).not.toMatch(/(?:src|href)="(?!data:)/);
});

test("nothing that a run says ends its script or its title", async () => {
  const dir = temporary();
  const evil = "</script></title><img src=x onerror=alert(1)>";
  writeRunManifest(dir, { name: evil, config: { evil }, seeds: {}, versions: {} });
  const page = readFileSync(await writeReport(dir), "utf8");
  expect(page).not.toContain("<img");
  expect(page.match(/<\/script>/g)).toHaveLength(3);
  const data = /id="frozen">(.*?)<\/script>/s.exec(page)![1]!;
  expect(JSON.parse(data).overview.runs[0].name).toBe(evil);
});

test("a folder that is no run is refused by name", async () => {
  await expect(writeReport(temporary())).rejects.toMatchObject({ code: "HONE_ERR_IO" });
});
