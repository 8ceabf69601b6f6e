// The system's Chromium for the tests of pages. A worker starts it once for all its files: a start takes two seconds of
// processor time, as much as most of these tests.
import { type Browser, chromium } from "playwright-core";

export const CHROMIUM = "/usr/bin/chromium-headless-shell";

let started: Promise<Browser> | undefined;

/** The worker's browser, started again if it is gone; it ends with the worker. Each page has its own profile. */
export async function sharedBrowser(): Promise<Browser> {
  const before = await started?.catch(() => undefined);
  if (before?.isConnected()) return before;
  started = chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  return await started;
}

/** Closes what a file's tests have left open, so that it takes no time from the next file's. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  for (const context of browser?.contexts() ?? []) await context.close();
}
