// Tests how the page of a run draws and formats figures: its modules without a browser.
import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { STEP_STAGES } from "../../lib/metrics/index.ts";

const format: string = "../../lib/live/page/format.js";
const { axisLabels, show } = (await import(format)) as {
  axisLabels(ticks: readonly number[], unit: string): string[];
  show(value: number, unit: string): string;
};
afterEach(() => vi.unstubAllGlobals());

interface Look {
  readonly axes: readonly { readonly incrs?: readonly number[] }[];
  readonly series: readonly { readonly stroke?: () => string }[];
}
interface Module {
  plotLook(page: object, spec: object, drawn: readonly object[]): Look;
}
const page = { visibleRuns: () => [{ run: 0 }], store: { steps: () => [1, 2, 3] } };
const lineOf = (hue: number) => ({ name: `m${hue}`, label: "m", hue });

async function lookOf(unit: string, lines: readonly object[], drawn: readonly object[]): Promise<Look> {
  const module: string = "../../lib/live/page/chart-look.js";
  vi.stubGlobal("document", { documentElement: {} });
  vi.stubGlobal("getComputedStyle", () => ({ getPropertyValue: () => "#112233" }));
  return ((await import(module)) as Module).plotLook(page, { unit, lines }, drawn);
}

test("lines of single steps are fainter the more of them lie over each other; means keep their ink", async () => {
  const drawnOf = (hue: number) => [
    { run: 0, line: lineOf(hue), faint: true, rare: false },
    { run: 0, line: lineOf(hue), faint: false, rare: false },
  ];
  const inks = async (count: number) => {
    const lines = Array.from({ length: count }, (_, hue) => lineOf(hue));
    const { series } = await lookOf(
      "fraction",
      lines,
      lines.flatMap(({ hue }) => drawnOf(hue)),
    );
    return series.slice(1).map(({ stroke }) => Number.parseInt(stroke!().slice(7), 16) / 255);
  };
  expect((await inks(1)).map((ink) => ink.toFixed(2))).toEqual(["0.22", "1.00"]);
  const five = await inks(5);
  const faint = five.filter((_, i) => i % 2 === 0);
  expect(faint.reduce((a, b) => a + b)).toBeLessThan(0.3);
  expect(Math.min(...faint)).toBeGreaterThan(0.04);
  expect(five.filter((_, i) => i % 2 === 1)).toEqual([1, 1, 1, 1, 1]);
});

test("an axis of bytes has round labels: its steps are powers of two", async () => {
  const { axes } = await lookOf("bytes", [lineOf(0)], []);
  for (const step of axes[1]!.incrs!.filter((size) => size < 2 ** 30))
    expect(Number.parseInt(axisLabels([step, 2 * step], "bytes")[0]!, 10) * 2 ** 20).toBe(step);
  expect((await lookOf("s", [lineOf(0)], [])).axes[1]!.incrs).toBeUndefined();
});

test("the chart of a step's time has a line for every stage, in order, each of a colour of its own", async () => {
  const [screen, look]: string[] = [
    "../../lib/live/page/first-screen.js",
    "../../lib/live/page/chart-look.js",
  ];
  const { firstScreen } = (await import(screen!)) as {
    firstScreen(
      runs: object[],
      stages: readonly string[],
    ): { id: string; lines: { name: string; hue: number }[] }[];
  };
  const { hueName } = (await import(look!)) as { hueName(index: number): string };
  const names = [...STEP_STAGES.map((name) => `time/${name}`), "time/step", "time/recording"].reverse();
  const { lines } = firstScreen([{ names, domains: [] }], STEP_STAGES).find(({ id }) => id === "time")!;
  expect(lines.map(({ name }) => name)).toEqual(STEP_STAGES.map((name) => `time/${name}`));
  const css = readFileSync(new URL("../../lib/live/page/page.css", import.meta.url), "utf8");
  const colours = lines.map(({ hue }) =>
    css
      .split(`${hueName(hue)}: `)
      .slice(1)
      .map((rest) => rest.slice(0, 7)),
  );
  expect(colours.map((each) => each.length)).toEqual(colours.map(() => 2)); // one definition for light and one for dark
  const themes = [0, 1].map((theme) => new Set(colours.map((each) => each[theme])));
  for (const theme of themes) expect(theme.size).toBe(STEP_STAGES.length);
  expect(themes.every((theme) => !theme.has(undefined))).toBe(true);
});

