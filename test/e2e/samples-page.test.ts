// Samples and problems of a run in a real browser, the system's Chromium.
import { existsSync } from "node:fs";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { LiveServer, writeReport } from "../../lib/live/index.ts";
import { query, SampleIndex } from "../../lib/samples/index.ts";
import { smallRun } from "../live/live-run.ts";
import { long } from "../long.ts";
import { boxed, ConstructedRun } from "../samples/constructed-run.ts";
import { heldOutRun } from "../samples/held-out-run.ts";
import { CHROMIUM, closePages, sharedBrowser } from "./shared-browser.ts";

const HOSTILE =
  "<think>\u001b[2J\u202eevil\ud800</think></pre><script>pwned=1</script><img src=x onerror=pwned=1>\u2066\u2028";

/**
 * Six steps of two problems: one changes between solved and unsolved and has one hostile text, the other has texts of
 * two megabytes.
 */
function hostileRun(): string {
  const dir = smallRun(6);
  using run = new ConstructedRun(dir);
  for (let s = 1; s <= 6; s++)
    run.step(
      {
        problem: 1,
        reference: "</pre><script>pwned=1</script>",
        said: [
          {
            text: `${HOSTILE}${s}`,
            status: s > 3 ? "correct" : "wrong",
            reason: "<b>no</b>\u202e",
            reward: s / 3,
          },
          { text: boxed(s), status: s > 3 ? "correct" : "wrong", tokens: 10 + s },
        ],
      },
      {
        problem: 2,
        domain: "code",
        said: [{ text: "y".repeat(2_000_000) + s, tokens: 4000, finish: "length" }],
      },
    );
  return dir;
}

