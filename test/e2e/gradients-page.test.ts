// Tests the page's matrix of gradients between domains, in a real browser, the system's Chromium.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { RUN_FILES, writeRunManifest } from "../../lib/metrics/index.ts";
import { smallRun, temporary } from "../live/live-run.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

const DOMAINS = ["math", "code", "logic", "instruction-following", "function-calling"];

/** The metrics of a measured step: a different number for each step and pair. Function calling starts at step 20. */
function measurement(step: number): Record<string, number> {
  const domains = DOMAINS.slice(0, step < 20 ? 4 : 5);
  const metrics: Record<string, number> = { "gradient/signal": -1 / step, "gradient/noise": 9 };
  domains.forEach((a, i) => {
    metrics[`gradient/norm/${a}`] = i + step / 100;
    metrics[`gradient/share/${a}`] = i === 1 ? -0.125 : 1.125 / (domains.length - 1);
    metrics[`gradient/signal/${a}`] = 1;
    metrics[`gradient/noise-scale/${a}`] = 10 * step + i;
    domains.slice(i + 1).forEach((b, j) => {
      metrics[`gradient/cosine/${a}/${b}`] = Math.sin(step / 9 + i + 2 * j);
    });
  });
  return metrics;
}

function addMeasured(dir: string, step: number, everySteps = 5): void {
  const metrics = { "score/mean": 0.5, ...(step % everySteps === 0 && measurement(step)) };
  appendFileSync(join(dir, RUN_FILES.log), `${JSON.stringify({ step, version: step, metrics })}\n`);
}

function measuredRun(steps: number, everySteps = 5): string {
  const dir = temporary();
  const domains = Object.fromEntries(DOMAINS.map((domain) => [domain, {}]));
  writeRunManifest(dir, {
    name: "measured",
    config: { training: { steps }, domains },
    seeds: { run: 7 },
    versions: {},
  });
  writeFileSync(join(dir, RUN_FILES.log), "");
  for (let step = 1; step <= steps; step++) addMeasured(dir, step, everySteps);
  return dir;
}

interface Helpers {
  domainPairs(domains: string[], names: string[]): { a: string; b: string; name: string }[];
  stretches(
    steps: number[],
    values: (number | null)[],
    most: number,
  ): { from: number; to: number; value: number | null }[];
}

/** Imports the panel's module alone, as a browser does. */
async function helpers(): Promise<Helpers> {
  const module: string = "../../lib/live/page/panel-gradients.js";
  return (await import(module)) as Helpers;
}

test("two domains are a pair in whichever order their cosine is named", async () => {
  const { domainPairs } = await helpers();
  const names = ["gradient/cosine/a/b", "gradient/cosine/c/a"];
  expect(domainPairs(["a", "b", "c"], names)).toEqual([
    { a: "a", b: "b", name: "gradient/cosine/a/b" },
    { a: "a", b: "c", name: "gradient/cosine/c/a" },
  ]);
});

