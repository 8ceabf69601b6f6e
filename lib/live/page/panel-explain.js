import { noteAddress } from "./address.js";
import { choice } from "./choice.js";
import { el, fill, table } from "./dom.js";
import { explainSearch } from "./explain-search.js";
import { bytes } from "./format.js";
import { recipeLine } from "./recipe-line.js";

/** @import { Explanation, ExplainedSettings, ExplainedToken } from "../../explain/index.ts" */
/** @import { Panel, Page } from "./page.js" */

/** @type {Panel} */
export const explainPanel = {
  id: "explain",
  title: "Explain",
  empty: (page) =>
    page.store.runs.some(({ recorded }) => recorded) ? undefined : "the run keeps no rollouts to explain",
  needsServer: true,
  mount(root, page) {
    const shown = el("div", {}, howToAsk(page));
    const kept = page.store.runs.some(({ recorded }) => recorded);
    root.append(
      kept ? explainForm(page, shown) : el("p", { className: "muted" }, NOTHING_KEPT, recipeLine(page)),
    );
    if (kept) root.append(shown);
    return {};
  },
};

/** Names and numbers side by side, however wide the page. @type {typeof table} */
const summaryTable = (head, rows) => {
  const box = table(head, rows);
  box.classList.add("narrow");
  return box;
};

const NOTHING_KEPT =
  "Why the tokens of one completion got their gradient: the step is computed again, from what it trained on. This run keeps none of it. A run does with this line in its recipe: ";

/** @param {Page} page */
function howToAsk(page) {
  const kept = page.store.runs.flatMap(({ run, recorded }) =>
    recorded === undefined
      ? []
      : [
          `${page.runLabel(run)} keeps what it trained on in steps ${recorded.from} to ${recorded.to} (${bytes(recorded.bytes)})`,
        ],
  );
  return el(
    "p",
    { className: "muted", "data-empty": "explain" },
    `Why the tokens of one completion got their gradient. ${kept.join("; ")}. Every completion of those steps in `,
    el("a", { href: "#samples" }, "Samples"),
    " leads here; or say which step, problem and attempt. It takes a second model in memory.",
  );
}

/** @param {Page} page @param {HTMLElement} shown */
function explainForm(page, shown) {
  const button = el("button", { type: "submit" }, "Explain");
  const submit = async () => {
    button.disabled = true;
    fill(shown, el("p", { className: "muted", role: "status" }, "The step is computed again…"));
    try {
      const answer = await page.connection.ask("explain", explainQuestion());
      fill(shown, ...explanationOf(/** @type {Explanation} */ (answer)));
    } catch (error) {
      fill(shown);
      page.say(error);
    }
    button.disabled = false;
  };
  return el(
    "form",
    {
      className: "tools explain",
      "aria-label": "which attempt",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void submit();
      },
    },
    page.store.runs.length > 1 && explainedRun(page),
    explainField("step", "step", { required: true }),
    explainField("problem", "problem", { required: true }),
    explainField("attempt", "attempt", { required: true }),
    explainField("token", "token", { placeholder: "all" }),
    explainField("other settings", "set", { type: "text", placeholder: "objective.kind=cispo", size: 24 }),
    gradientChoice(),
    button,
  );
}

/** Question from the form; empty fields are left out. */
function explainQuestion() {
  const { run, fields } = explainSearch;
  const { step, problem, attempt, token, set, gradient } = fields;
  return {
    run,
    step,
    problem,
    attempt,
    position: token || undefined, // `token` in an address is the key to the page
    gradient: gradient ? 1 : undefined,
    set: set.split(/\s+/).filter(Boolean),
  };
}

/** @param {string} label @param {"step" | "problem" | "attempt" | "token" | "set"} name @param {Partial<HTMLInputElement>} more */
function explainField(label, name, more) {
  const input = el("input", {
    name,
    type: "number",
    min: "0",
    value: explainSearch.fields[name],
    oninput: () => {
      explainSearch.fields[name] = input.value.trim();
      noteAddress();
    },
    ...more,
  });
  return el("label", {}, label, input);
}

function gradientChoice() {
  const box = el("input", {
    name: "gradient",
    type: "checkbox",
    checked: explainSearch.fields.gradient,
    onchange: () => {
      explainSearch.fields.gradient = box.checked;
      noteAddress();
    },
  });
  return el(
    "label",
    {
      className: "flag",
      title: "what part of the step's gradient this is: three to five further backward passes",
    },
    box,
    "share of the gradient",
  );
}

/** @param {Page} page */
const explainedRun = (page) =>
  choice(
    "run",
    "run",
    page.store.runs.map(({ run }) => String(run)),
    String(explainSearch.run),
    (value) => {
      explainSearch.run = Number(value);
      noteAddress();
    },
    (value) => page.runLabel(Number(value)),
  );

