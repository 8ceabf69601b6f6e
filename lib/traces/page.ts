import { type BarFigure, barsSvg, type Html, html, htmlDocument, htmlTable } from "../report/index.ts";
import { CATEGORIES, DEFINITIONS } from "./categories.ts";
import type { CaptionedTable } from "./tables.ts";
import type { ReadSide, ReadTrace } from "./trace.ts";

export interface PageContent {
  /** The labeller, and its measured accuracy. */
  readonly notes: readonly string[];
  readonly tables: readonly CaptionedTable[];
  readonly figures: readonly BarFigure[];
  readonly sides: readonly ReadSide[];
}

/** Characters of a step that an example shows. */
const MOST_SHOWN = 600;
/** Steps of an example. */
const MOST_STEPS = 40;

/** The page of an analysis, as one self-contained HTML text. */
export function tracesPage({ notes, tables, figures, sides }: PageContent): string {
  const names = sides.map(({ name }) => name).join(" → ");
  const main = html`<header><h1>Reasoning traces</h1><p class="lead">${names}</p></header>
<div class="notes">${notes.map((note) => html`<p>${note}</p>`)}</div>
<h2>Pictures</h2><div class="charts figures">${figures.map(figureOf)}</div>
<h2>Numbers</h2>${tables.map(({ caption, table }) => htmlTable(table, caption))}
<h2>Categories</h2><div class="card items">${CATEGORIES.map((name) => html`<p><b>${name}</b><br>${DEFINITIONS[name]}</p>`)}</div>
<h2>Examples</h2>${sides.map(exampleOf)}
<footer>Written by Hone. Tables and pictures also lie in tables/ and figures/ beside this page.</footer>`;
  return htmlDocument(`${names} – Hone traces`, main);
}

const figureOf = (figure: BarFigure): Html =>
  html`<figure class="card"><figcaption><h3>${figure.title}</h3><p>${figure.note}</p></figcaption>${barsSvg(figure)}</figure>`;

/** Chooses a trace of typical length among the traces with the most diverse steps. */
export function typicalOf(read: readonly ReadTrace[]): ReadTrace | undefined {
  const lengths = read.map(({ steps }) => steps.length).sort((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  const near = read.filter(({ steps }) => steps.length >= 0.5 * median && steps.length <= 1.5 * median);
  const kinds = ({ labels }: ReadTrace) => new Set(labels).size;
  return near.reduce<ReadTrace | undefined>(
    (best, one) => (best && kinds(best) >= kinds(one) ? best : one),
    undefined,
  );
}

function exampleOf({ name, read }: ReadSide): Html | undefined {
  const typical = typicalOf(read);
  if (typical === undefined) return undefined;
  const { steps, labels } = typical;
  const items = steps
    .slice(0, MOST_STEPS)
    .map(({ text }, i) => html`<p><b>${i + 1} · ${labels[i] ?? "unclassified"}</b><br>${shown(text)}</p>`);
  const more = steps.length - items.length;
  return html`<details><summary>${name}: a trace of ${steps.length} steps</summary><div class="card items">${items}${more > 0 ? html`<p>and ${more} more</p>` : undefined}</div></details>`;
}

const shown = (text: string): string => (text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)} …`);
