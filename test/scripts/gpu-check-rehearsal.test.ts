// Faults during a GPU check: after each the results so far are saved, and the other parts run. Deliberate faults
// (mutants) that these tests detect: the archive is written under its final name; it is packed only at a part's end;
// the portable kernels never run, or always; the list ends at a hang; a part outlives its caller; the summary omits a
// part that has started; an earlier call's archive is ignored; running out of time counts as a failure; `--total` is
// ignored.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { long, longest } from "../long.ts";
import { folder, machine, packed, passes } from "./gpu-check-machine.js";

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a device that does not answer", () => {
  const sleeper = "exec sleep 60";
  const impatient = { HONE_GPU_CHECK_SECONDS: "1" };

  test.runIf(longest)(
    "a hang, a crash and a failure cost no later program, and the portable kernels follow by themselves",
    () => {
      const portable = (otherwise: string) =>
        `[[ $HONE_CUDA_PORTABLE == 1 ]] || { ${otherwise}; }\n${passes(["a"])}`;
      const built = {
        test_kernels_cuda_tma: "trap '' TERM; sleep 60 & while true; do wait; done",
        test_kernels_cuda_matmul: portable(`echo "ok   first"; ${sleeper}`),
        test_kernels_cuda_attention: portable("kill -SEGV $$"),
        test_kernels_cuda_cast: portable("exit 1"),
        test_contract_cuda: `${passes(["a"])}; echo "  noted: sums are \\"cut\\""`,
        bench_cuda_gemm: sleeper,
        bench_cuda_lm_head: `echo '{"bench": "lm_head"}'; echo '{"name": "a"}'; printf '{"na'; exit 3`,
        bench_cuda_rows: `echo '{"bench": "rows"}'; echo '{"name": "b"}'`,
      };
      const { check, rows, summary, text } = machine("trouble", built, {}, "9.0", impatient);
      expect(check("--part", "tests", "--part", "portable", "--part", "bench")).toBe(1);
      const verdicts = (part: string) =>
        rows(part)
          .filter((row) => "program" in row)
          .map(({ program, status, reason }) => `${program} ${status}: ${reason}`);
      const hang = (cases: number) => `stopped after 1 s, ${cases} cases were done`;
      expect(verdicts("tests")).toEqual([
        `test_kernels_cuda_tma failed: ${hang(0)}`,
        `test_kernels_cuda_matmul failed: ${hang(1)}`,
        "test_kernels_cuda_attention failed: exit 139: signal 11, 0 cases were done",
        expect.stringMatching(/^test_kernels_cuda_cast failed: exit 1/),
        "test_contract_cuda passed: 1 cases, 0 failures, 0 skipped",
      ]);
      expect(rows("tests").at(-1)).toMatchObject({ notes: ['sums are "cut"'] });
      expect(text("tests/test_kernels_cuda_matmul.log")).toBe("ok   first\n");
      expect(text("bench.jsonl")).toBe(
        `${'{"bench": "lm_head"}\n{"name": "a"}\n{"na\n'}{"bench": "rows"}\n{"name": "b"}\n${'{"bench": "lm_head"}\n{"name": "a"}\n{"na\n'}`,
      );
      expect(verdicts("portable").slice(1)).toEqual(
        ["kernels_cuda_matmul", "kernels_cuda_attention", "kernels_cuda_cast", "contract_cuda"].map(
          (name) => `test_${name} passed: 1 cases, 0 failures, 0 skipped`,
        ),
      );
      expect(summary().parts.map(({ part }) => part)).toEqual(["tests", "portable", "bench"]);
    },
    120_000,
  );

  test.runIf(long)(
    "where Hopper's kernels pass, the portable ones are not asked unless somebody does",
    () => {
      const built = { test_kernels_cuda_matmul: passes(["a"]) };
      const { check, rows, text } = machine("no trouble", built);
      check("--part", "tests", "--part", "portable");
      expect(text("portable.log")).toBe("not needed: Hopper's kernels passed\n");
      check("--part", "portable");
      expect(rows("portable")[0]).toMatchObject({ program: "test_kernels_cuda_matmul", status: "passed" });
    },
  );

  test.runIf(longest)(
    "when a part's time ends in its middle, the rest is left out by name",
    () => {
      const name = "packs_meant_for_a_step_that_is_skipped_are_not_published";
      const built = {
        test_kernels_cuda_a: passes(["a"]),
        test_contract_cuda_packs: `[[ $HONE_GPU_CHECK_PART == tests ]] && { echo "ok   first"; ${sleeper}; }\n${passes([name])}`,
        test_text_after: passes(["a"]),
      };
      const { check, rows, summary } = machine("late", built);
      expect(check("--part", "tests", "--minutes", "0.2")).toBe(3);
      expect(rows("tests").map(({ status, reason }) => `${status}: ${reason}`)).toEqual([
        "passed: 1 cases, 0 failures, 0 skipped",
        expect.stringMatching(/^left: stopped after/),
        "left: no time",
      ]);
      expect(summary().parts[0]).toMatchObject({
        status: "skipped",
        reason: expect.stringMatching(/^2 programs not done/),
      });
      check("--part", "tests", "--part", "promises", "--minutes", "0.2");
      const asked = rows("promises").find((row) => row["case"] === name);
      expect(asked).toMatchObject({ kept: true });
      expect(check("--part", "tests", "--part", "bench", "--total", "0.05")).toBe(3);
      expect(summary().parts).toMatchObject([
        { part: "tests" },
        { part: "promises" },
        { part: "bench", status: "skipped" },
      ]);
    },
    60_000,
  );

  /** Writes an archive in two halves, with time between them. */
  const slowly = `while [[ "$1" != *czf ]]; do before+=("$1"); shift || break; done
    (($#)) || exec /usr/bin/env -i PATH=/usr/bin:/bin tar "\${before[@]}"
    whole="$(mktemp)"
    PATH=/usr/bin:/bin tar "\${before[@]}" "$1" "$whole" "\${@:3}"
    head -c 100 "$whole" >"$2"; sleep 0.1; cp "$whole" "$2"; rm "$whole"`;

  test.runIf(longest)(
    "killed at any moment, it leaves a summary and an archive that can be read, and can go on",
    async () => {
      const names = ["a", "b", "c"].map((name) => `test_kernels_cuda_${name}`);
      const built = {
        ...Object.fromEntries(names.map((name) => [name, `sleep 0.3; ${passes(["a"])}`])),
        test_kernels_cuda_z: `echo $$ >"$0.pid"; sleep 3; ${passes(["a"])}`,
        test_text_after: `touch "$0.ran"; ${passes(["a"])}`,
      };
      const { start, check, summary, rows, out } = machine("killed", built, { tar: slowly });
      const bin = join(out, "../build/gpu");
      const script = start("--part", "tests");
      const ended = new Promise((resolve) => script.once("exit", resolve));
      let read = 0;
      while (!existsSync(join(bin, "test_kernels_cuda_z.pid"))) {
        if (existsSync(join(out, "gpu-check.tar.gz"))) {
          expect(packed(out, "summary.json")).toContain('"tests"');
          expect(summary().parts).toHaveLength(1);
          read++;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(read).toBeGreaterThan(3);
      script.kill("SIGKILL");
      await ended;
      expect(summary().parts).toMatchObject([{ part: "tests", status: "running" }]);
      expect(rows("tests").map(({ program }) => program)).toEqual(names);
      expect(readdirSync(out).sort()).toEqual(["gpu-check.tar.gz", "summary.json"]);
      await new Promise((resolve) => setTimeout(resolve, 4000));
      expect(existsSync(join(bin, "test_text_after.ran"))).toBe(false);
      expect(check("--part", "promises")).toBe(1);
      expect(summary().parts.map(({ part, status }) => `${part} ${status}`)).toEqual([
        "tests running",
        "promises failed",
      ]);
    },
    60_000,
  );
});
