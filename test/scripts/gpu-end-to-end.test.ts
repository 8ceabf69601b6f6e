// Rehearses the GPU check's user commands on the CPU with tiny shapes: every step passes, and a failing step is
// reported and stops no later one.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
// @ts-expect-error a script, not a module with types
import { SHAPE } from "../../scripts/gpu-end-to-end.mjs";
import { longest } from "../long.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-end-to-end-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rehearse(name: string, ...args: string[]) {
  const out = join(folder, `${name}.jsonl`);
  const script = ["scripts/gpu-end-to-end.mjs", "--out", out, "--work", join(folder, name), "--small"];
  const env = { ...process.env, CUDA_VISIBLE_DEVICES: "" }; // hides the GPU of a machine that has one
  const { status } = spawnSync(process.execPath, [...script, ...args], { encoding: "utf8", env });
  const lines = existsSync(out) ? readFileSync(out, "utf8").trim().split("\n") : [];
  return { status, rows: lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>) };
}

test("the shape that is trained is Qwen3-0.6B's", () => {
  expect(SHAPE).toMatchObject(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]!);
});

test.runIf(longest)(
  "on the CPU every thing passes, with what a reader of the page asks for",
  () => {
    const { status, rows } = rehearse("cpu", "--device", "cpu");
    expect(rows.filter((row) => row["status"] !== "passed")).toEqual([]);
    expect(status).toBe(0);
    const of = (what: string) => rows.find((row) => row["what"] === what);
    expect(of("quick start again, to the bit")).toMatchObject({
      steps: 6,
      sha256: of("quick start")?.["sha256"],
    });
    expect(of("score beside the CPU")).toMatchObject({ tokens: 752, largestDifference: 0 });
    for (const kind of ["LoRA", "full training"]) {
      const row = of(`${kind} at the shape of 0.6B`);
      expect(row?.["mismatch/lag0/max"]).toEqual([0, 0, 0]);
      expect(row?.["grad/norm"]).toEqual([1, 2, 3].map(() => expect.any(Number)));
    }
    expect(of("tokens a second")?.["rows"]).toHaveLength(4);
  },
  300_000,
);

test.runIf(longest)(
  "without a GPU each thing that needs one fails with the reason, and the code is 1",
  () => {
    const { status, rows } = rehearse("cuda", "--device", "cuda");
    expect(status).toBe(1);
    expect(rows).toHaveLength(10);
    const needs = rows.filter(({ what }) => what !== "doctor" && what !== "a small model, on the CPU");
    expect(new Set(needs.map((row) => row["status"]))).toEqual(new Set(["failed"]));
    for (const row of needs) expect(row["reason"]).toMatch(/HONE_ERR_CUDA/);
  },
  200_000,
);
