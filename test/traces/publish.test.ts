import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { publishTraces } from "../../lib/traces/publish.ts";
import { freshDir } from "./small-evaluation.ts";

test("writes every table three times, every picture, the numbers and the page, and touches nothing else", () => {
  const dir = freshDir();
  mkdirSync(join(dir, "tables"));
  writeFileSync(join(dir, "tables", "mine.md"), "mine");
  const table = { head: ["a", "b, c"], rows: [["x", "1"]] };
  const figure = { title: "What is", note: "n", series: ["s"], rows: [{ label: "r", bars: [{ value: 1 }] }] };
  const content = {
    notes: [],
    sides: [],
    figures: [figure],
    tables: [{ name: "t", caption: "Caption", table }],
  };
  expect(publishTraces(dir, content, { n: 1 })).toBe(join(dir, "traces.html"));
  const read = (...path: string[]) => readFileSync(join(dir, ...path), "utf8");
  expect(readdirSync(join(dir, "tables")).sort()).toEqual(["mine.md", "t.csv", "t.md", "t.tex"]);
  expect(read("tables", "t.csv")).toBe('a,"b, c"\nx,1\n');
  expect(read("tables", "t.tex")).toMatch(/^% Caption\n\\begin\{tabular\}/);
  expect(read("figures", "what-is.svg")).toMatch(/^<svg xmlns=/);
  expect(JSON.parse(read("traces.json"))).toEqual({ n: 1 });
  expect(read("traces.html")).toContain("<svg ");
});
