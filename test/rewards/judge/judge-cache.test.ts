import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JudgeCache } from "../../../lib/rewards/judge/judge-cache.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-judge-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
function asking() {
  const asked = { count: 0 };
  const ask = async () => ({ text: `reply ${++asked.count}`, tokens: 5 });
  return { asked, ask };
}

test("a reply is kept on disk and given to the next process, another request is asked", async () => {
  const { ask, asked } = asking();
  const first = { reply: { text: "reply 1", tokens: 5 }, isCached: false };
  expect(await new JudgeCache(folder).reply({ a: 1 }, ask)).toEqual(first);
  expect(await new JudgeCache(folder).reply({ a: 1 }, ask)).toEqual({ ...first, isCached: true });
  expect((await new JudgeCache(folder).reply({ a: 2 }, ask)).reply.text).toBe("reply 2");
  expect([asked.count, files()]).toEqual([2, [expect.any(String), expect.any(String)]]);
  expect(readdirSync(folder, { recursive: true, encoding: "utf8" })).toHaveLength(4); // no partial files remain
});

test("what is being asked is not asked again", async () => {
  const { ask, asked } = asking();
  const cache = new JudgeCache(undefined);
  const replies = await Promise.all([1, 2, 3].map(() => cache.reply("same", ask)));
  expect([asked.count, replies.map(({ isCached }) => isCached)]).toEqual([1, [false, true, true]]);
});

test("a damaged file is asked again, and a fault is not kept", async () => {
  const { ask, asked } = asking();
  await new JudgeCache(folder).reply("x", ask);
  const [file] = files();
  for (const text of ["{", "null", '{"text":3}']) {
    writeFileSync(join(folder, file!), text);
    expect((await new JudgeCache(folder).reply("x", ask)).isCached).toBe(false);
  }
  expect(asked.count).toBe(4);
  const cache = new JudgeCache(folder);
  await expect(cache.reply("y", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  expect((await cache.reply("y", ask)).isCached).toBe(false);
});

test("a folder that takes nothing costs the cache, not the reply", async () => {
  writeFileSync(join(folder, "file"), "");
  const { ask } = asking();
  expect((await new JudgeCache(join(folder, "file/cache")).reply("x", ask)).reply.text).toBe("reply 1");
});

test("a reply that is not worth it is not kept", async () => {
  const { ask } = asking();
  await new JudgeCache(folder).reply("x", ask, () => false);
  expect((await new JudgeCache(folder).reply("x", ask)).isCached).toBe(false);
});
