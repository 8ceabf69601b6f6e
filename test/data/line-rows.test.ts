import { expect, test } from "vitest";
import { LineRows } from "../../lib/data/line-rows.ts";

const bytes = Buffer.from('\uFEFF{"a":1}\r\n\n"é"\n{');
const rowsOf = (isInside: boolean) => {
  const rows = new LineRows("x.jsonl", { isSpanned: true, isInside });
  return { all: [...rows.lines(bytes, 100)].flat(), rows };
};

test("rows have their line, their text without the end of the line, and their place in bytes", () => {
  const { all, rows } = rowsOf(false);
  expect(all).toEqual([
    { file: "x.jsonl", row: 1, value: { a: 1 }, text: '{"a":1}\r', span: { start: 103, bytes: 8 } },
    { file: "x.jsonl", row: 3, value: "é", text: '"é"', span: { start: 113, bytes: 4 } },
    { file: "x.jsonl", row: 4, fault: "not JSON" },
  ]);
  expect(rows.read).toBe(4);
});

test("lines inside a file have no byte order mark", () => {
  expect(rowsOf(true).all[0]).toEqual({ file: "x.jsonl", row: 1, fault: "not JSON" });
});

test("a file in UTF-16 is told from damaged text", () => {
  const all = [
    ...new LineRows("x.jsonl", { isSpanned: false }).lines(Buffer.from('\uFEFF{"a":1}\n{}', "utf16le"), 0),
  ];
  expect(all.flat()[0]).toEqual({
    file: "x.jsonl",
    row: 1,
    fault: "the file is UTF-16; convert it: iconv -f UTF-16 -t UTF-8",
  });
});
