import { hueName } from "./chart-look.js";
import { askComparison, comparisonSection } from "./comparison-table.js";
import { el, fill, svg, table } from "./dom.js";
import { bytes, duration, short, signed } from "./format.js";
import { newestAnswer } from "./newest-answer.js";
import { verifierTable } from "./verifier-table.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { ShownSummary, VerifierRow } from "../wire.ts" */
/** @import { HeldOutChange } from "../../report/held-out-change.ts" */
/** @import { RunSummary, EvaluationTable, Score, SelectionSummary } from "../../report/summary.ts" */

/** @type {Panel} */
export const resultsPanel = {
  id: "results",
  title: "Results",
  empty: (page) =>
    page.visibleRuns().length > 1 || page.visibleRuns().some(({ summary }) => summary)
      ? undefined
      : "scores before and after appear here when the run has ended",
  mount(root, page) {
    const ask = async () => {
      const runs = page.visibleRuns();
      const of = (/** @type {string} */ name) =>
        Promise.all(runs.map(({ run }) => page.connection.ask(name, { run })));
      const [summaries, verifiers, comparison] = await Promise.all([
        of("summary"),
        of("verifiers"),
        askComparison(page),
      ]);
      return { runs, summaries, verifiers, comparison };
    };
    const show = newestAnswer(ask, ({ runs, summaries, verifiers, comparison }) =>
      fill(
        root,
        comparison !== null && comparisonSection(page, runs, comparison),
        ...runs.flatMap(({ run }, i) => [
          section(page, run, /** @type {ShownSummary | null} */ (summaries[i] ?? null)),
          calledVerifiers(/** @type {readonly VerifierRow[]} */ (verifiers[i])),
        ]),
      ),
    );
    const start = () => void show().catch((error) => page.say(error));
    start();
    return { update: (what) => void (["view", "all", "runs"].includes(what) && start()) };
  },
};

/** @param {readonly VerifierRow[]} rows */
const calledVerifiers = (rows) => rows.length > 0 && verifierTable(rows);

/** @param {Page} page @param {number} run @param {ShownSummary | null} summary */
function section(page, run, summary) {
  const title = page.store.runs.length > 1 && el("h2", {}, page.runLabel(run));
  if (summary === null)
    return el(
      "section",
      {},
      title,
      el("p", { className: "muted" }, "Scores before and after appear here when the run has ended."),
    );
  const { before, after, selection, notes } = summary;
  return el(
    "section",
    { "data-run": run },
    title,
    cards(summary),
    ...before.map((was, i) => scores(was, after[i])),
    ...notes.map((note) => el("p", { className: "muted note" }, note)),
    selection !== undefined && candidates(selection),
    phases(summary.seconds),
  );
}

/** @param {ShownSummary} summary */
function cards({ before, after, headline, seconds, steps, tokensPerSecond, peakRssBytes }) {
  const setting = headline?.setting ?? 0;
  const [was, is] = [before[setting]?.mean, after[setting]?.mean];
  const wall = Object.values(seconds).reduce((a, b) => a + b, 0);
  const card = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ detail) =>
    el(
      "div",
      { className: "card" },
      el("div", { className: "muted" }, name),
      el("b", { className: "value" }, value),
      el("div", { className: "muted" }, detail),
    );
  return el(
    "div",
    { className: "cards" },
    was &&
      is &&
      card(
        `Mean score, ${settingName(before[setting])}`,
        `${was.score.toFixed(3)} → ${is.score.toFixed(3)}`,
        changeText(100 * (is.score - was.score), headline?.change, is.n),
      ),
    was &&
      is &&
      card(
        "Tokens per answer",
        `${was.meanTokens.toFixed(1)} → ${is.meanTokens.toFixed(1)}`,
        `${signed(100 * (is.meanTokens / was.meanTokens - 1), 0)} %`,
      ),
    card("Wall time", duration(wall), `${steps} optimizer steps`),
    card(
      "Throughput",
      `${short(tokensPerSecond.generated)} tokens/s`,
      `generated · ${bytes(peakRssBytes)} peak memory`,
    ),
  );
}

/**
 * The same text as in the overview's headline. @param {number} points @param {HeldOutChange | undefined} change
 * @param {number} answers
 */
const changeText = (points, change, answers) =>
  change === undefined
    ? `${signed(points, 1)} points, ${answers} answers`
    : `${signed(change.points, 1)} ± ${change.error.toFixed(1)} points, ${answers} answers`;

/** @param {EvaluationTable | undefined} setting */
const settingName = (setting) =>
  `T=${setting?.temperature}${(setting?.topP ?? 1) === 1 ? "" : `, top-p ${setting?.topP}`}`;

