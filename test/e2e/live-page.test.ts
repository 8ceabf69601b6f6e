// Tests the page of a run in a real browser, the system's Chromium.
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { RUN_FILES, readRunLog, writeRunManifest } from "../../lib/metrics/index.ts";
import { addStep, breathing, smallRun, writeStatus } from "../live/live-run.ts";
import { long, longest } from "../long.ts";
import { patient } from "../patience.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

/** Measures how far the page exceeds its window, its colour, the top of each chart, and how many pixels each paints. */
const LAYOUT = `({
  out: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  paper: getComputedStyle(document.body).backgroundColor,
  charts: [...document.querySelectorAll(".chart")].map((node) => node.getBoundingClientRect().left),
  painted: [...document.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  }),
})`;
/** Counts the first chart's pixels in the colour of evaluations. */
const GREEN = `(() => {
  const canvas = document.querySelector(".chart canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const is = (i) => data[i] === 20 && data[i + 1] === 136 && data[i + 2] === 90;
  return data.reduce((sum, _, i) => sum + (i % 4 === 0 && is(i) ? 1 : 0), 0);
})()`;
interface Layout {
  readonly out: number;
  readonly paper: string;
  readonly charts: readonly number[];
  readonly painted: readonly number[];
}
const WAIT = { timeout: 60_000 };

