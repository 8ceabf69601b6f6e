// node scripts/page-shots.mjs <folder for pictures> <run> [<other run> …]: takes a screenshot <tab>-<width>-<theme>.png of
// every tab of these runs' page in a browser (/usr/bin/chromium-headless-shell), at 400, 1000, 1440 and 2000 pixels, light and dark, from
// top to bottom. Prints problems that pictures do not show: errors of the page, and tabs wider than the screen.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { tsImport } from "tsx/esm/api";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const WIDTHS = [400, 1000, 1440, 2000];
const HEIGHT = 1000;
/** Limits the pictures of very long lists. */
const MOST_HEIGHT = 4000;
const THEMES = ["light", "dark"];
const TABS = [
  ...["overview", "metrics", "line", "samples", "samples?view=before-after", "problems"],
  ...["explain", "gradients", "results", "recipe"],
];
const SETTLE_MS = 1500;

const [out, ...runs] = process.argv.slice(2);
if (out === undefined || runs.length === 0) {
  process.stderr.write("a folder for pictures and a run folder are needed\n");
  process.exit(64);
}
mkdirSync(out, { recursive: true });
const { LiveServer } = await tsImport(path.resolve(root, "lib/live/index.ts"), import.meta.url);
const live = await LiveServer.open(runs);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox"],
});
try {
  for (const width of WIDTHS) for (const theme of THEMES) await tabsAt(width, theme);
} finally {
  await browser.close();
  await live[Symbol.asyncDispose]();
}

async function tabsAt(width, colorScheme) {
  const page = await browser.newPage({ viewport: { width, height: HEIGHT }, colorScheme });
  page.on("pageerror", (error) => process.stdout.write(`${width} ${colorScheme}: ${error.message}\n`));
  for (const tab of TABS) {
    await page.goto(`${live.url}#${tab}`);
    await page.waitForTimeout(SETTLE_MS);
    // The page draws a chart only when it becomes visible.
    const height = Math.min(MOST_HEIGHT, await page.evaluate(() => document.documentElement.scrollHeight));
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(SETTLE_MS / 2);
    const name = `${tab.replace(/\W+/g, "-")}-${width}-${colorScheme}`;
    await page.screenshot({ path: path.join(out, `${name}.png`) });
    await page.setViewportSize({ width, height: HEIGHT });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) process.stdout.write(`${name}: ${wide} pixels wide\n`);
  }
  await page.close();
}
