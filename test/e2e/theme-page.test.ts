// Tests the light and dark theme of a run's page in a real browser, the system's Chromium.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { smallRun, writeStatus } from "../live/live-run.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

const WAIT = { timeout: 60_000 };

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  it("the theme is the system's until one is chosen, and numbers of stages stay on a line", async () => {
    const dir = smallRun(3);
    const { stages } = writeStatus(dir);
    const [first, ...rest] = stages;
    writeStatus(dir, { stages: [{ ...first!, holds: 64, of: 64 }, ...rest] });
    await using live = await LiveServer.open([dir]);
    const dark = { viewport: { width: 1000, height: 800 }, colorScheme: "dark" } as const;
    const page = await browser.newPage(dark);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${live.url}#line`);
    await page.waitForSelector(".stage");
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const [light, night] = ["rgb(246, 247, 249)", "rgb(16, 21, 28)"];
    expect(await paper()).toBe(night);
    await page.emulateMedia({ colorScheme: "light" });
    await vi.waitFor(async () => expect(await paper()).toBe(light), WAIT);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.keyboard.press("t");
    await vi.waitFor(async () => expect(await paper()).toBe(light), WAIT);
    await page.keyboard.press("t");
    await page.emulateMedia({ colorScheme: "light" });
    await vi.waitFor(async () => expect(await paper()).toBe(night), WAIT);
    const lines = await page
      .locator(".stage b")
      .evaluateAll((all) => all.map((one) => one.getClientRects().length));
    expect(lines).toEqual(lines.map(() => 1));
    expect(await page.locator(".verifiers .note").innerText()).toContain("the evaluation before");
    expect(faults).toEqual([]);
    await page.close();
  });

  it("on paper a report in dark colours is light, with every chart, and dark again after", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hone-paper-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeSyntheticRun(folder);
    const page = await browser.newPage({ viewport: { width: 1000, height: 500 }, colorScheme: "dark" });
    await page.goto(`file://${await writeReport(folder)}`);
    await page.waitForSelector("canvas");
    const theme = () => page.evaluate("document.documentElement.dataset.theme");
    const drawn = () => page.locator("figure.chart canvas").count();
    expect(await theme()).toBe("dark");
    expect(await drawn()).toBeLessThan(12);
    await page.evaluate("dispatchEvent(new Event('beforeprint')); undefined");
    expect(await theme()).toBe("light");
    await vi.waitFor(async () => expect(await drawn()).toBe(12), WAIT);
    await page.evaluate("dispatchEvent(new Event('afterprint')); undefined");
    expect(await theme()).toBe("dark");
    await page.close();
  });
});