/** @param {EvaluationTable} before @param {EvaluationTable | undefined} after */
function scores(before, after) {
  /** @type {[string, Score, Score | undefined][]} */
  const rows = Object.entries(before.domains).map(([name, was]) => [name, was, after?.domains[name]]);
  for (const [name, was] of Object.entries(before.sets ?? {}))
    rows.push([`${name} (set)`, was, after?.sets?.[name]]);
  if (Object.keys(before.domains).length > 1) rows.push(["mean", before.mean, after?.mean]);
  const pair = (
    /** @type {Score} */ was,
    /** @type {Score | undefined} */ is,
    /** @type {(score: Score) => string} */ text,
  ) => `${text(was)} → ${is ? text(is) : "–"}`;
  return el(
    "div",
    { className: "card" },
    table(
      ["domain", "0 · score · 1", "points", "before → after", "solved", "tokens", "truncated", "n"],
      rows.map(([name, was, is], hue) => [
        name,
        dumbbell(was, is, `var(${hueName(hue)})`),
        is ? signed(100 * (is.score - was.score), 1) : "",
        pair(was, is, (s) => `${s.score.toFixed(3)} ±${s.standardError.toFixed(3)}`),
        pair(was, is, (s) => s.solveRate.toFixed(3)),
        pair(was, is, (s) => s.meanTokens.toFixed(1)),
        pair(was, is, (s) => `${(100 * s.truncation).toFixed(1)} %`),
        was.n === is?.n || is === undefined ? String(was.n) : `${was.n} → ${is.n}`,
      ]),
      `Held-out problems, ${settingName(before)}`,
    ),
  );
}

/** Hollow before, full after, bars of two standard errors to each side. @param {Score} was @param {Score | undefined} is @param {string} hue */
function dumbbell(was, is, hue) {
  const x = (/** @type {number} */ score) => `${(100 * Math.min(1, Math.max(0, score))).toFixed(2)}%`;
  const line = (/** @type {number} */ from, /** @type {number} */ to, /** @type {{}} */ look) =>
    svg("line", { x1: x(from), x2: x(to), y1: 11, y2: 11, stroke: hue, ...look });
  const bar = (/** @type {Score} */ { score, standardError }) =>
    line(score - 2 * standardError, score + 2 * standardError, {
      "stroke-width": 6,
      "stroke-opacity": 0.22,
      "stroke-linecap": "round",
    });
  return svg(
    "svg",
    {
      class: "dumbbell",
      role: "img",
      "aria-label": `score ${was.score.toFixed(3)} to ${is?.score.toFixed(3) ?? "unknown"}`,
    },
    line(0, 1, { stroke: "var(--rule)" }),
    bar(was),
    ...(is ? [bar(is), line(was.score, is.score, { "stroke-width": 2 })] : []),
    svg("circle", { cx: x(was.score), cy: 11, r: 5, fill: "var(--card)", stroke: hue, "stroke-width": 2 }),
    ...(is ? [svg("circle", { cx: x(is.score), cy: 11, r: 6, fill: hue })] : []),
  );
}

/** @param {SelectionSummary} selection */
function candidates({ best, runnerUp, candidates }) {
  const domains = Object.keys(candidates[0]?.domains ?? {});
  const rows = candidates.map(({ step, score, standardError, meanTokens, domains: scores }) => [
    step === best.step ? `${step} (best)` : String(step),
    `${score.toFixed(3)} ±${standardError.toFixed(3)}`,
    ...domains.map((domain) => scores[domain]?.toFixed(3) ?? "–"),
    meanTokens.toFixed(1),
  ]);
  const lead =
    runnerUp &&
    `Step ${runnerUp.step} is ${runnerUp.behind.toFixed(3)} ± ${runnerUp.behindError.toFixed(3)} behind step ${best.step} on the same problems${runnerUp.behind < 2 * runnerUp.behindError ? ": within two standard errors" : ""}. The best of several is flattered by chance.`;
  return el(
    "div",
    { className: "card" },
    table(["step", "mean", ...domains, "tokens"], rows, "Held-out problems while it trained"),
    lead && el("p", { className: "muted" }, lead),
  );
}

/** Wall time by phase. @param {RunSummary["seconds"]} seconds */
function phases(seconds) {
  const parts = Object.entries(seconds).filter(([, s]) => s > 0);
  const total = parts.reduce((sum, [, s]) => sum + s, 0);
  const hue = (/** @type {number} */ i) => `var(${hueName(i)})`;
  return el(
    "div",
    { className: "card" },
    el("h3", {}, "Where the time went"),
    el(
      "div",
      { className: "phases" },
      ...parts.map(([, s], i) => styled(el("div"), { width: `${(100 * s) / total}%`, background: hue(i) })),
    ),
    el(
      "ul",
      { className: "legend" },
      ...parts.map(([name, s], i) =>
        el(
          "li",
          {},
          styled(el("span", { className: "chip" }), { background: hue(i) }),
          name,
          " ",
          el("b", {}, duration(s)),
        ),
      ),
    ),
  );
}

/** @template {HTMLElement} T @param {T} node @param {Partial<CSSStyleDeclaration>} style @returns {T} */
function styled(node, style) {
  Object.assign(node.style, style);
  return node;
}
