import { keepInAddress, noteAddress, numberIn } from "./address.js";
import { choice } from "./choice.js";
import { el, fill, table } from "./dom.js";
import { short } from "./format.js";
import { newestSearch } from "./newest-answer.js";
import { searchSamples } from "./sample-search.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { ProblemsAnswer, NamedProblem, ShownHint } from "../wire.ts" */

const PROBLEMS_A_PAGE = 50;
const HINT_NAMES = {
  "gold-rejected": "Agreeing answers are rejected",
  "longer-and-longer": "Reward rises while length explodes",
  "one-answer": "One answer to everything",
  "empty-thoughts": "Empty thoughts",
};
/** Outlives the tab. @type {{ run: number, kind: string, order: string, domain: string, offset: number }} */
const problemSearch = { run: 0, kind: "all", order: "hardest", domain: "", offset: 0 };

const PROBLEM_TEXTS = /** @type {const} */ (["kind", "order", "domain"]);

keepInAddress("problems", {
  read: () => {
    const { run, offset, kind, order, domain } = problemSearch;
    const number = (/** @type {number} */ value) => (value === 0 ? "" : String(value));
    return { run: number(run), kind, order, domain, offset: number(offset) };
  },
  write: (params) => {
    const [run, offset] = ["run", "offset"].map((name) => numberIn(params.get(name)) ?? 0);
    const [kind, order, domain] = PROBLEM_TEXTS.map((name) => params.get(name) ?? "");
    Object.assign(problemSearch, { run, offset, kind: kind || "all", order: order || "hardest", domain });
  },
});

/** @type {Panel} */
export const problemsPanel = {
  id: "problems",
  title: "Problems",
  empty: (page) =>
    page.visibleRuns().some(({ journal }) => journal) ? undefined : "the run has judged no completion yet",
  mount(root, page) {
    const suspicions = el("section", { className: "hints", "aria-label": "hints" });
    const list = el("div", {});
    const hints = newestSearch(
      suspicions,
      () => askHints(page),
      (answer) => fill(suspicions, ...hintsOf(answer)),
    );
    const problems = newestSearch(
      list,
      () => askProblems(page),
      (answer) => {
        fill(list, ...problemsOf(answer, listAgain, page.connection.frozen));
        noteAddress();
      },
    );
    const start = () => void Promise.all([hints(), problems()]).catch((error) => page.say(error));
    const listAgain = () => void problems().catch((error) => page.say(error));
    fill(root, suspicions, !page.connection.frozen && problemForm(page, start, listAgain), list);
    start();
    return { update: (what) => void (what === "all" && start()) };
  },
};

/** @param {Page} page */
async function askHints(page) {
  const { run } = problemSearch;
  return /** @type {ShownHint[] | null} */ (await page.connection.ask("hints", { run }));
}

/** @param {ShownHint[] | null} hints */
function hintsOf(hints) {
  const cards = (hints ?? []).map((hint) => hintCard(problemSearch.run, hint));
  const none = hints === null ? "The run has judged no completion yet." : "No signs of reward hacking.";
  return [el("h2", {}, "Hints"), ...(cards.length > 0 ? cards : [el("p", { className: "muted" }, none)])];
}

/** @param {number} run @param {ShownHint} hint */
function hintCard(run, { kind, says, quotes, samples, domain, problem }) {
  const conditions = { domain, problem: problem === undefined ? "" : String(problem) };
  const see = samples.map(({ row, step, attempt, problem: of }) =>
    el(
      "button",
      { type: "button", onclick: () => searchSamples(run, conditions, row) },
      `${problem === undefined ? `problem ${of}, ` : ""}step ${step}, attempt ${attempt}`,
    ),
  );
  return el(
    "div",
    { className: "card hint", "data-kind": kind },
    el("h3", {}, HINT_NAMES[kind]),
    el("p", {}, says),
    quotes.length > 0 &&
      el(
        "dl",
        {},
        ...quotes.flatMap(([name, text]) => [
          el("dt", {}, name),
          el("dd", { className: "written", dir: "auto" }, text),
        ]),
      ),
    el("p", { className: "attempts" }, "see ", ...see),
  );
}

