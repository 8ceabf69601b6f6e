import { expect, test } from "vitest";
import { type Figure, figureSvg, standaloneFigure } from "../../lib/report/figure.ts";

const figure: Figure = {
  title: "t <1>",
  note: "n",
  x: { label: "step", range: [0, 100] },
  y: { label: "", percent: true, range: [0, 1] },
  lines: [
    {
      label: "a",
      hue: 0,
      points: [
        [0, 0],
        [100, 1],
      ],
      band: { low: [0, 0.5], high: [0.5, 1] },
    },
    {
      label: "goal",
      hue: 1,
      look: "reference",
      points: [
        [0, 0.5],
        [100, 0.5],
      ],
    },
    { label: "h", hue: 8, points: [[50, 0.5]] },
  ],
};
const svg = figureSvg(figure).text;
const pathOf = (name: string) => new RegExp(`data-line="${name}" d="([^"]*)"`).exec(svg)![1];

test("lines go where the axes say: 48 to 430 across, 212 up to 10", () => {
  expect(pathOf("a")).toBe("M48.0 212.0L430.0 10.0");
  expect(pathOf("goal")).toBe("M48.0 111.0L430.0 111.0");
  expect(svg).toContain('fill-opacity="0.16"');
  expect(/class="band" d="([^"]*)"/.exec(svg)![1]).toBe("M48.0 111.0L430.0 10.0L430.0 111.0L48.0 212.0Z");
});

test("ticks are round numbers, and say percent where it is percent", () => {
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(texts).toEqual([
    "0 %",
    "20 %",
    "40 %",
    "60 %",
    "80 %",
    "100 %",
    "0",
    "20",
    "40",
    "60",
    "80",
    "100",
    "step",
    "a",
    "h",
  ]);
});

test("the eighth colour is the first one dashed; a reference has no legend", () => {
  expect(/data-line="h"[^>]*stroke="([^"]*)"[^>]*stroke-dasharray="([^"]*)"/.exec(svg)!.slice(1)).toEqual([
    "var(--hue-1, #cf5a16)",
    "7 3",
  ]);
  expect(svg).toContain('aria-label="t &lt;1&gt;"');
});

test("marks have bars of error, and the axes make room for them", () => {
  const marks = [
    { label: "m", hue: 2, x: 10, y: 0.5, xError: 2, yError: 0 },
    { label: "k", hue: 3, x: 20, y: 0.7, xError: 0, yError: 0.1 },
  ];
  const { text } = figureSvg({ title: "s", note: "", x: { label: "x" }, y: { label: "y" }, marks });
  const circles = [...text.matchAll(/data-mark="(\w)" cx="([\d.]+)" cy="([\d.]+)"/g)].map(
    ([, ...all]) => all,
  );
  // x spans 8 to 20, plus 6 % of 12 at each end; y spans 0.5 to 0.8, plus 6 % of 0.3
  const across = (x: number) => (48 + ((x - 7.28) / 13.44) * 382).toFixed(1);
  const up = (y: number) => (212 - ((y - 0.482) / 0.336) * 202).toFixed(1);
  expect(circles).toEqual([
    ["m", across(10), up(0.5)],
    ["k", across(20), up(0.7)],
  ]);
  expect(text).toContain(`x1="${across(8)}" x2="${across(12)}" y1="${up(0.5)}" y2="${up(0.5)}"`);
  expect(text).toContain(`x1="${across(20)}" x2="${across(20)}" y1="${up(0.6)}" y2="${up(0.8)}"`);
  expect(text).toContain("<title>m: 10.0, 0.50</title>");
});

test("a single value has an axis around it", () => {
  const one = figureSvg({
    title: "s",
    note: "",
    x: { label: "x" },
    y: { label: "y" },
    lines: [{ label: "l", hue: 0, points: [[3, 0]] }],
  });
  expect(one.text).not.toMatch(/NaN|Infinity|undefined/);
});

test("names that do not fit a row go to the next, and the picture grows", () => {
  const lines = Array.from({ length: 6 }, (_, hue) => ({
    label: `a rather long name ${hue}`,
    hue,
    points: [
      [0, 0],
      [1, 1],
    ] as const,
  }));
  const { text } = figureSvg({ title: "s", note: "", x: { label: "x" }, y: { label: "y" }, lines });
  expect(/viewBox="0 0 440 (\d+)"/.exec(text)![1]).toBe(String(262 + 2 * 18 + 12));
});

test("a file of its own needs no style sheet", () => {
  expect(standaloneFigure(figure)).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" /);
  expect(standaloneFigure(figure)).not.toContain("var(");
});
