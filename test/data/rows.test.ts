import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { dataFiles } from "../../lib/data/files.ts";
import { readRows } from "../../lib/data/rows.ts";
import { patient } from "../patience.ts";
import { fixture, scratch } from "./filtered.ts";

let files = 0;

/** Reads a file with these bytes; returns each row as [number, value or fault]. */
async function rowsOf(ending: string, bytes: string | Uint8Array): Promise<(readonly [number, unknown])[]> {
  files += 1;
  const path = scratch(`${files}.${ending}`);
  writeFileSync(path, bytes);
  const rows: (readonly [number, unknown])[] = [];
  for await (const row of readRows(dataFiles(path)[0]!)) {
    expect(row.file).toBe(path);
    rows.push([row.row, "fault" in row ? row.fault : row.value]);
  }
  return rows;
}

const BOM = "\ufeff";

describe("JSON lines", () => {
  test.each([
    ["plain", '{"a":1}\n[2]\n', [1, 2]],
    ["without a last newline", '{"a":1}\n[2]', [1, 2]],
    ["with CRLF", '{"a":1}\r\n[2]\r\n', [1, 2]],
    ["with a byte order mark", `${BOM}{"a":1}\n[2]`, [1, 2]],
    ["with blank lines, which are no rows but have numbers", '\n{"a":1}\n  \r\n[2]\n\n', [2, 4]],
  ])("are read %s", async (_, text, numbers) => {
    const expected = [
      [numbers[0], { a: 1 }],
      [numbers[1], [2]],
    ];
    expect(await rowsOf("jsonl", text)).toEqual(expected);
    expect(await rowsOf("ndjson", text)).toEqual(expected);
    expect(await rowsOf("jsonl.gz", gzipSync(text))).toEqual(expected);
    expect(await rowsOf("json", text.replace("[2]", '{"b":2}'))).toEqual([
      expected[0],
      [numbers[1], { b: 2 }],
    ]);
  });

  test("are cut right wherever a chunk of the stream ends", async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `{"i":${i},"text":"${"äöü€".repeat(i % 90)}"}`);
    const rows = await rowsOf("jsonl", lines.join("\n"));
    expect(rows).toEqual(lines.map((line, i) => [i + 1, JSON.parse(line)]));
  });

  test("fail one by one", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":1}\n{"a":\n'),
      Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]),
      Buffer.from('"nul \0"\n"\\u0000"\nNaN\n'),
      Buffer.from(`${"[".repeat(200_000)}\n{"a":1,"a":2}\n{"__proto__":1}\n12345678901234567890\n{"last":`),
    ]);
    const rows = await rowsOf("jsonl", bytes);
    expect(rows.filter(([row]) => row !== 9)).toEqual([
      [1, { a: 1 }],
      [2, "not JSON"],
      [3, "not UTF-8"],
      [4, "not JSON"],
      [5, "\0"],
      [6, "not JSON: NaN or Infinity; write null"],
      [7, "not JSON"],
      [8, { a: 2 }],
      [10, 12345678901234567000],
      [11, "not JSON"],
    ]);
    expect(Object.keys(rows[8]![1] as object)).toEqual(["__proto__"]);
  });

  test("keep their text, for numbers that JavaScript would round", async () => {
    const path = scratch("big.jsonl");
    writeFileSync(path, '{"n":12345678901234567890,"x":1.0}');
    const rows: unknown[] = [];
    for await (const row of readRows(dataFiles(path)[0]!)) rows.push(row);
    expect(rows).toMatchObject([{ text: '{"n":12345678901234567890,"x":1.0}' }]);
  });
});

test("who stops reading early leaves no file open, packed or not", async () => {
  const lines = Array.from({ length: 4000 }, () => JSON.stringify(randomBytes(400).toString("hex"))).join(
    "\n",
  );
  for (const [name, bytes] of [
    ["early.jsonl", lines],
    ["early.jsonl.gz", gzipSync(lines)],
  ] as const) {
    const path = scratch(name);
    writeFileSync(path, bytes);
    for await (const { row } of readRows(dataFiles(path)[0]!)) if (row === 1) break;
    const isOpen = () => openFiles().includes(realpathSync(path));
    await vi.waitFor(() => expect(isOpen(), name).toBe(false), { timeout: patient(3000) });
  }
});

