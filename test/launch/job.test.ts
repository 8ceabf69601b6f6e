import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { command, expectName, ownStore, quoted } from "../../lib/launch/job.ts";
import { expectBash } from "./jobs.ts";

test("words come out of a shell as they went in", () => {
  const words = [
    "plain",
    "it's",
    "",
    "two words",
    "$HOME",
    "a\nb",
    "`x`",
    '"',
    "\\",
    "*",
    "~",
    "é",
    "#",
    "--set=a=1",
  ];
  const out = execFileSync("bash", ["-c", `printf '%s\\0' ${command(words)}`], { encoding: "utf8" });
  expect(out.split("\0").slice(0, -1)).toEqual(words);
});

test("any word", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), (word) => {
      fc.pre(!word.includes("\0"));
      expect(execFileSync("bash", ["-c", `printf %s ${quoted(word)}`], { encoding: "utf8" })).toBe(word);
    }),
    { numRuns: 30 },
  );
});

test("names that every launcher takes", () => {
  for (const name of ["a", "apriel-15b", "7", "x".repeat(40)]) expectName(name);
  for (const name of ["", "Run", "a_b", "-a", "a-", "x".repeat(41), "a b", "a\n"])
    expect(() => expectName(name)).toThrow(expect.objectContaining({ code: "HONE_ERR_USAGE" }));
});

test("a store of the job's own is bash that keeps its password from others", () => {
  const text = ownStore("/shared/a b", "$MASTER_ADDR", "$MASTER_PORT");
  expectBash(text);
  expect(text).toContain("store='/shared/a b/store'");
  expect(text).toContain('requirepass $(cat "$store/password")');
  expect(text).not.toMatch(/--requirepass/); // every user can read a command line
});

test("a store that does not start ends the job with what the server said, before any agent waits for it", () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-job-"));
  const said = "Failed listening on port 7";
  const script = `redis-server() { echo "${said}"; return 1; }\n${ownStore(dir, "127.0.0.1", "7")}\necho agents`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect([status, stdout]).toEqual([78, ""]);
  expect(stderr).toMatch(/^redis-server does not start on .*, port 7:\nFailed listening on port 7\n$/);
  rmSync(dir, { recursive: true });
});
