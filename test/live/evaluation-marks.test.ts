import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EvaluationMarks } from "../../lib/live/evaluation-marks.ts";
import { temporary } from "./live-run.ts";

const board = (score: number) => ({ mean: { score, n: 4 }, domains: {} });
let written = 0;
/** Writes a file whose modification time is later than that of the files before. */
function put(dir: string, name: string, content: unknown): void {
  const path = join(dir, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  written += 1;
  utimesSync(path, 1000 + written, 1000 + written);
}

test("evaluations before, between and after are marks at the steps whose weights they are of", () => {
  const dir = temporary();
  const marks = new EvaluationMarks(dir);
  expect(marks.list).toEqual([]);
  put(dir, "before.json", [board(0.25), board(0.3)]);
  put(dir, "validation.json", [{ step: 4, boards: [board(0.5)] }]);
  expect(marks.list.map(({ step, text }) => [step, text])).toEqual([
    [0, "evaluation before training: mean score 0.250"],
    [4, "evaluation of step 4: mean score 0.500"],
  ]);
  put(dir, "validation.json", [
    { step: 4, boards: [board(0.5)] },
    { step: 8, boards: [board(0.75)] },
  ]);
  put(dir, "summary.json", { steps: 8, after: [board(0.75)] });
  expect(marks.list.map(({ kind, step }) => [kind, step])).toEqual([
    ["evaluation", 0],
    ["evaluation", 4],
    ["evaluation", 8],
  ]);
  rmSync(join(dir, "before.json"));
  expect(marks.list.map(({ step }) => step)).toEqual([4, 8]);
});

test("files of another shape, and runs that were not evaluated, have none", () => {
  const dir = temporary();
  put(dir, "before.json", "not JSON");
  put(dir, "validation.json", { boards: 3 });
  put(dir, "summary.json", { steps: 3, after: [] });
  expect(new EvaluationMarks(dir).list).toEqual([]);
});
