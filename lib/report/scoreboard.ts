import { duration, short } from "./ansi.ts";
import { type Html, html } from "./html.ts";
import type { EvaluationTable, RunSummary, Score, SelectionSummary } from "./summary.ts";
import { honestyNotes, scoreRows, settingName, signed } from "./table.ts";

/** The four numbers a reader wants first. */
export function headlineCards(summary: RunSummary): Html {
  const before = summary.before[0]?.mean;
  const after = summary.after[0]?.mean;
  const wall = Object.values(summary.seconds).reduce((a, b) => a + b, 0);
  const cards = [
    ...(before !== undefined && after !== undefined
      ? [scoreCard(before, after, summary.before[0]!), lengthCard(before, after)]
      : []),
    card(
      "Wall time",
      html`${duration(wall)} <small>${wall < 3600 ? "min" : "h"}</small>`,
      html`${summary.steps} optimizer steps`,
    ),
    card(
      "Throughput",
      html`${short(summary.tokensPerSecond.generated)} <small>tok/s</small>`,
      html`generated · ${Math.round(summary.peakRssBytes / 2 ** 20)} MiB peak memory`,
    ),
  ];
  return html`<div class="cards">${cards}</div>`;
}

function card(name: string, value: Html, detail: Html): Html {
  return html`<div class="card"><div class="name">${name}</div><div class="value">${value}</div><div class="detail">${detail}</div></div>`;
}

function scoreCard(before: Score, after: Score, setting: EvaluationTable): Html {
  const gain = 100 * (after.score - before.score);
  return card(
    `Mean score, ${settingName(setting)}`,
    html`${before.score.toFixed(3)} → ${after.score.toFixed(3)}`,
    html`<span class="${gain >= 0 ? "up" : "down"}">${signed(gain, 1, " points")}</span>`,
  );
}

function lengthCard(before: Score, after: Score): Html {
  const change = 100 * (after.meanTokens / before.meanTokens - 1);
  return card(
    "Tokens per answer",
    html`${before.meanTokens.toFixed(1)} → ${after.meanTokens.toFixed(1)}`,
    html`<span class="${change <= 0 ? "up" : "down"}">${signed(change, 0, " %")}</span>`,
  );
}

/** Tables before and after, one per sampling setting, and the notes on how to read them. */
export function scoreTables(summary: RunSummary, hues: readonly string[]): Html {
  const tables = summary.before.map((before, i) => settingTable(before, summary.after[i], hues));
  const notes = honestyNotes(summary).map((note) => html`<p>${note}</p>`);
  return html`${tables}<div class="notes">${notes}</div>`;
}

