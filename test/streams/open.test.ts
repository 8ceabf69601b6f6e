import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../lib/streams/index.ts";

test("memory: is a store of its own", async () => {
  await using a = await openStore("memory:", { run: "r" });
  await using b = await openStore("memory:", { run: "r" });
  await a.kv.set("x", "1");
  expect(await b.kv.get("x")).toBeUndefined();
});

test("a store in memory knows no run from before", async () => {
  await expect(openStore("memory:", { run: "r", mustExist: true })).rejects.toMatchObject({
    code: "HONE_ERR_STREAM",
    why: "lost",
    message: "the store does not hold run r: a store in memory is always new",
  });
});

test.each(["", "nats://x", "memory", "file:x"])("%j is no address", async (url) => {
  await expect(openStore(url, { run: "r" })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a run has a name that fits into keys", async () => {
  await expect(openStore("memory:", { run: "a{b}" })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test.each(["synchronous=of", "synchronous=off&x=1", ""])("?%s is no option of a file", async (option) => {
  const file = join(mkdtempSync(join(tmpdir(), "hone-open-")), "s.sqlite");
  const opened = openStore(`sqlite:${file}?${option}`, { run: "r" });
  await expect(opened).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: `sqlite:${file}?${option}: "${option}" is no option of a store in a file`,
  });
  expect(readdirSync(dirname(file))).toEqual([]);
  rmSync(dirname(file), { recursive: true });
});
