import { keepInAddress, numberIn } from "./address.js";

/**
 * Fields of the explanation form, as texts. They outlive the tab, so that other tabs can link to an explanation.
 * @typedef {{ step: string, problem: string, attempt: string, token: string, set: string, gradient: boolean }}
 * ExplainFields
 */

/** @type {{ run: number, fields: ExplainFields }} */
export const explainSearch = {
  run: 0,
  fields: { step: "", problem: "", attempt: "", token: "", set: "", gradient: false },
};

const EXPLAIN_TEXTS = /** @type {const} */ (["step", "problem", "attempt", "token", "set"]);

keepInAddress("explain", {
  read: () => {
    const { run, fields } = explainSearch;
    const texts = Object.fromEntries(EXPLAIN_TEXTS.map((name) => [name, fields[name]]));
    return { run: run === 0 ? "" : String(run), ...texts, gradient: fields.gradient ? "1" : "" };
  },
  write: (params) => {
    const { fields } = explainSearch;
    explainSearch.run = numberIn(params.get("run")) ?? 0;
    for (const name of EXPLAIN_TEXTS) fields[name] = params.get(name) ?? "";
    fields.gradient = params.get("gradient") === "1";
  },
});

/** Goes to the Explain tab with an attempt filled in. @param {number} run @param {{ step: number, drawn: number, attempt: number }} of */
export function explainAttempt(run, { step, drawn, attempt }) {
  const { fields } = explainSearch;
  const place = { step: String(step), problem: String(drawn), attempt: String(attempt), token: "" };
  Object.assign(explainSearch, { run, fields: { ...fields, ...place } });
  location.hash = "explain";
}
