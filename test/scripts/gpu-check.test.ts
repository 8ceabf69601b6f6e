// Tests what the GPU check reports of stand-in programs, tools and parts (passed, failed, wrongly called or skipped),
// and that it always keeps the results. Deliberate faults (mutants) that these tests detect: skipped parts count as
// passed; a failed part counts as skipped; unknown parts are ignored; a program without a device passes; a missing
// Hopper build passes on a Hopper; the list ends at the first failure; reported races are left for a person to judge;
// a skipped case fulfils a promise; a crashed bench loses its rows; an earlier call's summary is ignored; an
// interrupt leaves the program running.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { long, longest } from "../long.ts";
import { folder, machine, passes, skips } from "./gpu-check-machine.js";

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(long)("scripts/gpu-check.sh", () => {
  test("without a GPU every part is left out, with the reason, and the code is 3", () => {
    const { check, summary } = machine("none", {}, { "nvidia-smi": "exit 9" });
    expect(check()).toBe(3);
    const { device, parts } = summary();
    expect(device).toBe("");
    expect(parts.map(({ part }) => part)).toEqual([
      "build",
      "tests",
      "promises",
      "portable",
      "bench",
      "node",
      "peers",
      "memcheck",
      "racecheck",
    ]);
    expect(new Set(parts.map((part) => `${part.status}: ${part.reason}`))).toEqual(
      new Set(["skipped: no GPU: nvidia-smi finds none"]),
    );
  });

  test.runIf(longest)(
    "a part that fails makes it 1 and says with what; a configuration that fails is tried again from nothing",
    () => {
      const cmake = 'echo "$PWD" >>"$HOME/calls"; echo no such thing; exit 4';
      const { check, summary } = machine("broken", {}, { nvcc: "exit 0", cmake: `HOME=${folder}\n${cmake}` });
      expect(check("--part", "build")).toBe(1);
      expect(summary()).toMatchObject({
        device: "NVIDIA Test 1",
        architecture: "90a",
        parts: [{ part: "build", status: "failed", reason: "exit 4: no such thing" }],
      });
      expect(readFileSync(join(folder, "calls"), "utf8").trim().split("\n")).toHaveLength(2);
    },
  );

  test("when all that was asked for passes it is 0", () => {
    const { check, summary } = machine("fine", {}, { nvcc: "exit 0", cmake: "exit 0" });
    expect(check("--part", "build")).toBe(0);
    expect(summary().parts).toMatchObject([{ part: "build", status: "passed", reason: "" }]);
  });

  test.each([
    ["--part", "nonsense"],
    ["--nonsense", ""],
    ["--minutes", "soon"],
  ])("%s %s is wrong usage: 2", (...args) => {
    expect(machine("usage", {}).check(...args)).toBe(2);
  });
});

describe.runIf(long)("with an archive of gpu-pack.mjs", () => {
  const node = `[[ $1 == --version ]] && echo v1 && exit
    while [[ $1 != --out ]]; do shift; done
    echo "{\\"what\\": \\"$4\\"}" >>"$2"`;
  const inside = {
    test_kernels_cuda_tma: passes(["a"]),
    "bin/node": node,
    "hone/dist/x": "",
    "hone/node_modules/x": "",
  };
  const compiler = { nvcc: "exit 0", cmake: 'touch "$0.ran"' };
  const asked = ["build", "tests", "node"].flatMap((part) => ["--part", part]);

  test("its programs, Node and package are taken, and nothing is compiled", () => {
    const { archive, check, rows, summary, out, text } = machine("archive", {}, compiler);
    expect(check("--prebuilt", archive(inside), ...asked)).toBe(0);
    expect(text("build.log")).toBe("taken from the archive: 1 tests, benches, v1\n");
    expect(existsSync(join(out, "../bin/cmake.ran"))).toBe(false);
    expect(rows("tests")).toMatchObject([{ program: "test_kernels_cuda_tma", status: "passed" }]);
    expect(rows("node")).toEqual([{ what: join(out, "../build/gpu/prebuilt/hone") }]);
    expect(summary().parts.map(({ status }) => status)).toEqual(["passed", "passed", "passed"]);
  });

  test.each([
    ["other sources", { sources: "older" }, /made of other sources \(older\) than these/],
    ["another GPU", { architecture: "80" }, /the archive is for sm_80, this device is sm_90a/],
  ])("one of %s is told, and the sources are compiled", (name, made, told) => {
    const { archive, check, rows, out, text } = machine(name, { test_text_here: passes(["a"]) }, compiler);
    check("--prebuilt", archive(inside, made), ...asked);
    expect(text("build.log")).toMatch(told);
    expect(existsSync(join(out, "../bin/cmake.ran"))).toBe(true);
    expect(rows("tests")).toMatchObject([{ program: "test_text_here" }]);
  });

  test("one that cannot be read is told, and the sources are compiled", () => {
    const { check, out, text } = machine("broken archive", {}, compiler);
    const file = join(out, "../pack.tar.xz");
    writeFileSync(file, "no archive");
    expect(check("--prebuilt", file, "--part", "build")).toBe(0);
    expect(text("build.log")).toContain(`${file} cannot be unpacked\nso they are compiled\n`);
    expect(existsSync(join(out, "../bin/cmake.ran"))).toBe(true);
  });
});

