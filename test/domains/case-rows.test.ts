import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RowsBeside } from "../../lib/domains/case-rows.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-beside-"));
  writeFileSync(join(folder, "a.jsonl"), '{"id":"x","n":1}\n\n{"id":"none"}\n{"id":"x","n":2}\n');
  writeFileSync(join(folder, "b.jsonl"), '{"id":"x","n":3}');
  writeFileSync(join(folder, "torn.jsonl"), '{"id":"x","n":3}\n{"id":\n');
  writeFileSync(join(folder, "nameless.jsonl"), '\n{"n":3}\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns rows by id, and the number of parsed lines. */
function rowsBeside() {
  let parsed = 0;
  const rows = new RowsBeside<number | undefined>({
    what: "test case",
    noun: "row",
    shape: "a row { id }",
    parse(line) {
      parsed += 1;
      const { id, n } = JSON.parse(line) as { id?: string; n?: number };
      return id === undefined ? undefined : [id, n];
    },
  });
  return { rows, parsed: () => parsed };
}

test("a row is found by file and id, the last of an id counts, and a file is read once", async () => {
  const { rows, parsed } = rowsBeside();
  const found = [
    rows.find(folder, "a.jsonl", "x"),
    rows.find(folder, "a.jsonl", "none"),
    rows.find(folder, "b.jsonl", "x"),
    rows.find(folder, "a.jsonl", "x"),
  ];
  expect(await Promise.all(found)).toEqual([2, undefined, 3, 2]);
  expect(parsed()).toBe(4);
});

test.each([
  ["a.jsonl", "y", 'test case: no row "y" in a.jsonl', undefined],
  ["a.jsonl", "__proto__", 'test case: no row "__proto__" in a.jsonl', undefined],
  [
    "c.jsonl",
    "x",
    /^test case: cannot read .*c\.jsonl$/,
    "A case names its row by id; c.jsonl must lie beside the case file.",
  ],
  ["torn.jsonl", "x", /torn\.jsonl:2: not a row \{ id \}$/, undefined],
  ["nameless.jsonl", "x", /nameless\.jsonl:2: not a row \{ id \}$/, undefined],
])("%s, %s: %s", async (file, id, message, hint) => {
  const finding = rowsBeside().rows.find(folder, file, id);
  await expect(finding).rejects.toThrow(message);
  await expect(finding).rejects.toMatchObject({ code: "HONE_ERR_DATA", hint });
});
