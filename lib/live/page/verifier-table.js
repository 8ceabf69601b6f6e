import { el, table } from "./dom.js";
import { short } from "./format.js";

/** @import { VerifierRow } from "../wire.ts" */

const VERIFIER_COLUMNS = [
  ...["verifier", "judged", "correct", "partial", "wrong", "unscored"],
  ...["calls", "called again", "time-outs", "crashes", "mean ms", "p95 ms"],
];

/** Statistics of each verifier over the whole run. @param {readonly VerifierRow[]} rows */
export const verifierTable = (rows) =>
  el(
    "div",
    { className: "card", "data-table": "verifiers" },
    table(VERIFIER_COLUMNS, rows.map(verifierCells), "Verifiers, all steps"),
    el(
      "p",
      { className: "muted note" },
      "Judged counts a completion once. Wrong are also those without an answer, and those that cannot be read. Calls, mean and p95 are of those that came back while it trained: the evaluation before, which Pipeline counts too, is not in them.",
    ),
  );

/** @param {VerifierRow} row */
function verifierCells({ name, judged, correct, partial, unscored, ...row }) {
  const { calls, retries, timeouts, crashes, meanMs, p95Ms } = row;
  const wrong = judged && judged - (correct ?? 0) - (partial ?? 0) - (unscored ?? 0);
  const counts = [judged, correct, partial, wrong, unscored, calls, retries, timeouts, crashes];
  const text = (/** @type {number | undefined} */ value, /** @type {(value: number) => string} */ as) =>
    value === undefined ? "–" : as(value);
  return [name, ...counts.map((count) => text(count, String)), text(meanMs, short), text(p95Ms, short)];
}
