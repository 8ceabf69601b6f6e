import { describe, expect, test } from "vitest";
import { Looks } from "../../../lib/streams/sqlite/looks.ts";
import { append, bytes, HOUR_MS } from "../place.ts";
import { noSqlite, SqliteFile } from "./sqlite-file.ts";

const LEASE = { stream: "s", group: "g", token: "t", max: 1, leaseMs: HOUR_MS, maxDeliveries: 9 };

describe.skipIf(noSqlite !== undefined)("looks at a file of streams", () => {
  test("see what is kept by then, and leave to others what has to write", async () => {
    await using file = new SqliteFile();
    await using store = await file.open();
    await append(store, "s", ["x"]);
    const looks = await Looks.at(file.path, "r");
    const read = looks.run("read", { stream: "s", after: 0, max: 9 });
    expect(read).toMatchObject({ result: [{ offset: 1, key: "x" }] });
    expect(
      looks.run("append", { stream: "s", key: "y", payload: bytes("y"), size: { samples: 0, tokens: 0 } }),
    ).toBeUndefined();
    expect(looks.run("lease", LEASE)).toBeUndefined(); // of a group that is not known yet
    await store.lease("s", "g", { max: 1, leaseMs: HOUR_MS, waitMs: 0 });
    const none = looks.run("lease", LEASE);
    expect(none).toEqual({ result: { leases: [], nextMs: expect.any(Number) } });
    await append(store, "s", ["y"]);
    expect(looks.run("lease", LEASE)).toBeUndefined();
    await store.kv.set("epoch", "2");
    const late = () => looks.run("depth", { stream: "s" }, { key: "epoch", value: "1" });
    expect(late).toThrow(expect.objectContaining({ why: "fenced" }));
    expect(looks.run("get", { key: "epoch" })).toEqual({ result: "2" });
    looks.close();
    expect(() => looks.run("get", { key: "epoch" })).toThrow(
      expect.objectContaining({ code: "HONE_ERR_IO" }),
    );
  });
});
