import { askComparison, comparisonLines } from "./comparison-table.js";
import { doctorText } from "./doctor-text.js";
import { el, fill } from "./dom.js";
import { duration, short, signed } from "./format.js";
import { newestAnswer } from "./newest-answer.js";
import { recentSteps } from "./recent-steps.js";

/** @import { Page } from "./page.js" */
/** @import { RunInfo, ShownHint, ShownSummary } from "../wire.ts" */

/** Undefined until the answer arrives. @typedef {{ summary?: ShownSummary | null, hints?: readonly ShownHint[] | null }} Asked */

const ROLES = ["engine", "trainer", "verifiers"];
const COLUMNS = [
  ...["score/mean", "evaluation/score", "speed/generated", "time/step"],
  ...ROLES.map((role) => `utilisation/${role}`),
];

/**
 * The overview's cards, a row per run: held-out score with its error, change over the last steps with its noise,
 * tokens and time, the busiest role (the header shows the current bottleneck), number of hints. Each card links to
 * its tab.
 * @param {Page} page
 */
export function headline(page) {
  const element = el("div", { className: "headline" });
  /** @type {Map<string, Asked>} */
  const asked = new Map();
  /** @type {readonly string[]} */
  let beside = [];
  const draw = () =>
    fill(
      element,
      beside.length > 0 && sideBySideLink(beside),
      ...page.visibleRuns().map((info) => runCards(page, info, asked.get(info.dir) ?? {})),
    );
  // hints take long, since they read every completion, so the other answers do not wait for them
  const hints = askOfEach(page, asked, "hints", draw);
  const summaries = askOfEach(page, asked, "summary", draw);
  const besides = newestAnswer(
    async () => {
      const runs = page.visibleRuns();
      await Promise.all(runs.map(({ run }) => page.store.need(run, COLUMNS)));
      const comparison = await askComparison(page).catch(() => null);
      return comparison === null ? [] : comparisonLines(page, runs, comparison);
    },
    (lines) => {
      beside = lines;
      draw();
    },
  );
  const start = () => void Promise.all([besides(), summaries(), hints()]).catch((error) => page.say(error));
  draw();
  start();
  return {
    element,
    /** @param {import("./page.js").Change} what */
    update(what) {
      if (what === "runs" || what === "all" || what === "view") start();
      else if (what === "steps" || what === "line") draw();
    },
  };
}

/** @param {readonly string[]} lines */
const sideBySideLink = (lines) =>
  el("a", { className: "card beside", href: "#results" }, ...lines.map((line) => el("span", {}, line)));

/**
 * Asks a question about each visible run, and keeps the answers.
 * @param {Page} page @param {Map<string, Asked>} asked @param {"summary" | "hints"} name @param {() => void} draw
 */
const askOfEach = (page, asked, name, draw) =>
  newestAnswer(
    () =>
      Promise.all(
        page.visibleRuns().map(async ({ run, dir }) => ({
          dir,
          answer: await page.connection.ask(name, { run }).catch(() => null),
        })),
      ),
    (answers) => {
      for (const { dir, answer } of answers) asked.set(dir, { ...asked.get(dir), [name]: answer });
      draw();
    },
  );

/** @param {Page} page @param {RunInfo} info @param {Asked} asked */
function runCards(page, info, { summary, hints }) {
  const column = (/** @type {string} */ name) => page.store.column(info.run, name) ?? [];
  return el(
    "section",
    { "aria-label": `${page.runLabel(info.run)}: headline` },
    page.visibleRuns().length > 1 && el("h2", {}, page.runLabel(info.run)),
    el(
      "div",
      { className: "cards" },
      heldOut(summary, column("evaluation/score")),
      training(column("score/mean")),
      generated(column("speed/generated"), column("time/step")),
      bottleneckCard(info, column),
      suspicions(hints),
    ),
  );
}

