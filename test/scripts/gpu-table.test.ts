// Tests the page made from a GPU check's results: verdicts on targets, peers with the same shape, missing results.
// Deliberate faults (mutants) that these tests detect: a value below its target counts as met; the slowest peer; a
// peer of another bench; the header line as a row; a truncated line ends the page; the first call's part instead of
// the last call's.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import * as page from "../../scripts/gpu-table.mjs";

const gpuTable = page.gpuTable as (files: Readonly<Record<string, string>>) => string;

const filesOf = page.filesOf as (place: string) => Readonly<Record<string, string>>;
const merged = page.merged as (
  calls: readonly Readonly<Record<string, string>>[],
) => Readonly<Record<string, string>>;

const lines = (...rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const SUMMARY = JSON.stringify({
  device: "NVIDIA Test",
  driver: "580.1",
  architecture: "90a",
  nvcc: "Build 13",
  date: "2026-01-02",
  parts: [{ part: "build" }, { part: "tests" }],
});

function rowsOf(text: string, section: string): string[] {
  const from = text.indexOf(`### ${section}\n`);
  const end = text.indexOf("\n### ", from + 1);
  return text
    .slice(from, end < 0 ? undefined : end)
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("|  |"));
}

test("a figure stands beside its floor, its target and the fastest peer on the same shape", () => {
  const text = gpuTable({
    "summary.json": SUMMARY,
    "bench.jsonl": lines(
      { bench: "gemm", device: "NVIDIA Test", peakTeraflops: 989.4, copyGigabytesPerSecond: 3001.6 },
      {
        bench: "gemm",
        name: "forward qkv 8x6x5, wgmma",
        microseconds: 10,
        teraflops: 740,
        targetTeraflops: 740,
        peerMicroseconds: 9,
        differenceFromPeer: 0.004,
      },
      {
        bench: "gemm",
        peerMicroseconds: 11,
        differenceFromPeer: 0.5,
        name: "forward qkv 8x6x55, wgmma",
        microseconds: 10,
        teraflops: 739.9,
        targetTeraflops: 740,
      },
      {
        bench: "rows",
        name: "rms_norm 4x4",
        microseconds: 4,
        gigabytesPerSecond: 2500,
        ofFloor: 0.849,
        targetOfFloor: 0.85,
      },
      {
        bench: "model",
        name: "generate 0.6B, batch 8, wgmma",
        microseconds: 2000,
        tokensPerSecond: 4000,
        ofFloor: 0.5,
      },
      { bench: "model", name: "train 8B", problem: "no memory" },
    ),
    "peers.jsonl": lines(
      { torch: "2.11", device: "NVIDIA Test" },
      { bench: "gemm", name: "forward qkv 8x6x5", peer: "F.linear", microseconds: 8 },
      { bench: "attention", name: "forward qkv 8x6x5", peer: "another bench", microseconds: 1 },
      { bench: "model", name: "generate 0.6B, batch 8", peer: "transformers", microseconds: 30_000 },
      { bench: "model", name: "generate 0.6B, batch 64", peer: "transformers", problem: "out of memory" },
    ),
  });
  expect(text).toContain("1 of 3 targets met.");
  expect(text).toContain("Floors: 989 TFLOP/s at the highest clock, copies at 3002 GB/s.");
  expect(rowsOf(text, "gemm")).toEqual([
    "| forward qkv 8x6x5, wgmma | 10.0 | 740 TFLOP/s |  | 740 TFLOP/s: met | 0.80 × F.linear |",
    "| forward qkv 8x6x55, wgmma | 10.0 | 740 TFLOP/s |  | 740 TFLOP/s: **missed** | 1.10 × cublasLt, **differs by 5.0e-1** |",
  ]);
  expect(rowsOf(text, "rows")).toEqual(["| rms_norm 4x4 | 4.0 | 2500 GB/s | 84.9 % | 85 %: **missed** |  |"]);
  expect(rowsOf(text, "model")).toEqual([
    "| generate 0.6B, batch 8, wgmma | 2000.0 | 4000 tokens/s | 50 % |  | 15.00 × transformers |",
    "| train 8B |  |  |  |  | no memory |",
  ]);
  expect(text).toContain("### attention\nNothing was measured.");
  expect(text).toContain("- generate 0.6B, batch 64, transformers: out of memory");
});