describe.runIf(long)("the tests on a GPU", () => {
  test("Hopper's come first, a failure or a crash stops no other, and every program has its row", () => {
    const { check, rows, summary } = machine("order", {
      test_core_json: passes(["a", "b"]),
      test_kernels_cuda_cast: 'echo "FAIL a"; echo "1 cases, 1 failures, 0 skipped"; exit 1',
      test_kernels_cuda_attention_sm90: passes(["a"]),
      test_kernels_cuda_tma: "kill -SEGV $$",
      test_text_bpe: "true",
    });
    expect(check("--part", "tests")).toBe(1);
    expect(rows("tests")).toMatchObject([
      { program: "test_kernels_cuda_tma", status: "failed", reason: expect.stringMatching(/^exit 139/) },
      {
        program: "test_kernels_cuda_attention_sm90",
        status: "passed",
        reason: "1 cases, 0 failures, 0 skipped",
      },
      { program: "test_kernels_cuda_cast", status: "failed", reason: "exit 1: FAIL a" },
      { program: "test_core_json", status: "passed", reason: "2 cases, 0 failures, 0 skipped" },
      { program: "test_text_bpe", status: "failed", reason: "it ended without its count of cases" },
    ]);
    expect(summary().parts[0]?.reason).toMatch(/^exit 1: failed test_kernels_cuda_tma/);
  });

  test.runIf(longest).each([
    ["9.0", "no device", 1],
    ["9.0", "no Hopper", 1],
    ["9.0", "no golden data", 0],
    ["8.0", "no device of capability 9.0", 0],
    ["8.0", "no device", 1],
    ["8.0", "no Hopper", 0],
  ])("on %s a program that skips because of «%s» gives %i", (capability, reason, status) => {
    const built = { test_kernels_cuda_tma: skips(reason) };
    const name = `skip ${capability} ${reason}`;
    expect(machine(name, built, {}, capability).check("--part", "tests")).toBe(status);
  });

  test.runIf(longest)("who asks for the portable kernels on a Hopper does without Hopper's", () => {
    const env = { HONE_CUDA_PORTABLE: "1" };
    const { check } = machine("portable", { test_kernels_cuda_tma: skips("no Hopper") }, {}, "9.0", env);
    expect(check("--part", "tests")).toBe(0);
  });

  test.runIf(longest)("without a list of programs nothing is tested, and that fails", () => {
    const { check, summary } = machine("no ctest", { test_core_json: passes(["a"]) }, { ctest: "exit 1" });
    expect(check("--part", "tests")).toBe(1);
    expect(summary().parts[0]?.reason).toBe("exit 1: FAIL ctest lists no programs");
  });

  test.runIf(longest)(
    "a program of this checkout that is not built fails; one of an older checkout is not run",
    () => {
      const { check, rows } = machine(
        "stale",
        { test_old: "exit 1", test_kernels_cuda_tma: passes(["a"]) },
        { ctest: 'echo "  Test #1: kernels_cuda_tma"; echo "  Test #2: kernels_cuda_matmul"' },
      );
      expect(check("--part", "tests")).toBe(1);
      expect(rows("tests").map(({ program, reason }) => `${program}: ${reason}`)).toEqual([
        "test_kernels_cuda_tma: 1 cases, 0 failures, 0 skipped",
        "test_kernels_cuda_matmul: not built",
      ]);
    },
  );

  test.runIf(longest)("libraries that pip installed are where the programs look", () => {
    const place = join(folder, "site-packages/nvidia/nccl/lib");
    const { check, rows } = machine(
      "wheels",
      {
        test_dist_cuda_nccl_group: `[[ ":$LD_LIBRARY_PATH:" == *:${place}:* ]] || exit 7\n${passes(["a"])}`,
      },
      { python3: `cat >/dev/null; echo ${place}` },
    );
    expect(check("--part", "tests")).toBe(0);
    expect(rows("tests")).toHaveLength(1);
  });
});

