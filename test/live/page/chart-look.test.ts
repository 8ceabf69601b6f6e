import { afterEach, expect, test, vi } from "vitest";

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
  const module: string = "../../../lib/live/page/chart-look.js";
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
  const format: string = "../../../lib/live/page/format.js";
  const { axisLabels } = (await import(format)) as {
    axisLabels(ticks: readonly number[], unit: string): string[];
  };
  for (const step of axes[1]!.incrs!.filter((size) => size < 2 ** 30))
    expect(Number.parseInt(axisLabels([step, 2 * step], "bytes")[0]!, 10) * 2 ** 20).toBe(step);
  expect((await lookOf("s", [lineOf(0)], [])).axes[1]!.incrs).toBeUndefined();
});
