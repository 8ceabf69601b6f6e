import { expect, test } from "vitest";
import { openStore, serveStore } from "../../lib/streams/index.ts";

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

test("an address of a file says what to use instead", async () => {
  await expect(openStore("sqlite:x.sqlite?synchronous=off", { run: "r" })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: "sqlite:x.sqlite?synchronous=off: stream stores in files are no longer supported",
    hint: expect.stringMatching(/leave --store.*unix:<path>.*redis:/i),
  });
});

test("only a socket can be served", async () => {
  for (const url of ["memory:", "redis://127.0.0.1", "sqlite:x"])
    await expect(serveStore(url, { run: "r" })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
