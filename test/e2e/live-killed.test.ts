// kill -9 ends a run that a browser shows, and the run resumes: the page is not reloaded and shows one history.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { afterAll, expect, test, vi } from "vitest";
import { LiveServer } from "../../lib/live/index.ts";
import { RUN_FILES } from "../../lib/metrics/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { HONE } from "../fixtures/command-line.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";
import { signalTo } from "../stopped.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput } from "./tiny-recipe.ts";

const CHROMIUM = "/usr/bin/chromium-headless-shell";
const WAIT = { timeout: patient(60_000), interval: 100 };
/** This duration differs in every session, so it identifies the session of a shown record. */
const METRIC = "time/step";
const EVERY_STEPS = 10;

const folder = mkdtempSync(join(tmpdir(), "hone-killed-"));
const dir = join(folder, "run");
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function honeRun(...flags: string[]): ChildProcess {
  const recipe = {
    ...tinyInput({ steps: 100_000, groupsPerStep: 4, schedule: "sync" }),
    checkpoint: { everySteps: EVERY_STEPS, keepLast: 2 },
    evaluation: { problemsPerDomain: 2 },
  };
  const file = join(folder, "recipe.ts");
  writeFileSync(
    file,
    `import { defineRecipe } from "hone-rl";\nexport default defineRecipe(${JSON.stringify(recipe)});\n`,
  );
  const args = [...HONE, "run", file, "--dir", dir, ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, HONE_THREADS: "1" },
  });
  children.push(child);
  return child;
}

const log = join(dir, RUN_FILES.log);
/** The log as written: a repeated step is in it twice. */
const records = () =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as StepRecord)
    : [];
const lastStep = () => records().at(-1)?.step ?? 0;

const isBetween = () => lastStep() > EVERY_STEPS && [3, 4, 5].includes(lastStep() % EVERY_STEPS);
/** Kills the run between two checkpoints, so that the next session repeats steps. */
async function killed(child: ChildProcess): Promise<void> {
  for (;;) {
    while (!isBetween()) await sleep(2);
    signalTo(child.pid!, "SIGSTOP"); // the run may train on until the signal takes effect
    if (isBetween()) break;
    child.kill("SIGCONT");
  }
  const closed = once(child, "close");
  child.kill("SIGKILL");
  expect(await closed).toEqual([null, "SIGKILL"]);
}

/** Returns [step, shown value] from the last step to the first, as the left arrow key reaches them. */
const HISTORY = `(() => {
  const chart = document.querySelector('[data-chart="${METRIC}"]');
  const history = [];
  for (;;) {
    chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
    const step = Number(chart.querySelector(".at").textContent.replace("step ", ""));
    if (step === history.at(-1)?.[0]) return history;
    history.push([step, Number(chart.querySelector("[data-metric]").title.split(" = ").at(-1))]);
  }
})()`;

test.skipIf(!longest || !existsSync(CHROMIUM) || noAddon !== undefined)(
  "a run killed by kill -9 is shown as killed; resumed, it goes on in the same page, each step once",
  async () => {
    const first = honeRun();
    await using live = await LiveServer.open([dir]);
    await using browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    page.on("dialog", (dialog) => void dialog.accept());
    await page.goto(`${live.url}#metrics`);
    await page.evaluate("globalThis.sameDocument = true; undefined");
    await page.locator("#metric-search").fill(METRIC);
    const state = () => page.locator(".run-line .state").first().innerText();
    await vi.waitFor(async () => expect(await state()).toBe("running"), WAIT);
    await page.waitForSelector(`[data-chart="${METRIC}"] canvas`);
    await killed(first);
    const before = lastStep();
    await vi.waitFor(async () => expect(await state()).toBe("killed"), WAIT);
    expect(await page.locator(".controls").count()).toBe(0);

    const second = honeRun("--resume");
    await vi.waitFor(() => expect(lastStep()).toBeGreaterThan(before + 5), WAIT);
    await vi.waitFor(async () => expect(await state()).toBe("running"), WAIT);
    const closed = once(second, "close");
    await page.locator(".controls").getByRole("button", { name: "stop" }).click();
    expect((await closed)[0]).toBe(0);
    await vi.waitFor(async () => expect(await state()).toBe("stopped"), WAIT);

    const all = records();
    const again = all.filter(({ step }, i) => all.findIndex((record) => record.step === step) < i);
    expect(again.length, "steps taken again").toBeGreaterThan(0);
    const last = new Map(all.map(({ step, metrics }) => [step, metrics[METRIC]!]));
    const expected = [...last].sort(([a], [b]) => b - a);
    expect(expected.map(([step]) => step)).toEqual(
      Array.from({ length: all.at(-1)!.step }, (_, i) => all.at(-1)!.step - i),
    );
    await vi.waitFor(
      async () => expect(await page.locator(".run-line .steps").innerText()).toContain(`step ${lastStep()} `),
      WAIT,
    );
    expect(await page.evaluate(HISTORY)).toEqual(expected);
    expect(await page.locator('[data-mark="resume"]').count()).toBe(1);
    expect(await page.evaluate("globalThis.sameDocument")).toBe(true);
    expect(faults).toEqual([]);
  },
  patient(120_000),
);
