import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { dataFiles } from "../../lib/data/files.ts";
import { parquetRows } from "../../lib/data/parquet.ts";
import { readRows } from "../../lib/data/rows.ts";
import { fixture, scratch } from "./filtered.ts";

// test/fixtures/parquet/make.py wrote the fixtures with pyarrow.

async function rowsOf(path: string, columns?: readonly string[]) {
  const rows = [];
  for await (const { row, value } of parquetRows(path, columns)) rows.push([row, value] as const);
  return rows;
}

test("zstd, three row groups, a list of structs: rows are numbered through", async () => {
  const rows = await rowsOf(fixture("if-rlvr.parquet"));
  expect(rows).toEqual(
    [0, 1, 2, 3, 4].map((i) => [
      i + 1,
      {
        key: `row-${i}`,
        messages: [{ content: `Write about the number ${i}. Use no commas.`, role: "user" }],
        ground_truth: "[{'instruction_id': ['punctuation:no_comma'], 'kwargs': [None]}]",
      },
    ]),
  );
});

test("snappy, with nulls; gzip; and none: only the wanted columns that are there", async () => {
  const rate = "avg@16_qwen3_4b_instruct_2507";
  expect(await rowsOf(fixture("i3-logic.parquet"), [rate, "absent"])).toEqual(
    [0.25, null, 1, 0.5].map((value, i) => [i + 1, { [rate]: value }]),
  );
  expect(await rowsOf(fixture("taco.parquet"), ["difficulty"])).toEqual(
    ["EASY", "HARD", "MEDIUM_HARD"].map((difficulty, i) => [i + 1, { difficulty }]),
  );
  expect(await rowsOf(fixture("mmlu-pro.parquet"), ["options", "answer_index"])).toEqual([
    [1, { options: ["3", "4", "5"], answer_index: 1 }],
    [2, { options: ["3", "4"], answer_index: 2n ** 60n }], // the integer is not rounded
    [3, { options: ["3", "4"], answer_index: 0 }],
  ]);
});

describe("a damaged file", () => {
  const whole = readFileSync(fixture("if-rlvr.parquet"));
  const read = async (name: string, bytes: Uint8Array) => {
    writeFileSync(scratch(name), bytes);
    const rows = [];
    for await (const row of readRows(dataFiles(scratch(name))[0]!)) rows.push(row);
    return rows;
  };

  test("cut anywhere is a data error", async () => {
    for (let length = 0; length < whole.length; length += 157) {
      await expect(read("cut.parquet", whole.subarray(0, length))).rejects.toMatchObject({
        code: "HONE_ERR_DATA",
      });
    }
  });

  test("with a byte changed is a data error or gives rows, and never anything else", async () => {
    let refused = 0;
    for (let at = 0; at < whole.length; at += 41) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x15;
      try {
        await read("flipped.parquet", bytes);
      } catch (error) {
        expect(error).toMatchObject({ code: "HONE_ERR_DATA" });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});
