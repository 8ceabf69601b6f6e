import { el, fill, svg, table } from "./dom.js";
import { explainAttempt } from "./explain-search.js";
import { short } from "./format.js";
import { newestAnswer } from "./newest-answer.js";
import { recipeLine } from "./recipe-line.js";

/** @import { Page } from "./page.js" */
/** @import { ProblemAnswer, ShownSample, Taking } from "../wire.ts" */

/** Number of characters of a prompt up to which it is shown unfolded. */
const OPEN_PROMPT_CHARS = 600;

/** Everything about one completion. @param {Page} page @param {number} run @param {ShownSample} one */
export function sampleView(page, run, one) {
  const { frozen } = page.connection; // a static report keeps single completions, but not the groups of a problem
  const over = el("div", { className: "over-time" });
  if (!frozen) void overTime(page, run, one, over).catch((error) => page.say(error));
  return el(
    "article",
    { className: "sample", "aria-label": `completion of step ${one.step}` },
    el(
      "h2",
      {},
      `${one.domain} problem ${one.problem} `,
      el("small", {}, `step ${one.step}, group ${one.group}, attempt ${one.attempt}`),
    ),
    verdictLine(one),
    facts(one),
    !frozen && explainLink(page, run, one),
    one.prompt !== undefined &&
      folded("Prompt, as the model saw it", one.prompt, one.prompt.length < OPEN_PROMPT_CHARS),
    ...texts(one),
    said("Reference", one.reference, "reference"),
    !frozen && el("h3", {}, "The same problem over time"),
    over,
  );
}

/**
 * Links to the explanation if the run keeps the step's rollouts, or says why there is none. @param {Page} page @param
 * {number} run @param {ShownSample} one
 */
function explainLink(page, run, one) {
  const recorded = page.store.runs[run]?.recorded;
  if (recorded !== undefined && recorded.from <= one.step && one.step <= recorded.to)
    return el(
      "p",
      {},
      el(
        "button",
        { type: "button", className: "link", onclick: () => explainAttempt(run, one) },
        "Why this gradient? Explain the attempt",
      ),
    );
  if (recorded === undefined)
    return el(
      "p",
      { className: "muted" },
      "Why this gradient? A run that keeps rollouts can tell: ",
      recipeLine(page),
    );
  return el(
    "p",
    { className: "muted" },
    `Why this gradient? The run keeps the rollouts of steps ${recorded.from} to ${recorded.to} alone; this is of step ${one.step}.`,
  );
}

/** @param {ShownSample} one */
function texts(one) {
  if (one.turns !== undefined)
    return one.turns.map(({ by, text }) => {
      if (by === "nobody") return el("p", { className: "muted" }, text);
      return by === "policy" ? said("Policy", text, "answer") : said("Environment", text, "given");
    });
  return [
    one.thought !== undefined && folded(`Thought, ${one.thoughtChars} characters`, one.thought, false),
    said("Answer", one.response === "" ? "(nothing)" : one.response, "answer"),
  ];
}

/** @param {ShownSample} one */
function verdictLine(one) {
  const later = one.rescored === undefined ? "" : `; judged again: ${one.rescored}`;
  return el(
    "p",
    { className: "verdict" },
    el("span", { className: `status ${one.status}` }, one.status.replace("_", " ")),
    ` ${one.reason ?? ""}${later}`,
  );
}