const test = it.runIf(long); // npm run test:processes tests only the first screen and report.html

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  let browser: Browser;
  let folder: string;
  let synthetic: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "hone-page-"));
    synthetic = join(folder, "synthetic");
    writeSyntheticRun(synthetic);
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await closePages(browser);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page and collects what it must not do: errors, dialogs, requests to other hosts. */
  async function open(url: string, options: Parameters<Browser["newPage"]>[0] = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    page.on("request", (request) => {
      if (request.url().startsWith("data:")) return;
      if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`asked for ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      faults.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(url);
    await page.waitForSelector(".panel");
    return { page, faults };
  }

  /** The full-precision value beside a metric's name. */
  const shown = async (page: Page, metric: string) => {
    const title = await page.locator(`[data-metric="${metric}"]`).first().getAttribute("title");
    return Number(title?.split(" = ").at(-1));
  };
  const drawn = (page: Page, chart = "score") => page.waitForSelector(`[data-chart="${chart}"] canvas`);

  it("the first screen has its twelve charts, and the numbers are the log's own", async () => {
    await using live = await LiveServer.open([synthetic]);
    const { page, faults } = await open(live.url);
    await drawn(page);
    expect(await page.locator("[data-chart]").count()).toBe(12);
    const log = readRunLog(join(synthetic, RUN_FILES.log));
    for (const metric of ["score/mean", "success/math", "length/mean", "truncated", "entropy/mean"])
      expect(await shown(page, metric), metric).toBe(log.at(-1)!.metrics[metric]);
    await page.locator('[data-chart="score"]').focus();
    for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowLeft");
    const text = await page.locator('[data-chart="score"] .at').innerText();
    const step = Number(text.replace("step ", ""));
    expect(step).toBeLessThan(110);
    expect(await shown(page, "score/mean")).toBe(
      log.find((record) => record.step === step)!.metrics["score/mean"],
    );
    expect(faults).toEqual([]);
    await page.close();
  });

  test("every metric is found by a part of its name or of its definition", async () => {
    await using live = await LiveServer.open([synthetic]);
    const { page, faults } = await open(`${live.url}#metrics`);
    await page.keyboard.press("/");
    await page.keyboard.type("grad norm");
    await page.waitForSelector('[data-chart="grad/norm"] canvas');
    expect(await page.locator("[data-chart]").count()).toBeLessThan(10);
    await page.locator("#metric-search").fill("before clipping");
    await page.waitForSelector('[data-chart="grad/norm"] canvas');
    const log = readRunLog(join(synthetic, RUN_FILES.log));
    expect(await shown(page, "grad/norm")).toBe(log.at(-1)!.metrics["grad/norm"]);
    for (const name of Object.keys(log.at(-1)!.metrics).slice(0, 30)) {
      await page.locator("#metric-search").fill(name);
      expect(await page.locator("[data-chart]").first().getAttribute("data-chart")).toBe(name);
    }
    expect(faults).toEqual([]);
    await page.close();
  });

  test("steps arrive by themselves; a zoom and a choice of smoothing stay; a session that goes back is one history", async () => {
    const dir = smallRun(10);
    await using live = await LiveServer.open([dir]);
    const { page, faults } = await open(`${live.url}#metrics`);
    await drawn(page, "a");
    await page.getByLabel("first step").fill("3");
    await page.getByLabel("first step").press("Enter");
    await page.locator("#smoothing").selectOption("5");
    addStep(dir, 11, { a: 1.25 });
    await vi.waitFor(async () => expect(await shown(page, "a")).toBe(1.25), WAIT);
    expect(await page.getByLabel("first step").inputValue()).toBe("3");
    appendFileSync(join(dir, "events.jsonl"), '{"e":"resume","s":6}\n');
    addStep(dir, 7, { a: 0.5 });
    await vi.waitFor(async () => expect(await shown(page, "a")).toBe(0.5), WAIT);
    expect(await page.locator('[data-chart="a"] .at').innerText()).toBe("step 7");
    await page.reload();
    await drawn(page, "a");
    expect(await page.getByLabel("first step").inputValue()).toBe("3");
    expect(await page.locator("#smoothing").inputValue()).toBe("5");
    expect(await shown(page, "a")).toBe(0.5);
    expect(await page.locator(".run-line").innerText()).toContain("step 7 of 20");
    expect(faults).toEqual([]);
    await page.close();
  });

  test("phases, evaluations, checkpoints and pauses are marked on every chart, and told at their steps", async () => {
    const dir = smallRun(9);
    await using live = await LiveServer.open([dir]);
    const { page, faults } = await open(`${live.url}#metrics`);
    await drawn(page, "a");
    const kinds = () =>
      page.locator("[data-mark]").evaluateAll((items) => items.map((item) => item.dataset["mark"]));
    const green = async () => Number(await page.evaluate(GREEN));
    expect(await kinds()).toEqual([]);
    expect(await green()).toBe(0);
    writeFileSync(join(dir, "before.json"), JSON.stringify([{ mean: { score: 0.25 } }]));
    const notes = [
      { e: "note", s: 0, t: 1, k: "phase", m: "warm start: 12.3 s" },
      { e: "note", s: 3, t: 2, k: "checkpoint", m: "checkpoint step-000003" },
      { e: "note", s: 7, f: 5, t: 3, k: "pause", m: "paused for 44.0 s" },
    ];
    writeFileSync(join(dir, "events.jsonl"), notes.map((note) => `${JSON.stringify(note)}\n`).join(""));
    await vi.waitFor(
      async () => expect(await kinds()).toEqual(["checkpoint", "evaluation", "phase", "pause"]),
      WAIT,
    );
    await vi.waitFor(async () => expect(await green()).toBeGreaterThan(10), WAIT);
    await page.locator('[data-chart="a"]').focus();
    const told: string[] = [];
    for (let step = 9; step >= 1; step--) {
      await page.keyboard.press("ArrowLeft");
      told.unshift((await page.locator('[data-chart="a"] .mark').allInnerTexts()).join());
    }
    expect(told).toEqual([
      "warm start: 12.3 s · evaluation before training: mean score 0.250",
      "",
      "checkpoint step-000003",
      "",
      ...Array<string>(3).fill("paused for 44.0 s"),
      "",
      "",
    ]);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("finds the run again when its server comes back, and misses no step", async () => {
    const dir = smallRun(3);
    const first = await LiveServer.open([dir]);
    const { port, token } = first;
    const { page } = await open(`${first.url}#metrics`);
    await drawn(page, "a");
    await first[Symbol.asyncDispose]();
    await page.waitForSelector(".state.silent", WAIT);
    for (const step of [4, 5]) addStep(dir, step);
    await using _ = await LiveServer.open([dir], { port, token });
    await vi.waitFor(async () => expect(await shown(page, "a")).toBe(5), WAIT);
    await page.locator('[data-chart="a"]').focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    expect(await shown(page, "a")).toBe(4);
    expect(await page.locator(".state.silent").count()).toBe(0);
    await page.close();
  });

  test("runs are laid over each other, switched off and compared", async () => {
    const [a, b] = [smallRun(5, "first"), smallRun(8, "second")];
    await using live = await LiveServer.open([a, b]);
    const { page, faults } = await open(`${live.url}#metrics`);
    await drawn(page, "a");
    const values = async () =>
      await page
        .locator('[data-chart="a"] [data-metric="a"]')
        .evaluateAll((nodes) => nodes.map((node) => node.textContent));
    expect(await values()).toEqual(["first 5", "second 8"]);
    await page.getByLabel("first", { exact: true }).uncheck();
    await vi.waitFor(async () => expect(await values()).toEqual(["value 8"]), WAIT);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("shows the pipeline and what it waits for, and a control is a request in the run's folder", async () => {
    const dir = smallRun(3);
    const sentence = "trainer waits for verifier `python`: 14 completions out; pool of 2";
    const ended = { how: "by SIGKILL", atMs: Date.now() - 9000, words: "a\nHONE_ERR_IO  <b>disk</b>" };
    const row = { pid: 41, state: "alive", restarts: 1, doing: "samples 12" } as const;
    const processes = [
      { ...row, name: "run", doing: "decides" },
      { ...row, name: "actor.0", version: 3, lag: 1, tokensPerSecond: 1234, ended },
      { ...row, name: "verifier.0" },
    ];
    writeStatus(dir, { processes, waits: { sentence, sinceMs: Date.now() - 60_000, stuck: true } });
    using _ = breathing(dir);
    await using live = await LiveServer.open([dir]);
    const { page, faults } = await open(`${live.url}#line`);
    const stuck = () => page.locator(".top .doctor.stuck").innerText();
    await vi.waitFor(async () => expect(await stuck()).toContain(sentence), WAIT);
    expect(await page.getByText(sentence).count()).toBe(1); // two copies could differ in age
    expect(await page.locator('[data-stage="engine"] b').innerText()).toBe("64 / 128");
    const cells = page.locator(".processes tbody tr:nth-child(2) td");
    const [state, ...others] = await cells.allInnerTexts();
    expect([state, ...others.slice(0, 6)]).toEqual(["alive", "41", "v3", "1", "1234", "1", "samples 12"]);
    expect(await cells.last().innerText()).toMatch(/^by SIGKILL, \d+ s before: HONE_ERR_IO\s+<b>disk<\/b>$/);
    expect(await page.locator(".processes tbody tr").count()).toBe(3);
    const pause = page.getByRole("button", { name: "pause" });
    await pause.focus();
    const now = "trainer is in step 4";
    const bars = () =>
      page
        .locator(".stage .track")
        .evaluateAll((tracks) =>
          tracks.map((track) => Math.round((10 * track.firstElementChild!.clientWidth) / track.clientWidth)),
        );
    expect(await bars()).toEqual([4, 5, 6, 10]);
    const stages = writeStatus(dir).stages.map((stage) => ({ ...stage, holds: 0 }));
    writeStatus(dir, { step: 4, stages, waits: { sentence: now, sinceMs: Date.now(), stuck: false } });
    await vi.waitFor(async () => expect(await page.locator(".top .doctor").innerText()).toContain(now), WAIT);
    await vi.waitFor(async () => expect(await bars()).toEqual([0, 0, 0, 0]), WAIT);
    // an update of the page must keep the focus on the button
    expect(await pause.evaluate((node) => node === node.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(readdirSync(join(dir, "requests"))).toHaveLength(1), WAIT);
    const [name] = readdirSync(join(dir, "requests"));
    expect(JSON.parse(readFileSync(join(dir, "requests", name!), "utf8"))).toMatchObject({ action: "pause" });
    expect(faults).toEqual([]);
    await page.close();
  });

  test("of a run whose server is gone it says what the run was, and offers no button", async () => {
    const dir = smallRun(3);
    writeStatus(dir, { phase: { name: "preparing", done: 0, total: 0 } });
    using _ = breathing(dir);
    const live = await LiveServer.open([dir]);
    const { page } = await open(live.url);
    const badge = page.locator(".run-line .state");
    const seen = async () => [await badge.innerText(), await page.locator(".controls").count()];
    await vi.waitFor(async () => expect(await seen()).toEqual(["running", 1]), WAIT);
    expect(await page.locator(".run-line .steps").innerText()).toMatch(/^step 3 of 20 · preparing · /);
    await live[Symbol.asyncDispose]();
    await vi.waitFor(async () => expect(await seen()).toEqual(["was running", 0]), WAIT);
    expect(await page.title()).not.toContain("▶");
    await page.close();
  });

  it("report.html is the same page, from a file", async () => {
    const path = await writeReport(synthetic);
    const { page, faults } = await open(`file://${path}`);
    await drawn(page);
    expect(await page.locator("[data-chart]").count()).toBe(12);
    const log = readRunLog(join(synthetic, RUN_FILES.log));
    expect(await shown(page, "score/mean")).toBeCloseTo(log.at(-1)!.metrics["score/mean"]!, 4);
    for (const panel of ["metrics", "line", "results", "recipe"]) {
      await page.goto(`file://${path}#${panel}`);
      await page.waitForSelector(`#panel-${panel}`);
      await page.waitForTimeout(300);
      expect(await page.locator(".notice:visible").count(), panel).toBe(0);
    }
    expect(await page.locator(".controls").count()).toBe(0);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("no name, no message and no value runs, breaks or leaves the page", async () => {
    const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
    const dir = smallRun(2, evil);
    const odd = `${evil}\u202e\u001b[2J\ud800`;
    writeRunManifest(dir, {
      name: evil,
      config: { [evil]: odd, domains: { [evil]: {} } },
      seeds: { [evil]: odd },
      versions: {},
    });
    addStep(dir, 3, { [evil]: 1, [`success/${evil}`]: 0.5, "javascript:window.hacked=1": 2, constructor: 3 });
    const note = { e: "note", s: 3, t: 1, k: "warning", m: odd };
    writeFileSync(join(dir, "events.jsonl"), `${JSON.stringify(note)}\n`);
    writeStatus(dir, {
      waits: { sentence: odd, sinceMs: 0, stuck: true },
      machine: { ...writeStatus(dir).machine, device: evil },
    });
    await using live = await LiveServer.open([dir]);
    for (const panel of ["overview", "metrics", "line", "results", "recipe"]) {
      const { page, faults } = await open(`${live.url}#${panel}`);
      await page.waitForTimeout(300);
      expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.locator("h1").innerText()).toBe(evil);
      expect(faults, panel).toEqual([]);
      await page.close();
    }
  });

  test("ten thousand steps are drawn at once, and a new one without a pause", async () => {
    const dir = smallRun(0);
    const lines = Array.from({ length: 10_000 }, (_, i) => {
      const metrics = Object.fromEntries(
        ["score/mean", "grad/norm", "entropy/mean", "length/mean", "truncated", "groups/zero-score-std"].map(
          (name, k) => [name, Math.sin(i / (50 + k))],
        ),
      );
      return JSON.stringify({
        step: i + 1,
        version: i,
        metrics: { ...metrics, ...(i === 7777 && { "grad/norm": 99.5 }) },
      });
    });
    writeFileSync(join(dir, RUN_FILES.log), `${lines.join("\n")}\n`);
    await using live = await LiveServer.open([dir]);
    const { page, faults } = await open(live.url);
    await drawn(page);
    await page.evaluate(
      "globalThis.seen = []; new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ duration }) => duration))).observe({ entryTypes: ['longtask'] }); undefined",
    );
    for (let step = 10_001; step <= 10_010; step++) addStep(dir, step, { "score/mean": step });
    await vi.waitFor(async () => expect(await shown(page, "score/mean")).toBe(10_010), WAIT);
    const longest = Number(await page.evaluate("Math.max(0, ...seen)"));
    expect(longest, "milliseconds of the longest task while steps came in").toBeLessThan(patient(2000));
    expect(faults).toEqual([]);
    await page.close();
  });

  const screens = [
    [400, "light"],
    [400, "dark"],
    [1000, "light"],
    [2000, "dark"],
  ] as const;
  test.each(longest ? screens : screens.slice(0, 1))(
    "at %i pixels, %s: nothing sticks out, and every chart is painted in the theme's colours",
    async (width, colorScheme) => {
      writeStatus(synthetic);
      await using live = await LiveServer.open([synthetic]);
      const { page, faults } = await open(live.url, { viewport: { width, height: 1000 }, colorScheme });
      for (const panel of ["overview", "metrics", "line", "results", "recipe"]) {
        await page.goto(`${live.url}#${panel}`);
        await page.waitForSelector(`#panel-${panel}`);
        await page.waitForTimeout(400);
        await vi.waitFor(async () => {
          const layout = (await page.evaluate(LAYOUT)) as Layout;
          expect(layout.out, panel).toBeLessThanOrEqual(0);
          expect(layout.paper).toBe(colorScheme === "dark" ? "rgb(16, 21, 28)" : "rgb(246, 247, 249)");
          for (const painted of layout.painted) expect(painted, panel).toBeGreaterThan(300);
          const columns = new Set(layout.charts).size;
          if (panel === "overview") expect(columns).toBe(width === 400 ? 1 : width === 1000 ? 2 : 4);
        }, WAIT);
      }
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
