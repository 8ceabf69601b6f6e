// Deliberate faults (mutants) that these tests detect: rows left are counted before the filter; usable rows omit the
// held-out rows; the paper's number is taken from another kind; a missing file counts as 0.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type CountedSource,
  countDataset,
  dataCountText,
  isCounted,
  promptFilter,
  type SourceCount,
} from "../../lib/cli/data-count.ts";
import { DATASETS, type DatasetSpec, writeSampleRows } from "../../lib/domains/index.ts";
import { scratch, writeRows } from "../data/filtered.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

function counted(source: SourceCount): CountedSource {
  if (!isCounted(source)) throw new Error(source.missing);
  return source;
}

const [problem] = DATASETS.taco.samples!.rows() as Record<string, unknown>[];
const taco = (question: string, rest: object = {}) => ({ ...problem, question, ...rest });

/** Ten easy problems, and one row for each way in which a row is dropped. */
const TACO = [
  ...Array.from({ length: 10 }, (_, i) => taco(`Problem ${i}.`)),
  taco("Hard.", { difficulty: "HARD" }),
  taco("Harder.", { difficulty: "VERY_HARD" }),
  taco("Hardest.", { difficulty: "VERY_HARD" }),
  taco("Problem 3."),
  taco("Unequal.", { input_output: JSON.stringify({ inputs: ["1\n"], outputs: [] }) }),
  "no JSON at all",
];

test("a set in its published shape, filter by filter", async () => {
  const spec = { kind: "taco", path: writeRows("taco-count.jsonl", TACO) } as const;
  const source = counted(await countDataset("code", spec));
  expect(source).toMatchObject({ name: "code", kind: "taco", files: 1, rows: 16, usable: 10 });
  expect(source.heldOut + source.training).toBe(10);
  const took = Object.fromEntries(source.filters.map(({ filter, rows }) => [filter, rows]));
  expect(took).toMatchObject({
    "left out: difficulty VERY_HARD": 2,
    "left out: difficulty HARD": 1,
    "duplicate: same reference": 1,
  });
  const bad = source.filters.filter(({ filter }) => filter.startsWith("bad: "));
  expect(bad.reduce((n, { rows }) => n + rows, 0)).toBe(2);
  let left = 16;
  for (const filter of source.filters) {
    left -= filter.rows;
    expect(filter.left).toBe(left);
  }
  expect(left).toBe(10);
});

test("every set of the paper has its number, and whatever is read beside it is a share of it", async () => {
  const says = new Map<string, number | undefined>();
  for (const kind of ["open-reasoner-zero", "taco", "if-rlvr", "i3-logic", "bfcl", "apps"] as const) {
    const path = (await writeSampleRows(kind, scratch("samples")))!;
    const source = counted(await countDataset(kind, { kind, path } as DatasetSpec));
    expect(source).toMatchObject({ rows: 5, usable: 5, filters: [] });
    says.set(kind, source.paper?.rows);
    const text = dataCountText([source]);
    expect(text).toContain(`${kind}: ${kind}, 1 file`);
    if (source.paper === undefined) expect(text).not.toContain("paper");
    else expect(text).toContain(`usable here is ${((100 * 5) / source.paper.rows).toFixed(1)} % of it`);
  }
  expect([...says]).toEqual([
    ["open-reasoner-zero", 129_000],
    ["taco", 24_000],
    ["if-rlvr", 95_000],
    ["i3-logic", 12_000],
    ["bfcl", 4_000],
    ["apps", undefined],
  ]);
});

test("what is not here is not counted", async () => {
  const source = await countDataset("math", { kind: "open-reasoner-zero", path: ["gone-1", "gone-2"] });
  expect(source).toEqual({
    name: "math",
    kind: "open-reasoner-zero",
    paper: { rows: 129_000, says: "Open-Reasoner-Zero (~129K)" },
    missing: "needs the files: gone-1, gone-2 are not here",
  });
  expect(dataCountText([source])).toContain("needs the files: gone-1, gone-2 are not here");
});

test("with a recipe a prompt that is too long is a filter as well", async () => {
  const rows = [1, 400].map((n) => [{ value: "a ".repeat(n) }, { ground_truth: { value: "1" } }]);
  const spec = { kind: "open-reasoner-zero", path: writeRows("long-count.jsonl", rows) } as const;
  const prompts = await promptFilter(smallRecipe());
  if (!("admit" in prompts)) throw new Error(prompts.unknown);
  const { usable, filters } = counted(await countDataset("math", spec, prompts.admit));
  expect([usable, filters]).toEqual([
    1,
    [{ filter: "left out: prompt longer than 64 tokens", rows: 1, left: 1 }],
  ]);
  expect(counted(await countDataset("math", spec)).usable).toBe(2);
});

test("without the model's files the length of prompts is unknown, and nothing is downloaded", async () => {
  const recipe = smallRecipe({}, { model: { folder: "nobody/nothing-like-this" }, tokenizer: "model" });
  expect(await promptFilter(recipe)).toEqual({
    unknown: expect.stringMatching(
      /^prompts over 64 tokens are not counted: .*offline mode forbids asking the Hub$/,
    ),
  });
});

test("the command counts a recipe's sources, and exits 4 where one cannot be counted", async () => {
  const recipe = scratch("count.ts");
  const path = writeRows("taco-command.jsonl", TACO);
  writeFileSync(
    recipe,
    `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "count",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64, maxPositions: 4096 } },
  domains: {
    math: { weight: 1, source: { kind: "open-reasoner-zero", path: "gone" } },
    code: { weight: 1, source: { kind: "taco", path: ${JSON.stringify(path)} } },
  },
  rollouts: { maxOutputTokens: 40, maxPromptTokens: 4000 },
  lengthPenalty: { bufferTokens: 20 },
  training: { steps: 1, groupsPerStep: 4 },
});`,
  );
  const hone = (...args: string[]) => honeHere(["data", "count", ...args]);
  const whole = await hone(recipe);
  expect(whole.status, whole.stderr).toBe(4);
  expect(whole.stdout).toContain("needs the files: gone is not here");
  expect(whole.stdout).toMatch(/- left out: difficulty VERY_HARD +-2 {2}\d+ left/);
  expect(whole.stdout).toMatch(/= usable +10\n/);
  const one = await hone(path, "--kind", "taco", "--json");
  expect(one.status, one.stderr).toBe(0);
  const { sources, notes } = JSON.parse(one.stdout);
  expect([sources[0].usable, notes]).toEqual([10, []]);
});
