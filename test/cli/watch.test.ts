import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAgain, runFolders } from "../../lib/cli/watch.ts";

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

test("a page comes back at its address, with its token, for its owner's eyes alone", async () => {
  const dir = join(mkdtempSync(join(tmpdir(), "hone-watch-")), "run");
  let url: string;
  {
    await using live = await openAgain(dir, {});
    url = live.url;
    expect(statSync(join(dir, "live.json")).mode & 0o777).toBe(0o600);
  }
  {
    await using again = await openAgain(dir, {});
    expect(again.url).toBe(url);
    await using beside = await openAgain(dir, {});
    expect([beside.token, beside.port !== again.port]).toEqual([again.token, true]);
    await expect(openAgain(dir, { port: again.port })).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  }
  writeFileSync(join(dir, "live.json"), '{"port":-1,"token":"guess"}');
  await using fresh = await openAgain(dir, {});
  expect(fresh.token).toMatch(/^[0-9a-f]{32}$/);
  rmSync(dir, { recursive: true });
});
