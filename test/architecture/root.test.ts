// The repository's root contains only the files listed here, so that a trial file committed by mistake is noticed.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { ROOT } from "./source-tree.ts";

const FOLDERS = [".ci", ".github", "bench", "csrc", "docs", "lib", "recipes", "scripts", "test"];
const FILES = [
  ".gitignore",
  "CHANGELOG.md",
  "CMakeLists.txt",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "binding.gyp",
  "biome.json",
  "package-lock.json",
  "package.json",
  "tsconfig.build.json",
  "tsconfig.json",
  "vitest.config.ts",
];

const { status, stdout } = spawnSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
const noCheckout = status !== 0 || stdout === "";

test.skipIf(noCheckout)("the root holds known names only", () => {
  const names = new Set(
    stdout
      .split("\0")
      .filter(Boolean)
      .map((path) => path.split("/")[0]!),
  );
  expect([...names].sort()).toEqual([...FOLDERS, ...FILES].sort());
});
