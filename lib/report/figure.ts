import { type Html, html } from "./html.ts";

/** A line over steps, with a band around it. */
export interface FigureLine {
  readonly label: string;
  /**
   * Index of the colour; the same thing has the same index in every figure of a page. From the eighth on,
   * colours repeat with dashes.
   */
  readonly hue: number;
  /** "reference": thin, dashed, without legend. */
  readonly look?: "reference" | undefined;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** One value per point. */
  readonly band?: { readonly low: readonly number[]; readonly high: readonly number[] } | undefined;
}

/** A point with bars of error. */
export interface FigureMark {
  readonly label: string;
  readonly hue: number;
  readonly x: number;
  readonly y: number;
  /** Half the length of the error bar; 0 draws no bar. */
  readonly xError: number;
  readonly yError: number;
}

export interface FigureAxis {
  readonly label: string;
  readonly percent?: boolean | undefined;
  /** Default: the range of the data. */
  readonly range?: readonly [number, number] | undefined;
}

export interface Figure {
  readonly title: string;
  /** Description of the figure and how to read it. */
  readonly note: string;
  readonly x: FigureAxis;
  readonly y: FigureAxis;
  readonly lines?: readonly FigureLine[] | undefined;
  readonly marks?: readonly FigureMark[] | undefined;
}

const WIDTH = 440;
const PLOT = { left: 48, right: 430, top: 10, bottom: 212 };
const LEGEND_TOP = 262;
const ROW = 18;
/** Average width of a character at 12 pixels. Pixels. */
const CHARACTER = 6.4;
const HUES = ["#2463c4", "#cf5a16", "#14885a", "#a23792", "#a17a00", "#5f6b7a", "#b9c2cc"];
const DASHES = ["", "7 3", "2 3", "7 3 2 3"];

/** The page's colour for a hue, or that of a light page where the page defines none. */
export const colourOf = (hue: number): string =>
  `var(--hue-${hue % HUES.length}, ${HUES[hue % HUES.length]})`;
const dash = (hue: number): string => DASHES[Math.floor(hue / HUES.length) % DASHES.length]!;
const MUTED = "var(--muted, #5d6b7b)";
const GRID = "var(--grid, #e9edf1)";

/** The figure as an SVG element that takes its colours from the page. Trusts that there is a line or a mark. */
export function figureSvg(figure: Figure): Html {
  const x = scaleOf(figure.x, allOf(figure, "x"), PLOT.left, PLOT.right);
  const y = scaleOf(figure.y, allOf(figure, "y"), PLOT.bottom, PLOT.top);
  const { rows, height } = legendOf(figure);
  const opacity = bandOpacity(figure.lines ?? []);
  const lines = (figure.lines ?? []).map((line) => lineOf(line, x, y, opacity));
  const marks = (figure.marks ?? []).map((mark) => markOf(mark, x, y));
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${figure.title}" font-size="12" fill="${MUTED}">
${axesOf(figure, x, y)}${lines}${marks}${rows}</svg>`;
}

/** The figure as a file of its own, in the colours of a light page. */
export const standaloneFigure = (figure: Figure): string => standaloneSvg(figureSvg(figure));

/** An SVG element of a page as a file of its own. */
export function standaloneSvg(svg: Html): string {
  const text = svg.text.replace(/var\(--[\w-]+, (#[0-9a-f]{6})\)/g, "$1");
  return `${text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ')}\n`;
}

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
  /** Formats a value with as many decimals as the ticks need, and `more`. */
  readonly show: (value: number, more?: number) => string;
}

function allOf({ lines = [], marks = [] }: Figure, axis: "x" | "y"): number[] {
  const at = axis === "x" ? 0 : 1;
  const ofLines = lines.flatMap(({ points, band }) => [
    ...points.map((point) => point[at]),
    ...(axis === "y" && band !== undefined ? [...band.low, ...band.high] : []),
  ]);
  const ofMarks = marks.flatMap((mark) => {
    const error = axis === "x" ? mark.xError : mark.yError;
    return [mark[axis] - error, mark[axis] + error];
  });
  return [...ofLines, ...ofMarks].filter(Number.isFinite);
}

const TICKS = 5;
/** Padding at each end as a share of the data's extent, since marks have a size. */
const PADDING = 0.06;

/** Maps an axis to pixels. Needs a range or at least one value. */
export function scaleOf(
  { range, percent = false }: FigureAxis,
  values: readonly number[],
  from: number,
  to: number,
): Scale {
  const [least, most] = range ?? [
    values.reduce((a, b) => Math.min(a, b)),
    values.reduce((a, b) => Math.max(a, b)),
  ];
  const pad = range !== undefined ? 0 : (most - least || Math.abs(most) || 1) * PADDING;
  const [low, high] = [least - pad, most + pad];
  const step = niceStep((high - low) / TICKS);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) ticks.push(k * step);
  const shown = percent ? 100 * step : step;
  const digits = Math.max(0, -Math.floor(Math.log10(shown) + 1e-9));
  return {
    at: (value) => from + ((value - low) / (high - low)) * (to - from),
    ticks,
    show: (value, more = 0) =>
      `${((percent ? 100 : 1) * value + 0).toFixed(digits + more)}${percent ? " %" : ""}`,
  };
}

