import { expect, test } from "vitest";
import { Table } from "../../lib/samples/table.ts";

const SCHEMA = { step: "u32", flag: "u8", value: "f64" } as const;
const rowsOf = (table: Table<typeof SCHEMA>) =>
  Array.from({ length: table.rows }, (_, i) => [
    table.columns.step[i],
    table.columns.flag[i],
    table.columns.value[i],
  ]);
const row = (i: number) => ({ step: 2 ** 32 - 1 - i, flag: i % 256, value: i === 3 ? Number.NaN : i / 3 });
const rows = (count: number) => Array.from({ length: count }, (_, i) => Object.values(row(i)));

test("what is pushed is read back, however often the columns grew", () => {
  const table = new Table(SCHEMA);
  for (let i = 0; i < 5000; i++) {
    const { step, ...shared } = row(i);
    expect(i % 2 ? table.push(row(i)) : table.push({ step }, shared)).toBe(i);
  }
  expect(rowsOf(table)).toEqual(rows(5000));
});

test.each([0, 1, 3, 8, 1025])(
  "%i rows that were written and appended in pieces are the same rows",
  (count) => {
    const table = new Table(SCHEMA);
    for (let i = 0; i < count; i++) table.push(row(i));
    const read = new Table(SCHEMA);
    for (const [first, last] of [
      [0, count >> 1],
      [count >> 1, count],
    ] as const) {
      const piece = new Table(SCHEMA);
      for (let i = first; i < last; i++) piece.push(row(i));
      const bytes = Buffer.concat(piece.encode(0));
      expect(bytes.length).toBe(piece.bytesOf(last - first));
      read.append(new Uint8Array(bytes), last - first);
    }
    expect(rowsOf(read)).toEqual(rows(count));
    expect(Buffer.concat(table.encode(count))).toHaveLength(0);
    expect(Buffer.concat(read.encode(0))).toEqual(Buffer.concat(table.encode(0)));
  },
);
