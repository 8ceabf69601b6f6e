import { describe, expect, test, vi } from "vitest";
import { openDatabase } from "../../../lib/streams/sqlite/database.ts";
import type { Order } from "../../../lib/streams/sqlite/orders.ts";
import { OwnThread } from "../../../lib/streams/sqlite/own-thread.ts";
import { append, bytes, HOUR_MS } from "../place.ts";
import { noSqlite, SqliteFile } from "./sqlite-file.ts";

const APPEND: Order<"append"> = {
  id: 7,
  name: "append",
  args: { stream: "s", key: "y", payload: bytes("y"), size: { samples: 0, tokens: 0 } },
};
const LEASE = { stream: "s", group: "g", token: "t", max: 1, leaseMs: HOUR_MS, maxDeliveries: 9 };

describe.skipIf(noSqlite !== undefined)("in the caller's thread, a file of streams", () => {
  test("is looked at as it is by then; what has to write is left to others", async () => {
    await using file = new SqliteFile();
    await using store = await file.open();
    await append(store, "s", ["x"]);
    const looks = await OwnThread.at(file.path, "r", "FULL");
    const read = looks.look("read", { stream: "s", after: 0, max: 9 });
    expect(read).toMatchObject({ result: [{ offset: 1, key: "x" }] });
    expect(looks.look("append", APPEND.args)).toBeUndefined();
    expect(looks.look("lease", LEASE)).toBeUndefined(); // of a group that is not known yet
    await store.lease("s", "g", { max: 1, leaseMs: HOUR_MS, waitMs: 0 });
    const none = looks.look("lease", LEASE);
    expect(none).toEqual({ result: { leases: [], nextMs: expect.any(Number) } });
    await append(store, "s", ["y"]);
    expect(looks.look("lease", LEASE)).toBeUndefined();
    await store.kv.set("epoch", "2");
    const late = () => looks.look("depth", { stream: "s" }, { key: "epoch", value: "1" });
    expect(late).toThrow(expect.objectContaining({ why: "fenced" }));
    expect(looks.look("get", { key: "epoch" })).toEqual({ result: "2" });
    expect(looks.write([APPEND])).toBeUndefined(); // that has to reach the disk
    looks.close();
    expect(() => looks.look("get", { key: "epoch" })).toThrow(
      expect.objectContaining({ code: "HONE_ERR_IO" }),
    );
  });

  test("is not written to by a look during which a lease runs out", async () => {
    await using file = new SqliteFile();
    await using store = await file.open();
    await append(store, "s", ["x"]);
    await store.lease("s", "g", { max: 1, leaseMs: HOUR_MS, waitMs: 0 });
    const looks = await OwnThread.at(file.path, "r", "FULL");
    const hour = BigInt(HOUR_MS) * 1_000_000n;
    const begun = process.hrtime.bigint();
    let asked = 0n;
    const clock = vi
      .spyOn(process.hrtime, "bigint")
      .mockImplementation(() => begun + (asked++ * hour * 9n) / 10n);
    clock(); // from the next call on: 0.9, 1.8, ... hours later
    const none = looks.look("lease", LEASE);
    const next = looks.look("lease", LEASE);
    clock.mockRestore();
    expect(none).toMatchObject({ result: { leases: [] } });
    expect(next).toBeUndefined();
    looks.close();
  });

  test("is written to where nothing has to reach the disk, and where nobody else writes", async () => {
    await using file = new SqliteFile("?synchronous=off");
    await using store = await file.open();
    const own = await OwnThread.at(file.path, "r", "OFF");
    const news = store.read("s", 0, { max: 1, waitMs: 60_000 });
    const refused: Order<"read"> = { id: 8, name: "read", args: { stream: "s", after: 9, max: 1 } };
    expect(own.write([APPEND, refused])).toEqual([
      { id: 7, result: 1 },
      { id: 8, refusal: { why: "ahead", about: "s", found: "1" } },
    ]);
    expect(await news).toMatchObject([{ offset: 1, key: "y" }]);
    const other = await openDatabase(file.path);
    other.exec("BEGIN IMMEDIATE");
    expect(own.write([APPEND])).toBeUndefined();
    other.exec("ROLLBACK");
    other.close();
    expect(own.write([APPEND])).toEqual([{ id: 7, result: 1 }]);
    own.close();
  });
});
