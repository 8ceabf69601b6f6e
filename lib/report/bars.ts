import { colourOf, px, scaleOf, standaloneSvg } from "./figure.ts";
import { type Html, html } from "./html.ts";

/** A bar with a line of error over it. */
export interface Bar {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** Horizontal bars from 0 on: one group per row, one bar per series. */
export interface BarFigure {
  readonly title: string;
  /** Description of the figure and how to read it. */
  readonly note: string;
  readonly percent?: boolean | undefined;
  readonly series: readonly string[];
  readonly rows: readonly {
    readonly label: string;
    /** Values of the group's bars, one per series; undefined for a series without a value. */
    readonly bars: readonly (Bar | undefined)[];
  }[];
}

const WIDTH = 440;
const PLOT = { left: 148, right: 426 };
const TOP = 8;
const THICK = 11;
const APART = 9;
const LEGEND_ROW = 18;
const MUTED = "var(--muted, #5d6b7b)";
const INK = "var(--ink, #16202c)";
const GRID = "var(--grid, #e9edf1)";

/** The figure as an SVG element that takes its colours from the page. Trusts that there is a bar. */
export function barsSvg(figure: BarFigure): Html {
  const { rows, series } = figure;
  const ends = rows.flatMap(({ bars }) => bars.flatMap((bar) => (bar ? [bar.value, bar.high ?? 0] : [])));
  const most = ends.reduce((a, b) => Math.max(a, b), 0) || 1;
  const axis = { label: "", percent: figure.percent, range: [0, 1.04 * most] as const };
  const x = scaleOf(axis, [], PLOT.left, PLOT.right);
  const group = series.length * THICK + APART;
  const bottom = TOP + rows.length * group;
  const ticks = x.ticks.map(
    (
      tick,
    ) => html`<line x1="${px(x.at(tick))}" x2="${px(x.at(tick))}" y1="${TOP}" y2="${bottom}" stroke="${GRID}"/>
<text x="${px(x.at(tick))}" y="${bottom + 16}" text-anchor="middle">${x.show(tick)}</text>`,
  );
  const groups = rows.map(({ label, bars }, r) => {
    const top = TOP + r * group + APART / 2;
    const middle = top + (series.length * THICK) / 2 + 4;
    const drawn = bars.map(
      (bar, s) => bar && barOf(`${label}, ${series[s]}`, bar, { x, hue: s, y: top + s * THICK }),
    );
    return html`<text x="${PLOT.left - 8}" y="${px(middle)}" text-anchor="end">${label}</text>${drawn}`;
  });
  const height = bottom + 24 + series.length * LEGEND_ROW;
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${figure.title}" font-size="12" fill="${MUTED}">
${ticks}${groups}${series.map((name, s) => legendOf(name, s, bottom + 34))}</svg>`;
}

/** The figure as a file of its own, in the colours of a light page. */
export const standaloneBars = (figure: BarFigure): string => standaloneSvg(barsSvg(figure));

interface Place {
  readonly x: ReturnType<typeof scaleOf>;
  readonly hue: number;
  readonly y: number;
}

function barOf(name: string, { value, low, high }: Bar, { x, hue, y }: Place): Html {
  const zero = x.at(0);
  const middle = px(y + THICK / 2 - 0.5);
  const error =
    low === undefined || high === undefined
      ? undefined
      : html`<line class="error" x1="${px(x.at(low))}" x2="${px(x.at(high))}" y1="${middle}" y2="${middle}" stroke="${INK}" stroke-width="1.5"/>`;
  return html`<rect class="bar" data-bar="${name}" x="${px(zero)}" y="${px(y)}" width="${px(x.at(value) - zero)}" height="${THICK - 1}" rx="1.5" fill="${colourOf(hue)}"><title>${name}: ${x.show(value, 1)}</title></rect>${error}
`;
}

const legendOf = (name: string, hue: number, top: number): Html =>
  html`<rect x="${PLOT.left}" y="${top + hue * LEGEND_ROW - 9}" width="16" height="10" rx="1.5" fill="${colourOf(hue)}"/><text x="${PLOT.left + 22}" y="${top + hue * LEGEND_ROW}">${name}</text>`;
