import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFolders } from "../../lib/cli/watch.ts";

test("a folder is a run, or holds runs, or is refused by name", () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-watch-"));
  for (const name of ["b", "a", "not-a-run"]) mkdirSync(join(dir, name));
  for (const name of ["a", "b"]) writeFileSync(join(dir, name, "run.json"), "{}");
  expect(runFolders(join(dir, "a"))).toEqual([join(dir, "a")]);
  expect(runFolders(dir)).toEqual([join(dir, "a"), join(dir, "b")]);
  for (const wrong of [join(dir, "not-a-run"), join(dir, "nowhere")])
    expect(() => runFolders(wrong)).toThrow(expect.objectContaining({ code: "HONE_ERR_USAGE" }));
  rmSync(dir, { recursive: true });
});