/** @param {Explanation} answer @returns {(HTMLElement | undefined | false)[]} */
function explanationOf({ step, version, from, group, domain, problem, attempt, verdict, settings }) {
  const why = verdict.status === "unscored" ? verdict.cause : `score ${verdict.score}, ${verdict.reason}`;
  const names = settings.map(({ set }) => (set.length === 0 ? "as trained" : set.join(" ")));
  return [
    el("h2", {}, `Step ${step}, ${domain} problem ${problem}, attempt ${attempt}, group ${group}`),
    el("p", {}, `${verdict.status} (${why}). Weights of version ${version}, from ${from.checkpoint}.`),
    summaryTable(
      ["", ...names],
      EXPLAIN_ROWS.map(([name, of]) => [name, ...settings.map(of)]).filter(([, ...cells]) =>
        cells.some((cell) => cell !== "–"),
      ),
    ),
    el("h2", {}, "Tokens"),
    settings[0]?.tokens.some(({ given }) => given) &&
      el(
        "p",
        { className: "muted", "data-legend": "given" },
        el("span", { className: "given-token" }, "given"),
        " are the tokens that the environment and the chat template put between the policy's turns: they are in no loss and no ratio, and have no gradient.",
      ),
    table(
      [
        "token",
        "version",
        "then",
        "now",
        ...names.flatMap((name) => [`ratio, ${name}`, "clipped", "coefficient"]),
      ],
      settings[0]?.tokens.map((token, i) => explainedRow(token, settings, i)) ?? [],
    ),
  ];
}

/** @param {number | undefined} value */
const digits = (value) => (value === undefined ? "–" : Number(value.toPrecision(6)).toString());

/** @type {readonly (readonly [string, (settings: ExplainedSettings) => string])[]} */
const EXPLAIN_ROWS = [
  ["R", ({ reward }) => digits(reward?.verdict)],
  [
    "λ × P",
    ({ reward }) => (reward ? `${digits(reward.penalty.scale)} × ${digits(reward.penalty.penalty)}` : "–"),
  ],
  ["reward", ({ reward }) => digits(reward?.reward)],
  ["group's mean ± deviation", ({ group }) => `${digits(group.mean)} ± ${digits(group.deviation)}`],
  ["baseline", ({ reward }) => digits(reward?.baseline)],
  ["divided by", ({ reward }) => digits(reward?.divisor)],
  ["advantage", ({ reward }) => digits(reward?.advantage)],
  ["objective", objectiveOf],
  [
    "trained",
    ({ sequence, group }) =>
      sequence ? `sequence ${sequence.sequence}` : `no: ${group.dropped ?? "left out"}`,
  ],
  ["sequence ratio", ({ sequence }) => digits(sequence?.ratio)],
  ["sequence weight", ({ sequence }) => digits(sequence?.weight)],
  ["loss of the sequence", ({ sequence }) => digits(sequence?.loss)],
  ["update", ({ step }) => (step?.update ? `${step.update.number} of ${step.update.of}` : "–")],
  ["loss of the step", ({ step }) => digits(step?.loss)],
  ["norm of the step's gradient", ({ step }) => digits(step?.gradNorm)],
  ["the same, from the coefficients", ({ gradient }) => digits(gradient?.fromCoefficients)],
  ...partRows("sequence"),
  ...partRows("token"),
];

/** @param {ExplainedSettings} settings */
function objectiveOf({ objective: { kind, slopes } }) {
  if (slopes === undefined) return kind;
  return `${kind}, ${"module" in slopes ? slopes.module : slopes.function} (clip and weight are known to its code alone)`;
}

/** @param {"sequence" | "token"} part @returns {[string, (settings: ExplainedSettings) => string][]} */
function partRows(part) {
  return [
    [`|g_x| of the ${part}`, ({ gradient }) => digits(gradient?.[part]?.norm)],
    [`cosine of the ${part} to the step`, ({ gradient }) => digits(gradient?.[part]?.cosine)],
    [
      `share of the ${part} in the step`,
      ({ gradient }) => {
        const share = gradient?.[part]?.share;
        return share === undefined ? "–" : `${digits(100 * share)} %`;
      },
    ],
  ];
}

/** @param {ExplainedToken} token @param {readonly ExplainedSettings[]} settings @param {number} i */
function explainedRow(token, settings, i) {
  const name = `${token.index} ${JSON.stringify(token.text)}`;
  if (token.given) {
    const none = ["–", "–", ...settings.flatMap(() => ["–", "–", "0"])];
    return [el("span", { className: "given-token" }, name), "given", ...none];
  }
  const terms = settings.flatMap(({ tokens }) => {
    const term = tokens[i];
    return [digits(term?.ratio), term?.clipped ?? term?.bounded ?? "–", digits(term?.coefficient)];
  });
  const version = token.lag === 0 ? String(token.version) : `${token.version} (−${token.lag})`;
  return [name, version, digits(token.behavior), digits(token.now), ...terms];
}
