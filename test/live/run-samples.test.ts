import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { excerptOf, isReadable, samplesOf, shownSample, shownText } from "../../lib/live/run-samples.ts";
import { WatchedRun } from "../../lib/live/watched-run.ts";
import { wholeSample } from "../../lib/samples/index.ts";
import { ConstructedRun } from "../samples/constructed-run.ts";
import { smallRun } from "./live-run.ts";

const HOSTILE = "<think>\u001b[2J\ud800</think></pre><script>alert(1)</script>\u202e\u2028";

test("nothing of a completion that the page gets acts on it, and none of it is long", async () => {
  const dir = smallRun(1);
  {
    using run = new ConstructedRun(dir);
    run.step({
      reference: HOSTILE,
      said: [{ text: HOSTILE, reason: HOSTILE }, { text: "y".repeat(10_000_000) }],
    });
  }
  const index = (await samplesOf(new WatchedRun(dir, 0)))!;
  const one = shownSample(await wholeSample(index, 0));
  expect(one).toMatchObject({
    thought: "\\x1b[2J\\ud800",
    response: "</pre><script>alert(1)</script>\\u202e\\u2028",
  });
  for (const text of [one.prompt, one.thought, one.response, one.reference, one.reason])
    expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
  const long = shownSample(await wholeSample(index, 1));
  expect(JSON.stringify(long).length).toBeLessThan(110_000);
  expect(long.response).toContain("\n[... 9900000 characters ...]\n");
  expect([isReadable(one as never), isReadable(long as never)]).toEqual([true, false]);
});

test("what an environment says is made fit for the screen as well, and a long conversation is cut in the middle", () => {
  const turns = Array.from({ length: 1000 }, (_, i) => ({
    by: "environment",
    text: `${i}\u202e\ud800\u001b[2J`,
  }));
  const shown = shownSample({ response: "", reference: "", turns } as never);
  expect(shown.turns).toHaveLength(201);
  const [first, last, gap] = [shown.turns![0], shown.turns![200], shown.turns![100]];
  expect([first!.text[0], last!.text.slice(0, 3)]).toEqual(["0", "999"]);
  expect(gap).toEqual({ by: "nobody", text: "800 parts are not shown" });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  for (const { text } of shown.turns!) expect(text).not.toMatch(/[\u202e\ud800\u001b]/);
});

test("texts are cut to their ends, excerpts to one line", () => {
  expect(shownText("abcdef", 4)).toBe("ab\n[... 2 characters ...]\nef");
  expect(shownText("abcd", 4)).toBe("abcd");
  expect(excerptOf({ response: "  a\n\n b  c", thought: "t" } as never, 4)).toBe("a b");
  expect(excerptOf({ response: " ", thought: "t u" } as never, 99)).toBe("(thinks) t u");
  expect(excerptOf({ response: "" } as never, 99)).toBe("");
  const turns = [
    { by: "policy", text: "owl" },
    { by: "environment", text: "_w_\n" },
    { by: "policy", text: "cat" },
  ];
  expect(excerptOf({ response: "owl_w_cat", turns } as never, 99)).toBe("owl [_w_] cat");
});

test("a journal that is damaged is told each time, until it is mended", async () => {
  const dir = smallRun(1);
  const run = new WatchedRun(dir, 0);
  const path = join(dir, "verdicts.jsonl");
  expect(await samplesOf(run)).toBeUndefined();
  writeFileSync(path, "nonsense\n");
  await expect(samplesOf(run)).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
  await expect(samplesOf(run)).rejects.toMatchObject({ code: "HONE_ERR_FORMAT" });
  rmSync(path);
  {
    using written = new ConstructedRun(dir);
    written.step({ said: [{ text: "a" }] });
  }
  expect((await samplesOf(run))!.live).toHaveLength(1);
  expect(existsSync(join(dir, "samples.index"))).toBe(true);
});
