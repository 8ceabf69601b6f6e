/** @import { GroupsAnswer, StaticReport, ReportSamples, SamplesAnswer } from "../wire.ts" */

/** Error answer of the server. */
export class Refused extends Error {}

/**
 * Answers a question from a static report's data. @param {StaticReport} frozen @param {string} name @param
 * {URLSearchParams} query
 */
export function reportAnswer({ overview, series, answers, samples }, name, query) {
  if (name === "overview") return overview;
  if (name === "series") return series;
  if (name === "samples") return samples === undefined ? null : samplesLike(samples, query);
  if (name === "groups") return samples === undefined ? null : groupsLike(samples, query);
  const row = name === "sample" ? samples?.shown[Number(query.get("row"))] : undefined;
  if (row !== undefined) return row;
  const question = query.size === 0 ? name : `${name}?${query}`;
  if (!Object.hasOwn(answers, question)) throw new Refused("That is not in this file: see hone watch");
  return answers[question];
}

/** @param {ReportSamples} kept @param {URLSearchParams} query @returns {SamplesAnswer} */
function samplesLike(kept, query) {
  const found = keptLike(kept, query);
  return { total: found.length, samples: pageOf(found, query) };
}

/** Groups in the order of the first completion of each. @param {ReportSamples} kept @param {URLSearchParams} query @returns {GroupsAnswer} */
function groupsLike(kept, query) {
  const found = keptLike(kept, query);
  const key = (/** @type {{ step: number, group: number }} */ { step, group }) => `${step} ${group}`;
  /** @type {Map<string, number[]>} */
  const rows = new Map();
  for (const one of found) rows.set(key(one), [...(rows.get(key(one)) ?? []), one.row]);
  const whole = new Map(kept.groups.map((group) => [key(group), group]));
  const groups = [...rows].flatMap(([name, own]) => {
    const group = whole.get(name);
    return group === undefined ? [] : [{ ...group, rows: own.sort((a, b) => a - b) }];
  });
  return { total: groups.length, samples: found.length, groups: pageOf(groups, query) };
}

/** @template T @param {readonly T[]} found @param {URLSearchParams} query @returns {T[]} */
function pageOf(found, query) {
  const offset = Number(query.get("offset") ?? 0);
  return found.slice(offset, offset + Number(query.get("limit") ?? 50));
}

/** The report's completions that meet the conditions, in their order. @param {ReportSamples} kept @param {URLSearchParams} query */
function keptLike({ samples }, query) {
  const is = (/** @type {string} */ name, /** @type {string | number} */ value) =>
    (query.get(name) || String(value)) === String(value);
  const found = samples.filter(
    ({ domain, status, problem, step, group }) =>
      is("domain", domain) &&
      is("status", status) &&
      is("problem", problem) &&
      is("steps", step) &&
      is("group", group),
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
  return found.sort((a, b) => by(a) - by(b));
}