test("lag is lines of shares, of which a step that does not name one has 0: no block hides the others", async () => {
  const [screen, data]: string[] = [
    "../../lib/live/page/first-screen.js",
    "../../lib/live/page/chart-data.js",
  ];
  const { firstScreen } = (await import(screen!)) as {
    firstScreen(runs: object[], stages: readonly string[]): { id: string; stacked?: boolean }[];
  };
  const { chartData } = (await import(data!)) as {
    chartData(page: object, spec: object, width: number): { columns: (number | null)[][] };
  };
  const shares: Record<string, (number | null)[]> = {
    "lag/share/0": [1, 0.25, null, null, null, null, null, null],
    "lag/share/1": [null, 0.75, 1, 1, 1, 1, 1, 1],
  };
  const run = { run: 0, names: Object.keys(shares), domains: [] };
  const spec = firstScreen([run], STEP_STAGES).find(({ id }) => id === "lag")!;
  expect(spec.stacked).toBeUndefined();
  const store = { steps: () => [1, 2, 3, 4, 5, 6, 7, 8], column: (_: number, name: string) => shares[name] };
  const shown = { visibleRuns: () => [run], store, view: { range: null, smoothing: 1 } };
  expect(chartData(shown, spec, 400).columns).toEqual([
    [1, 0.25, 0, 0, 0, 0, 0, 0],
    [0, 0.75, 1, 1, 1, 1, 1, 1],
  ]);
});

test("the mixture of one domain is no chart", async () => {
  const screen: string = "../../lib/live/page/first-screen.js";
  const { firstScreen } = (await import(screen)) as {
    firstScreen(runs: object[], stages: readonly string[]): { id: string; lines: object[] }[];
  };
  const linesOf = (domains: string[]) => {
    const names = domains.map((domain) => `mixture/trained/${domain}`);
    return firstScreen([{ names, domains }], STEP_STAGES).find(({ id }) => id === "mixture")!.lines.length;
  };
  expect([linesOf(["math", "code"]), linesOf(["math"])]).toEqual([2, 0]);
});

test("the axis of what was 0 throughout has round limits", async () => {
  const { scales } = (await lookOf("fraction", [lineOf(0)], [])) as unknown as {
    scales: { y: { range(plot: null, low: number, high: number): [number, number] } };
  };
  expect(scales.y.range(null, 0, 0)).toEqual([0, 1]);
  expect(scales.y.range(null, 0, 0.5)[1]).toBeCloseTo(0.54);
});

interface Numbers {
  thinned(
    x: number[],
    columns: (number | null)[][],
    pixels: number,
  ): { readonly x: number[]; readonly columns: (number | null)[][] };
}

test("of many steps two points a pixel are drawn, and no peak is lost", async () => {
  const module: string = "../../lib/live/page/numbers.js";
  const { thinned } = (await import(module)) as Numbers;
  const x = Array.from({ length: 10_000 }, (_, i) => i + 1);
  const values = x.map((step) => (step === 7777 ? 99.5 : step === 1234 ? -3 : Math.sin(step / 50)));
  const thin = thinned(x, [values, x.map(() => null)], 400);
  expect(thin.x).toHaveLength(800);
  expect(thin.x.every((step, i) => i === 0 || step > thin.x[i - 1]!)).toBe(true);
  expect([Math.max(...(thin.columns[0] as number[])), Math.min(...(thin.columns[0] as number[]))]).toEqual([
    99.5, -3,
  ]);
  expect(thin.columns[1]!.every((value) => value === null)).toBe(true);
  expect(thinned([1, 2, 3], [[1, null, 3]], 400)).toEqual({ x: [1, 2, 3], columns: [[1, null, 3]] });
});

test.each([
  [1.00471, "–", "1.0047"],
  [0.99512, "–", "0.9951"],
  [1, "–", "1"],
  [0.6471, "–", "0.647"],
  [1.2345, "–", "1.23"],
  [0.99512, "score", "0.995"],
  [0.99512, "fraction", "99.5 %"],
  [0.0042, "s", "4.2 ms"],
  [26_149, "tokens/s", "26.1k"],
  [3 * 2 ** 30, "bytes", "3.0 GiB"],
])("%d %s is shown as %s: of a ratio near 1 the distance from it", (value, unit, text) => {
  expect(show(value, unit)).toBe(text);
});