describe("the sanitizers", () => {
  const built = { test_kernels_cuda_matmul: passes(["a"]) };
  const sanitizer = (report: string) =>
    `[[ "$1" == --version ]] && exit\necho "${report}"\necho "========= RACECHECK SUMMARY: 1 hazard displayed"\n${passes(["a"])}\n[[ "$*" == *"--tool $TOOL"* ]] && exit 9 || exit 0`;
  const race = (kernel: string) => `========= Error: Race reported between Write access at ${kernel}+0x10`;

  test.runIf(longest).each([
    ["racecheck", race("product_sm90_kernel"), 3, "judge"],
    ["racecheck", race("add_pieces_kernel"), 1, "failed"],
    ["memcheck", "========= Invalid __global__ write of size 2 bytes", 1, "failed"],
  ])("%s: «%s» gives %i", (tool, report, status, verdict) => {
    const name = `${tool} ${status} ${verdict}`;
    const script = `TOOL=${tool}\n${sanitizer(report)}`;
    const { check, rows } = machine(name, built, { "compute-sanitizer": script });
    expect(check("--part", tool)).toBe(status);
    expect(rows(tool)).toMatchObject([{ program: "test_kernels_cuda_matmul", status: verdict }]);
  });

  test.runIf(longest)("what finds nothing passes, and what checked nothing does not", () => {
    const tools = { "compute-sanitizer": 'while [[ "$1" == --* ]]; do shift 2 || exit; done; exec "$@"' };
    expect(machine("clean", built, tools).check("--part", "memcheck", "--part", "racecheck")).toBe(0);
    const idle = { test_kernels_cuda_matmul: skips("no device") };
    const { check, summary } = machine("idle", idle, tools);
    expect(check("--part", "racecheck")).toBe(3);
    expect(summary().parts[0]?.reason).toBe("compute-sanitizer does not work on this machine");
  });
});

