import { expect, test } from "vitest";
import { comparisonText, notesOf } from "../../lib/cli/comparison-tables.ts";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { compareEvaluations, summarizeModel } from "../../lib/suites/index.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "../suites/scripted.ts";

/**
 * Writes an evaluation in which problem n of eight is right with a seed where `knows(n, seed)`; an answer has
 * `length(n)` tokens.
 */
async function evaluated(
  model: string,
  knows: (n: number, seed: number) => boolean,
  length = (n: number) => 10 * (n + 1),
): Promise<string> {
  const dir = scratchFolder();
  const answerer = scripted((problem, seed) => {
    const n = Number(/\d+/.exec(problem.question)![0]);
    const guess = said("a guess:\n\x1b[31m\\boxed{-1}");
    return { ...(knows(n, seed) ? right(problem) : guess), tokens: length(n) };
  });
  await evaluateSuites(answerer, [sums(8)], { dir, model, seeds: [0, 1], verifiers: judgeHere });
  return dir;
}

test("a comparison shows who won what, without a terminal's escapes", async () => {
  const one = await evaluated("old", (n, seed) => n + seed < 4);
  const two = await evaluated("new", (n, seed) => n + seed >= 2);
  const [models, comparison] = [[one, two].map(summarizeModel), compareEvaluations(one, two, 2)];
  const tables = ["summary", "difference", "length"] as const;
  const text = comparisonText(models, [comparison], { tables, format: "text", columns: 80 });
  expect(text).toContain("won: sums, ");
  expect(text).toContain("lost: sums, ");
  expect(text).toContain("a guess:\n    \\x1b[31m\\boxed{-1}");
  expect(text).not.toContain("\x1b");
  const table = text.slice(0, text.indexOf("won: "));
  for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const latex = comparisonText(models, [comparison], {
    tables: ["difference"],
    format: "latex",
    columns: 80,
  });
  expect(latex).toMatch(/^\\begin\{tabular\}\{lrrrrrrrrrr\}/);
});

test("hone compare prints the paper's row of pooled trainings and its table by solve rate", async () => {
  // Solve rates of "lp" over two seeds: 0 for problems 0 to 3, 1/2 for 4 and 5, 1 for 6 and 7.
  const lp = await evaluated("lp", (n, seed) => n >= 6 || (n >= 4 && seed === 0));
  const dap = [
    await evaluated(
      "dap-1",
      (n) => n >= 4,
      (n) => 20 * (n + 1),
    ),
    await evaluated(
      "dap-2",
      (n, seed) => n >= 2 + seed,
      (n) => 40 * (n + 1),
    ),
  ];
  const hone = (...args: string[]) => honeHere(["compare", lp, `dap=${dap.join(",")}`, ...args]);
  const csv = await hone("--tables", "summary,solve-rate", "--format", "csv");
  expect(csv.stderr).toBe("");
  // dap's accuracies by seed: 4/8, 4/8, 6/8, 5/8 (mean 0.59375, sample deviation 0.11968); lp's: 4/8, 2/8.
  expect(csv.stdout.split("\n\n")[0]!.split("\n")).toEqual([
    "model,sums,seeds,tokens",
    "lp,37.5 (17.7),2,45",
    "dap,59.4 (12.0),4,135",
  ]);
  // Bin [0, 25) has problems 0 to 3. In dap's second run seed 0 solves n = 2 and both seeds solve n = 3: 3 of 16, with
  // 120, 160 and 160 tokens. All 16 answers have 2 × (20 + 40 + 60 + 80) + 2 × (40 + 80 + 120 + 160) = 1200 tokens, so
  // the 13 wrong ones have 1200 - 440 = 760.
  expect(csv.stdout.trim().split("\n\n")[1]!.split("\n").slice(1)).toEqual([
    '"sums [0, 25)",4,0.0,18.8,–,147,–,25,58,+33',
    '"sums [25, 50)",0,–,–,–,–,–,–,–,–',
    '"sums [50, 75)",2,50.0,100.0,55,165,+110,55,–,–',
    '"sums [75, 100]",2,100.0,100.0,75,225,+150,–,–,–',
  ]);
  expect((await hone("--tables", "solve-rate", "--format", "latex")).stdout).toMatch(
    /^\\begin\{tabular\}\{lrrrrrrrrr\}/,
  );
  expect((await hone("--tables", "solve-rate", "--format", "markdown")).stdout).toMatch(
    /^\| suite, by solve rate of lp \| n \|/,
  );
  const json = JSON.parse((await hone("--json")).stdout) as { models: { name: string; folders: number }[] };
  expect(json.models).toMatchObject([
    { name: "lp", folders: 1 },
    { name: "dap", folders: 2 },
  ]);
  const misspelt = await hone("--tables", "solverate");
  expect(misspelt.status).toBe(2);
  expect(misspelt.stderr).toContain("It must be one of summary, difference, length, solve-rate.");
});

test("problems and suites that are on one side only are told, whatever the format", () => {
  const comparison = {
    before: "old",
    after: "new\x1b[31m",
    suites: [
      { suite: "all", alone: { before: 0, after: 0 } },
      { suite: "part", alone: { before: 76, after: 2 } },
    ],
    alone: ["other"],
  } as unknown as Parameters<typeof notesOf>[0];
  expect(notesOf(comparison)).toEqual([
    "part: 76 problems are answered in old only and 2 in new\\x1b[31m only",
    "other: no problem of this suite is answered in both evaluations",
  ]);
});
