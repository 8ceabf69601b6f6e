// Tests a field that a reader edits while the page receives events of its run, in a real browser, the system's
// Chromium.
import { existsSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { LiveServer } from "../../lib/live/index.ts";
import { addStep, smallRun } from "../live/live-run.ts";
import { long } from "../long.ts";
import { patient } from "../patience.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

test.skipIf(!long || !existsSync(CHROMIUM))(
  "a number that is being typed stays, and counts when it is entered",
  async () => {
    const dir = smallRun(10);
    await using live = await LiveServer.open([dir]);
    const browser = await sharedBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      await page.goto(`${live.url}#metrics`);
      await page.waitForSelector('[data-chart="a"] canvas');
      await page.getByLabel("first step").pressSequentially("3");
      addStep(dir, 11, { a: 1.25, fresh: 2 });
      await page.waitForSelector('[data-chart="fresh"] canvas');
      expect(await page.getByLabel("first step").inputValue()).toBe("3");
      await page.keyboard.press("Enter");
      const last = page.getByLabel("last step");
      await vi.waitFor(async () => expect(await last.inputValue()).toBe("11"), patient(15_000));
    } finally {
      await closePages(browser);
    }
  },
  patient(120_000),
);
