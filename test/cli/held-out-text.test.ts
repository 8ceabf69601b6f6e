import { expect, test } from "vitest";
import { showSamples } from "../../lib/cli/samples.ts";
import { heldOutRun } from "../samples/held-out-run.ts";
import { temporaryFolder } from "../samples/temporary-folder.ts";

const folder = temporaryFolder();

test("a row a held-out problem, with the count of each change", async () => {
  heldOutRun(folder.path);
  const { text } = await showSamples(folder.path, { beforeAfter: "all", limit: 2 }, 120);
  expect(text).toMatch(/math 1 +gained +0 of 2 +2 of 2 +Question 1/);
  expect(text).toMatch(/math 2 +lost +2 of 2 +1 of 2 +Question 2/);
  expect(text).toContain(
    "2 of 5 held-out problems; attempts that solved them at step 0 and at step 9.\n\nOf all: 2 gained, 1 lost, 1 wrong at both times, 1 as before.",
  );
});

test("shown whole: a failure beside a success where more attempts solved it, the reverse where fewer did", async () => {
  heldOutRun(folder.path);
  const shown = async (kind: "gained" | "lost") =>
    (await showSamples(folder.path, { beforeAfter: kind, limit: 1, show: true }, 100)).text;
  const gained = await shown("gained");
  expect(gained).toMatch(/before: wrong, 4 tokens +\| after: correct, 4 tokens/);
  expect(gained).toMatch(/before 1\.0 +\| after 1\.0/);
  expect(gained).toContain("question:\n  | Question 1\nreference:\n  | 1");
  expect(await shown("lost")).toMatch(/before 2\.0 +\| after 2\.1/);
});

test("a folder without two evaluations says what keeps them", async () => {
  await expect(showSamples(folder.path, { beforeAfter: "all" }, 80)).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: expect.stringContaining("has no recorded answers of two evaluations"),
  });
  heldOutRun(folder.path);
  await expect(showSamples(folder.path, { beforeAfter: "all", step: [7, 7] }, 80)).rejects.toThrow(
    "an evaluation before and one at step 7",
  );
});
