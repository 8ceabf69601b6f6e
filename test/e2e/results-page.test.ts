// The results of a run in a real browser: the system's chromium.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { RUN_FILES, readRunLog } from "../../lib/metrics/index.ts";
import { long } from "../long.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";

const CHROMIUM = "/usr/bin/chromium";

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  const synthetic = mkdtempSync(join(tmpdir(), "hone-results-"));
  let browser: Browser;
  beforeAll(async () => {
    writeSyntheticRun(synthetic);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
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
});
