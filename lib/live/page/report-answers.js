/** @import { StaticReport, ReportSamples, SamplesAnswer } from "../wire.ts" */

/** Error answer of the server. */
export class Refused extends Error {}

/** What a page in a file of its own answers by itself. @param {StaticReport} frozen @param {string} name @param {URLSearchParams} query */
export function reportAnswer({ overview, series, answers, samples }, name, query) {
  if (name === "overview") return overview;
  if (name === "series") return series;
  if (name === "samples") return samples === undefined ? null : samplesLike(samples, query);
  const row = name === "sample" ? samples?.shown[Number(query.get("row"))] : undefined;
  if (row !== undefined) return row;
  const question = query.size === 0 ? name : `${name}?${query}`;
  if (!Object.hasOwn(answers, question)) throw new Refused("That is not in this file: see hone watch");
  return answers[question];
}

/** @param {ReportSamples} kept @param {URLSearchParams} query @returns {SamplesAnswer} */
function samplesLike({ samples }, query) {
  const is = (/** @type {string} */ name, /** @type {string | number} */ value) =>
    (query.get(name) || String(value)) === String(value);
  const found = samples.filter(
    ({ domain, status, problem }) => is("domain", domain) && is("status", status) && is("problem", problem),
  );
  const order = query.get("order") || "newest";
  const key = (/** @type {typeof samples[0]} */ one) =>
    order === "oldest"
      ? one.row
      : order === "longest"
        ? -one.tokens
        : order === "shortest"
          ? one.tokens
          : -one.row;
  const worth = (/** @type {typeof samples[0]} */ one) =>
    one.reward === undefined ? Number.MAX_VALUE : order === "best" ? -one.reward : one.reward;
  const by = order === "best" || order === "worst" ? worth : key;
  found.sort((a, b) => by(a) - by(b));
  const offset = Number(query.get("offset") ?? 0);
  return { total: found.length, samples: found.slice(offset, offset + Number(query.get("limit") ?? 50)) };
}