/** @param {Page} page @returns {Promise<ProblemsAnswer | null>} */
async function askProblems(page) {
  const params = { ...problemSearch, limit: PROBLEMS_A_PAGE };
  return /** @type {ProblemsAnswer | null} */ (await page.connection.ask("problems", params));
}

/** @param {ProblemsAnswer | null} answer @param {() => void} again @param {boolean} frozen @returns {(Node | false)[]} */
function problemsOf(answer, again, frozen) {
  if (answer === null) return [];
  const { total, problems } = answer;
  const { run, offset } = problemSearch;
  const move = (/** @type {number} */ by) => () => {
    problemSearch.offset = Math.max(0, offset + by);
    again();
  };
  const last = offset + problems.length;
  return [
    el(
      "p",
      { className: "count", role: "status" },
      total === 0 ? "no problem matches" : `${offset + 1} to ${last} of ${total} problems`,
    ),
    table(
      [
        "problem",
        "from",
        "family",
        "level",
        "groups",
        "judged",
        "unscored",
        "solved",
        "first → last",
        "steps",
        "tokens",
      ],
      problems.map((one) => problemRow(run, one)),
    ),
    !frozen &&
      el(
        "p",
        { className: "pager" },
        el("button", { type: "button", disabled: offset === 0, onclick: move(-PROBLEMS_A_PAGE) }, "back"),
        el("button", { type: "button", disabled: last >= total, onclick: move(PROBLEMS_A_PAGE) }, "more"),
      ),
  ];
}

/** @param {number} run @param {NamedProblem} one @returns {(string | Node)[]} */
function problemRow(run, one) {
  const percent = (/** @type {number} */ rate) => `${Math.round(100 * rate)} %`;
  const conditions = { domain: one.domain, problem: String(one.problem), order: "newest" };
  const open = () => searchSamples(run, conditions);
  return [
    el(
      "button",
      {
        type: "button",
        className: "link",
        dir: "auto",
        title: one.row ?? `problem ${one.problem}`,
        onclick: open,
      },
      one.begins ?? `${one.domain} ${one.problem}`,
    ),
    `${one.domain} ${one.row?.split("/").at(-1) ?? one.problem}`,
    one.family,
    String(one.level),
    String(one.groups),
    String(one.judged),
    String(one.unscored),
    percent(one.solveRate),
    one.groups > 1 ? `${percent(one.firstRate)} → ${percent(one.lastRate)}` : "–",
    one.firstStep === one.lastStep ? String(one.firstStep) : `${one.firstStep} … ${one.lastStep}`,
    short(one.meanTokens),
  ];
}

/** @param {Page} page @param {() => void} anew @param {() => void} again */
function problemForm(page, anew, again) {
  const keep = (/** @type {"kind" | "order" | "domain"} */ name) => (/** @type {string} */ value) => {
    problemSearch[name] = value;
    problemSearch.offset = 0;
    again();
  };
  const { runs } = page.store;
  const names = runs[problemSearch.run]?.domains ?? [];
  return el(
    "form",
    {
      className: "tools",
      "aria-label": "which problems",
      onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
    },
    runs.length > 1 &&
      choice(
        "run",
        "run",
        runs.map(({ run }) => String(run)),
        String(problemSearch.run),
        (value) => {
          Object.assign(problemSearch, { run: Number(value), offset: 0 });
          anew();
        },
        (value) => page.runLabel(Number(value)),
      ),
    choice(
      "solved",
      "kind",
      ["all", "never", "always", "sometimes", "flipped"],
      problemSearch.kind,
      keep("kind"),
    ),
    choice("domain", "domain", ["", ...names], problemSearch.domain, keep("domain")),
    choice(
      "first",
      "order",
      ["hardest", "easiest", "gained", "lost", "longest", "most"],
      problemSearch.order,
      keep("order"),
    ),
  );
}
