import { expect, test } from "vitest";
import { defineSweep } from "../../lib/sweeps/definition.ts";
import { sweepPage } from "../../lib/sweeps/page.ts";
import { sectionsOf } from "../../lib/sweeps/sections.ts";
import { planSweep } from "../../lib/sweeps/sweep.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { syntheticCell } from "./synthetic-cells.ts";

const plan = planSweep(
  defineSweep({
    name: "s <1>",
    recipe: smallRecipe(),
    cells: { plain: [], "bold & new": ["training.steps=2"] },
    seeds: 2,
  }),
  {},
);
const cells = plan.cells.map(({ name }, i) =>
  syntheticCell(
    name,
    [7, 8].map((seed) => ({
      seed,
      after: { math: [0.5 + i / 10, 20 + i] },
      metrics: { "score/mean": [0.1, 0.2 + i / 10 + seed / 100], "length/mean": [30, 20 + i] },
    })),
  ),
);
const jobs = plan.jobs.map(({ id, cell, seed }) => ({
  id,
  cell,
  seed,
  state: "done" as const,
  log: `${id}.log`,
}));
const page = sweepPage(plan, jobs, sectionsOf(cells, []));

test("has a curve of every cell in every figure, a mark in the scatter, and a band of the seeds", () => {
  const lines = [...page.matchAll(/data-line="([^"]*)"/g)].map(([, name]) => name);
  expect(lines).toEqual(["plain", "bold &amp; new", "plain", "bold &amp; new"]);
  expect([...page.matchAll(/data-mark="([^"]*)"/g)].map(([, name]) => name)).toEqual([
    "plain",
    "bold &amp; new",
  ]);
  expect(page.match(/class="band"/g)).toHaveLength(4);
  expect(page).toContain("0.600 ± 0.000");
});

test("loads nothing, lets no text become markup, and closes what it opens", () => {
  expect(page).not.toMatch(/(?:src|href)\s*=|url\(|@import|https?:|<script/);
  expect(page).toContain("<h1>s &lt;1&gt;</h1>");
  for (const tag of ["div", "figure", "svg", "table", "p"])
    expect([tag, page.match(new RegExp(`<${tag}[ >]`, "g"))!.length]).toEqual([
      tag,
      page.match(new RegExp(`</${tag}>`, "g"))!.length,
    ]);
  expect(page).not.toContain("Not finished");
});

test("names the failed jobs with the tail and path of their logs, and counts the open ones", () => {
  const [first, second, ...rest] = jobs;
  const failed = { ...first!, state: "failed" as const, error: "HONE_ERR_DATA  no <rows>" };
  const text = sweepPage(plan, [failed, { ...second!, state: "stopped" }, ...rest], []);
  expect(text).toContain("HONE_ERR_DATA  no &lt;rows&gt;");
  expect(text).toContain(first!.log);
  expect(text).toContain("1 run is not in the numbers below");
  expect(text).toContain("2 of 4 runs finished");
  expect(text).toContain("No run is finished yet.");
});
