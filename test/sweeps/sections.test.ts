import { expect, test } from "vitest";
import { sectionsOf } from "../../lib/sweeps/sections.ts";
import { syntheticCell } from "./synthetic-cells.ts";

const cells = ["ours", "plain", "none", "late"].map((name, i) =>
  syntheticCell(name, i === 3 ? [] : [{ seed: 0, after: { math: [i / 4, 20 + i] } }]),
);
const studies = [
  {
    title: "Length penalty",
    caption: "c",
    arms: { LP: "plain", None: "none", DAP: "ours", Late: "late" },
    lengthsAgainst: "LP",
  },
  { title: "Sampler", caption: "d", arms: { Adaptive: "ours" }, mixture: true },
  { title: "Not yet", caption: "e", arms: { Late: "late" } },
];

test("all finished cells, then each study with its own names: accuracy, lengths against one arm, mixtures", () => {
  const sections = sectionsOf(cells, studies);
  expect(sections.map(({ name, title, tables }) => [name, title, tables.map((table) => table.name)])).toEqual(
    [
      ["cells", "All cells", ["cells", "training", "domains"]],
      [
        "length-penalty",
        "Length penalty",
        ["length-penalty", "length-penalty-lengths-none", "length-penalty-lengths-dap"],
      ],
      ["sampler", "Sampler", ["sampler", "sampler-mixture-completed", "sampler-mixture-trained"]],
    ],
  );
  const [all, penalty] = sections;
  expect(all!.tables[0]!.table.rows.map(([name]) => name)).toEqual(["ours", "plain", "none"]);
  expect(penalty!.tables[0]!.table.rows.map(([name]) => name)).toEqual([
    "before training",
    "LP",
    "None",
    "DAP",
  ]);
  expect(penalty!.tables[2]!.caption).toMatch(/^DAP against LP: .*Δ is DAP less LP/);
  expect(penalty!.tables[2]!.table.head.slice(2, 4)).toEqual(["acc, LP", "DAP"]);
  expect(penalty!.figures.map(({ title }) => title)).toContain("Accuracy against tokens: math");
});