/** 1, 2 or 5 times a power of ten, at least `least`. */
function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= least * (1 - 1e-9))!;
}

export const px = (value: number): string => value.toFixed(1);

function axesOf(figure: Figure, x: Scale, y: Scale): Html {
  const across = y.ticks.map(
    (
      tick,
    ) => html`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${px(y.at(tick))}" y2="${px(y.at(tick))}" stroke="${GRID}"/>
<text x="${PLOT.left - 7}" y="${px(y.at(tick) + 4)}" text-anchor="end">${y.show(tick)}</text>`,
  );
  const below = x.ticks.map(
    (tick) =>
      html`<text x="${px(x.at(tick))}" y="${PLOT.bottom + 17}" text-anchor="middle">${x.show(tick)}</text>`,
  );
  const middle = (PLOT.left + PLOT.right) / 2;
  return html`${across}<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}" stroke="${MUTED}" stroke-opacity="0.5"/>${below}
<text x="${middle}" y="${PLOT.bottom + 34}" text-anchor="middle">${figure.x.label}</text>`;
}

/** Opacity of the bands: more bands are more transparent, so that lines behind overlapping bands stay visible. */
const bandOpacity = (lines: readonly FigureLine[]): string =>
  (0.32 / (1 + lines.filter(({ band }) => band !== undefined).length)).toFixed(2);

function lineOf({ label, hue, look, points, band }: FigureLine, x: Scale, y: Scale, opacity: string): Html {
  const path = (ends: readonly (readonly [number, number])[]) =>
    ends.map(([at, value], i) => `${i === 0 ? "M" : "L"}${px(x.at(at))} ${px(y.at(value))}`).join("");
  const along = (values: readonly number[]) => points.map(([at], i) => [at, values[i]!] as const);
  const reference = look === "reference";
  const area =
    band &&
    html`<path class="band" d="${path([...along(band.high), ...along(band.low).reverse()])}Z" fill="${colourOf(hue)}" fill-opacity="${opacity}"/>`;
  return html`${area}<path class="line" data-line="${label}" d="${path(points)}" fill="none" stroke="${colourOf(hue)}" stroke-width="${reference ? 1 : 2}" stroke-opacity="${reference ? 0.7 : 1}" stroke-dasharray="${reference ? "5 4" : dash(hue)}" stroke-linejoin="round"><title>${label}</title></path>
`;
}

function markOf({ label, hue, x: atX, y: atY, xError, yError }: FigureMark, x: Scale, y: Scale): Html {
  const bar = (x1: number, x2: number, y1: number, y2: number) =>
    html`<line x1="${px(x1)}" x2="${px(x2)}" y1="${px(y1)}" y2="${px(y2)}" stroke="${colourOf(hue)}" stroke-opacity="0.6" stroke-width="1.5"/>`;
  const [cx, cy] = [x.at(atX), y.at(atY)];
  const bars = [
    ...(xError > 0 ? [bar(x.at(atX - xError), x.at(atX + xError), cy, cy)] : []),
    ...(yError > 0 ? [bar(cx, cx, y.at(atY - yError), y.at(atY + yError))] : []),
  ];
  return html`${bars}<circle class="mark" data-mark="${label}" cx="${px(cx)}" cy="${px(cy)}" r="5" fill="${colourOf(hue)}"><title>${label}: ${x.show(atX, 1)}, ${y.show(atY, 1)}</title></circle>
`;
}

/** Rows of names below the plot, as many to a row as fit. */
function legendOf({ lines = [], marks = [] }: Figure): { readonly rows: Html[]; readonly height: number } {
  const entries = [...lines.filter(({ look }) => look === undefined), ...marks];
  let [left, row] = [PLOT.left, 0];
  const rows = entries.map(({ label, hue }) => {
    const width = 26 + label.length * CHARACTER;
    if (left > PLOT.left && left + width > WIDTH) [left, row] = [PLOT.left, row + 1];
    const [at, y] = [left, LEGEND_TOP + row * ROW];
    left += width + 10;
    return html`<line x1="${px(at)}" x2="${px(at + 16)}" y1="${y}" y2="${y}" stroke="${colourOf(hue)}" stroke-width="3" stroke-dasharray="${dash(hue)}"/><text x="${px(at + 21)}" y="${y + 4}">${label}</text>`;
  });
  return { rows, height: LEGEND_TOP + row * ROW + 12 };
}
