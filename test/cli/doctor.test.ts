import { expect, test } from "vitest";
import { type Diagnosis, diagnose, diagnosisText } from "../../lib/cli/doctor.ts";

const FACTS: Diagnosis = {
  hone: "1.2.3",
  node: "v20.19.0",
  platform: "linux-x64, kernel 6.1",
  libc: "glibc 2.36",
  cpu: "Some CPU",
  cores: 2,
  memoryGiB: 8,
  sandbox: "bubblewrap (bubblewrap 0.8.0, python 3.11.2)",
};

test("one block of aligned lines, with what was found or why not", () => {
  const native = {
    version: "1.2.3",
    isa: "avx2",
    threads: 2,
    cuda: { compiled: null, driver: null, devices: [], memoryBytes: null, reason: "nvcc was not found" },
    nccl: { version: null, reason: "libnccl.so.2 was not found" },
    gloo: { version: null, reason: "hone_gloo.so cannot be opened" },
  };
  expect(diagnosisText({ ...FACTS, native, build: { type: "Release" } }).split("\n")).toEqual([
    "hone        1.2.3",
    "node        v20.19.0",
    "platform    linux-x64, kernel 6.1, glibc 2.36",
    "cpu         Some CPU, 2 cores, 8 GiB",
    "sandbox     bubblewrap (bubblewrap 0.8.0, python 3.11.2)",
    "core        1.2.3, kernels avx2, 2 threads",
    "bf16        this processor has no instruction for bf16 products: they are in f32",
    "            unless model.arithmetic is bf16, which is slower here",
    "cuda        not compiled in",
    "driver      none",
    "gpus        none: nvcc was not found",
    "nccl        not found: libnccl.so.2 was not found",
    "gloo        not there: hone_gloo.so cannot be opened",
    "build.type  Release",
  ]);
});

test("where bf16 is multiplied by an instruction, that it is the default", () => {
  const native = {
    version: "1.2.3",
    isa: "avx512bf16",
    threads: 2,
    cuda: { compiled: null, driver: null, devices: [], memoryBytes: null, reason: null },
    nccl: { version: null, reason: null },
    gloo: { version: null, reason: null },
  };
  expect(diagnosisText({ ...FACTS, native }, 200)).toContain(
    "bf16      this processor multiplies bf16 by an instruction, which is the default if weights are stored as bf16",
  );
});

test("the core's file, with why it is the one that is used", () => {
  const told = (file: string) =>
    diagnosisText({ ...FACTS, file }, 200)
      .split("\n")
      .at(-1);
  expect(told("build/Release/hone.node")).toBe(
    "file      build/Release/hone.node: built on this machine, and preferred to the package's prebuilt core",
  );
  expect(told("prebuilds/linux-x64/hone-rl.glibc.node")).toMatch(
    /prebuilt core for CPUs, since none was built on this machine; npx hone build --cuda/,
  );
});

test("of NCCL, the version and what is used of it, each with the version that brought it", () => {
  const native = {
    version: "1.2.3",
    isa: "avx2",
    threads: 2,
    cuda: {
      compiled: "13.0",
      driver: "13.0",
      devices: ["NVIDIA H100 (sm_90, 79.6 GiB)"],
      memoryBytes: 85_500_000_000,
      reason: null,
    },
    nccl: { version: "2.30.7", reason: null, capabilities: ["collectives (2.0)", "bf16 (2.10)"] },
    gloo: { version: "0.5.0", reason: null },
  };
  expect(
    diagnosisText({ ...FACTS, native })
      .split("\n")
      .slice(-5),
  ).toEqual([
    "cuda      compiled with 13.0",
    "driver    supports CUDA 13.0",
    "gpus      NVIDIA H100 (sm_90, 79.6 GiB)",
    "nccl      2.30.7: collectives (2.0), bf16 (2.10)",
    "gloo      0.5.0",
  ]);
});

test("a long reason goes on below itself, in 80 columns", () => {
  const native = {
    version: "1.2.3",
    isa: "avx2",
    threads: 2,
    cuda: { compiled: null, driver: null, devices: [], memoryBytes: null, reason: null },
    nccl: { version: null, reason: "libnccl.so.2 cannot be opened. ".repeat(9).trim() },
    gloo: { version: "0.5.0", reason: null },
  };
  const lines = diagnosisText({ ...FACTS, native }).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.slice(-4, -1).every((line) => /^ {10}\S/.test(line))).toBe(true);
});

test("a core that does not load is said last, with what to do", () => {
  const text = diagnosisText({ ...FACTS, problem: "HONE_ERR_NATIVE_LOAD  no\n  hint: run `npx hone build`" });
  expect(text).toContain("the native core does not load:\nHONE_ERR_NATIVE_LOAD");
});

test("the diagnosis of this machine is complete", async () => {
  const diagnosis = await diagnose();
  expect(diagnosis).toMatchObject({ node: process.version, cores: expect.any(Number) });
  expect(diagnosis.sandbox).toMatch(/bubblewrap|sandboxfusion|wasm/);
  expect(diagnosis.native === undefined).toBe(diagnosis.problem !== undefined);
});
