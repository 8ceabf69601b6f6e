import { describe, expect, test } from "vitest";
import { doTogether, type OpenFile } from "../../../lib/streams/sqlite/batch.ts";
import { Bells } from "../../../lib/streams/sqlite/bells.ts";
import { FileOfRun, openDatabase } from "../../../lib/streams/sqlite/database.ts";
import { SqliteOperations } from "../../../lib/streams/sqlite/operations.ts";
import type { Order } from "../../../lib/streams/sqlite/orders.ts";
import { ALL } from "../place.ts";
import { noSqlite, SqliteFile } from "./sqlite-file.ts";

const appendOf = (id: number, bytes: number): Order<"append"> => ({
  id,
  name: "append",
  args: {
    stream: "s",
    key: `k${id}`,
    payload: new Uint8Array(bytes),
    size: { samples: 0, tokens: 0 },
  },
});

describe.skipIf(noSqlite !== undefined)("orders of one moment", () => {
  async function opened({ path }: SqliteFile): Promise<OpenFile & Disposable> {
    const database = await openDatabase(path, "OFF");
    database.pragma("busy_timeout = 0");
    const [operations, bells] = [new SqliteOperations(database), new Bells(path)];
    const close = () => {
      database.close();
      bells.close();
    };
    return { path, database, operations, file: new FileOfRun(path, "r"), bells, [Symbol.dispose]: close };
  }

  test("are done together, but for what the store refuses", async () => {
    await using file = new SqliteFile();
    await using store = await file.open();
    using open = await opened(file);
    const ahead: Order<"read"> = { id: 2, name: "read", args: { stream: "s", after: 9, max: 1 } };
    const last: Order<"depth"> = { id: 5, name: "depth", args: { stream: "s" } };
    expect(doTogether(open, [appendOf(1, 3), ahead, appendOf(3, 3), appendOf(1, 3), last])).toMatchObject([
      { id: 1, result: 1 },
      { id: 2, refusal: { why: "ahead", found: "1" } },
      { id: 3, result: 2 },
      { id: 1, result: 1 },
      { id: 5, result: { items: 2 } },
    ]);
    expect(await store.read("s", 0, ALL)).toMatchObject([{ key: "k1" }, { key: "k3" }]);
    const trim: Order<"trim"> = { id: 7, name: "trim", args: { stream: "s", before: 4 } };
    expect(doTogether(open, [appendOf(6, 3), trim, appendOf(8, 3)])).toMatchObject([
      { result: 3 },
      { result: 3 },
      { result: 4 },
    ]);
    expect(await store.read("s", 3, ALL)).toMatchObject([{ offset: 4, key: "k8" }]);
  });

  test("are none of them done where the disk is full, or another process is writing", async () => {
    await using file = new SqliteFile();
    await using store = await file.open();
    using open = await opened(file);
    open.database.pragma("max_page_count = 40");
    expect(doTogether(open, [appendOf(1, 3), appendOf(2, 1_000_000)])).toMatchObject([
      { id: 1, error: { code: "HONE_ERR_IO", message: expect.stringContaining("full") } },
      { id: 2, error: { code: "HONE_ERR_IO" } },
    ]);
    expect(await store.depth("s")).toMatchObject({ items: 0 });
    const other = await openDatabase(file.path);
    other.exec("BEGIN IMMEDIATE");
    expect(() => doTogether(open, [appendOf(3, 3)])).toThrow(
      expect.objectContaining({ code: "SQLITE_BUSY" }),
    );
    other.exec("ROLLBACK");
    other.close();
    expect(doTogether(open, [appendOf(3, 3)])).toEqual([{ id: 3, result: 1 }]);
  });
});
