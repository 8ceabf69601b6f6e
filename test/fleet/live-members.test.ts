import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { liveMembers } from "../../lib/fleet/index.ts";
import { REGISTERS } from "../../lib/fleet/names.ts";
import { serveStore } from "../../lib/streams/index.ts";

test("those whose heartbeat has not expired, of this run alone", async () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-live-"));
  const place = { address: `unix:${join(dir, "s.sock")}`, run: "run-1" };
  await expect(liveMembers(place)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  await using store = await serveStore(place.address, { run: place.run });
  for (const [index, ttlMs] of [
    [0, 1],
    [1, 60_000],
  ] as const) {
    await store.kv.setLease(REGISTERS.beat(`actor.${index}`), `actor.${index}#1`, ttlMs);
    const word = { member: `actor.${index}#1`, pid: 10 + index, engines: {} };
    await store.kv.set(REGISTERS.word(`actor.${index}`), JSON.stringify(word));
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await liveMembers(place)).toMatchObject([{ index: 1, pid: 11 }]);
  rmSync(dir, { recursive: true });
});
