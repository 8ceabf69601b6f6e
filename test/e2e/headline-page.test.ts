// Tests the overview at the top of a run's page in a real browser, the system's Chromium.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";
import { LiveServer } from "../../lib/live/index.ts";
import { RUN_FILES, readRunLog } from "../../lib/metrics/index.ts";
import { addStep, breathing, smallRun, writeStatus } from "../live/live-run.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

interface RecentSteps {
  recentSteps: (values: readonly (number | null)[]) => unknown;
}
const place = new URL("../../lib/live/page/recent-steps.js", import.meta.url).href;
const { recentSteps } = (await import(place)) as RecentSteps;

test("the last fifteen steps are compared with the fifteen before, with the spread of both as noise", () => {
  const rising = Array.from({ length: 40 }, (_, i) => i + 1);
  // Fifteen consecutive integers have variance (15² - 1) / 12 * 15 / 14 = 20.
  expect(recentSteps(rising)).toEqual({ mean: 33, steps: 15, change: 15, error: Math.sqrt((20 + 20) / 15) });
});

test("steps without the metric do not count, and few steps are not compared", () => {
  expect(recentSteps([null, null])).toBeUndefined();
  expect(recentSteps([0.5, null, 1])).toEqual({ mean: 0.75, steps: 2 });
  expect(recentSteps([1, null, 1, 1, 0, 0, null, 0])).toEqual({ mean: 0, steps: 3, change: -1, error: 0 });
});

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  const synthetic = mkdtempSync(join(tmpdir(), "hone-headline-"));
  let browser: Browser;
  beforeAll(async () => {
    writeSyntheticRun(synthetic);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await closePages(browser);
    rmSync(synthetic, { recursive: true, force: true });
  });

  it("the overview opens with what training changed, each figure with its noise and a way to its tab", async () => {
    await using live = await LiveServer.open([synthetic]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(live.url);
    const cards = page.locator(".headline .card");
    await vi.waitFor(async () => expect(await cards.first().innerText()).toContain("→"), { timeout: 60_000 });
    const [heldOut, training, generated] = await cards.allInnerTexts();
    const { before, after } = JSON.parse(readFileSync(join(synthetic, RUN_FILES.summary), "utf8"));
    const [was, is] = [before[0].mean, after[0].mean];
    expect(heldOut).toContain(`${was.score.toFixed(3)} → ${is.score.toFixed(3)}`);
    expect(heldOut).toContain(
      `± ${(100 * Math.hypot(was.standardError, is.standardError)).toFixed(1)} points`,
    );
    const log = readRunLog(join(synthetic, RUN_FILES.log));
    const last = log.slice(-15).map(({ metrics }) => metrics["score/mean"]!);
    expect(training).toContain((last.reduce((sum, score) => sum + score, 0) / 15).toFixed(3));
    const tokens = log.reduce((sum, { metrics: m }) => sum + m["speed/generated"]! * m["time/step"]!, 0);
    const [, digits, unit = ""] = /([\d.]+)([kMG]?) tokens/.exec(generated!)!;
    const told = Number(digits) * { "": 1, k: 1e3, M: 1e6, G: 1e9 }[unit]!;
    expect(Math.abs(told / tokens - 1)).toBeLessThan(0.005); // the page shows three digits
    const legend = page.locator('[data-chart="score"] [data-metric="score/mean"]');
    const [own, mean] = [await legend.locator("small").innerText(), await legend.locator("b").innerText()];
    // for some 120 steps the page averages over seven; for the last step these are itself and the three before it
    const reach = Math.floor(log.length / 40);
    const near = log.slice(-reach - 1).map(({ metrics }) => metrics["score/mean"]!);
    const smoothed = near.reduce((sum, score) => sum + score, 0) / near.length;
    expect(Math.abs(Number(mean) / smoothed - 1)).toBeLessThan(0.005);
    expect(Math.abs(Number(own) / near.at(-1)! - 1)).toBeLessThan(0.005);
    await cards.first().click();
    await page.waitForSelector("#panel-results");
    const change = /[+−][\d.]+ ± [\d.]+ points, \d+ answers/.exec(heldOut!)![0];
    await vi.waitFor(async () =>
      expect(await page.locator("#panel-results .card").first().innerText()).toContain(change),
    );
    expect(faults).toEqual([]);
    await page.close();
  });

  it("of a live run the overview names the busiest role, and the header's step is that of its sentence", async () => {
    const dir = smallRun(2);
    for (const step of [3, 4, 5, 6])
      addStep(dir, step, { "utilisation/engine": 0.2, "utilisation/trainer": step / 10 });
    const sentence = "trainer is in step 5";
    writeStatus(dir, { step: 4, waits: { sentence, sinceMs: Date.now(), stuck: false } });
    using _ = breathing(dir);
    await using live = await LiveServer.open([dir]);
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
    await page.goto(live.url);
    const card = page.locator('.headline .card[href="#line"]');
    await vi.waitFor(
      async () =>
        expect(await card.innerText()).toMatch(/^Bottleneck\n\s*trainer\n\s*busy 45 % of the last 4 steps$/),
      { timeout: 60_000 },
    );
    expect(await page.locator(".run-line .steps").innerText()).toMatch(/^step 4 of 20 /); // the log has six
    expect(await page.getByText(sentence).count()).toBe(1);
    await page.close();
  });
});
