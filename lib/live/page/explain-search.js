/**
 * What the reader wants explained: the fields of the form, as texts. It outlives the tab, so that other tabs can send the
 * reader there.
 * @typedef {{ step: string, problem: string, attempt: string, token: string, set: string, gradient: boolean }} ExplainFields
 */

/** @type {{ run: number, fields: ExplainFields }} */
export const explainSearch = {
  run: 0,
  fields: { step: "", problem: "", attempt: "", token: "", set: "", gradient: false },
};

/** Goes to the Explain tab with an attempt filled in. @param {number} run @param {{ step: number, drawn: number, attempt: number }} of */
export function explainAttempt(run, { step, drawn, attempt }) {
  const { fields } = explainSearch;
  const place = { step: String(step), problem: String(drawn), attempt: String(attempt), token: "" };
  Object.assign(explainSearch, { run, fields: { ...fields, ...place } });
  location.hash = "explain";
}
