import { expect, test } from "vitest";
import type { RowReader } from "../../lib/data/row-reader.ts";
import { withColumns } from "../../lib/data/whole-rows.ts";

const reader = {
  domain: "d",
  verifier: "v",
  options: {},
  columns: ["question"],
  open: () => (raw) => {
    const { question } = raw.value as { question?: string };
    if (question === undefined) return { bad: "no question" };
    return { content: question, question, family: "f", level: 0, reference: undefined };
  },
} as RowReader<never>;

test("a draft has its row with every column, integers of parquet files as JSON says them", () => {
  const whole = withColumns(reader as never);
  const read = whole.open({ path: "x" });
  const value = { question: "q", n: 7n, big: 2n ** 60n, list: [{ a: 1n }], nothing: null };
  expect(read({ file: "x", row: 1, value })).toEqual({
    content: "q",
    question: "q",
    family: "f",
    level: 0,
    reference: undefined,
    columns: { question: "q", n: 7, big: "1152921504606846976", list: [{ a: 1 }], nothing: null },
  });
  expect(read({ file: "x", row: 2, value: {} })).toEqual({ bad: "no question" });
  expect(whole.columns).toBeUndefined();
});

test("an integer of a JSON row that no number holds is a text of all its digits", () => {
  const read = withColumns(reader as never).open({ path: "x" });
  const text =
    '{"question": "q", "n": 12345678901234567890, "small": -7, "x": 0.1234567890123456, "in": [{"m": 9007199254740993}], "t": "1234567890123456"}';
  expect(read({ file: "x", row: 1, value: JSON.parse(text), text })).toMatchObject({
    columns: {
      n: "12345678901234567890",
      small: -7,
      x: 0.1234567890123456,
      in: [{ m: "9007199254740993" }],
      t: "1234567890123456",
    },
  });
});