describe.runIf(long)("promises, benches and the summary", () => {
  test("a promise is kept by cases that ran, not by those that are missing, failed or skipped", () => {
    const { check, rows } = machine("promises", {
      test_contract_cuda: `echo "ok   a_step_is_the_same_bits_twice_and_clips_where_the_norm_is"
        echo "  skipped: some reason"
        echo "ok   gradients_are_the_cpus_within_the_rounding_of_bf16"
        echo "FAIL weights_taken_in_place_are_those_of_a_fresh_engine_graphs_included"
        echo "3 cases, 1 failures, 1 skipped"; exit 1`,
      test_contract_cuda_packs: passes(["packs_meant_for_a_step_that_is_skipped_are_not_published"]),
    });
    expect(check("--part", "promises")).toBe(1);
    const kept = rows("promises").filter((row) => row["kept"] === true);
    expect(kept.map((row) => row["promise"])).toEqual([
      "the same bits twice",
      "packs written by the optimizer are those of its masters",
    ]);
    expect(rows("promises").length).toBeGreaterThan(10);
  });

  test("every case that is asked for is a case of that program", () => {
    const script = readFileSync("scripts/gpu-check.sh", "utf8");
    const list = script.slice(script.indexOf("<<'LIST'\n") + 8, script.indexOf("\nLIST\n"));
    const sources = readdirSync("test/csrc", { recursive: true, encoding: "utf8" });
    const programOf = (name: string) => name.replace(/\.test\.cc$|\.test\.cu$/, "").replaceAll("/", "_");
    const missing = list
      .trim()
      .split("\n")
      .flatMap((line) => {
        const [program = "", , cases = ""] = line.split("|");
        const source = sources.find((name) => program.slice(5) === programOf(name)) ?? "";
        const text = readFileSync(join("test/csrc", source), "utf8");
        return cases.split(" ").filter((name) => !text.includes(`TEST(${name}) {`));
      });
    expect(missing).toEqual([]);
    expect(list.trim().split("\n")).toHaveLength(17);
  });

  test.runIf(longest)("what tests has just run is not run again for the promises", () => {
    const name = "packs_meant_for_a_step_that_is_skipped_are_not_published";
    const once = `${passes([name])}; echo ran >>"$0.runs"`;
    const { check, rows, out } = machine("once", { test_contract_cuda_packs: once });
    check("--part", "tests", "--part", "promises");
    expect(rows("promises").find((row) => row["case"] === name)).toMatchObject({ kept: true });
    const runs = join(out, "../build/gpu/test_contract_cuda_packs.runs");
    expect(readFileSync(runs, "utf8")).toBe("ran\n");
    check("--part", "promises");
    expect(readFileSync(runs, "utf8")).toBe("ran\nran\n");
  });

  test.runIf(longest)("rows of a bench that breaks off are kept, and so are those of the next", () => {
    const line = (name: string) => `echo '{"bench": "${name}", "name": "'$HONE_CUDA_PORTABLE'"}'`;
    const good = (name: string) => `${line(name)}; ${line(name)}`;
    const names = ["attention", "lm_head", "rows", "model"];
    const others = Object.fromEntries(names.map((name) => [`bench_cuda_${name}`, good(name)]));
    const { check, rows, summary } = machine("bench", {
      test_x: "true",
      bench_cuda_gemm: `${good("gemm")}; [[ $HONE_CUDA_PORTABLE == 1 ]] || exit 5`,
      ...others,
    });
    expect(check("--part", "bench")).toBe(1);
    expect(summary().parts[0]?.reason).toBe("exit 1: FAIL gemm: exit 5");
    expect(rows("bench").map(({ bench, name }) => `${bench} ${name}`)).toEqual(
      [
        "gemm 0",
        "attention 0",
        "lm_head 0",
        "model 0",
        "rows 0",
        "gemm 1",
        "attention 1",
        "lm_head 1",
        "model 1",
      ].flatMap((row) => [row, row]),
    );
  });

  test.runIf(longest)("a bench that prints nothing but its device has measured nothing", () => {
    const names = ["gemm", "attention", "lm_head", "rows", "model"];
    const idle = Object.fromEntries(
      names.map((name) => [`bench_cuda_${name}`, `echo '{"bench": "${name}"}'`]),
    );
    const { check, summary } = machine("idle bench", { test_x: "true", ...idle }, {}, "8.0");
    expect(check("--part", "bench")).toBe(1);
    expect(summary().parts[0]?.reason).toBe("exit 1: FAIL gemm: it measured nothing");
  });

  test.runIf(longest)(
    "parts of an earlier call with the same folder stay in the summary, in the order of parts",
    () => {
      const tools = { nvcc: "exit 0", cmake: "exit 0" };
      const { check, summary } = machine("twice", { test_core_json: passes(["a"]) }, tools);
      expect(check("--part", "tests")).toBe(0);
      expect(check("--part", "build")).toBe(0);
      expect(summary().parts.map(({ part, status }) => `${part} ${status}`)).toEqual([
        "build passed",
        "tests passed",
      ]);
    },
  );

  test("interrupted, it ends what runs, says so, and keeps what was found", async () => {
    const pid = join(folder, "sleeper");
    const { start, summary, rows } = machine("interrupted", {
      test_core_device: passes(["a"]),
      test_kernels_cuda_tma: `echo $$ >${pid}; exec sleep 60`,
    });
    const script = start("--part", "tests", "--part", "promises");
    const ended = new Promise<number | null>((resolve) => script.once("exit", resolve));
    while (!existsSync(pid) || readFileSync(pid, "utf8") === "")
      await new Promise((resolve) => setTimeout(resolve, 20));
    script.kill("SIGTERM");
    expect(await ended).toBe(130);
    expect(summary().parts).toMatchObject([{ part: "tests", status: "failed", reason: "interrupted" }]);
    expect(rows("tests")).toMatchObject([{ program: "test_core_device", status: "passed" }]);
    await expect
      .poll(() => existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`), { timeout: 60_000 })
      .toBe(false);
  });
});
