// Tests the results of a run in a real browser, the system's Chromium.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { RUN_FILES, readRunLog } from "../../lib/metrics/index.ts";
import { long } from "../long.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  const synthetic = mkdtempSync(join(tmpdir(), "hone-results-"));
  let browser: Browser;
  beforeAll(async () => {
    writeSyntheticRun(synthetic);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await closePages(browser);
    rmSync(synthetic, { recursive: true, force: true });
  });

  test.runIf(long)(
    "results tell what each verifier did: the sums of the log, live and from a file",
    async () => {
      const log = readRunLog(join(synthetic, RUN_FILES.log));
      const sum = (name: string) => log.reduce((total, { metrics }) => total + (metrics[name] ?? 0), 0);
      const rows = ["exact", "program"].map((name) => {
        const [judged, correct, partial, unscored, calls, retries, late, crashed] = (
          ["judged", "correct", "partial", "unscored", "calls", "retries", "timed-out", "crashed"] as const
        ).map((field) => sum(`verifier/${field}/${name}`)) as [number, number, number, number, ...number[]];
        const wrong = judged - correct - partial - unscored;
        return [name, judged, correct, partial, wrong, unscored, calls, retries, late, crashed].map(String);
      });
      await using live = await LiveServer.open([synthetic]);
      for (const address of [`${live.url}#results`, `file://${await writeReport(synthetic)}#results`]) {
        const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
        const faults: string[] = [];
        page.on("pageerror", (error) => faults.push(error.message));
        await page.goto(address);
        const table = page.locator('[data-table="verifiers"] tbody tr');
        await vi.waitFor(async () => expect(await table.count()).toBe(2), { timeout: 60_000 });
        const shownRows = await Promise.all(
          (await table.all()).map(async (row) => (await row.locator("th, td").allInnerTexts()).slice(0, 10)),
        );
        expect(shownRows).toEqual(rows);
        expect(faults).toEqual([]);
        await page.close();
      }
    },
  );

  test.runIf(long)(
    "a run that ends is shown with its scores, though an earlier answer comes later",
    async () => {
      const dir = join(synthetic, "ends");
      writeSyntheticRun(dir);
      const path = join(dir, RUN_FILES.summary);
      const summary = readFileSync(path);
      rmSync(path);
      await using live = await LiveServer.open([dir]);
      const page = await browser.newPage();
      const late = async (route: Route) => {
        const response = await route.fetch();
        writeFileSync(path, summary);
        await page.waitForSelector(".cards");
        await route.fulfill({ response });
      };
      await page.route(/api\/summary/, late, { times: 1 });
      const overtaken = page.waitForRequest(/api\/summary/);
      await page.goto(`${live.url}#results`);
      await (await (await overtaken).response())!.finished();
      await page.evaluate("new Promise((shown) => setTimeout(shown, 100))");
      expect(await page.locator(".cards").count()).toBe(1);
      await page.close();
    },
  );

  test.runIf(long)(
    "two runs stand side by side, with differences, noise in words, and a line a run on every chart",
    async () => {
      const dirs = ["a", "b"].map((name) => join(synthetic, name));
      for (const dir of dirs) writeSyntheticRun(dir);
      const log = join(dirs[1]!, RUN_FILES.log);
      const kept = readFileSync(log, "utf8").split("\n").slice(0, 60);
      writeFileSync(log, `${kept.join("\n")}\n`); // the second run was stopped at step 60
      rmSync(join(dirs[1]!, RUN_FILES.summary));
      rmSync(join(dirs[1]!, RUN_FILES.digest), { force: true });
      await using live = await LiveServer.open(dirs);
      const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      await page.goto(live.url);
      const beside = page.locator(".headline .beside");
      await vi.waitFor(async () => expect(await beside.count()).toBe(1), { timeout: 60_000 });
      expect(await beside.innerText()).toMatch(
        /b against a: score \+0\.000 ± 0\.\d{3} \(training, steps 46 to 60\): no difference beyond noise; same recipe\./,
      );
      await page.waitForSelector('[data-chart="success"] [data-metric]');
      const lines = (chart: string) => page.locator(`[data-chart="${chart}"] .legend [data-metric]`);
      for (const chart of ["score", "success", "length"])
        await vi.waitFor(async () => expect(await lines(chart).count(), chart).toBe(2));
      await page.getByLabel("domains and every line").check();
      await vi.waitFor(async () => expect(await lines("success").count()).toBeGreaterThan(2));
      await beside.click();
      const table = page.locator(".comparison table").first();
      await vi.waitFor(async () => expect(await table.count()).toBe(1), { timeout: 60_000 });
      expect(await page.locator(".comparison").innerText()).toContain("Not evaluated after training: b.");
      expect(await page.locator(".comparison").innerText()).toContain("Same recipe");
      const [score] = await table.locator("tbody tr").allInnerTexts();
      const last = readRunLog(log).slice(-15);
      const mean = last.reduce((sum, { metrics }) => sum + metrics["score/mean"]!, 0) / 15;
      expect(score).toContain(mean.toFixed(3));
      expect(score).toContain(", noise");
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
