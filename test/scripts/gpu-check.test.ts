// The exit code of the GPU check says what happened: passed, failed, wrongly called, or left out.
// Tried mutants, all killed: skipped parts counted as passed; a failed part counted as skipped; unknown parts ignored.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-gpu-check-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A folder to put first on the PATH, with programs that stand in for the real ones. */
function programs(name: string, scripts: Readonly<Record<string, string>>): string {
  const bin = join(folder, name);
  mkdirSync(bin, { recursive: true });
  for (const [program, body] of Object.entries(scripts)) {
    writeFileSync(join(bin, program), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  return bin;
}

const GPU = 'echo "NVIDIA Test 1, 580.1, 9.0"';

function check(bin: string, ...args: string[]) {
  const out = join(folder, "out");
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const { status } = spawnSync("scripts/gpu-check.sh", ["--out", out, ...args], { encoding: "utf8", env });
  const summary = () => JSON.parse(readFileSync(join(out, "summary.json"), "utf8")) as Summary;
  return { status, summary };
}

interface Summary {
  readonly device: string;
  readonly architecture: string;
  readonly parts: readonly { readonly part: string; readonly status: string; readonly reason: string }[];
}

describe("scripts/gpu-check.sh", () => {
  test("without a GPU every part is left out, with the reason, and the code is 3", () => {
    const { status, summary } = check(programs("none", { "nvidia-smi": "exit 9" }));
    expect(status).toBe(3);
    const { device, parts } = summary();
    expect(device).toBe("");
    expect(parts.map(({ part }) => part)).toEqual([
      ...["build", "tests", "memcheck", "racecheck", "promises", "bench", "peers", "node"],
    ]);
    expect(new Set(parts.map((part) => `${part.status}: ${part.reason}`))).toEqual(
      new Set(["skipped: no GPU: nvidia-smi finds none"]),
    );
  });

  test("a part that fails makes it 1 and says with what", () => {
    const bin = programs("broken", {
      "nvidia-smi": GPU,
      nvcc: "exit 0",
      cmake: "echo no such thing; exit 4",
    });
    const { status, summary } = check(bin, "--part", "build");
    expect(status).toBe(1);
    expect(summary()).toMatchObject({
      ...{ device: "NVIDIA Test 1", architecture: "90a" },
      parts: [{ part: "build", status: "failed", reason: "exit 4: no such thing" }],
    });
  });

  test("when all that was asked for passes it is 0", () => {
    const bin = programs("fine", { "nvidia-smi": GPU, nvcc: "exit 0", cmake: "exit 0" });
    const { status, summary } = check(bin, "--part", "build");
    expect(status).toBe(0);
    expect(summary().parts).toMatchObject([{ part: "build", status: "passed", reason: "" }]);
  });

  test.each([
    ["--part", "nonsense"],
    ["--nonsense", ""],
  ])("%s %s is wrong usage: 2", (...args) => {
    expect(check(programs("none", {}), ...args).status).toBe(2);
  });
});
