import { noteAddress } from "./address.js";
import { choice } from "./choice.js";
import { el, fill } from "./dom.js";
import { newestSearch } from "./newest-answer.js";
import { askedChange, sampleSearch } from "./sample-search.js";

/** @import { Page } from "./page.js" */
/** @import { BeforeAfterAnswer } from "../wire.ts" */

/** @typedef {BeforeAfterAnswer["problems"][number]} Shown */
/** @typedef {Shown["before"][number]} Said */

const CHANGE_NAMES = { all: "all", gained: "gained", lost: "lost", wrong: "both wrong", same: "as before" };
/** Rows per page with a server, and in a static report, which contains few. */
const [CHANGES_A_PAGE, FROZEN_CHANGES] = [
  { limit: 20, chars: 20_000 },
  { limit: 5, chars: 1500 },
];

/**
 * Held-out problems with what was answered before training and at a later evaluation.
 * @param {HTMLElement} root @param {Page} page @returns {import("./page.js").Mounted}
 */
export function showBeforeAfter(root, page) {
  const { frozen } = page.connection;
  const size = frozen ? FROZEN_CHANGES : CHANGES_A_PAGE;
  const search = newestSearch(
    root,
    async () =>
      /** @type {BeforeAfterAnswer | null} */ (
        await page.connection.ask("before-after", { run: sampleSearch.run, ...askedChange, ...size })
      ),
    (answer) => {
      fill(root, ...(answer === null ? [noEvaluations()] : changesView(answer, again, page)));
      noteAddress();
    },
  );
  const again = () => void search().catch((error) => page.say(error));
  again();
  return {};
}

const noEvaluations = () =>
  el(
    "p",
    { className: "muted" },
    "No two evaluations of this run have kept their answers: they do where verification.journal is on, before training, at every evaluation.everySteps, and after. Runs of earlier versions kept none.",
  );

/** @param {BeforeAfterAnswer} answer @param {() => void} again @param {Page} page @returns {(Node | false)[]} */
function changesView(answer, again, page) {
  const { total, problems, counts, before, after } = answer;
  const all = counts.gained + counts.lost + counts.wrong + counts.same;
  const { offset } = askedChange;
  const move = (/** @type {number} */ by) => () => {
    askedChange.offset = Math.max(0, offset + by);
    again();
  };
  const last = offset + problems.length;
  return [
    changesForm(answer, again, page),
    el(
      "p",
      { className: "count", role: "status" },
      `Of ${all} held-out problems ${counts.gained} gained, ${counts.lost} lost, ${counts.wrong} wrong at both times, ${counts.same} as before, from step ${before.step} to step ${after.step}. `,
      total === 0
        ? "None is like that."
        : `Shown: ${offset + 1} to ${last} of ${total}, those that changed most first.`,
    ),
    ...problems.map((one, i) => heldOutProblem(one, answer, i === 0)),
    !page.connection.frozen &&
      el(
        "p",
        { className: "pager" },
        el(
          "button",
          { type: "button", disabled: offset === 0, onclick: move(-CHANGES_A_PAGE.limit) },
          "back",
        ),
        el(
          "button",
          { type: "button", disabled: last >= total, onclick: move(CHANGES_A_PAGE.limit) },
          "more",
        ),
      ),
  ];
}

/** @param {BeforeAfterAnswer} answer @param {() => void} again @param {Page} page */
function changesForm({ moments, after }, again, page) {
  const keep = (/** @type {"kind" | "domain" | "at"} */ name) => (/** @type {string} */ value) => {
    Object.assign(askedChange, { [name]: value, offset: 0 });
    again();
  };
  const { frozen } = page.connection;
  const domains = page.store.runs[sampleSearch.run]?.domains ?? [];
  return el(
    "form",
    {
      className: "tools",
      "aria-label": "which held-out problems",
      onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
    },
    choice(
      "change",
      "kind",
      ["all", "gained", "lost", "wrong"],
      askedChange.kind,
      keep("kind"),
      (value) => CHANGE_NAMES[/** @type {keyof typeof CHANGE_NAMES} */ (value)],
    ),
    !frozen &&
      domains.length > 1 &&
      choice("domain", "domain", ["", ...domains], askedChange.domain, keep("domain")),
    !frozen &&
      moments.length > 2 &&
      choice(
        "after",
        "at",
        moments.slice(1).map(({ step }) => String(step)),
        String(after.step),
        keep("at"),
        (step) => `step ${step}`,
      ),
  );
}

/** @param {Shown} one @param {BeforeAfterAnswer} answer @param {boolean} open */
function heldOutProblem(one, { before, after }, open) {
  const { solved, judged } = one;
  return el(
    "details",
    { className: "held-out", open },
    el(
      "summary",
      {},
      el("span", { className: `change ${one.change}` }, CHANGE_NAMES[one.change]),
      el("span", { className: "what" }, `${solved[0]} of ${judged[0]} → ${solved[1]} of ${judged[1]} solved`),
      el("span", { className: "muted" }, `${one.set ?? one.domain} ${one.problem}`),
      el(
        "span",
        { className: "excerpt", dir: "auto" },
        one.question.replace(/\s+/g, " ").trim().slice(0, 120),
      ),
    ),
    el("h3", {}, "Question"),
    heldOutText(one.question),
    el("h3", {}, "Reference"),
    heldOutText(one.reference),
    el(
      "div",
      { className: "side-by-side" },
      heldOutSide(`Before, step ${before.step}`, one.before),
      heldOutSide(`After, step ${after.step}`, one.after),
    ),
  );
}

/** @param {string} title @param {readonly Said[]} answers */
const heldOutSide = (title, answers) =>
  el(
    "section",
    {},
    el("h3", {}, title),
    ...answers.flatMap(({ attempt, status, tokens, finish, text }) => [
      el(
        "p",
        { className: "verdict" },
        el("span", { className: `status ${status}` }, status.replace("_", " ")),
        ` attempt ${attempt}, ${tokens} tokens${finish === "length" ? ", cut" : ""}`,
      ),
      heldOutText(text === "" ? "(nothing)" : text),
    ]),
  );

/** @param {string} text */
const heldOutText = (text) => el("pre", { className: "written", dir: "auto" }, text);