function settingTable(
  before: EvaluationTable,
  after: EvaluationTable | undefined,
  hues: readonly string[],
): Html {
  const color = (name: string) =>
    Object.hasOwn(before.domains, name) ? `var(--hue-${Math.max(0, hues.indexOf(name)) % 7})` : "var(--ink)";
  const rows = scoreRows(before, after).map(({ name, was, is }) => scoreRow(name, was, is, color(name)));
  return html`<div class="card scroll"><table>
<caption>${settingName(before)}</caption>
<thead><tr><th>Domain</th><th class="scale"><div><span>0</span><span>score</span><span>1</span></div></th>
<th>points</th><th>before → after</th><th>solved</th><th>tokens</th><th></th><th>truncated</th><th>n</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function scoreRow(name: string, was: Score, is: Score | undefined, color: string): Html {
  const se = (score: Score) => html`<span class="se"> ±${score.standardError.toFixed(3)}</span>`;
  const pair = (show: (score: Score) => string) =>
    html`<span class="was">${show(was)} →</span> ${is === undefined ? "–" : show(is)}`;
  const gain = is === undefined ? undefined : 100 * (is.score - was.score);
  const change =
    is === undefined || was.meanTokens === 0 ? undefined : 100 * (is.meanTokens / was.meanTokens - 1);
  return html`<tr><td><span class="chip" style="background:${color}"></span>${name}</td>
<td class="track">${dumbbell(was, is, color)}</td>
<td class="${tone(gain, 1)}">${gain === undefined ? "" : signed(gain, 1, "")}</td>
<td><span class="was">${was.score.toFixed(3)}${se(was)} →</span> ${is?.score.toFixed(3) ?? "–"}${is && se(is)}</td>
<td>${pair((s) => s.solveRate.toFixed(3))}</td>
<td>${pair((s) => s.meanTokens.toFixed(1))}</td>
<td class="${tone(change, -1)}">${change === undefined ? "" : signed(change, 0, " %")}</td>
<td>${pair((s) => (100 * s.truncation).toFixed(1))} %</td>
<td>${was.n === is?.n ? String(was.n) : pair((s) => String(s.n))}</td></tr>`;
}

function tone(change: number | undefined, wanted: 1 | -1): string {
  if (change === undefined || change === 0) return "";
  return change * wanted > 0 ? "up" : "down";
}

/** Score on a line from 0 to 1: hollow before, full after, bars of two standard errors to each side. */
function dumbbell(was: Score, is: Score | undefined, color: string): Html {
  const x = (score: number) => `${(100 * Math.min(1, Math.max(0, score))).toFixed(2)}%`;
  const bar = (s: Score, y: number) =>
    html`<line x1="${x(s.score - 2 * s.standardError)}" x2="${x(s.score + 2 * s.standardError)}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="6" stroke-opacity="0.22" stroke-linecap="round"/>`;
  const link =
    is &&
    html`<line x1="${x(was.score)}" x2="${x(is.score)}" y1="11" y2="11" stroke="${color}" stroke-width="2"/>`;
  return html`<svg role="img" aria-label="score ${was.score.toFixed(3)} to ${is?.score.toFixed(3) ?? "unknown"}">
<line x1="0" x2="100%" y1="11" y2="11" stroke="var(--rule)"/>${bar(was, 11)}${is && bar(is, 11)}${link}
<circle cx="${x(was.score)}" cy="11" r="5" fill="var(--card)" stroke="${color}" stroke-width="2"/>
${is && html`<circle cx="${x(is.score)}" cy="11" r="6" fill="${color}"/>`}</svg>`;
}

/** Where the wall time went, as one bar with its legend. */
export function phaseBar(summary: RunSummary): Html {
  const phases = Object.entries(summary.seconds).filter(([, seconds]) => seconds > 0);
  const total = phases.reduce((a, [, s]) => a + s, 0);
  if (total === 0) return html``;
  const parts = phases.map(
    ([, s], i) =>
      html`<div style="width:${((100 * s) / total).toFixed(2)}%;background:var(--hue-${i % 7})"></div>`,
  );
  const legend = phases.map(
    ([name, s], i) =>
      html`<li><span class="chip" style="background:var(--hue-${i % 7})"></span>${name}<b>${s.toFixed(1)} s</b></li>`,
  );
  return html`<div class="card"><div class="phases">${parts}</div><ul class="legend">${legend}</ul></div>`;
}

/** Every evaluated step, the best one marked, and how far ahead it is. */
export function selectionTable({ best, runnerUp, candidates }: SelectionSummary): Html {
  const domains = Object.keys(candidates[0]?.domains ?? {});
  const rows = candidates.map(
    ({
      step,
      score,
      standardError,
      meanTokens,
      domains: scores,
    }) => html`<tr class="${step === best.step ? "best" : ""}"><td>${step}${step === best.step ? " (best)" : ""}</td>
<td>${score.toFixed(3)}<span class="se"> ±${standardError.toFixed(3)}</span></td>${domains.map((d) => html`<td>${scores[d]?.toFixed(3) ?? "–"}</td>`)}<td>${meanTokens.toFixed(1)}</td></tr>`,
  );
  const lead =
    runnerUp === undefined
      ? undefined
      : html`<div class="notes"><p>Step ${runnerUp.step} is ${runnerUp.behind.toFixed(3)} ± ${runnerUp.behindError.toFixed(3)} behind step ${best.step} on the same problems${runnerUp.behind < 2 * runnerUp.behindError ? ": within two standard errors" : ""}. The best of several is flattered by chance; the tables above are of the last step.</p></div>`;
  return html`<div class="card scroll"><table class="candidates">
<caption>Held-out problems while it trained</caption>
<thead><tr><th>Step</th><th>mean</th>${domains.map((d) => html`<th>${d}</th>`)}<th>tokens</th></tr></thead>
<tbody>${rows}</tbody></table></div>${lead}`;
}
