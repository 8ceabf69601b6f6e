// Follows docs/how-to/write-a-loss.md in a copy of the sources: the loss compiles and passes its tests, and a mutant of
// it fails them.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { longest } from "../long.ts";
import { applyPage } from "./page-diffs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/how-to/write-a-loss.md"), "utf8");
const folder = mkdtempSync(join(root, "build", "how-to-loss-"));
afterAll(() => rmSync(folder, { recursive: true }));

const COMPILER = process.env["CXX"] ?? "g++";
const UNCHANGED = [
  "csrc/core/error.cc",
  "csrc/core/json.cc",
  "csrc/core/tensor.cc",
  "csrc/core/utf8.cc",
  "test/csrc/check.cc",
];
const CHANGED = [
  "csrc/kernels/policy_loss.cc",
  "csrc/kernels/cpu/policy_loss.cc",
  "test/csrc/kernels/policy_loss.test.cc",
];
const FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Icsrc", "-Itest/csrc"];
const run = (args: readonly string[]) => execFileSync(COMPILER, args, { cwd: folder });
const objectOf = (file: string) => `${file.replaceAll("/", "-")}.o`;
const compile = (files: readonly string[]) => {
  for (const file of files) run([...FLAGS, "-c", file, "-o", objectOf(file)]);
};
const testLoss = () => {
  run([...UNCHANGED, ...CHANGED].map(objectOf).concat(["-o", "program"]));
  return spawnSync(join(folder, "program"), { encoding: "utf8" });
};
const terms = join(folder, "csrc/kernels/policy_loss_terms.h");

beforeAll(() => {
  for (const part of ["csrc", "test/csrc"]) cpSync(join(root, part), join(folder, part), { recursive: true });
  applyPage(page, root, folder);
  compile(UNCHANGED);
}, 300_000);

test.runIf(longest)(
  "the loss of the page passes its tests",
  () => {
    compile(CHANGED);
    const { status, stdout } = testLoss();
    expect({ status, stdout }).toMatchObject({ status: 0 });
    expect(stdout).toContain("sequence_reinforce_is_the_mean_of_the_sequences_means");
  },
  300_000,
);

test.runIf(longest).each([
  ["with 1/n_i left out", "return 1.0 / (sequences * double(n));", "return 1.0 / sequences;"],
  [
    "with its sign flipped",
    "kSequenceReinforce: return {-advantage * logprob, -advantage, false};",
    "kSequenceReinforce: return {advantage * logprob, advantage, false};",
  ],
  [
    "with another slope than its value's",
    "kSequenceReinforce: return {-advantage * logprob, -advantage, false};",
    "kSequenceReinforce: return {-advantage * logprob, -advantage / 2, false};",
  ],
])(
  "%s it fails them",
  (_, from, to) => {
    const right = readFileSync(terms, "utf8");
    expect(right.split(from)).toHaveLength(2);
    writeFileSync(terms, right.replace(from, to));
    try {
      compile(["csrc/kernels/cpu/policy_loss.cc"]);
      expect(testLoss().status).not.toBe(0);
    } finally {
      writeFileSync(terms, right);
    }
  },
  300_000,
);