describe.skipIf(!existsSync(CHROMIUM))("in chromium", { timeout: 180_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });
  afterAll(() => closePages(browser));

  /** @param faults collects errors and dialogs, which must not occur */
  async function open(url: string, faults: string[], width = 1300): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
    page.on("dialog", (dialog) => {
      faults.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(url);
    return page;
  }
  const drawn = (selector: string) =>
    `[...document.querySelectorAll("${selector}")].filter((one) => one.getClientRects().length > 0).length`;
  /** Opens every group and waits for its members. */
  async function openGroups(page: Page): Promise<void> {
    await page.evaluate(
      "for (const one of document.querySelectorAll('details.group')) one.open = true; undefined",
    );
    await vi.waitFor(async () => expect(await page.locator(".members[aria-busy=true]").count()).toBe(0), {
      timeout: 30_000,
    });
  }
  const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText();

  test("filters find what the index finds, and a completion is shown with the journal's numbers", async () => {
    const dir = hostileRun();
    await using live = await LiveServer.open([dir]);
    const faults: string[] = [];
    const page = await open(`${live.url}#samples`, faults);
    await page.waitForSelector(".sample-row");
    const index = await SampleIndex.open(dir);
    const count = (total: number) => page.waitForSelector(`.count:has-text("of ${total} completions")`);
    await count(18);
    await page.selectOption("select[name=status]", "wrong");
    await count(query(index, { statuses: ["wrong"] }).total);
    await page.locator("input[name=steps]").fill("2..3");
    await page.keyboard.press("Enter");
    await count(query(index, { statuses: ["wrong"], steps: [2, 3] }).total);
    await page.locator("input[name=steps]").fill("");
    await page.selectOption("select[name=status]", "");
    await page.locator("input[name=flippedSince]").fill("3");
    await page.keyboard.press("Enter");
    await count(query(index, { flippedSince: 3 }).total);
    await openGroups(page);
    // step 3: the reward is 3 / 3 for a wrong answer, so the penalty is the difference to its score
    expect(await page.locator(".sample-row").allInnerTexts()).toContainEqual(
      expect.stringMatching(/reward 1\.000 · score 0\.000 · penalty 1\.000/),
    );
    await page.locator("details.group").last().locator(".sample-row").first().click();
    await page.waitForSelector('.sample[aria-label="completion of step 3"] .over-time table');
    const fact = await textOf(page, ".sample dd");
    const { samples } = query(index, { flippedSince: 3 });
    expect(Number(fact)).toBeCloseTo(samples.at(-1)!.reward!, 6);
    expect(await page.locator(".over-time tbody tr").count()).toBe(6);
    const attempts = page.locator(".over-time tbody tr").last().locator("button");
    const late = (route: Route) => void setTimeout(() => route.continue(), 500);
    await page.route(/api\/sample\?/, late, { times: 1 });
    const overtaken = page.waitForRequest(/api\/sample\?/);
    await attempts.last().click();
    await attempts.first().click();
    await page.waitForSelector(".side-by-side");
    await (await (await overtaken).response())!.finished();
    await page.evaluate("new Promise((shown) => setTimeout(shown, 100))");
    expect(await page.locator(".side-by-side > section h3").allInnerTexts()).toEqual(
      expect.arrayContaining(["step 3, attempt 0", "step 6, attempt 0"]),
    );
    expect(faults).toEqual([]);
    await page.close();
  });

  test.runIf(long)(
    "hostile completions neither run, break nor turn the page around, two megabytes among them",
    async () => {
      await using live = await LiveServer.open([hostileRun()]);
      const faults: string[] = [];
      for (const width of [400, 1300]) {
        const page = await open(`${live.url}#samples`, faults, width);
        await page.waitForSelector(".sample-row");
        await openGroups(page);
        for (const row of [0, 2]) {
          await page.locator(".sample-row").nth(row).click();
          await page.waitForSelector('.sample-row[aria-current="true"]');
          await page.waitForSelector(".over-time table");
          await page.evaluate(
            "for (const one of document.querySelectorAll('details')) one.open = true; undefined",
          );
          const text = await page.locator("#page").innerText();
          // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
          expect(text).not.toMatch(/[\u001b\u202e\u2066\u2028]|\p{Cs}/u);
        }
        expect(await page.evaluate("typeof pwned")).toBe("undefined");
        expect(await page.locator("#page script, #page img, .written *").count()).toBe(0);
        const out = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        expect(await page.evaluate(out)).toBeLessThanOrEqual(0);
        await page.close();
      }
      expect(faults).toEqual([]);
    },
  );

  test.runIf(long)("held-out problems before and after, by change, on the page and in a file", async () => {
    const dir = smallRun(2);
    heldOutRun(dir);
    await using live = await LiveServer.open([dir]);
    const faults: string[] = [];
    for (const url of [live.url, `file://${await writeReport(dir)}`]) {
      const page = await open(`${url}#samples`, faults, 400);
      await page.getByRole("button", { name: "Before / after" }).click();
      await page.waitForSelector(
        '.count:has-text("Of 5 held-out problems 2 gained, 1 lost, 1 wrong at both times, 1 as before")',
      );
      expect(await page.locator(".held-out").count()).toBe(5);
      expect(await page.locator(".held-out[open] .side-by-side .written").allInnerTexts()).toEqual([
        "before 1.0",
        "before 1.1",
        "after 1.0",
        "after 1.1",
      ]);
      await page.selectOption("select[name=kind]", "lost");
      await page.waitForSelector('.count:has-text("1 to 1 of 1")');
      expect(await textOf(page, ".held-out summary")).toMatch(/^lost\s+2 of 2 → 1 of 2 solved/);
      const out = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate(out)).toBeLessThanOrEqual(0);
      await page.emulateMedia({ media: "print", colorScheme: "dark" }); // in print: no controls and no dark background
      expect(await page.evaluate(drawn(".views, .tools"))).toBe(0);
      expect(await page.evaluate(drawn(".held-out"))).toBeGreaterThan(0);
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
        "rgb(246, 247, 249)",
      );
      await page.emulateMedia({ media: "screen" });
      await page.getByRole("button", { name: "Training" }).click();
      await page.waitForSelector("text=The run has judged no completion yet.");
      await page.close();
    }
    expect(faults).toEqual([]);
  });

  test.runIf(long)(
    "groups are rows that unfold, j and k walk through them, and an address leads a colleague there",
    async () => {
      await using live = await LiveServer.open([hostileRun()]);
      const faults: string[] = [];
      const page = await open(`${live.url}#samples`, faults);
      await page.waitForSelector(".sample");
      const groups = page.locator(".groups > li");
      expect(await groups.count()).toBe(12);
      expect(await page.locator("details.group[open]").count()).toBe(1);
      // newest first: in step 6 the group of problem 2, whose only completion is truncated, then that of problem 1
      const second = await groups.nth(1).locator("summary").innerText();
      expect(second).toMatch(
        /2 of 2 solved\s+reward 1\.000 to 2\.000 · \d+(\.\d+)? tokens each · math · step 6/,
      );
      const current = () => page.locator('.sample-row[aria-current="true"]');
      const shownStep = (text: string) => page.waitForSelector(`.sample h2:has-text("${text}")`);
      await shownStep("code problem 2 step 6");
      // the run keeps no rollouts: the tab is grey and says why, and the completion shows the recipe line that keeps
      // them
      const explain = page.getByRole("tab", { name: "Explain" });
      expect(await explain.getAttribute("class")).toContain("empty");
      expect(await explain.getAttribute("title")).toBe("the run keeps no rollouts to explain");
      expect(await textOf(page, ".sample .recipe-line code")).toBe('rollouts: { record: "last:20" }');
      await page.keyboard.press("j");
      await shownStep("math problem 1 step 6");
      await shownStep("attempt 0");
      expect(await page.locator("details.group[open]").count()).toBe(2);
      await page.keyboard.press("j");
      await shownStep("attempt 1");
      await page.keyboard.press("k");
      await shownStep("attempt 0");
      expect(await current().count()).toBe(1);
      await page.selectOption("select[name=status]", "wrong");
      await page.waitForSelector('.count:has-text("of 12 completions")');
      await page.locator("input[name=steps]").fill("..2");
      await page.keyboard.press("Enter");
      await page.waitForSelector('.count:has-text("1 to 4 of 4 groups, of 6 completions")');
      await openGroups(page);
      await page.locator(".sample-row").last().click();
      await shownStep("attempt 1");
      await shownStep("step 1");
      const colleague = await open(page.url(), faults, 400);
      await colleague.waitForSelector('.sample h2:has-text("problem 1 step 1"):has-text("attempt 1")');
      await colleague.waitForSelector('.count:has-text("1 to 4 of 4 groups, of 6 completions")');
      expect(await colleague.locator(".filters[open]").count()).toBe(0); // collapsed on a narrow page
      expect(await textOf(colleague, ".filters > summary")).toBe("Filters (2 set)");
      expect(await colleague.locator("input[name=steps]").inputValue()).toBe("..2");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "copy link" }).click();
      await page.getByRole("button", { name: "copied" }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(page.url());
      expect(faults).toEqual([]);
      await Promise.all([page.close(), colleague.close()]);
    },
  );

  test("the address holds the zoom, and takes it up", async () => {
    await using live = await LiveServer.open([smallRun(20)]);
    const faults: string[] = [];
    const page = await open(`${live.url}#metrics?zoom=5..9&find=b`, faults);
    await page.waitForSelector('[aria-label="first step"]');
    expect(await page.locator('[aria-label="first step"]').inputValue()).toBe("5");
    expect(await page.locator("#metric-search").inputValue()).toBe("b");
    await page.locator('[aria-label="last step"]').fill("12");
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(new URL(page.url()).hash).toBe("#metrics?find=b&zoom=5..12"));
    expect(faults).toEqual([]);
    await page.close();
  });

  test.runIf(long)("problems lead to their completions", async () => {
    await using live = await LiveServer.open([hostileRun()]);
    const faults: string[] = [];
    const page = await open(`${live.url}#problems`, faults);
    await page.waitForSelector("#panel-problems tbody tr");
    expect(await page.locator("#panel-problems tbody tr").count()).toBe(2);
    await page.selectOption("select[name=kind]", "flipped");
    await page.waitForSelector('.count:has-text("of 1 problems")');
    expect(await textOf(page, "#panel-problems tbody tr")).toMatch(
      /math 1\s+chain\s+2\s+6\s+12\s+0\s+50 %\s+0 % → 100 %/,
    );
    await page.route("**/api/problems?*kind=all*", (route) => void setTimeout(() => route.continue(), 500));
    const overtaken = page.waitForResponse(/api\/problems\?.*kind=all/);
    await page.selectOption("select[name=kind]", "all");
    await page.selectOption("select[name=kind]", "flipped");
    await page.waitForSelector('#panel-problems [aria-busy=false] .count:has-text("of 1 problems")');
    await (await overtaken).finished();
    await page.evaluate("new Promise((shown) => setTimeout(shown, 100))");
    expect(await textOf(page, "#panel-problems .count")).toMatch("of 1 problems");
    await page.locator("#panel-problems tbody button").first().click();
    await page.waitForSelector('.count:has-text("of 12 completions")');
    expect(faults).toEqual([]);
    await page.close();
  });

  test.runIf(long)(
    "a report in a file of its own has some of the completions, and finds among them",
    async () => {
      const dir = hostileRun();
      const faults: string[] = [];
      const page = await open(`file://${await writeReport(dir)}#samples`, faults);
      await page.waitForSelector(".sample-row");
      expect(await textOf(page, ".count")).toMatch(
        /^1 to 6 of 6 groups, of 12 completions kept in this file; the run has 18 /, // all groups except those with texts of 2 MB
      );
      expect(await textOf(page, ".group summary")).toMatch(
        /2 of 2 solved\s+reward [\s\S]* tokens each · math · step 6/,
      );
      await openGroups(page);
      await page.selectOption("select[name=status]", "wrong");
      await page.waitForSelector('.count:has-text("1 to ")');
      await openGroups(page);
      const statuses = await page.locator(".sample-row .status").allInnerTexts();
      expect(new Set(statuses)).toEqual(new Set(["wrong"]));
      await page.locator(".sample-row").first().click();
      expect(await textOf(page, ".reference .written")).toBe("</pre><script>pwned=1</script>");
      expect(await page.getByRole("tab", { name: "Explain" }).count()).toBe(0);
      await page.goto(`${page.url().replace(/#.*/, "")}#problems`);
      await page.waitForSelector("text=of 2 problems");
      expect(await page.evaluate("globalThis.pwned")).toBeUndefined();
      expect(faults).toEqual([]);
      await page.close();
    },
  );
});
