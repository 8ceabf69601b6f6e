import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { dataFiles } from "../../lib/data/files.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "b"));
mkdirSync(join(folder, ".cache"));
for (const name of [
  "train-00001-of-00002.parquet",
  "train-00000-of-00002.parquet",
  "training.jsonl",
  "test.JSON",
  "README.md",
  ".hidden.json",
  ".cache/x.json",
  "b/train.jsonl.gz",
  "b/rows.ndjson",
]) {
  writeFileSync(join(folder, name), "");
}
const names = (files: readonly { readonly path: string }[]) =>
  files.map(({ path }) => path.slice(folder.length + 1));

test("a folder gives every data file below it, in order of name, without hidden ones", () => {
  const files = dataFiles(folder);
  expect(names(files)).toEqual([
    "b/rows.ndjson",
    "b/train.jsonl.gz",
    "test.JSON",
    "train-00000-of-00002.parquet",
    "train-00001-of-00002.parquet",
    "training.jsonl",
  ]);
  expect(files.map(({ format, gzip }) => [format, gzip])).toEqual([
    ["jsonl", false],
    ["jsonl", true],
    ["json", false],
    ["parquet", false],
    ["parquet", false],
    ["jsonl", false],
  ]);
});

test("a split keeps the files of a folder that are named after it, and leaves a file given by name alone", () => {
  expect(names(dataFiles(folder, "train"))).toEqual([
    "b/train.jsonl.gz",
    "train-00000-of-00002.parquet",
    "train-00001-of-00002.parquet",
  ]);
  expect(names(dataFiles(join(folder, "test.JSON"), "train"))).toEqual(["test.JSON"]);
});

test("a list is read in its own order", () => {
  const list = ["training.jsonl", "b"].map((name) => join(folder, name));
  expect(names(dataFiles(list))).toEqual(["training.jsonl", "b/rows.ndjson", "b/train.jsonl.gz"]);
});

test("files that Python's datasets writes beside rows are no rows, and its .arrow files are named", () => {
  const saved = join(folder, ".saved");
  mkdirSync(join(saved, "train"), { recursive: true });
  for (const name of ["dataset_dict.json", "train/state.json", "train/dataset_info.json", "train/data.arrow"])
    writeFileSync(join(saved, name), "{}");
  expect(() => dataFiles(saved)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("to_parquet") as string }),
  );
  writeFileSync(join(saved, "train/rows.tsv.gz"), "");
  expect(dataFiles(saved)).toEqual([{ path: join(saved, "train/rows.tsv.gz"), format: "csv", gzip: true }]);
});

test.each([
  ["what is not there", () => join(folder, "absent.json"), undefined, /there is no data at .*absent\.json/],
  ["a file of another kind", () => join(folder, "README.md"), undefined, /README\.md holds no data file$/],
  ["a split without files", () => folder, "validation", /holds no data file of split validation/],
])("%s is a data error that names it", (_, path, split, message) => {
  expect(() => dataFiles(path(), split)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringMatching(message) }),
  );
});
