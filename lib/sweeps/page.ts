import { type Figure, figureSvg, type Html, html, htmlDocument, htmlTable } from "../report/index.ts";
import type { JobEntry } from "./job-states.ts";
import type { Section } from "./sections.ts";
import type { SweepPlan } from "./sweep.ts";

/** The page of a sweep, as one self-contained HTML text. */
export function sweepPage(plan: SweepPlan, jobs: readonly JobEntry[], sections: readonly Section[]): string {
  const main = html`${header(plan, jobs)}
${unfinished(jobs)}
${sections.length === 0 ? html`<p class="notes">No run is finished yet.</p>` : undefined}${sections.map(sectionOf)}
${facts(plan)}
<footer>Written by Hone. Tables and figures also lie in tables/ and figures/ beside this page.</footer>`;
  return htmlDocument(`${plan.name} – Hone sweep`, main);
}

function header({ name, cells, seeds }: SweepPlan, jobs: readonly JobEntry[]): Html {
  const runs = jobs.filter(({ cell }) => cell !== undefined);
  const done = runs.filter(({ state }) => state === "done").length;
  const parts = [
    `${cells.length} cells`,
    `seeds ${seeds.join(", ")}`,
    `${done} of ${runs.length} runs finished`,
  ];
  return html`<header><h1>${name}</h1><p class="lead">${parts.join(" · ")}</p></header>`;
}

/** Failed jobs with the tail and path of their logs; stopped and waiting jobs as a number. */
function unfinished(jobs: readonly JobEntry[]): Html | undefined {
  const failed = jobs.filter(({ state }) => state === "failed");
  const open = jobs.filter(
    ({ state, cell }) => cell !== undefined && state !== "done" && state !== "failed",
  ).length;
  if (failed.length === 0 && open === 0) return undefined;
  const items = failed.map(({ cell, seed, error, log }) =>
    item(`${cell ?? "warm start"}, seed ${seed}`, [error ?? "", log]),
  );
  const list = failed.length === 0 ? undefined : html`<div class="card items">${items}</div>`;
  return html`<h2>Not finished</h2>${list}
${open === 0 ? undefined : html`<p class="notes">${open} ${open === 1 ? "run is" : "runs are"} not in the numbers below: repeat the command to continue them.</p>`}`;
}

function sectionOf({ title, text, tables, figures }: Section): Html {
  return html`<h2>${title}</h2><div class="notes before"><p>${text}</p></div>
${tables.map(({ caption, table }) => htmlTable(table, caption))}
<div class="charts figures">${figures.map(figureOf)}</div>`;
}

const figureOf = (figure: Figure): Html =>
  html`<figure class="card"><figcaption><h3>${figure.title}</h3><p>${figure.note}</p></figcaption>${figureSvg(figure)}</figure>`;

function facts({ cells, base }: SweepPlan): Html {
  const items = cells.map(({ name, settings }) => item(name, settings));
  return html`<h2>What ran</h2><div class="card items">${items}
<details><summary>Base recipe</summary><pre>${JSON.stringify(base, null, 2)}</pre></details></div>`;
}

/** Formats a cell's name, followed by lines that may wrap. */
const item = (name: string, lines: readonly string[]): Html =>
  html`<p><b>${name}</b>${lines.map((line) => html`<br>${line}`)}</p>`;
