import { expect, test } from "vitest";
import { Column } from "../../lib/data/column.ts";

test("numbers come back from every page, whole and as wide as they are", () => {
  const [narrow, wide] = [new Column("uint32"), new Column("double")];
  const n = 3 * 2 ** 16 + 5;
  for (let i = 0; i < n; i++) {
    narrow.push((i * 0x9e3779b1) >>> 0);
    wide.push(i * 2 ** 33 - 0.5);
  }
  expect([narrow.length, wide.length]).toEqual([n, n]);
  for (const i of [0, 1, 2 ** 16 - 1, 2 ** 16, 2 ** 17, n - 1]) {
    expect([narrow.at(i), wide.at(i)]).toEqual([
      Number((BigInt(i) * 0x9e3779b1n) & 0xffffffffn),
      i * 2 ** 33 - 0.5,
    ]);
  }
});
