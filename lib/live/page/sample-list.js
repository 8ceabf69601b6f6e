import { el, fill } from "./dom.js";
import { short } from "./format.js";
import { sampleSearch } from "./sample-search.js";

/** @import { Page } from "./page.js" */
/** @import { GroupsAnswer, SampleGroup, SamplesAnswer } from "../wire.ts" */

export const GROUPS_A_PAGE = 20;
const MOST_MEMBERS = 200;

/** Callbacks of a list. @typedef {{ open: (row: number) => Promise<void>, again: () => void }} ListActions */

/** The conditions that are not empty. @param {import("./sample-search.js").SampleSearch} conditions */
export const givenConditions = (conditions) =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== ""));

export const noCompletions = () => el("p", { className: "muted" }, "The run has judged no completion yet.");

/** Groups of completions, each with its members on demand. @param {Page} page @param {GroupsAnswer} answer @param {ListActions} actions */
export function groupsList(page, { total, samples, groups }, actions) {
  const last = sampleSearch.offset + groups.length;
  const count =
    total === 0
      ? "no completion matches"
      : `${sampleSearch.offset + 1} to ${last} of ${total} groups, of ${samples} completions`;
  const { completionsInAll: all } = page.connection;
  const kept = all === undefined ? "" : ` kept in this file; the run has ${short(all)} (hone watch)`;
  return [
    el("p", { className: "count", role: "status" }, count + kept),
    el("ol", { className: "groups" }, ...groups.map((one, i) => groupRow(page, one, i === 0, actions))),
    pager(last, total, actions),
  ];
}

/** @param {Page} page @param {SampleGroup} group @param {boolean} first @param {ListActions} actions */
function groupRow(page, group, first, actions) {
  const members = el("ol", { className: "members" });
  const load = async () => {
    const { asked, run, row } = sampleSearch;
    const { order: _, ...conditions } = givenConditions(asked);
    const which = { steps: group.step, group: group.group, order: "oldest", limit: MOST_MEMBERS };
    const answer = await page.connection.ask("samples", { run, ...conditions, ...which });
    const { samples } = /** @type {SamplesAnswer} */ (answer);
    fill(members, ...samples.map((one) => el("li", {}, sampleRow(one, actions.open, row))));
    members.setAttribute("aria-busy", "false");
  };
  const box = el(
    "details",
    { className: "group", open: first || group.rows.includes(sampleSearch.row ?? -1) },
    groupSummary(group),
    members,
  );
  fill(members, el("li", { className: "muted" }, "loading…"));
  members.setAttribute("aria-busy", "true");
  let asked = false;
  box.addEventListener("toggle", () => {
    if (!box.open || asked) return;
    asked = true;
    void load().catch((error) => page.say(error));
  });
  return el("li", {}, box);
}

/** @param {SampleGroup} group */
function groupSummary({ domain, problem, begins, solved, judged, members, rewards, meanTokens, step, rows }) {
  const how = solved === judged && judged > 0 ? "correct" : solved > 0 ? "partial" : "";
  const shown = rows.length === members ? "" : ` · ${rows.length} of ${members} shown`;
  const range = rewards && (rewards[0] === rewards[1] ? [rewards[0]] : rewards);
  return el(
    "summary",
    {},
    el("span", { className: "what", dir: "auto" }, begins ?? `${domain} ${problem}`),
    el("span", { className: `status ${how}` }, `${solved} of ${judged} solved`),
    el(
      "span",
      { className: "muted" },
      `reward ${range?.map((reward) => reward.toFixed(3)).join(" to ") ?? "–"} · ${short(meanTokens)} tokens each · ${domain} · step ${step}${shown}`,
    ),
  );
}

/** @param {number} last @param {number} total @param {ListActions} actions */
function pager(last, total, { again }) {
  const move = (/** @type {number} */ by) => () => {
    sampleSearch.offset = Math.max(0, sampleSearch.offset + by);
    again();
  };
  return el(
    "p",
    { className: "pager" },
    el(
      "button",
      { type: "button", disabled: sampleSearch.offset === 0, onclick: move(-GROUPS_A_PAGE) },
      "back",
    ),
    el("button", { type: "button", disabled: last >= total, onclick: move(GROUPS_A_PAGE) }, "more"),
  );
}

/** @param {SamplesAnswer["samples"][0]} one @param {(row: number) => Promise<void>} open @param {number | undefined} current */
function sampleRow(one, open, current) {
  return el(
    "button",
    {
      type: "button",
      className: "sample-row",
      "data-row": one.row,
      "aria-current": one.row === current ? "true" : "false",
      onclick: () => void open(one.row),
    },
    el("span", { className: `status ${one.status}` }, one.status.replace("_", " ")),
    el("span", { className: "muted" }, `attempt ${one.attempt}`),
    el(
      "span",
      { className: "muted" },
      `${worthOf(one)} · ${short(one.tokens)} tokens${one.finish === "length" ? ", cut" : ""}`,
    ),
    el("span", { className: "excerpt" }, one.excerpt),
  );
}

/** The reward, and its components if they differ from it. @param {SamplesAnswer["samples"][0]} one */
function worthOf({ reward, score, penaltyScale = 0, penalty = 0 }) {
  if (reward === undefined) return "no reward";
  const share = penaltyScale * penalty;
  const parts = score === undefined || score === reward ? "" : ` · score ${score.toFixed(3)}`;
  return `reward ${reward.toFixed(3)}${parts}${share === 0 ? "" : ` · penalty ${share.toFixed(3)}`}`;
}
