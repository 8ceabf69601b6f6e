import { CHART_SCRIPT } from "./chart-script.ts";
import { buildCharts, type Chart, type Unit } from "./charts.ts";
import { htmlDocument } from "./document.ts";
import { Html, html, jsonBlock } from "./html.ts";
import type { RunFolder } from "./run-reader.ts";
import { headlineCards, phaseBar, scoreTables, selectionTable } from "./scoreboard.ts";
import { verifierTable } from "./verifier-table.ts";

/** uPlot's script and style as text. */
export interface ChartLibrary {
  readonly script: string;
  readonly style: string;
}

/** The report as one HTML text: works from a file, without network, in light and dark. */
export function reportPage(run: RunFolder, library: ChartLibrary): string {
  const domains = domainNames(run);
  const charts = buildCharts(run.steps, domains);
  const main = html`${header(run)}
${run.summary && headlineCards(run.summary)}
${run.summary && run.summary.before.length > 0 ? html`<h2>Before and after</h2>${scoreTables(run.summary, domains)}` : undefined}
${run.summary?.selection && html`<h2>Which step is best</h2>${selectionTable(run.summary.selection)}`}
${charts.length > 0 ? html`<h2>While it trained</h2><div class="charts">${charts.map(figure)}</div>` : html`<p class="notes">No training step is in the run log yet.</p>`}
${verifierTable(run.steps)}
${run.summary && Object.keys(run.summary.seconds).length > 0 ? html`<h2>Where the time went</h2>${phaseBar(run.summary)}` : undefined}
${facts(run)}
<footer>Written by Hone. Charts drawn by uPlot (MIT licence, Leon Sorokin). Drag in a chart to zoom, double-click to go back.</footer>`;
  const scripts = html`${jsonBlock("charts", charts)}
<script>${new Html(library.script)}</script>
<script>${new Html(CHART_SCRIPT)}</script>`;
  return htmlDocument(`${run.manifest.name} – Hone report`, main, { style: library.style, scripts });
}

/** In the order of the recipe's mixture where the log has it, else of the tables. */
function domainNames({ steps, summary }: RunFolder): string[] {
  const prefix = "mixture/target/";
  const logged = Object.keys(steps[0]?.metrics ?? {}).filter((name) => name.startsWith(prefix));
  if (logged.length > 0) return logged.map((name) => name.slice(prefix.length));
  return Object.keys(summary?.before[0]?.domains ?? {});
}

function header({ manifest, summary, steps, stepsEach = 1 }: RunFolder): Html {
  const seeds = Object.entries(manifest.seeds).map(([use, seed]) => `${use} seed ${seed}`);
  const state = summary?.state ?? "unfinished";
  const when = manifest.startedAt.slice(0, 16).replace("T", " ");
  const parts = [
    state,
    stepsEach > 1
      ? `${steps.at(-1)!.step} steps; each point is the mean of up to ${stepsEach}`
      : `${steps.length} ${steps.length === 1 ? "step" : "steps"} logged`,
    ...seeds,
    `${when} UTC`,
  ];
  return html`<header><h1>${manifest.name}</h1><p class="lead">${parts.join(" · ")}</p></header>`;
}

/** Beside a chart's title; percents and seconds stand at the axis already. */
const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  fraction: "",
  score: "0 to 1",
  tokens: "tokens",
  seconds: "",
  steps: "steps",
  nats: "nats",
  "per-second": "tokens/s",
  number: "",
};

function figure(chart: Chart, index: number): Html {
  const legend = chart.series.map((series, i) =>
    series.look === undefined
      ? html`<li data-series="${i}"><span class="chip" style="background:var(--hue-${series.hue % 7})"></span>${series.label}<b></b></li>`
      : undefined,
  );
  return html`<figure class="card" id="chart-${index}"><figcaption><h3>${chart.title} <small>${UNIT_NAMES[chart.unit]}</small></h3><p>${chart.note}</p></figcaption>
<div class="plot"></div><ul class="legend"><li class="at"></li>${legend}</ul></figure>`;
}

function facts({ manifest }: RunFolder): Html {
  const rows: [string, string][] = [
    ...Object.entries(manifest.seeds).map(([use, seed]): [string, string] => [`seed, ${use}`, String(seed)]),
    ...Object.entries(manifest.versions).map(([name, value]): [string, string] => [name, String(value)]),
    ["commit", manifest.commit ?? "none"],
    ...(manifest.command === undefined ? [] : [["command", manifest.command.join(" ")] as [string, string]]),
  ];
  return html`<h2>What ran</h2><div class="card">
<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<details><summary>Resolved recipe</summary><pre>${JSON.stringify(manifest.config, null, 2) ?? ""}</pre></details></div>`;
}
