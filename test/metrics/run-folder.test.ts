import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HoneError } from "../../lib/errors.ts";
import {
  clearLeft,
  RUN_FILES,
  readJson,
  readRunManifest,
  writeRunManifest,
  writeWhole,
  writeWholeBeside,
} from "../../lib/metrics/run-folder.ts";

let folder: string;
let before: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-run-folder-"));
  before = process.cwd();
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});

const manifest = {
  name: "r",
  config: { a: [1, { b: "ü" }] },
  seeds: { run: "18446744073709551615" },
  versions: { hone: "0.1.0" },
};
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as HoneError).code;
  }
  return "nothing was thrown";
};

describe("the manifest", () => {
  test("is read as it was written, with platform and time beside it", () => {
    const stored = writeRunManifest(join(folder, "deep", "run"), manifest);
    expect(readRunManifest(join(folder, "deep", "run"))).toEqual(stored);
    expect(stored).toMatchObject({ ...manifest, versions: { hone: "0.1.0", node: process.version } });
    expect(new Date(stored.startedAt).toISOString()).toBe(stored.startedAt);
  });

  test("names the commit, with + for local changes, and null where there is none", () => {
    process.chdir(folder);
    const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    const git = (...args: string[]) =>
      execFileSync("git", [...identity, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    expect(writeRunManifest(join(folder, "a"), manifest).commit).toBeNull();
    git("init", "-q");
    writeFileSync("tracked", "1");
    git("add", "tracked");
    git("commit", "-qm", "x");
    const commit = git("rev-parse", "HEAD").trim();
    expect(writeRunManifest(join(folder, "a"), manifest).commit).toBe(commit);
    writeFileSync("tracked", "2");
    expect(writeRunManifest(join(folder, "a"), manifest).commit).toBe(`${commit}+`);
  });

  test("errors say what is wrong with which file", () => {
    expect(codeOf(() => readRunManifest(folder))).toBe("HONE_ERR_IO");
    expect(() => readRunManifest(folder)).toThrow(`${folder}: not a run folder (no run.json)`);
    expect(() => readRunManifest(join(folder, "none"))).toThrow("none: not a run folder");
    writeFileSync(join(folder, RUN_FILES.manifest), "{");
    expect(codeOf(() => readRunManifest(folder))).toBe("HONE_ERR_FORMAT");
    writeFileSync(join(folder, RUN_FILES.manifest), '{"schema": 2}');
    expect(codeOf(() => readRunManifest(folder))).toBe("HONE_ERR_FORMAT");
    expect(() => readRunManifest(folder)).toThrow(/is .* a run folder/);
  });
});

describe("whole files", () => {
  test("written beside the caller's thread appear and fail likewise", async () => {
    const path = join(folder, "x", "y.json");
    await writeWholeBeside(path, "[1]");
    await writeWholeBeside(path, "[2]");
    expect(readJson(path)).toEqual([2]);
    expect(readdirSync(join(folder, "x"))).toEqual(["y.json"]);
    await expect(writeWholeBeside(join(path, "below-a-file"), "[3]")).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("below-a-file"),
    });
    expect(readJson(path)).toEqual([2]);
  });

  test("appear under their name only, folders made on the way", () => {
    const path = join(folder, "x", "y.json");
    writeWhole(path, "[1]");
    expect(readJson(path)).toEqual([1]);
    expect(readdirSync(join(folder, "x"))).toEqual(["y.json"]);
  });

  test("of two processes that write one path each has its own place beside it", async () => {
    const path = join(folder, "y.json");
    const other = `${path}.tmp`; // a writer that always uses this temporary name
    writeFileSync(other, "what another process has written of it so far");
    writeWhole(path, "[1]");
    await writeWholeBeside(path, "[2]");
    expect(readJson(path)).toEqual([2]);
    expect(readFileSync(other, "utf8")).toContain("so far");
  });

  test("what processes left that were killed amid a write is cleared, and nothing that may be under way", () => {
    const longAgo = Date.now() / 1000 - 61;
    for (const name of ["a.json.41.tmp", "a.json", "a.tmp", "backup.2024.tmp"]) {
      writeFileSync(join(folder, name), "{");
      utimesSync(join(folder, name), longAgo, longAgo);
    }
    mkdirSync(join(folder, "b.json.41.tmp"));
    utimesSync(join(folder, "b.json.41.tmp"), longAgo, longAgo);
    writeFileSync(join(folder, "a.json.42.tmp"), "{");
    clearLeft(folder);
    expect(readdirSync(folder).sort()).toEqual([
      "a.json",
      "a.json.42.tmp",
      "a.tmp",
      "b.json.41.tmp",
      "backup.2024.tmp",
    ]);
    expect(codeOf(() => clearLeft(join(folder, "nowhere")))).toBe("HONE_ERR_IO");
  });

  test("what cannot be written is HONE_ERR_IO and leaves the old file", () => {
    const path = join(folder, "y.json");
    writeWhole(path, "[1]");
    expect(codeOf(() => writeWhole(join(path, "below-a-file"), "[2]"))).toBe("HONE_ERR_IO");
    expect(readJson(path)).toEqual([1]);
    expect(readdirSync(folder)).toEqual(["y.json"]);
  });
});
