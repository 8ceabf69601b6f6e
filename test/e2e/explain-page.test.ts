// Opens a completion's explanation in a real browser, the system's Chromium.
import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { explainStep } from "../../lib/index.ts";
import { LiveServer } from "../../lib/live/index.ts";
import { readStep, record, removeFolders, STEPS, trainedAttempt } from "../explain/recording.ts";
import { long } from "../long.ts";
import { noAddon } from "./native-core.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

describe.skipIf(!existsSync(CHROMIUM) || noAddon !== undefined)("in chromium", { timeout: 180_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    await closePages(browser);
    removeFolders();
  });

  test("a completion leads to its explanation: by token, with other settings and shares of the gradient", async () => {
    const run = await record({});
    const asked = await trainedAttempt(run, STEPS);
    await using live = await LiveServer.open([run.dir]);
    const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    // delays the search, so that the rows of the previous one are still shown
    await page.route("**/api/groups?*problem=*", (route) => void setTimeout(() => route.continue(), 500));
    await page.goto(`${live.url}#samples`);
    await page.waitForSelector(".sample-row");
    await page.locator("input[name=steps]").fill(`${STEPS}..${STEPS}`);
    await page.locator("input[name=problem]").fill(String(asked.problem));
    await page.keyboard.press("Enter");
    await page.locator(`.sample-row:has-text("attempt ${asked.attempt}")`).first().click();
    await page.getByRole("button", { name: "Explain the attempt" }).click();
    await page.waitForSelector("#panel-explain");
    const field = (name: string) => page.locator(`form.explain input[name=${name}]`);
    for (const name of ["step", "problem", "attempt"] as const)
      expect(await field(name).inputValue()).toBe(String(asked[name]));
    await field("token").fill("1");
    await field("set").fill("objective.kind=cispo");
    await field("gradient").check();
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    await page.waitForSelector("#panel-explain table");
    const [trained, otherwise] = (
      await explainStep(run.dir, { ...asked, token: 1, gradient: true, set: ["objective.kind=cispo"] })
    ).settings;
    const row = async (name: string) =>
      (await page.locator(`#panel-explain tr:has(th:text-is("${name}")) td`).allInnerTexts()).map(Number);
    const near = (value: number) => expect.closeTo(value, 5);
    for (const part of ["sequence", "token"] as const) {
      const values = [trained!, otherwise!].map(({ gradient }) => near(gradient![part]!.cosine));
      expect(await row(`cosine of the ${part} to the step`)).toEqual(values);
    }
    expect(await row("advantage")).toEqual(
      [trained!, otherwise!].map(({ reward }) => near(reward!.advantage)),
    );
    const tokens = page.locator("#panel-explain table").last().locator("tbody tr");
    expect(await tokens.count()).toBe(1);
    const cells = await tokens.locator("td").allInnerTexts();
    expect(Number(cells.at(-1))).toBeCloseTo(otherwise!.tokens[0]!.coefficient, 5);
    await page.getByRole("tab", { name: "Samples" }).click();
    await page.getByRole("tab", { name: "Explain" }).click();
    expect(await field("token").inputValue()).toBe("1");
    expect(faults).toEqual([]);
    await page.close();
  });

  test("of a run that keeps its last steps, samples of earlier ones say so, and those of the last lead on", async () => {
    const run = await record({
      rollouts: { groupSize: 4, maxOutputTokens: 80, maxPromptTokens: 48, record: "last:2" },
    });
    await expect(explainStep(run.dir, { step: 1, problem: 1, attempt: 0 })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining('was removed: rollouts.record is "last:2" (it has 2 between 3 and 4)'),
    });
    const asked = await trainedAttempt(run, STEPS);
    const { settings } = await explainStep(run.dir, asked);
    await using live = await LiveServer.open([run.dir]);
    const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
    await page.goto(`${live.url}#samples?steps=1&order=newest`);
    await page.waitForSelector("text=The run keeps the rollouts of steps 3 to 4 alone; this is of step 1.");
    expect(await page.getByRole("button", { name: "Explain the attempt" }).count()).toBe(0);
    const { step, problem, attempt } = asked;
    await page.goto(`${live.url}#explain?step=${step}&problem=${problem}&attempt=${attempt}`);
    await page.getByRole("button", { name: "Explain", exact: true }).click();
    const rows = page.locator("#panel-explain table").last().locator("tbody tr");
    await vi.waitFor(async () => expect(await rows.count()).toBe(settings[0]!.tokens.length), {
      timeout: 60_000,
    });
    await page.close();
  });

  test.runIf(long)(
    "tokens that an environment gave are marked, and have neither ratio nor gradient",
    async () => {
      const episode = { maxTurns: 3, maxTurnTokens: 1 };
      const run = await record({
        domains: {
          "word-guess": { weight: 1, source: "procedural/word-guess", environment: "word-guess", episode },
        },
        warmStart: { steps: 2, mixture: { "word-guess": 1 } },
        lengthPenalty: { kind: "none" },
        rollouts: { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 48 },
      });
      const { groups } = await readStep(run.dir, STEPS);
      const [group, rollout] = groups
        .flatMap((one) => one.rollouts.map((member) => [one, member] as const))
        .find(([, { given }]) => given!.length > 0)!;
      const asked = { step: STEPS, problem: group.problem, attempt: rollout.attempt };
      const { tokens } = (await explainStep(run.dir, asked)).settings[0]!;
      await using live = await LiveServer.open([run.dir]);
      const page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      await page.goto(`${live.url}#explain`);
      for (const [name, value] of Object.entries(asked))
        await page.locator(`form.explain input[name=${name}]`).fill(String(value));
      await page.getByRole("button", { name: "Explain", exact: true }).click();
      const rows = page.locator("#panel-explain table").last().locator("tbody tr");
      await vi.waitFor(async () => expect(await rows.count()).toBe(tokens.length), { timeout: 60_000 });
      const shown = await Promise.all(
        (await rows.all()).map(async (row) => [
          (await row.locator(".given-token").count()) === 1,
          (await row.locator("td").allInnerTexts()).join(" ") === "given – – – – 0",
        ]),
      );
      const given = tokens.map((token) => token.given === true);
      expect(given).toContain(true);
      expect(shown).toEqual(given.map((is) => [is, is]));
      expect(await page.locator("[data-legend=given]").count()).toBe(1);
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
