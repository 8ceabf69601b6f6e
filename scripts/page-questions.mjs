// node scripts/page-questions.mjs <run> <other run> [--package <folder>] [--earlier]: measures in a browser
// (/usr/bin/chromium-headless-shell) how many clicks and seconds (median of three) it takes until the page shows the answer to each of six
// common questions. The seconds are those of the machine, from opening the address; the reader's time is not included.
// --package: the page of another checkout; --earlier: the clicks that the page of c432c4e5 needed.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { tsImport } from "tsx/esm/api";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const TRIES = 3;
const PATIENCE_MS = 20_000;
const LOOK_MS = 25;

/** `clicks`: elements to click, in order. `seen`: the answer in the page's text. `earlier`: both for the page of c432c4e5. */
const QUESTIONS = [
  {
    asks: "What do I see in three seconds?",
    clicks: [],
    seen: /Held out\n\s*0\.\d{3} → 0\.\d{3}\s+[+−][\d.]+ ± [\d.]+ points/,
    earlier: undefined,
  },
  {
    asks: "Is it learning?",
    clicks: [],
    seen: /Score, mean of 15 steps\n\s*0\.\d{3}\s+[+−][\d.]+ ± [\d.]+ against the 15 before/,
    earlier: { clicks: ['[role=tab][href="#results"]'], seen: /0\.\d{3} → 0\.\d{3}/ },
  },
  {
    asks: "What did it say on a problem, before and after?",
    clicks: ['[role=tab][href^="#samples"]', "button:has-text('Before / after')"],
    seen: /Before, step 0[\s\S]*After, step \d+/,
    earlier: undefined,
  },
  {
    asks: "Why is it stuck, or slow?",
    clicks: [],
    seen: /The run is over \(done\); at the end: \S/,
    earlier: { clicks: ['[role=tab][href="#line"]'], seen: /The run is over \(done\); at the end: \S/ },
  },
  {
    asks: "Does it hack the reward?",
    clicks: ['.headline a[href="#problems"]'],
    seen: /in steps \d+ to \d+|No signs of reward/,
    earlier: {
      clicks: ['[role=tab][href="#problems"]'],
      seen: /in steps \d+ to \d+|No signs of reward/,
    },
  },
  {
    asks: "Which run is better, and by how much?",
    runs: 2,
    clicks: [],
    seen: /against .+: score [+−][\d.]+ ± [\d.]+ \(.+\): (no difference beyond noise|higher|lower)/,
    earlier: undefined,
  },
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { package: { type: "string", default: root }, earlier: { type: "boolean", default: false } },
});
if (positionals.length !== 2) {
  process.stderr.write("two run folders are needed\n");
  process.exit(64);
}
const { LiveServer } = await tsImport(path.resolve(values.package, "lib/live/index.ts"), import.meta.url);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox"],
});
process.stdout.write("| question | clicks | seconds |\n|---|---|---|\n");
try {
  for (const question of QUESTIONS) {
    const way = values.earlier ? question.earlier : question;
    if (way === undefined) process.stdout.write(`| ${question.asks} | no answer | – |\n`);
    else {
      const seconds = [];
      for (let n = 0; n < TRIES; n++)
        seconds.push(await answered(positionals.slice(0, question.runs ?? 1), way));
      const median = seconds.sort((a, b) => a - b)[Math.floor(TRIES / 2)];
      process.stdout.write(`| ${question.asks} | ${way.clicks.length} | ${median.toFixed(1)} |\n`);
    }
  }
} finally {
  await browser.close();
}

/** Returns the seconds from opening the address until the page shows the answer; throws if it does not appear. */
async function answered(dirs, { clicks, seen }) {
  const live = await LiveServer.open(dirs);
  const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
  const begun = performance.now();
  try {
    await page.goto(live.url);
    for (const click of clicks) await page.click(click);
    while (!seen.test(await page.locator("#page").innerText())) {
      if (performance.now() - begun > PATIENCE_MS)
        throw new Error(`no ${seen} on the page of ${dirs.join(", ")}`);
      await new Promise((later) => setTimeout(later, LOOK_MS));
    }
    return (performance.now() - begun) / 1000;
  } finally {
    await page.close();
    await live[Symbol.asyncDispose]();
  }
}