/** @param {string} tab @param {string} name @param {string} value @param {string} detail */
const card = (tab, name, value, detail) =>
  el(
    "a",
    { className: "card", href: `#${tab}` },
    el("div", { className: "muted" }, name),
    el("b", { className: "value" }, value),
    el("div", { className: "muted" }, detail),
  );

/** @param {ShownSummary | null | undefined} summary @param {readonly (number | null)[]} validations */
function heldOut(summary, validations) {
  if (summary?.headline !== undefined) {
    const { setting, change } = summary.headline;
    const [was, is] = [summary.before[setting]?.mean, summary.after[setting]?.mean];
    const scores = [was, is].map((mean) => mean?.score.toFixed(3) ?? "–");
    const points = `${signed(change.points, 1)} ± ${change.error.toFixed(1)} points, ${is?.n ?? 0} answers`;
    return card(
      "results",
      "Held out",
      scores.join(" → "),
      change.is === "noise" ? `${points}: no change beyond noise` : points,
    );
  }
  if (summary === undefined) return card("results", "Held out", "…", "loading");
  const last = validations.findLastIndex((value) => value !== null);
  const during = last < 0 ? undefined : Number(validations[last]).toFixed(3);
  return card(
    "results",
    "Held out",
    during ?? "–",
    during ? "at the last validation" : "before and after stand here at the end",
  );
}

/** @param {readonly (number | null)[]} scores */
function training(scores) {
  const recent = recentSteps(scores);
  if (recent === undefined) return card("metrics", "Score while training", "–", "no step yet");
  const { mean, steps, change, error = 0 } = recent;
  const name = `Score, mean of ${steps} step${steps === 1 ? "" : "s"}`;
  if (change === undefined) return card("metrics", name, mean.toFixed(3), "too few steps for a comparison");
  const noise = Math.abs(change) <= 2 * error ? ": no change beyond noise" : "";
  return card(
    "metrics",
    name,
    mean.toFixed(3),
    `${signed(change, 3)} ± ${error.toFixed(3)} against the ${steps} before${noise}`,
  );
}

/** @param {readonly (number | null)[]} speeds @param {readonly (number | null)[]} times */
function generated(speeds, times) {
  const seconds = times.reduce((/** @type {number} */ sum, time) => sum + (time ?? 0), 0);
  const tokens = speeds.reduce(
    (/** @type {number} */ sum, speed, i) => sum + (speed ?? 0) * (times[i] ?? 0),
    0,
  );
  return card("metrics", "Generated", `${short(tokens)} tokens`, `${duration(seconds)} of training`);
}

/** @param {RunInfo} info @param {(name: string) => readonly (number | null)[]} column */
function bottleneckCard({ status, state }, column) {
  const live = ["running", "paused", "stopping"].includes(state);
  const says = status === undefined ? "the run keeps no status" : doctorText(status, live);
  const [busiest] = ROLES.flatMap((role) => {
    const recent = recentSteps(column(`utilisation/${role}`));
    return recent === undefined ? [] : [{ role, ...recent }];
  }).sort((a, b) => b.mean - a.mean);
  if (!live) return card("line", "State", state, says);
  if (busiest === undefined || status?.waits.stuck) return card("line", "Bottleneck", state, says);
  const { role, mean, steps } = busiest;
  const detail = `busy ${Math.round(100 * mean)} % of the last ${steps === 1 ? "step" : `${steps} steps`}`;
  return card("line", "Bottleneck", role, detail);
}

/** @param {readonly ShownHint[] | null | undefined} hints */
const suspicions = (hints) => {
  if (hints === undefined) return card("problems", "Hints", "…", "reading the completions");
  return card(
    "problems",
    "Hints",
    hints === null ? "–" : String(hints.length),
    hints === null
      ? "no completion yet"
      : hints.length === 0
        ? "no sign of reward gained otherwise than meant"
        : "reward may be gained otherwise than meant",
  );
};