test("what a user did, with what each thing said, and whole models beside their floor", () => {
  const text = gpuTable({
    "summary.json": SUMMARY,
    "node.jsonl": lines(
      { what: "doctor", status: "passed", said: ["cuda 13.0", "gpus 1"], seconds: 0.5 },
      { what: "quick start", status: "failed", reason: "step 2 | parted", seconds: 31 },
      { what: "LoRA", status: "passed", "time/step": [2.0304, 1.5], "trained/tokens": [12, 13], seconds: 9 },
      {
        what: "tokens a second",
        status: "passed",
        device: "NVIDIA Test",
        rows: [
          { shape: "0.6b", what: "generation", size: 8, tokensPerSecond: 4000.4, ofFloor: 0.5 },
          { shape: "0.6b", what: "training", problem: "out of memory" },
        ],
        seconds: 60,
      },
    ),
  });
  const from = text.indexOf("## From beginning to end\n");
  expect(text.slice(from, text.indexOf("\n\n## Figures")).split("\n").slice(3)).toEqual([
    "| doctor | passed | 0.5 s | cuda 13.0; gpus 1 |",
    "| quick start | failed | 31 s | step 2 \\| parted |",
    "| LoRA | passed | 9 s | time/step 2.03, 1.50; trained/tokens 12, 13 |",
    "| tokens a second | passed | 60 s | device NVIDIA Test |",
    "",
    "| shape |  | size | tokens/s | of the floor |",
    "|---|---|---|---|---|",
    "| 0.6b | generation | 8 | 4000 | 50 % |",
    "| 0.6b | training |  | out of memory |  |",
  ]);
});

test("parts in their order, promises, and the programs that did not pass; a line cut off is left out", () => {
  const text = gpuTable({
    "summary.json": SUMMARY,
    "tests.json": '{"part": "tests", "status": "failed", "seconds": 30, "reason": "exit 1"}',
    "build.json": '{"part": "build", "status": "passed", "seconds": 90, "reason": ""}',
    "tests.jsonl": `${lines(
      { program: "test_a", status: "passed", reason: "3 cases" },
      { program: "test_b", status: "failed", reason: "exit 1 | b" },
    )}{"program": "test_c", "sta`,
    "promises.jsonl": lines(
      { promise: "the same bits", case: "same_bits_twice", kept: true },
      { promise: "graphs", case: "graphs_on_and_off", kept: false },
    ),
  });
  expect(text).toContain("| build | passed | 90 s |  |\n| tests | failed | 30 s | exit 1 |");
  expect(text).toContain("| tests | test_b | failed | exit 1 \\| b |\n\n## Promises");
  expect(text).not.toContain("test_a");
  expect(text).not.toContain("test_c");
  expect(text).toContain(
    "| the same bits | kept | same bits twice |\n| graphs | **broken** | graphs on and off |",
  );
});

test("an empty folder is a page that says nothing was measured", () => {
  expect(gpuTable({})).toContain("0 of 0 targets met.");
});

test("what tests noted of the device is listed", () => {
  const text = gpuTable({
    "summary.json": SUMMARY,
    "tests.jsonl": lines({ program: "test_a", status: "passed", notes: ["sums are truncated", "12 differ"] }),
  });
  expect(text).toContain("## Noted\n- test_a: sums are truncated\n- test_a: 12 differ");
});

test("calls whose archives came back one by one make one page, each part as the last call had it", () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-gpu-table-test-"));
  const call = (name: string, parts: Readonly<Record<string, string>>) => {
    const place = join(folder, name);
    mkdirSync(join(place, "inside"), { recursive: true });
    const rows = Object.entries(parts).map(([part, status]) => ({ part, status, seconds: 1, reason: name }));
    const files: readonly (readonly [string, string])[] = [
      ["summary.json", JSON.stringify({ device: name, parts: rows })],
      ...rows.map((row) => [`${row.part}.json`, JSON.stringify(row)] as const),
    ];
    for (const [file, text] of files) writeFileSync(join(place, "inside", file), text);
    execFileSync("tar", ["-C", join(place, "inside"), "-czf", join(place, "gpu-check.tar.gz"), "."]);
    rmSync(join(place, "inside"), { recursive: true });
    return place;
  };
  const first = call("first", { build: "passed", tests: "failed" });
  const second = call("second", { tests: "passed", bench: "running" });
  const text = gpuTable(merged([filesOf(first), filesOf(join(second, "gpu-check.tar.gz"))]));
  rmSync(folder, { recursive: true });
  expect(text).toContain(
    "| build | passed | 1 s | first |\n| tests | passed | 1 s | second |\n| bench | running | 1 s | second |",
  );
});
