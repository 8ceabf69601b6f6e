import { expect, test } from "vitest";
import { barsSvg, standaloneBars } from "../../lib/report/bars.ts";

const figure = {
  title: "T <1>",
  note: "n",
  percent: true,
  series: ["before", "after"],
  rows: [
    { label: "one", bars: [{ value: 0.1, low: 0.05, high: 0.2 }, { value: 0.4 }] },
    { label: "two", bars: [undefined, { value: 0 }] },
  ],
};
const svg = barsSvg(figure).text;
const numbers = (name: string, attribute: string) =>
  [...svg.matchAll(new RegExp(`class="${name}"[^>]* ${attribute}="([\\d.]+)"`, "g"))].map(([, n]) =>
    Number(n),
  );

test("a bar is as long as its value, from zero on, and what is not there has none", () => {
  const [a, b, none] = numbers("bar", "width");
  expect(numbers("bar", "width")).toHaveLength(3);
  expect(b! / a!).toBeCloseTo(4, 1);
  expect(none).toBe(0);
  expect(new Set(numbers("bar", "x")).size).toBe(1);
  expect(svg).toContain("<title>one, before: 10.0 %</title>");
});

test("a line of error spans its interval", () => {
  const [x] = numbers("bar", "x");
  const [width] = numbers("bar", "width");
  const [low, high] = [numbers("error", "x1"), numbers("error", "x2")];
  expect(low).toHaveLength(1);
  expect(low[0]).toBeCloseTo(x! + width! / 2, 0);
  expect(high[0]).toBeCloseTo(x! + 2 * width!, 0);
});

test("series have colours and names of their own; rows lie below each other; nothing is outside", () => {
  expect(
    new Set(svg.match(/class="bar"[^>]*fill="[^"]+"/g)!.map((bar) => /fill="([^"]+)"/.exec(bar)![1])).size,
  ).toBe(2);
  for (const name of ["before", "after", "one", "two"]) expect(svg).toContain(`>${name}</text>`);
  const ys = numbers("bar", "y");
  expect([...ys].sort((a, b) => a - b)).toEqual(ys);
  const height = Number(/viewBox="0 0 440 (\d+)"/.exec(svg)![1]);
  for (const [, y] of svg.matchAll(/\sy="([\d.]+)"/g)) expect(Number(y)).toBeLessThan(height);
  expect(svg).toContain('aria-label="T &lt;1&gt;"');
});

test("a file of its own has colours, and no bar higher than nothing is no fault", () => {
  expect(standaloneBars(figure)).toMatch(/^<svg xmlns=/);
  expect(standaloneBars(figure)).not.toContain("var(");
  expect(
    barsSvg({ ...figure, rows: [{ label: "z", bars: [{ value: 0 }, { value: 0 }] }] }).text,
  ).not.toContain("NaN");
});