/** @param {ShownSample} one */
function facts(one) {
  const runs = one.versionRuns.flatMap((token, i) =>
    i % 2 === 0 ? [`${one.versionRuns[i + 1]} from token ${token}`] : [],
  );
  const ended = {
    eos: "ended by itself",
    stop: "ended by itself",
    length: "cut by the budget",
    abort: "aborted",
    turns: "out of turns",
  }[one.finish];
  const rows = [
    ["reward", number(one.reward)],
    ["score", number(one.score)],
    ["penalty", one.penalty === undefined ? "–" : `${number(one.penaltyScale)} × ${number(one.penalty)}`],
    ["advantage", number(one.advantage)],
    ["tokens", `${one.tokens}, ${ended}`],
    ["turns", one.turns === undefined ? "" : String(one.turns.filter(({ by }) => by === "policy").length)],
    ["weights", runs.join(", ") || "–"],
    ["family, level", `${one.family}, ${one.level}`],
    ["verifier", one.verifier],
    ["not trained on", one.dropped ?? (one.masked ? "cut, masked" : "")],
  ];
  return el(
    "dl",
    {},
    ...rows
      .filter(([, value]) => value !== "")
      .flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

/** @param {number | undefined} value */
const number = (value) => (value === undefined ? "–" : String(Number(value.toFixed(6))));

/** @param {string} title @param {string} text @param {boolean} open */
function folded(title, text, open) {
  return el("details", { open }, el("summary", {}, title), written(text));
}

/** @param {string} title @param {string} text @param {string} className */
function said(title, text, className) {
  return el("section", { className: `said ${className}` }, el("h3", {}, title), written(text));
}

/** Untrusted text of a model or a data set, in its own box. @param {string} text */
const written = (text) => el("pre", { className: "written", tabIndex: 0, dir: "auto" }, text);

/** @param {Page} page @param {number} run @param {ShownSample} one @param {HTMLElement} root */
async function overTime(page, run, one, root) {
  const { domain, problem } = one;
  const answer = /** @type {ProblemAnswer} */ (
    await page.connection.ask("problem", { run, domain, problem })
  );
  const { takings } = answer;
  const beside = el("div", {});
  let wanted = one.row;
  const show = newestAnswer(
    async () => /** @type {ShownSample} */ (await page.connection.ask("sample", { run, row: wanted })),
    (other) => {
      fill(beside, other.step < one.step ? sideBySide(other, one) : sideBySide(one, other));
      beside.scrollIntoView({ block: "nearest" });
    },
  );
  const compare = (/** @type {number} */ row) => {
    wanted = row;
    void show().catch((error) => page.say(error));
  };
  const rows = takings.map((taking) => [
    String(taking.step),
    `${taking.solved} of ${taking.judged}`,
    taking.meanReward === undefined ? "–" : taking.meanReward.toFixed(3),
    short(taking.meanTokens),
    el(
      "span",
      { className: "attempts" },
      ...taking.rows.map((row, i) => attemptButton(compare, one, row, i)),
    ),
  ]);
  fill(
    root,
    takings.length > 1 && rates(takings),
    table(["step", "solved", "reward", "tokens", "set beside this one"], rows),
    beside,
  );
}

/** @param {(row: number) => void} compare @param {ShownSample} one @param {number} row @param {number} attempt */
function attemptButton(compare, one, row, attempt) {
  return el(
    "button",
    {
      type: "button",
      disabled: row === one.row,
      title: "set this attempt beside the one above",
      onclick: () => compare(row),
    },
    String(attempt),
  );
}

/** @param {ShownSample} before @param {ShownSample} after */
function sideBySide(before, after) {
  const side = (/** @type {ShownSample} */ one) =>
    el(
      "section",
      { "aria-label": `step ${one.step}, attempt ${one.attempt}` },
      el("h3", {}, `step ${one.step}, attempt ${one.attempt}`),
      verdictLine(one),
      el("p", { className: "muted" }, `reward ${number(one.reward)}, ${one.tokens} tokens`),
      ...texts(one),
    );
  return el("div", { className: "side-by-side" }, side(before), side(after));
}

/** Solve rate by step, a dot a group. @param {readonly Taking[]} takings */
export function rates(takings) {
  const [first, last] = [takings[0].step, /** @type {Taking} */ (takings.at(-1)).step];
  const x = (/** @type {number} */ step) => 1 + (98 * (step - first)) / Math.max(1, last - first);
  const y = (/** @type {number} */ rate) => 36 - 32 * rate;
  const points = takings.map(({ step, solveRate }) => `${x(step).toFixed(2)},${y(solveRate).toFixed(2)}`);
  const dot = (/** @type {Taking} */ taking) =>
    svg(
      "circle",
      { cx: `${x(taking.step)}%`, cy: y(taking.solveRate), r: 3.5, fill: "var(--accent)" },
      svg("title", {}, `step ${taking.step}: ${taking.solved} of ${taking.judged} solved`),
    );
  return svg(
    "svg",
    { class: "rates", role: "img", "aria-label": `solve rate from step ${first} to ${last}` },
    ...[0, 1].map((rate) =>
      svg("line", { x1: "0%", x2: "100%", y1: y(rate), y2: y(rate), stroke: "var(--rule)" }),
    ),
    svg(
      "svg",
      { viewBox: "0 0 100 40", preserveAspectRatio: "none", width: "100%", height: 40 },
      svg("polyline", {
        points: points.join(" "),
        fill: "none",
        stroke: "var(--accent)",
        "vector-effect": "non-scaling-stroke",
      }),
    ),
    ...takings.map(dot),
  );
}