test("of many measurements a strip has means over as many in a row, the last with what is left", async () => {
  const { stretches } = await helpers();
  expect(stretches([5, 10, 15, 20, 25], [1, null, 2, 4, null], 3)).toEqual([
    { from: 5, to: 10, value: 1 },
    { from: 15, to: 20, value: 3 },
    { from: 25, to: 25, value: null },
  ]);
  expect(stretches([5, 10], [1, 2], 160)).toEqual([
    { from: 5, to: 5, value: 1 },
    { from: 10, to: 10, value: 2 },
  ]);
});

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 60_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  /** @param mayHear resolves when the page may receive its run's events */
  async function open(url: string, options: Parameters<Browser["newPage"]>[0] = {}, mayHear?: Promise<void>) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 }, ...options });
    if (mayHear) await page.route("**/api/events*", (route) => mayHear.then(() => route.continue()));
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    await page.goto(`${url}#gradients`);
    await page.waitForSelector("#panel-gradients");
    return { page, faults };
  }
  /** The cells of the matrix, row by row. */
  const matrix = (page: Page): Promise<string[][]> =>
    page.evaluate(
      `[...document.querySelectorAll(".gradients .card:first-of-type tbody tr")].map((row) => [...row.cells].map((cell) => cell.innerText))`,
    );
  const minus = (text: string) => text.replace("-", "−");
  /** The rows that the page must show, computed from the metrics. */
  const expected = (step: number): string[][] => {
    const metrics = measurement(step);
    const of = (a: string, b: string) =>
      metrics[`gradient/cosine/${a}/${b}`] ?? metrics[`gradient/cosine/${b}/${a}`];
    return DOMAINS.map((a) => [
      a,
      ...DOMAINS.map((b) => (a === b ? "1" : minus(of(a, b)?.toFixed(2) ?? "–"))),
      metrics[`gradient/norm/${a}`] === undefined ? "–" : String(metrics[`gradient/norm/${a}`]),
      metrics[`gradient/share/${a}`] === undefined
        ? "–"
        : minus(`${Number((100 * metrics[`gradient/share/${a}`]!).toPrecision(3))} %`),
      metrics[`gradient/noise-scale/${a}`] === undefined
        ? "–"
        : `${metrics[`gradient/noise-scale/${a}`]} groups`,
    ]);
  };

  test("the matrix is the log's at the last measured step, and at any other by slider, button and key", async () => {
    const dir = measuredRun(42);
    await using live = await LiveServer.open([dir]);
    let letHear = () => {};
    const mayHear = new Promise<void>((resolve) => {
      letHear = resolve;
    });
    const { page, faults } = await open(live.url, {}, mayHear);
    await page.waitForSelector(".cosine");
    const title = page.locator(".gradients .card h3").first();
    expect(await title.innerText()).toBe("Step 40, measurement 8 of 8");
    expect(await matrix(page)).toEqual(expected(40));
    expect(await page.locator(".gradients").innerText()).toContain(
      "Noise scale of all domains together: no signal above the noise",
    );
    const slider = page.getByLabel("measured step");
    await slider.focus();
    const hears = page.waitForResponse(/api\/events/);
    letHear();
    await hears; // an event of the run must not move the focus
    await page.evaluate("new Promise((drawn) => setTimeout(drawn, 600))"); // the page draws steps every 400 ms
    await page.keyboard.press("Home");
    expect(await title.innerText()).toBe("Step 5, measurement 1 of 8");
    expect(await matrix(page)).toEqual(expected(5));
    expect((await matrix(page))[4]).toEqual(["function-calling", "–", "–", "–", "–", "1", "–", "–", "–"]);
    await page.getByLabel("next measurement").click();
    expect(await matrix(page)).toEqual(expected(10));
    expect(await slider.getAttribute("aria-valuetext")).toBe("Step 10, measurement 2 of 8");
    await page.getByLabel("measurement before").click();
    await page.getByLabel("measurement before").click();
    expect(await title.innerText()).toBe("Step 5, measurement 1 of 8");
    expect(faults).toEqual([]);
    await page.close();
  });

  test.runIf(longest)(
    "colours tell the sign, blue above and orange below 0; strips have a place for every measurement",
    async () => {
      const dir = measuredRun(42);
      await using live = await LiveServer.open([dir]);
      const { page, faults } = await open(live.url);
      await page.waitForSelector(".cosine");
      const cells = (await page.evaluate(
        `[...document.querySelectorAll(".cosine")].map((cell) => [cell.innerText, cell.style.background])`,
      )) as [string, string][];
      expect(cells).toHaveLength(20);
      for (const [text, background] of cells)
        expect(background, text).toContain(text.startsWith("−") ? "--hue-1" : "--hue-0");
      const strips = page.locator(".strip");
      expect(await strips.count()).toBe(10);
      expect(await strips.first().locator("rect:not(.mark)").count()).toBe(8);
      const late = page.locator(".strip").nth(3); // math with function calling, which starts at step 20
      expect(await late.locator("rect:not(.mark)").count()).toBe(5);
      expect(await strips.first().getAttribute("aria-label")).toBe(
        minus(
          `math and code: ${Math.sin(5 / 9).toFixed(2)} at step 5, ${Math.sin(40 / 9).toFixed(2)} at step 40`,
        ),
      );
      await page.getByText("All measurements as a table").click();
      const rows = page.locator(".gradients details tbody tr");
      expect(await rows.count()).toBe(8);
      expect((await rows.first().innerText()).split("\t")[1]).toBe(minus(Math.sin(40 / 9).toFixed(2)));
      expect(await page.locator("[data-chart]").count()).toBe(4);
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test.runIf(longest)(
    "a measurement that arrives is shown, unless the reader looks at another step",
    async () => {
      const dir = measuredRun(10);
      await using live = await LiveServer.open([dir]);
      const { page, faults } = await open(live.url);
      const title = page.locator(".gradients .card h3").first();
      await vi.waitFor(async () => expect(await title.innerText()).toContain("Step 10,"), patient(15_000));
      for (let step = 11; step <= 15; step++) addMeasured(dir, step);
      await vi.waitFor(
        async () => expect(await title.innerText()).toBe("Step 15, measurement 3 of 3"),
        patient(15_000),
      );
      await page.getByLabel("measurement before").click();
      for (let step = 16; step <= 20; step++) addMeasured(dir, step);
      await vi.waitFor(
        async () => expect(await title.innerText()).toBe("Step 10, measurement 2 of 4"),
        patient(15_000),
      );
      await page.getByLabel("next measurement").click();
      await page.getByLabel("next measurement").click();
      // a domain starts at this step: the page requests its columns as soon as an event names the domain
      await vi.waitFor(async () => expect(await matrix(page)).toEqual(expected(20)), patient(15_000));
      for (let step = 21; step <= 25; step++) addMeasured(dir, step); // at the last measurement again, the page follows new ones
      await vi.waitFor(
        async () => expect(await title.innerText()).toBe("Step 25, measurement 5 of 5"),
        patient(15_000),
      );
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test.runIf(longest)(
    "a run that measures nothing says how to, and a run that does is in report.html too",
    async () => {
      await using live = await LiveServer.open([smallRun(3)]);
      const { page, faults } = await open(live.url);
      await page.waitForSelector("text=everySteps: 10");
      expect(await page.locator(".gradients").count()).toBe(0);
      await page.close();
      const frozen = await open(pathToFileURL(await writeReport(measuredRun(42))).href);
      await frozen.page.waitForSelector(".cosine");
      expect(await matrix(frozen.page)).toEqual(expected(40));
      expect([...faults, ...frozen.faults]).toEqual([]);
      await frozen.page.close();
    },
  );

  test.runIf(longest).each([
    [400, "light"],
    [400, "dark"],
    [2000, "dark"],
  ] as const)(
    "at %i pixels, %s, nothing sticks out and numbers are readable on their colour",
    async (width, colorScheme) => {
      const dir = measuredRun(900);
      await using live = await LiveServer.open([dir]);
      const { page, faults } = await open(live.url, { viewport: { width, height: 1000 }, colorScheme });
      await page.waitForSelector(".cosine");
      await page.waitForSelector("[data-chart] canvas");
      expect(await page.locator(".strip").first().locator("rect:not(.mark)").count()).toBeLessThanOrEqual(
        160,
      );
      const out = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect(out).toBeLessThanOrEqual(0);
      const contrasts = (await page.evaluate(CONTRASTS)) as number[];
      expect(contrasts.length).toBe(20);
      expect(Math.min(...contrasts)).toBeGreaterThan(4.5);
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});

/** The WCAG contrast of every cell's number on its colour, as the browser blends it. */
const CONTRASTS = `(() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => {
    const [r, g, b] = rgb(colour).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll(".cosine")].map((cell) => {
    const { color, backgroundColor } = getComputedStyle(cell);
    const [a, b] = [light(color), light(backgroundColor)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  });
})()`;
