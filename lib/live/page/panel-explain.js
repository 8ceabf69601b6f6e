import { el, fill, table } from "./dom.js";

/** @import { Explanation, ExplainedSettings, ExplainedToken } from "../../explain/index.ts" */
/** @import { Panel, Page } from "./page.js" */

/** @type {Panel} */
export const explainPanel = {
  id: "explain",
  title: "Explain",
  needsServer: true,
  mount(root, page) {
    const shown = el("div");
    root.append(explainForm(page, shown), shown);
    return {};
  },
};

const EXPLAIN_FIELDS = /** @type {const} */ (["step", "problem", "attempt"]);

/** @param {Page} page @param {HTMLElement} shown */
function explainForm(page, shown) {
  const inputs = EXPLAIN_FIELDS.map((name) =>
    el("input", { name, type: "number", min: "0", required: true }),
  );
  const set = el("input", { name: "set", type: "text", placeholder: "objective.kind=cispo", size: 30 });
  const button = el("button", { type: "submit" }, "Explain");
  const submit = async () => {
    button.disabled = true;
    fill(shown, el("p", { className: "muted" }, "The step is computed again…"));
    const values = inputs.map(({ name, value }) => [name, value]);
    const changes = set.value.split(/\s+/).filter(Boolean);
    try {
      const run = page.visibleRuns()[0]?.run ?? 0;
      const answer = await page.connection.ask("explain", {
        run,
        ...Object.fromEntries(values),
        set: changes,
      });
      fill(shown, ...explanationOf(/** @type {Explanation} */ (answer)));
    } catch (error) {
      fill(shown);
      page.say(error);
    }
    button.disabled = false;
  };
  const form = el(
    "form",
    { className: "explain" },
    ...inputs.map((input) => el("label", {}, `${input.name} `, input, " ")),
    el("label", {}, "other settings ", set, " "),
    button,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  return form;
}

/** @param {Explanation} answer @returns {HTMLElement[]} */
function explanationOf({ step, version, from, group, domain, problem, attempt, verdict, settings }) {
  const why = verdict.status === "unscored" ? verdict.cause : `score ${verdict.score}, ${verdict.reason}`;
  const names = settings.map(({ set }) => (set.length === 0 ? "as trained" : set.join(" ")));
  return [
    el("h2", {}, `Step ${step}, ${domain} problem ${problem}, attempt ${attempt}, group ${group}`),
    el("p", {}, `${verdict.status} (${why}). Weights of version ${version}, from ${from.checkpoint}.`),
    table(
      ["", ...names],
      EXPLAIN_ROWS.map(([name, of]) => [name, ...settings.map(of)]),
    ),
    el("h2", {}, "Tokens"),
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
  ["objective", ({ objective }) => objective.kind],
  [
    "trained",
    ({ sequence, group }) =>
      sequence ? `sequence ${sequence.sequence}` : `no: ${group.dropped ?? "left out"}`,
  ],
  ["sequence ratio", ({ sequence }) => digits(sequence?.ratio)],
  ["sequence weight", ({ sequence }) => digits(sequence?.weight)],
  ["loss of the sequence", ({ sequence }) => digits(sequence?.loss)],
  ["norm of the step's gradient", ({ step }) => digits(step?.gradNorm)],
];

/** @param {ExplainedToken} token @param {readonly ExplainedSettings[]} settings @param {number} i */
function explainedRow(token, settings, i) {
  const terms = settings.flatMap(({ tokens }) => {
    const term = tokens[i];
    return [digits(term?.ratio), term?.clipped ?? term?.bounded ?? "–", digits(term?.coefficient)];
  });
  const version = token.lag === 0 ? String(token.version) : `${token.version} (−${token.lag})`;
  return [
    `${token.index} ${JSON.stringify(token.text)}`,
    version,
    digits(token.behavior),
    digits(token.now),
    ...terms,
  ];
}
