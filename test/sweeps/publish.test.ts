import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineSweep } from "../../lib/sweeps/definition.ts";
import { publish } from "../../lib/sweeps/publish.ts";
import { planSweep } from "../../lib/sweeps/sweep.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-publish-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const plan = planSweep(
  defineSweep({ name: "s", recipe: smallRecipe(), cells: { a: [], b: ["training.steps=2"] }, seeds: 1 }),
  {},
);

test("writes the page, each table as Markdown, LaTeX and CSV, each figure as SVG, and nothing of before", () => {
  const [a] = plan.jobs;
  writeSyntheticRun(join(dir, a!.id));
  mkdirSync(join(dir, "tables"));
  writeFileSync(join(dir, "tables", "old.md"), "");
  const jobs = plan.jobs.map(({ id, cell, seed }, i) => ({
    id,
    cell,
    seed,
    log: "",
    state: i === 0 ? ("done" as const) : ("waiting" as const),
  }));
  const { page, sections } = publish(dir, plan, jobs);
  expect(page).toBe(join(dir, "sweep.html"));
  expect(readFileSync(page, "utf8")).toContain("1 of 2 runs finished");
  const names = ["cells", "domains", "training"].flatMap((name) =>
    ["csv", "md", "tex"].map((ending) => `${name}.${ending}`),
  );
  expect(readdirSync(join(dir, "tables"))).toEqual(names);
  const read = (name: string) => readFileSync(join(dir, "tables", name), "utf8");
  expect(read("cells.md")).toMatch(/^Score .*\n\n\| cell \|/s);
  expect(read("cells.tex")).toMatch(/^% Score [^\n]*\n\\begin\{tabular\}/);
  expect(read("cells.csv")).toMatch(/^cell,runs,/);
  const figures = readdirSync(join(dir, "figures"));
  expect(figures).toContain("cells-score.svg");
  expect(figures).toHaveLength(sections.flatMap((section) => section.figures).length);
  expect(readFileSync(join(dir, "figures", "cells-score.svg"), "utf8")).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org/,
  );
});

test("where no run is finished there is the page alone", () => {
  const jobs = plan.jobs.map(({ id, cell, seed }) => ({
    id,
    cell,
    seed,
    log: "",
    state: "failed" as const,
    error: "x",
  }));
  expect(publish(dir, plan, jobs).sections).toEqual([]);
  expect(existsSync(join(dir, "tables"))).toBe(false);
  expect(readFileSync(join(dir, "sweep.html"), "utf8")).toContain("0 of 2 runs finished");
});