/** The files that this process has open. */
const openFiles = () =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // the descriptor of the listing itself, closed by now
    }
  });

describe("a JSON array", () => {
  test("gives its elements, bad ones alone", async () => {
    const rows = await rowsOf("json", `${BOM} [ {"a":1}, {"a":}, "two",\r\n [3] ] \n`);
    expect(rows).toEqual([
      [1, { a: 1 }],
      [2, "not JSON"],
      [3, "two"],
      [4, [3]],
    ]);
    expect(await rowsOf("json.gz", gzipSync("[1,2]"))).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(await rowsOf("json", "[]")).toEqual([]);
  });
});

describe("a file that is damaged as a whole is a data error that names it", () => {
  const zipped = gzipSync(
    JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i, text: `${i * 7919}` }))),
  );
  test.each([
    ["a cut gzip", "json.gz", zipped.subarray(0, zipped.length / 2)],
    ["a cut gzip of lines", "jsonl.gz", zipped.subarray(0, zipped.length / 2)],
    ["a gzip that is none", "jsonl.gz", Buffer.from('{"a":1}')],
    ["a cut array", "json", Buffer.from('[{"a":1},{"a"')],
    ["two arrays", "json", Buffer.from("[1][2]")],
    ["parquet that is none", "parquet", Buffer.from("PAR1 and so on")],
    ["an empty parquet", "parquet", Buffer.alloc(0)],
  ])("%s", async (_, ending, bytes) => {
    await expect(rowsOf(ending, bytes)).rejects.toMatchObject({
      code: "HONE_ERR_DATA",
      message: expect.stringMatching(new RegExp(`hone-rows-.*\\.${ending.replace(".", "\\.")}: `)),
      hint: expect.stringContaining("download it again"),
    });
  });

  test("a file that has gone", async () => {
    const gone = { path: scratch("gone.jsonl"), format: "jsonl", gzip: false } as const;
    for (const file of [gone, { ...gone, gzip: true }, { ...gone, format: "parquet" } as const]) {
      await expect(readRows(file).next()).rejects.toMatchObject({
        code: expect.stringMatching(/^HONE_ERR_(IO|DATA)$/) as string,
      });
    }
  });
});

test("parquet is told by its name", async () => {
  const [file] = dataFiles(fixture("mmlu-pro.parquet"));
  const rows = [];
  for await (const row of readRows(file!, ["question"])) rows.push(row);
  expect(rows.map((row) => ("value" in row ? row.value : row))).toEqual([
    { question: "Two and two?" },
    { question: "Six by two?" },
    { question: null },
  ]);
});

test("lines and tables packed with zstd, and tables packed with gzip, are read as they are unpacked", async () => {
  // six lines, compressed by the zstd command at level 19
  const packed = Buffer.from(
    "KLUv/QRotQIAEkQOEZB9XBQfsuFmErZBfHqaPPoMYH9JaRCE1DnJmFMK2F/e19eXrXTv4hnx4MRt9Otge18vZ7z2Yfo6D6gQ6Ov/G8AzB9DiLye39LXkgC/izzlqkgLH8Be0",
    "base64",
  );
  expect(await rowsOf("jsonl.zst", packed)).toEqual(
    [1, 2, 3, 4, 5, 6].map((i) => [i, { question: `What is ${i} + ${i}?`, answer: String(2 * i) }]),
  );
  await expect(rowsOf("jsonl.zst", packed.subarray(0, 60))).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  const table = 'question,answer\n"one, ü",1\ntwo,2\n';
  expect(await rowsOf("csv.gz", gzipSync(table))).toEqual([
    [1, { question: "one, ü", answer: "1" }],
    [2, { question: "two", answer: "2" }],
  ]);
});
